//! Markdown -> outline of its headings, first sentence.
//!
//! A `#` inside a code fence is a comment, not a heading.

use super::numbers::{numbered_lines, which_lines};
use super::sheet::{Sheet, quote};

/// Headings that are kept.
const KEPT: usize = 2_000;

/// Characters left after the outline from which the first sentence is quoted.
const ROOMY: usize = 300;

/// Lines that decide whether a text is Markdown.
const PROBED: usize = 400;

/// Whether a text has headings and at least one other mark of Markdown.
pub(super) fn is_markdown(text: &str) -> bool {
    let mut headings = 0;
    let mut marks = [0usize; 5];
    let mut fenced = false;
    for (_, line) in numbered_lines(text).take(PROBED) {
        let line = line.trim_start();
        if line.starts_with("```") {
            fenced = !fenced;
            marks[0] += 1;
        } else if !fenced {
            headings += usize::from(heading(line).is_some());
            marks[1] += usize::from(line.starts_with("- ") || line.starts_with("* "));
            marks[2] += usize::from(line.contains("**"));
            marks[3] += usize::from(line.contains("](") || line.contains('`'));
            marks[4] += usize::from(line.starts_with("|--") || line.starts_with("| --") || line.starts_with("|:-"));
        }
    }
    headings > 0 && marks.iter().any(|&count| count > 0)
}

/// Writes the summary; false when there is no heading.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let mut opening = None;
    let mut fence = None;
    let mut fences = 0usize;
    let mut in_front_matter = false;
    for (index, (_, line)) in numbered_lines(text).enumerate() {
        let trimmed = line.trim();
        if trimmed == "---" && (index == 0 || in_front_matter) {
            in_front_matter = !in_front_matter;
            continue;
        }
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                fences += 1;
            }
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) if in_front_matter => {}
            (None, None) => match heading(trimmed) {
                Some(found) if headings.len() < KEPT => headings.push(found),
                Some(_) => {}
                None if opening.is_none() && trimmed.len() > 20 && trimmed.starts_with(char::is_alphanumeric) => {
                    opening = Some(trimmed)
                }
                None => {}
            },
        }
    }
    if headings.is_empty() {
        return false;
    }
    let blocks = if fences > 0 { format!(", {fences} code blocks") } else { String::new() };
    sheet.say(&format!("Markdown, {}{blocks}", which_lines(text)));
    sheet.list("outline:", &outline(&headings, sheet.share(60)), sheet.share(60));
    // The first sentence is often a greeting: it is worth room only where there is plenty.
    if let Some(opening) = opening.filter(|_| sheet.left() >= ROOMY) {
        sheet.line(opening, 160);
    }
    true
}

/// The headings down to the deepest level that fits.
fn outline(headings: &[(usize, &str)], room: usize) -> Vec<String> {
    let written: Vec<(usize, String)> = headings
        .iter()
        .map(|(level, title)| (*level, format!("{} {}", "#".repeat(*level), quote(&title.replace("**", ""), 60))))
        .collect();
    let cost = |deepest: usize| -> usize {
        written.iter().filter(|(level, _)| *level <= deepest).map(|(_, words)| words.chars().count() + 2).sum()
    };
    let top = headings.iter().map(|(level, _)| *level).min().unwrap_or(1);
    let deepest = (top..=6).rev().find(|&deepest| cost(deepest) + 9 <= room);
    // A title alone is no outline: then the next level is cut instead.
    let least = if headings.iter().filter(|(level, _)| *level == top).count() == 1 { top + 1 } else { top };
    let deepest = deepest.unwrap_or(top).max(least);
    written.into_iter().filter(|(level, _)| *level <= deepest).map(|(_, words)| words).collect()
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let title = line[level..].strip_prefix(' ')?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
---
title: ignored
---
# Storage

Every original is kept in one database file.

## Writing
```sh
# not a heading
put x
```
### Batches
## Reading

- `get(id)`
";

    fn summary(text: &str, max_chars: usize) -> String {
        let mut sheet = Sheet::new(max_chars);
        assert!(summarize(text, &mut sheet));
        sheet.finish()
    }

    #[test]
    fn lines_may_be_numbered() {
        let numbered = "     5→# Storage\n     6→\n     7→Every original is kept.\n     8→\n     9→## Writing\n";
        assert_eq!(summary(numbered, 200), "Markdown, lines 5–9\noutline: # Storage, ## Writing");
    }

    #[test]
    fn the_outline_skips_comments_in_code() {
        assert!(is_markdown(PAGE));
        assert_eq!(
            summary(PAGE, 500),
            "Markdown, 16 lines, 1 code blocks\noutline: # Storage, ## Writing, ### Batches, ## Reading\n\
             Every original is kept in one database file."
        );
    }

    #[test]
    fn deep_headings_go_first_when_room_is_short() {
        let mut text = String::from("# Guide\n");
        for i in 0..4 {
            text += &format!("## Part {i}\n### Detail of part {i} at some length\n**x**\n");
        }
        assert_eq!(
            summary(&text, 140),
            "Markdown, 13 lines\noutline: # Guide, ## Part 0, ## Part 1, ## Part 2, ## Part 3"
        );
    }

    #[test]
    fn comments_of_a_script_are_no_headings() {
        assert!(!is_markdown("# install\nnpm i\n# build\nnpm run build\n"));
        assert!(!summarize("plain words\n", &mut Sheet::new(100)));
    }
}
