//! Why a command has nothing to judge: the user's mistakes, rendered over the text they are in, or
//! a mistake of usage. It ends the program with status 2.

use std::fmt;
use std::path::Path;

use mage_codegen::pipeline;
use mage_einsum::diagnostic::{Diagnostics, render};

/// A refusal, ready to be printed.
#[derive(Debug)]
pub struct Refusal {
    /// Whole lines.
    text: String,
}

/// The two texts that diagnostics point into.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'t> {
    /// The notation.
    pub notation: &'t str,
    /// The option text.
    pub options: &'t str,
}

impl Refusal {
    /// A mistake that has no place in a text.
    pub fn usage(message: impl fmt::Display) -> Refusal {
        Refusal { text: format!("error: {message}\n") }
    }

    /// The same with one thing to do.
    pub fn helped(message: impl fmt::Display, help: impl fmt::Display) -> Refusal {
        Refusal { text: format!("error: {message}\nhelp: {help}\n") }
    }

    /// A file that cannot be read or written.
    pub fn file(path: &Path, what: &str, why: impl fmt::Display) -> Refusal {
        Refusal::usage(format!("`{}` cannot be {what}: {why}", path.display()))
    }

    /// A notation and a spec file.
    pub fn beside_file(notation: &str) -> Refusal {
        let message = format!("`{notation}` is given beside a spec file");
        Refusal::helped(message, "leave one of them out")
    }

    /// The mistakes of one level, a blank line between them.
    pub fn mistakes(diagnostics: &Diagnostics, texts: Texts<'_>) -> Refusal {
        let rendered: Vec<String> = diagnostics
            .0
            .iter()
            .map(|diagnostic| render(diagnostic, texts.notation, texts.options))
            .collect();
        Refusal { text: rendered.join("\n") }
    }

    /// What the compiler says when there are no levels.
    pub fn compiler(error: &pipeline::Error, texts: Texts<'_>) -> Refusal {
        match error {
            pipeline::Error::Mistakes(diagnostics) => Refusal::mistakes(diagnostics, texts),
            pipeline::Error::Bug(_) => Refusal::usage(error),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
