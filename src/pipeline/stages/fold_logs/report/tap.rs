//! Lines of the Test Anything Protocol, as node's runner and others print them: `ok 7 - parses dates`, with details
//! below.

use super::sign::{Line, Part, Sign, Tool};

/// The maximum number of detail lines. More are part of a message.
const MAX_DETAILS: usize = 8;

/// Assigns detail lines to the passed tests above them, and turns subtests that contain subtests into headings.
pub(super) fn attach<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    for at in 0..lines.len().saturating_sub(1) {
        let Some(sign) = signs[at].filter(|sign| sign.tool == Tool::Tap) else { continue };
        let next = &lines[at + 1];
        if sign.part == Part::Step {
            let is_deeper = next.indent > lines[at].indent && next.trimmed.starts_with("# Subtest: ");
            if is_deeper {
                signs[at] = Some(Sign { title: sign.title, ..Sign::heading(Tool::Tap, sign.title) });
            }
        } else if sign.count > 0 && next.trimmed == "---" && next.indent > lines[at].indent {
            let details = lines[at + 1..].iter().take(MAX_DETAILS);
            let len = details.take_while(|line| is_detail(line)).count();
            if lines.get(at + len + 1).is_some_and(|line| line.trimmed == "...") {
                for (line, sign) in lines[at + 1..].iter().zip(&mut signs[at + 1..at + len + 2]) {
                    *sign = Some(Sign { seconds: seconds(line), ..Sign::aside(Tool::Tap) });
                }
            }
        }
    }
}

fn seconds(detail: &Line) -> Option<f64> {
    let milliseconds: f64 = detail.trimmed.strip_prefix("duration_ms: ")?.parse().ok()?;
    Some(milliseconds / 1000.0)
}

fn is_detail(line: &Line) -> bool {
    line.trimmed == "---" || line.trimmed.starts_with("duration_ms: ") || line.trimmed.starts_with("type: ")
}
