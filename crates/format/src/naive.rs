//! A folded text -> what a reader gets from it who follows the legend, but adds up few rows and follows few names.
//!
//! A language model reads a fold without a program. This reader states each value that it can read, and [`UNREAD`] in
//! place of every letter and digit of the others, so its text has the same length as the restored text. It adds up the
//! steps of at most [`MOST_ADDED`] rows, goes up at most [`MOST_ROWS`] rows to the row that states an equal value or
//! the folder of a value, leaves at most [`MOST_ADDED`] folders on the way, and follows one name for each value, but no
//! name inside what a name stands for. It does not count lines to find the prefixes that are listed at the end of a
//! fold.

use std::ops::Range;

use crate::fold::Fold;
use crate::prefixes::{self, Before};
use crate::restore::{Prior, sealed_folds, undone};
use crate::semantic_dedup::Reference;
use crate::{ionizer, lines, listing};

/// The most rows between a value and the row that states it, if the value is made of the one above.
pub const MOST_ADDED: usize = 3;

/// The most rows between a value and the row that states it, if both are equal.
pub const MOST_ROWS: usize = 10;

/// The byte that stands for a letter or digit that the reader cannot read.
pub const UNREAD: u8 = 0x7f;

/// The steps that a reader takes to read a value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Price {
    /// The rows above that are looked at.
    pub rows: usize,
    /// True if their steps are added up.
    pub is_added: bool,
    /// The names that are followed.
    pub names: usize,
    /// True if the value is made of other values.
    pub is_made: bool,
}

impl Price {
    /// The price of a value that no reader finds.
    pub const UNREADABLE: Self = Self { rows: usize::MAX >> 1, is_added: false, names: 0, is_made: false };

    /// Returns true if the steps are few enough.
    pub fn is_low(self) -> bool {
        self.rows <= if self.is_added { MOST_ADDED } else { MOST_ROWS } && self.names <= 1
    }
}

/// Returns a text with [`UNREAD`] in place of its letters and digits. Escapes stay.
pub fn unread(text: &str) -> String {
    let mut escaped = 0;
    let dim = |c: char| {
        let is_escape = escaped > 0;
        escaped = match (escaped, c) {
            (0, '\\') => 1,
            (1, 'u') => 5,
            (left, _) => usize::saturating_sub(left, 1),
        };
        if c.is_ascii_alphanumeric() && !is_escape { char::from(UNREAD) } else { c }
    };
    text.chars().map(dim).collect()
}

/// A fold, the text that it stands for, and what the reader makes of it.
#[derive(Debug)]
pub struct Read {
    /// The fold.
    pub fold: Fold,
    /// The restored text.
    pub whole: String,
    /// The text as read: equal, or with [`UNREAD`] in some places.
    pub read: String,
}

/// Reads the outermost folds of a text.
pub fn read(text: &str) -> Vec<Read> {
    let (mut before, mut seen, mut repeats) = (Prior::default(), String::new(), Vec::new());
    let mut found = Vec::new();
    let mut copied = 0;
    for (range, fold) in sealed_folds(text) {
        if range.start < copied {
            continue;
        }
        before.push(&text[copied..range.start]);
        seen.push_str(&text[copied..range.start]);
        copied = range.start;
        let Some(whole) = undone(&fold, &mut before) else { continue };
        let read = as_read(&fold, &mut before, &seen, &mut repeats).filter(|read| read.len() == whole.len());
        let read = read.unwrap_or_else(|| unread(&whole));
        before.push(&whole);
        seen.push_str(&read);
        copied = range.end;
        found.push(Read { fold, whole, read });
    }
    found
}

/// Returns the text of a fold as read. `seen` is the text before it as read; `repeats` are the parts of it that repeat
/// others.
fn as_read(fold: &Fold, before: &mut Prior, seen: &str, repeats: &mut Vec<Range<usize>>) -> Option<String> {
    let body = fold.body.as_deref().unwrap_or_default();
    if fold.legend == listing::LEGEND {
        return listing::with_numbers(body, true);
    }
    if let Some((prefixes, bare)) = prefixes::told(fold) {
        let lines = if bare.legend.is_empty() { bare.body? } else { as_read(&bare, before, seen, repeats)? };
        let text = prefixes.put(&lines)?;
        if matches!(prefixes, Before::Same(_)) {
            return Some(text);
        }
        let each = text.split('\n').zip(lines.split('\n')).enumerate().map(|(index, (line, bare))| {
            let prefix = &line[..line.len() - bare.len()];
            if index < MOST_ADDED { line.to_owned() } else { unread(prefix) + bare }
        });
        return Some(each.collect::<Vec<_>>().join("\n"));
    }
    match fold.stage.as_str() {
        "semanticDedup" => {
            let reference = Reference::parse(&fold.legend)?;
            let quoted = before.find_quoted(reference.quote)?;
            let lines = reference.lines_at(before.text(), quoted)?;
            let start = lines.as_ptr() as usize - before.text().as_ptr() as usize;
            let range = start..start + lines.len();
            let is_nested = repeats.iter().any(|other| other.start < range.end && range.start < other.end);
            repeats.push(seen.len()..seen.len() + lines.len());
            let read = seen.get(range)?;
            Some(if is_nested { unread(read) } else { read.to_owned() })
        }
        "ionizer" => ionizer::unfold_as(fold, true),
        _ => lines::unfold_as(fold, true).or_else(|| crate::unfold_after(fold, before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the reader makes of a fold, with `?` for what is not read.
    fn seen(stage: &str, legend: &str, body: &str) -> String {
        let fold = Fold::new(stage, legend, Some(body.to_owned()));
        let whole = crate::unfold(&fold).expect("a fold");
        let found = read(&fold.sealed(&whole).to_string());
        assert_eq!((found.len(), &found[0].whole, found[0].read.len()), (1, &whole, whole.len()));
        found[0].read.replace(char::from(UNREAD), "?")
    }

    #[test]
    fn a_value_is_read_up_to_three_rows_below_the_row_that_states_it() {
        let rows = |body| seen("rle", "{}: values, row by row", body);
        assert_eq!(rows("a: {+1} {}\n7 x\n. y\n. z\n. v\n. w\n12 u"), "7 x\n8 y\n9 z\n10 v\n?? w\n12 u");
        assert_eq!(
            rows("a: {/}\np/q/r/s/t/x\n^y\n^^z\n^^u\n^^v\n^^w"),
            "p/q/r/s/t/x\np/q/r/s/t/y\np/q/r/s/z\np/q/r/u\np/q/v\n?/?"
        );
        let eleven = format!("a: {{/}}\np/x{}", "\n^y".repeat(11));
        let below = seen("rle", "{}: values, row by row", &eleven);
        assert_eq!(below, format!("p/x{}\n?/?", "\np/y".repeat(10)));
        assert_eq!(rows("a: n {+1}\n1\n.\n*7"), "n 1\nn 2\nn 3\nn 4\nn 5\nn 6\nn 7\nn 8\nn 9");
        assert_eq!(rows("a: {} {=1}\n$1=long\n$1"), "long long\nlong long");
        let table = "A:id=^+1,name\n[A\nann;id=7\nbob\ncid\ndan\neve\n]";
        let legend = format!("json minified{}", ionizer::json::HOW_TO_READ);
        assert!(seen("ionizer", &legend, table).ends_with(r#"{"id":10,"name":"dan"},{"id":??,"name":"eve"}]"#));
    }

    #[test]
    fn a_name_in_a_name_and_a_row_of_nothing_are_not_read() {
        let json = |body| seen("ionizer", "json minified", body);
        assert_eq!(json("&1=path/\n&2:{at:&1x}\n[&2 &1y]"), r#"[{"at":"????/?"},"path/y"]"#);
        let made = "A:id,a=\"n{id}\",b=\"{a}s\"\n[A\n\"1\"\n\"2\"\n]";
        assert_eq!(json(made), r#"[{"id":"1","a":"n1","b":"???"},{"id":"2","a":"n2","b":"???"}]"#);
        assert_eq!(json("A:n=5\n[A\n\n\n]"), r#"[{"n":?},{"n":?}]"#);
    }
}
