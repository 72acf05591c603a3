//! The table of named errors: one row gives a code's number, name and summary. Every level takes
//! its codes from here; `render` and the documentation print them.

macro_rules! codes {
    ($($number:literal $name:ident $summary:literal)*) => {
        /// A named error. The number never changes its meaning; the name is what documents use.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $summary] $name,)*
        }

        impl Code {
            /// Every code, in order of its number.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The number as printed, for example `M0001`.
            pub fn number(self) -> &'static str {
                match self { $(Code::$name => $number,)* }
            }

            /// The name as written in the rules, for example `BadChar`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$name => stringify!($name),)* }
            }

            /// What the code stands for, in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => $summary,)* }
            }
        }
    };
}

codes! {
    // The notation, both forms.
    "M0001" BadChar "A character that is not part of the notation."
    "M0002" BadEllipsis "Dots that are not one `...` in a term."
    "M0003" SecondArrow "More than one `->`."
    "M0004" CommaInOutput "A comma after the arrow; there is one output."
    "M0005" DuplicateOutputLabel "A label that stands twice in the output."
    "M0006" UnknownOutputLabel "An output label that no operand has."
    "M0007" EllipsisUnsupported "An ellipsis in the index form, or where the ranks of the operands are not known."
    "M0008" EllipsisDropped "An ellipsis that stands for modes but is missing from the output."
    "M0009" Expected "Text that does not follow the grammar; the message says what was expected."

    // The index form.
    "M0010" UnboundMode "A mode on the right that is neither on the left nor reduced."
    "M0011" BadReduction "A reduced mode that is named twice, is in the output, or is in no access."
    "M0012" SelfReference "A tensor that a statement both reads and writes."
    "M0013" StatementUnsupported "A statement that the notation leaves out, such as arithmetic on an index."
    "M0014" ScatterUnsupported "A write through an index; the sorted rows (CSR) form is the way."
    "M0015" StatementOrder "A tensor that is written twice, read before it is written, or written and never read."
    "M0016" UnknownFunction "A function that statements do not have."
    "M0017" IndexOperand "A tensor of indices that is read as values, or the other way round."

    // The options.
    "M0020" BadOption "An option that is unknown, doubled, or has a value out of its range."
    "M0021" BadTile "A tile that the kernel cannot have."
    "M0022" DtypeUnsupported "An element type that has no kernels."
    "M0023" BadSpec "A spec, a spec file or the extents of a run that cannot be read."

    // What is bound at the launch.
    "M0030" OperandCount "A number of operands that differs from the notation's."
    "M0031" RankMismatch "An operand whose rank differs from its number of labels."
    "M0032" ExtentMismatch "A label with two extents; one label has one extent everywhere."
    "M0033" UnboundExtent "A label whose extent was not given, or an extent for no label."
    "M0034" LengthMismatch "A buffer whose length is not the product of its extents."
    "M0035" SizeOverflow "An extent of 2^32 or more, or a product of extents that does not fit."
    "M0036" LaunchLimit "A launch that needs more blocks, threads or memory than the device has."
    "M0037" UnsupportedStride "Strides that the kernel does not take, or that lead out of the buffer."
    "M0038" IndexOutOfRange "A value of an index operand outside the mode it indexes."
}
