//! The last hand on the text. prettyplease breaks every method call that does not fit before its
//! point, puts an attribute on the line of its loop, and writes no empty lines; a reader wants
//! `module.kernel(` whole, `#[unroll]` above its loop, and paragraphs, as rustfmt has them.

/// rustfmt's line.
const LINE: usize = 100;

/// The formatted text, laid out as a person would.
pub fn laid_out(text: &str) -> String {
    let lines = with_short_lists(with_whole_calls(broken_lines(text)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if at > 0 && starts_paragraph(&lines, at) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Attributes above their loops, a length beside its buffer, `else {` below the chain it
/// follows, and the call after a block where the block ends.
fn broken_lines(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines() {
        let (content, indent) = (line.trim_start(), " ".repeat(depth(line)));
        let after_block = out.last().filter(|before| before.trim() == "}").map(|end| depth(end));
        if let Some(rest) = content.strip_prefix("#[unroll] ") {
            out.extend([format!("{indent}#[unroll]"), format!("{indent}{rest}")]);
        } else if let (true, Some(before)) = (content.starts_with(".len()"), out.last_mut()) {
            before.push_str(content);
        } else if let (true, Some(chain)) = (content.starts_with('.'), line.strip_suffix(" else {"))
        {
            let indent = " ".repeat(depth(line).saturating_sub(4));
            out.extend([chain.to_string(), format!("{indent}else {{")]);
        } else if let (true, Some(end)) = (content.starts_with('.'), after_block) {
            out.push(format!("{}{content}", " ".repeat(end)));
        } else {
            out.push(line.to_string());
        }
    }
    out
}

/// Joins `receiver` and `.method(` where that is the only call, and moves its arguments left.
fn with_whole_calls(mut lines: Vec<String>) -> Vec<String> {
    let mut at = 0;
    while at + 1 < lines.len() {
        if let Some(end) = lone_call(&lines, at) {
            let call = lines.remove(at + 1);
            lines[at].push_str(call.trim_start());
            for line in &mut lines[at + 1..end] {
                line.replace_range(..4, "");
            }
        } else {
            at += 1;
        }
    }
    lines
}

/// The line of the closing parenthesis, when line `at` ends in a name and the next one calls a
/// method of it that no further method follows.
fn lone_call(lines: &[String], at: usize) -> Option<usize> {
    let (receiver, call) = (&lines[at], &lines[at + 1]);
    let inner = depth(receiver) + 4;
    let is_call = call.trim_start().starts_with('.');
    if !is_call || depth(call) != inner || !receiver.ends_with(|end: char| end.is_alphanumeric()) {
        return None;
    }
    if !call.ends_with('(') {
        let followed = lines.get(at + 2).is_some_and(|next| next.trim_start().starts_with('.'));
        let fits = receiver.len() + call.trim_start().len() <= LINE;
        return (fits && !followed).then_some(at + 1);
    }
    let end = (at + 2..lines.len()).find(|line| depth(&lines[*line]) <= inner)?;
    let followed = lines.get(end + 1).is_some_and(|next| next.trim_start().starts_with('.'));
    (lines[end].trim_start().starts_with(')') && !followed).then_some(end)
}

/// Puts a call or an array on one line where that fits, inner ones first.
fn with_short_lists(mut lines: Vec<String>) -> Vec<String> {
    for at in (0..lines.len()).rev() {
        if let Some((end, line)) = short_list(&lines, at) {
            lines[at] = line;
            lines.drain(at + 1..=end);
        }
    }
    lines
}

/// The last line of the list that line `at` opens, and the whole of it on one line.
fn short_list(lines: &[String], at: usize) -> Option<(usize, String)> {
    let opening = lines[at].strip_suffix(['(', '['])?;
    let open = &lines[at][opening.len()..];
    let inner = depth(opening) + 4;
    let end = (at + 1..lines.len()).find(|line| depth(&lines[*line]) < inner)?;
    let closing = lines[end].trim_start();
    let elements = &lines[at + 1..end];
    let is_flat = elements.iter().all(|line| depth(line) == inner);
    if !is_flat || !closing.starts_with([')', ']']) {
        return None;
    }
    let elements: Vec<&str> = elements.iter().map(|line| line.trim()).collect();
    let elements = elements.join(" ");
    let line = format!("{opening}{open}{}{closing}", elements.trim_end_matches(','));
    (line.len() <= LINE).then_some((end, line))
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn starts_paragraph(lines: &[&str], at: usize) -> bool {
    let (before, line) = (lines[at - 1].trim(), lines[at].trim());
    let after = lines.get(at + 1).map_or("", |after| after.trim());
    if before.ends_with('{') || line.starts_with(['}', ']', ')', '.']) || line.contains("=>") {
        return false;
    }
    // The step of a counted loop belongs to the statement before it.
    if line.contains(" += ") && after == "}" {
        return false;
    }
    closes_block(before, line)
        || ends_run(before, line)
        || starts_loop(before, line, after)
        || starts_item(before, line)
}

/// A value that ends in a block belongs to the lines that use it.
fn closes_block(before: &str, line: &str) -> bool {
    before == "}" || (before == "};" && !line.starts_with("let at") && !line.starts_with('['))
}

/// The last of several imports, constants or statics.
fn ends_run(before: &str, line: &str) -> bool {
    let is_last = |run| before.starts_with(run) && before.ends_with(';') && !line.starts_with(run);
    ["use ", "const ", "static ", "pub const "].into_iter().any(is_last)
}

/// A loop's counter, unless another loop's stands right before it.
fn starts_loop(before: &str, line: &str, after: &str) -> bool {
    let counts = after == "#[unroll]" || after.starts_with("while ");
    counts && line.starts_with("let mut ") && !before.is_empty()
}

fn starts_item(before: &str, line: &str) -> bool {
    before.ends_with([';', '}']) && (line.starts_with("///") || line.starts_with("impl "))
}
