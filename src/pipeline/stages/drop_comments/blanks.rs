//! Blank lines between tokens with trailing blanks, or more than two in a row -> one empty line.

use super::change::Change;
use super::view::View;
use crate::pipeline::syntax::Survey;

/// Adds the changes that shorten runs of empty lines.
pub(super) fn normalise(view: &View, survey: &Survey, changes: &mut Vec<Change>) {
    for gap in survey.gaps() {
        let text = &view.code[gap.clone()];
        let Some(last) = text.rfind('\n') else { continue };
        let blank = &text[..=last];
        let wasteful = blank.contains(" \n") || blank.contains("\t\n") || blank.matches('\n').count() > 3;
        if wasteful && blank.trim().is_empty() && !blank.contains('\r') {
            // The last line end is kept, and with it any prefix that a tool printed before the next line.
            let short = if blank.matches('\n').count() > 1 { "\n" } else { "" };
            changes.push(Change::cleanup(gap.start..gap.start + blank.len() - 1, short));
        }
    }
}
