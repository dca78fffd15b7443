//! Settings in YAML, TOML or of the form `key = value` -> their sections, or their keys of the first level.
//!
//! They are known by their form only: what a `#` opens is a comment, whatever it looks like, and `a:hover {` is no key.

use std::sync::LazyLock;

use indexmap::IndexSet;
use regex::Regex;

use super::line_pattern;
use super::numbers::{numbered_lines, which_lines};
use super::sheet::{MOST_ITEMS, Sheet, quote};
use crate::content::head;

/// The number of bytes of a line that are parsed.
const FRONT: usize = 600;

static SECTION: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^\[\[?([^\[\],]+)\]\]?\s*$"));

static KEY: LazyLock<Regex> =
    LazyLock::new(|| line_pattern(r#"^["']?([\w./-]*\p{Alphabetic}[\w./-]*)["']?\s*(?:=|:\s|:$)"#));

/// Writes the summary of a file in this format, and returns true.
pub(super) fn summarize(text: &str, format: &str, sheet: &mut Sheet) -> bool {
    sheet.say(&format!("{format}, {}", which_lines(text)));
    for (label, pattern) in [("sections:", &*SECTION), ("keys:", &*KEY)] {
        let name_on = |line| Some(quote(pattern.captures(head(line, FRONT))?.get(1)?.as_str(), 200));
        let mut names: IndexSet<String> = numbered_lines(text).filter_map(|(_, line)| name_on(line)).collect();
        names.truncate(MOST_ITEMS);
        if !names.is_empty() {
            sheet.list(label, &Vec::from_iter(names), sheet.share(70));
            break;
        }
    }
    true
}
