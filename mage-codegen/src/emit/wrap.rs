//! Breaks sentences into the lines of a comment.

/// The widest line, the comment's own marks left out.
const WIDTH: usize = 92;

/// The words of `text`, as many a line as fit. `indent` stands before every line but the first.
pub fn wrap(text: &str, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_string()),
        }
    }
    lines
}
