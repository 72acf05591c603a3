//! The one mangling table: from labels and tensor names to Rust identifiers that are unique and
//! no keywords. Every name in emitted code that comes from a user's text comes through here.

use std::collections::BTreeSet;
use std::ops::Range;

use mage_einsum::index::{ModeId, Program, TensorId};

/// Words that are no identifiers in the 2024 edition. Source: The Rust Reference, "Keywords".
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while",
];

/// Names that emitted code gives other things in the scopes where tensors are named.
const TAKEN: [&str; 12] = [
    "extents",
    "module",
    "stream",
    "tiles",
    "acc",
    "device",
    "thread",
    "block",
    "config",
    super::workspace::IDENT,
    "workspace_elems",
    "least_workspace_elems",
];

/// Identifiers for everything the user named.
#[derive(Debug)]
pub struct Names {
    labels: Vec<String>,
    tensors: Vec<String>,
    parts: Vec<String>,
    modes: Vec<String>,
}

impl Names {
    /// The table of one program.
    pub fn new(program: &Program) -> Names {
        let mut used = BTreeSet::new();
        let labels = program
            .modes
            .iter()
            .flat_map(|mode| &mode.parts)
            .map(|part| unique(&mut used, &no_keyword(&part.label)))
            .collect();
        let mut used: BTreeSet<String> = TAKEN.iter().map(|name| (*name).to_string()).collect();
        let tensors = program
            .tensors
            .iter()
            .map(|tensor| unique(&mut used, &no_keyword(&snake(&tensor.name))))
            .collect::<Vec<_>>();
        let parts =
            tensors.iter().map(|tensor| unique(&mut used, &format!("{tensor}_parts"))).collect();
        let mut used = BTreeSet::new();
        let modes =
            program.modes.iter().map(|mode| unique(&mut used, &snake(&mode.name))).collect();
        Names { labels, tensors, parts, modes }
    }

    /// One a label, in the order of `Module::labels`.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// One a tensor.
    pub fn tensors(&self) -> &[String] {
        &self.tensors
    }

    /// A tensor's identifier.
    pub fn tensor(&self, id: TensorId) -> &str {
        &self.tensors[id.0]
    }

    /// One a tensor: the partial sums of its elements, or the parts that are listed of it.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// A mode's stem in snake case; variables add what they are to it (`i_tile`, `n_i`).
    pub fn mode(&self, id: ModeId) -> &str {
        &self.modes[id.0]
    }

    /// Positions in `Module::labels` of a mode's parts.
    pub fn labels_of(&self, program: &Program, id: ModeId) -> Range<usize> {
        let start: usize = program.modes[..id.0].iter().map(|mode| mode.parts.len()).sum();
        start..start + program.mode(id).parts.len()
    }
}

/// Lower case; a capital letter is spelled out, so that `i` and `I` stay apart.
fn snake(name: &str) -> String {
    let single = name.len() == 1;
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !single && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// `name`, or with `_` behind a keyword. Stems of modes need it not: variables add to them.
fn no_keyword(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_string() }
}

/// `wanted`, or with a number where it is taken.
fn unique(used: &mut BTreeSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_string();
    let mut number = 2;
    while !used.insert(name.clone()) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{BTreeSet, no_keyword, snake, unique};

    #[test]
    fn names_are_safe() {
        let mut used = BTreeSet::new();
        let got: Vec<String> = ["i", "I", "in", "in_", "type", "batchHeads", "self"]
            .iter()
            .map(|name| unique(&mut used, &no_keyword(&snake(name))))
            .collect();
        assert_eq!(got, ["i", "i_2", "in_", "in__2", "type_", "batch_heads", "self_"]);
    }
}
