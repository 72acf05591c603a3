//! What each code means at more length: why it is refused, a mistake of the kind after `wrong:` and
//! its mend after `right:`. A test compiles both, where the mistake is in the text.

use super::Code;

impl Code {
    /// A paragraph on the code with an example of the mistake and its mend.
    pub fn explanation(self) -> &'static str {
        match self {
            Code::BadChar => BAD_CHAR,
            Code::BadEllipsis => BAD_ELLIPSIS,
            Code::SecondArrow => SECOND_ARROW,
            Code::CommaInOutput => COMMA_IN_OUTPUT,
            Code::DuplicateOutputLabel => DUPLICATE_OUTPUT_LABEL,
            Code::UnknownOutputLabel => UNKNOWN_OUTPUT_LABEL,
            Code::EllipsisUnsupported => ELLIPSIS_UNSUPPORTED,
            Code::EllipsisDropped => ELLIPSIS_DROPPED,
            Code::Expected => EXPECTED,
            Code::UnboundMode => UNBOUND_MODE,
            Code::BadReduction => BAD_REDUCTION,
            Code::SelfReference => SELF_REFERENCE,
            Code::StatementUnsupported => STATEMENT_UNSUPPORTED,
            Code::ScatterUnsupported => SCATTER_UNSUPPORTED,
            Code::StatementOrder => STATEMENT_ORDER,
            Code::UnknownFunction => UNKNOWN_FUNCTION,
            Code::IndexOperand => INDEX_OPERAND,
            Code::BadOption => BAD_OPTION,
            Code::BadTile => BAD_TILE,
            Code::DtypeUnsupported => DTYPE_UNSUPPORTED,
            Code::BadSpec => BAD_SPEC,
            Code::OperandCount => OPERAND_COUNT,
            Code::RankMismatch => RANK_MISMATCH,
            Code::ExtentMismatch => EXTENT_MISMATCH,
            Code::UnboundExtent => UNBOUND_EXTENT,
            Code::LengthMismatch => LENGTH_MISMATCH,
            Code::SizeOverflow => SIZE_OVERFLOW,
            Code::LaunchLimit => LAUNCH_LIMIT,
            Code::UnsupportedStride => UNSUPPORTED_STRIDE,
            Code::IndexOutOfRange => INDEX_OUT_OF_RANGE,
        }
    }
}

const BAD_CHAR: &str = "\
The classic notation has single ASCII letters as labels, `,` between operands, one `->` before the
output, `...`, and ASCII spaces between them. A tab, a newline, a digit, a bracket or an arrow such
as `=>` is none of these. Labels that are words need the index form, whose names have any length.

wrong: \"ik,kj=>ij\"
right: \"ik,kj->ij\"
right: \"C[row,col] = sum(inner) A[row,inner] * B[inner,col]\"
";

const BAD_ELLIPSIS: &str = "\
An ellipsis is three dots without a space between them, and a term has at most one of them: with two
it would be open which modes each of them stands for.

wrong: \"..ik,kj->..ij\", ranks = (3, 2)
right: \"...ik,kj->...ij\", ranks = (3, 2)
";

const SECOND_ARROW: &str = "\
A contraction has one output, so there is at most one `->`. Two contractions are two specifications.

wrong: \"ij,jk->ik->i\"
right: \"ij,jk->i\"
";

const COMMA_IN_OUTPUT: &str = "\
Commas separate operands, and there is one output. Its labels stand side by side.

wrong: \"ij,jk->i,k\"
right: \"ij,jk->ik\"
";

const DUPLICATE_OUTPUT_LABEL: &str = "\
Each element of the output is written once. A label that stands twice in the output would ask for a
matrix of which only the diagonal is written, and say nothing of the rest.

wrong: \"i->ii\"
right: \"i->i\"
";

const UNKNOWN_OUTPUT_LABEL: &str = "\
An output label takes its extent from an operand, so one operand must have it. Labels are
case-sensitive: `j` and `J` are two labels. To repeat values along a new mode, give an operand of
ones that has it.

wrong: \"ik,kj->iJ\"
right: \"ik,kj->ij\"
";

const ELLIPSIS_UNSUPPORTED: &str = "\
What `...` stands for follows from the ranks of the operands: the modes that an operand has beyond
its labels. A macro and a command line see no arrays, so the ranks are given by the option `ranks`,
one number an operand. The modes are then called `e0`, `e1`, ... from the outermost of the longest
ellipsis; a shorter one is aligned at the right. The index form has no ellipsis: its labels are
names, so that as many modes as there are can be written out.

wrong: \"...ik,...kj->...ij\"
right: \"...ik,...kj->...ij\", ranks = (4, 3)
";

const ELLIPSIS_DROPPED: &str = "\
An output that is written out must have `...` where an operand's `...` stands for modes. To sum
those modes away, give them labels: a sum is too much to happen by an omission.

wrong: \"...ij->ij\", ranks = 3
right: \"...ij->...ij\", ranks = 3
right: \"bij->ij\"
";

const EXPECTED: &str = "\
The index form and the option text have a grammar, and the text left it. The message says what could
have stood there and what stands there instead.

wrong: \"C[i,j] = sum(k) A[i,k] B[k,j]\"
right: \"C[i,j] = sum(k) A[i,k] * B[k,j]\"
";

const UNBOUND_MODE: &str = "\
In the index form every label on the right is on the left too, or is summed by name. Nothing is
summed because it was left out.

wrong: \"C[i,j] = A[i,k] * B[k,j]\"
right: \"C[i,j] = sum(k) A[i,k] * B[k,j]\"
";

const BAD_REDUCTION: &str = "\
`sum(..)` names each label once, names only labels that an operand has, and none that is in the
output: those are not summed.

wrong: \"C[i,j] = sum(k,j) A[i,k] * B[k,j]\"
right: \"C[i,j] = sum(k) A[i,k] * B[k,j]\"
";

const SELF_REFERENCE: &str = "\
The output is a fresh array that is written whole. Reading it in the same statement would depend on
the order in which elements are written.

wrong: \"A[i] = A[i] * B[i]\"
right: \"C[i] = A[i] * B[i]\"
";

const STATEMENT_UNSUPPORTED: &str = "\
A statement has an access on the left and on the right an expression: elements under labels,
numbers, signs, whole powers and halves, functions, and reductions over labels. An index is a label,
or an element of an operand of indices, `X[s[e],f]`; the only arithmetic on an index is the end of a
row, `p[i]..p[i+1]`.

wrong: \"Y[i] = X[i+1]\"
right: \"Y[i] = 2 * X[i] + exp(-B[i])^2\"
";

const SCATTER_UNSUPPORTED: &str = "\
Writing through an index, `Y[s[e]] = ..`, lets several threads write one element, in an order that
differs from run to run. Sort the writes by their target, so that each output element gathers what
belongs to it: rows of a compressed sparse matrix (CSR).

wrong: \"Y[s[e],f] = X[e,f]\"
right: \"Y[e,f] = X[e,f]\"
";

const STATEMENT_ORDER: &str = "\
Statements run in the order they are written in. Each writes a tensor of its own, whole; a later one
may read it. The last is the output, unless `outputs = (Y, m)` names them; what is neither read nor
named would be computed for nothing.

wrong: \"m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] * X[i,j]\"
right: \"m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]\"
";

const UNKNOWN_FUNCTION: &str = "\
The functions of one number are abs, sqrt, rsqrt, exp, ln, tanh, erf, relu, sigmoid, silu, gelu_erf
and gelu_tanh; max and min take two. GELU has two forms that differ by up to 4.7e-4, so both have
their names and neither is the default.

wrong: \"Y[i] = gelu(X[i])\"
right: \"Y[i] = gelu_tanh(X[i])\"
";

const INDEX_OPERAND: &str = "\
What stands in the index of another tensor, as `s` in `X[s[e],f]`, or bounds a range, as `p` in
`p[i]..p[i+1]`, is an operand of its own type: u32, checked when it is handed over. It is given, not
computed, and it is not read as values.

wrong: \"Y[e] = s[e] * X[s[e]]\"
right: \"Y[e] = w[e] * X[s[e]]\"
";

const BAD_OPTION: &str = "\
The option is not one that there is, is given twice, or has a value that it does not take. The help
names the option that is nearest, or shows how the value is written.

wrong: \"ik,kj->ij\", tlie = 64
right: \"ik,kj->ij\", tile = 64
";

const BAD_TILE: &str = "\
`tile = 64` sets the extents of a block's tile along M and N; `tile = (m, n, k)` sets all three. A
tile is obeyed or refused: extents are from 1, the stages must fit the shared memory of a block, the
threads that the tile needs must fit a block, and a contraction without M or N has no tile.

wrong: \"ik,kj->ij\", tile = 0
right: \"ik,kj->ij\", tile = (64, 64, 16)
";

const DTYPE_UNSUPPORTED: &str = "\
There are kernels for f16, bf16, f32 and f64. All operands have one type, `dtype`, and nothing is
promoted. Sums of f16 and bf16 are accumulated in f32 and rounded once to the output, which has the
operands' type unless `out = f32` keeps what was accumulated. Another output type would lose bits,
or have more than there are to hold.

wrong: \"ik,kj->ij\", dtype = i64
right: \"ik,kj->ij\", dtype = f32
";

const BAD_SPEC: &str = "\
A specification is a string literal with the notation, then options with commas before each. A spec
file adds comments with `#` above it, and `run:` lines below it with the extents to check it at. The
command line takes the same extents as words.

wrong: ik,kj->ij, tile = 64
right: \"ik,kj->ij\", tile = 64
";

const OPERAND_COUNT: &str = "\
The notation has one term an operand, also an empty one: `ij,,jk->ik` has a scalar in the middle. As
many operands, or ranks, must be given.

wrong: \"...ik,...kj->...ij\", ranks = 3
right: \"...ik,...kj->...ij\", ranks = (3, 3)
";

const RANK_MISMATCH: &str = "\
An operand has one label for each of its dimensions. Labels of the classic form are single letters,
so a word is as many labels as it has letters; spaces do not matter.

wrong: \"ik,kj->ij\", ranks = (3, 2)
right: \"bik,kj->bij\", ranks = (3, 2)
";

const EXTENT_MISMATCH: &str = "\
One label has one extent, everywhere. There is no broadcasting, and an extent of 1 is no exception:
to use an operand again along a mode, leave the label out of it.

wrong: \"C[i,k] = A[i] * A[k]\", extents = (i = 2, k = 3)
right: \"C[i,k] = A[i] * B[k]\", extents = (i = 2, k = 3)
";

const UNBOUND_EXTENT: &str = "\
A run needs the extent of every label that is not fixed by the option `extents`, and takes no extent
of something that is no label: for `ik,kj->ij` that is `i=65 k=66 j=63`.
";

const LENGTH_MISMATCH: &str = "\
A buffer holds its tensor's elements and nothing else, so its length is the product of the extents
of its labels: with i = 3 and k = 4 the operand `ik` has 12 elements. The check is made before
anything is launched.
";

const SIZE_OVERFLOW: &str = "\
One extent is below 2^32, a tensor has fewer than 2^63 bytes, and a sum fewer than 2^64 terms, the
temporaries of a contraction path included. Every product is checked before anything is launched, so
that no offset can wrap.

wrong: \"ik,kj->ij\", extents = (k = 4294967296)
right: \"ik,kj->ij\", extents = (k = 4096)
";

const LAUNCH_LIMIT: &str = "\
A launch has at most 2^31 - 1 blocks, and blocks are limited in threads and shared memory. What
needs more is refused before anything is launched; it is never skipped. Make the tile larger, so
that there are fewer blocks, or split the contraction along an outer mode.
";

const UNSUPPORTED_STRIDE: &str = "\
The kernel was made for operands that lie otherwise in memory than the one given: by default they
are row-major and contiguous. With `strides = runtime` a kernel takes any strides, zero and negative
ones too, and the element where the view begins. Then every element of the view must lie in its
buffer: for each dimension the last position, extent - 1, times the stride is added to the first
element, the negative ones for the lowest element that is reached, the others for the highest. A
reversed view begins at the last element of its buffer. A view without elements reaches none.
";

const INDEX_OUT_OF_RANGE: &str = "\
A value of an index operand is not an index of the mode that it selects from: it is at least its
extent. It is found when the operand is handed over, before anything is launched, and it is neither
clamped nor wrapped. Correct the value, or give the indexed operand the extent that it needs.
";
