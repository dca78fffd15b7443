//! `     1→a`, `     2→b`, … -> the same lines without the numbers that follow from the line above; `web-1  | a`, `web-1  | b`, … -> the
//! lines without what stands before each, which is said once, or in as many rows as it takes.
//!
//! Lossless. Without numbers each line still stands there byte for byte, so that an edit can be made from it. Other prefixes go with
//! whatever fold the lines alone have, or with none: what the legend says of them stands before what it says of the lines.

use std::ops::Range;

use concertina_format::prefixes::{EACH, ROWS, is_quotable};

use super::fold::{self, Fold};
use super::peeled::Peeled;
use super::restore::restore;
use super::stages::LISTINGS;
use super::{Edit, FusionContext, lines};
use crate::config::Encoding;
use crate::content::numbered::{LEGEND, listings, without_expected_numbers};
use crate::tokens;

fn fold(stage: &str, listing: &str) -> Option<Fold> {
    let bare = without_expected_numbers(listing).filter(|bare| bare.len() < listing.len())?;
    Some(Fold::new(stage, LEGEND, Some(bare)))
}

/// The folds of the listings in a part of a text, as edits of a stage; else the one of lines behind prefixes that only loses these.
pub(super) fn edits(context: &FusionContext, stage: &str, part: Range<usize>) -> Vec<Edit> {
    let listings = numbers(context.text, stage, part.clone());
    if !listings.is_empty() {
        return listings;
    }
    let lines = Peeled::of(&context.text[part.clone()], part.start, 1).filter(|lines| !lines.are_numbered);
    let edit = lines.and_then(|lines| {
        let bare = lines.text.strip_suffix('\n').unwrap_or(&lines.text);
        let fold = Fold::new(stage, "", Some(bare.to_owned()));
        lines.to_edit(context, Edit::fold(0..bare.len(), &fold))
    });
    edit.into_iter().collect()
}

fn numbers(text: &str, stage: &str, part: Range<usize>) -> Vec<Edit> {
    let text = &text[part.clone()];
    let edit = |listing: Range<usize>| {
        let fold = fold(stage, &text[listing.clone()])?;
        Some(Edit::fold(part.start + listing.start..part.start + listing.end, &fold))
    };
    listings(text).into_iter().filter_map(edit).collect()
}

/// A text that has to stay as it is line by line, without numbers that count on, where that saves tokens.
pub fn unnumbered(text: &str, encoding: Encoding) -> Option<String> {
    // What folds a text has of its own nobody must undo.
    if text.contains(fold::OPENING) {
        return None;
    }
    let mut short = text.to_owned();
    for mut edit in numbers(text, LISTINGS.name(), 0..text.len()).into_iter().rev() {
        edit.seal(&text[edit.range.clone()], false);
        short.replace_range(edit.range, &edit.text);
    }
    (tokens::count(&short, encoding) < tokens::count(text, encoding) && restore(&short, &[]) == text).then_some(short)
}

/// The fold of lines as one of the same lines behind prefixes, one for each line.
pub(super) fn behind(bare: Fold, prefixes: &[&str], encoding: Encoding) -> Option<Fold> {
    let same = prefixes.iter().all(|prefix| *prefix == prefixes[0]).then_some(prefixes[0]);
    let (words, rows) = match same.filter(|prefix| is_quotable(prefix)) {
        Some(prefix) => (format!("{EACH}\"{prefix}\""), None),
        None => {
            let rows = lines::fold(&bare.stage, &prefixes.join("\n"), encoding, |_| false)?.to_string();
            (format!("{EACH}{ROWS}{} lines", rows.split('\n').count()), Some(rows))
        }
    };
    let legend = if bare.legend.is_empty() { words } else { format!("{words}; {}", bare.legend) };
    let body = bare.body.into_iter().chain(rows).collect::<Vec<_>>().join("\n");
    Some(Fold::new(&bare.stage, legend, Some(body)))
}

#[cfg(test)]
mod tests {
    use concertina_format::prefixes::{Before, MAX_QUOTED, told};

    use super::*;

    /// The fold of lines behind prefixes, which comes back.
    fn folded(prefixes: &[String], legend: &str) -> String {
        let bare: Vec<String> =
            (0..prefixes.len()).map(|line| ["", "{", "[[FOLD:x 1]] y"][line % 3].to_owned()).collect();
        let alone = Fold::new("x", legend, Some(bare.join("\n")));
        let before: Vec<&str> = prefixes.iter().map(String::as_str).collect();
        let fold = behind(alone.clone(), &before, Encoding::O200kBase).expect("prefixes that fold");
        let (told, lines) = told(&fold).expect("prefixes that are told");
        assert_eq!(lines, alone, "{fold}");
        let text: Vec<String> = prefixes.iter().zip(&bare).map(|(prefix, line)| format!("{prefix}{line}")).collect();
        assert_eq!(told.put(&bare.join("\n")), Some(text.join("\n")), "{fold}");
        fold.to_string()
    }

    #[test]
    fn the_legend_says_what_stands_before_each_line() {
        assert!(
            folded(&["web-1  | "; 3].map(str::to_owned), "json 2")
                .starts_with("[[FOLD:x 3]] each line begins \"web-1  | \"; json 2\n")
        );
        assert!(folded(&[">\t".to_owned()], "").starts_with("[[FOLD:x 1]] each line begins \">\t\"\n"));
    }

    #[test]
    fn prefixes_that_differ_are_rows_at_the_end() {
        let made: [fn(usize) -> String; 5] = [
            |at| format!("2026-11-22T10:00:{:02}.{:03}Z ", at % 60, at * 37 % 1000),
            |at| format!("[{}/3] ", at % 3 + 1),
            |at| ["web-1  | ", "db-1   | "][at * at % 7 % 2].to_owned(),
            |at| if at % 10 == 9 { String::new() } else { ">> ".to_owned() },
            |_| "\"quoted\" ".to_owned(),
        ];
        for prefix in made {
            let prefixes: Vec<String> = (0..60).map(prefix).collect();
            let fold = folded(&prefixes, "json 2; more");
            assert!(fold.contains("]] each line begins as in the last "), "{fold}");
            assert!(fold.contains(" lines; json 2; more\n"), "{fold}");
        }
    }

    #[test]
    fn what_nobody_wrote_tells_of_no_prefixes() {
        for words in [
            "json 2",
            "each line begins ",
            "each line begins \"",
            "each line begins \"\"",
            "each line begins \"a\"json",
            "each line begins \"a\"; ",
            "each line begins as in the last 0 lines",
            "each line begins as in the last 02 lines",
            "each line begins as in the last +2 lines",
            "each line begins as in the last 9 lines",
            "each line begins as in the last 2 lines",
        ] {
            let fold = Fold::new("x", words, Some("a\nb\nc".to_owned()));
            assert!(told(&fold).is_none(), "{words}");
        }
        let long = format!("{EACH}\"{}\"", "a".repeat(MAX_QUOTED + 1));
        assert!(told(&Fold::new("x", long, Some("a".to_owned()))).is_none());
    }

    #[test]
    fn no_text_makes_much_of_little() {
        let lines = "\n".repeat(1 << 18);
        assert_eq!(Before::Same("a".repeat(MAX_QUOTED)).put(&lines), None);
        let rows =
            lines::fold("x", &"2026-11-22T10:00:00Z \n".repeat(9), Encoding::O200kBase, |_| false).expect("a fold");
        assert_eq!(Before::Rows(rows).put("b\nc"), None, "there are more prefixes than lines");
    }
}
