//! `rspec --format documentation` prints indented sentences. Only the total at the end proves that they are examples.

use super::sign::{Line, Sign, Tool};

/// Returns the passed examples and their headings by line, if their number matches the summary.
pub(super) fn passed<'t>(lines: &[Line<'t>]) -> Option<Vec<(usize, Sign<'t>)>> {
    let (examples, bad) = lines.iter().rev().take(400).find_map(|line| summary(line.trimmed))?;
    let end = lines.iter().position(|line| {
        line.indent == 0
            && (line.trimmed == "Failures:"
                || line.trimmed == "Pending:"
                || line.trimmed.starts_with("Finished in ")
                || line.trimmed.starts_with("Pending: ("))
    })?;
    let mut signs = Vec::new();
    let mut passed = 0;
    for (at, line) in lines[..end].iter().enumerate().filter(|(_, line)| !line.is_blank()) {
        let is_heading = lines[at + 1].indent > line.indent && !lines[at + 1].is_blank();
        if is_heading {
            signs.push((at, Sign { title: line.trimmed, ..Sign::heading(Tool::Rspec, line.trimmed) }));
        } else if line.indent > 0 && !line.trimmed.contains("(FAILED - ") && !line.trimmed.contains("(PENDING: ") {
            signs.push((at, Sign::passed(Tool::Rspec, "")));
            passed += 1;
        }
    }
    (passed + bad == examples).then_some(signs)
}

/// Returns the number of all examples and of those that did not pass, from `100 examples, 1 failure, 1 pending`.
fn summary(line: &str) -> Option<(usize, usize)> {
    let mut parts = line.split(", ");
    let count = |part: &str, word: &str| {
        part.split_once(' ').filter(|(_, rest)| rest.starts_with(word))?.0.parse::<usize>().ok()
    };
    let examples = count(parts.next()?, "example")?;
    let failures = count(parts.next()?, "failure")?;
    let pending = parts.next().map_or(Some(0), |part| count(part, "pending"))?;
    Some((examples, failures + pending))
}
