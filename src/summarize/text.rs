//! Plain text -> first line, last line, the lines that carry a failure, a result or figures.
//!
//! Lines are ranked, not rewritten; a long paragraph is ranked by its sentences. The last line is quoted because a run
//! that fails says there why.

use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::log::{lines_from_end, tells_failure};
use super::numbers::which_lines;
use super::sheet::{Sheet, quote};
use crate::content::head;

/// Bytes of a line or sentence that are judged.
const FRONT: usize = 400;

/// Pieces that are ranked.
const KEPT: usize = 50_000;

static TELLING: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"(?i)\b(?:error|fail(?:ed|s|ure)?|warning|must|never|important|result|total|found|conclusion|summary|note|fixed|missing|created|because|root cause|flag|key|password|answer|done|successfully|recommend\w*)\b",
    )
});

/// Writes the summary; false when the text is blank.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let mut pieces = pieces(text).filter(|piece| piece.chars().any(char::is_alphanumeric));
    let Some(first) = pieces.next() else { return false };
    let last = lines_from_end(text).map(str::trim).next().filter(|last| !last.starts_with(first));
    sheet.say(&format!("text, {}", which_lines(text)));
    sheet.line(first, sheet.share(35).min(160));
    if let Some(last) = last {
        sheet.line(last, sheet.share(35).min(160));
    }
    let mut ranked: Vec<(usize, &str)> = pieces
        .take(KEPT)
        .filter(|piece| last != Some(piece))
        .map(|piece| (weight(piece), piece))
        .filter(|(weight, _)| *weight > 0)
        .collect();
    ranked.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    ranked.truncate(40);
    let ranked: Vec<String> = ranked.iter().map(|(_, piece)| quote(piece, 140)).collect();
    sheet.lines(&ranked, sheet.share(65));
    true
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let sentences = line.len() > FRONT;
        let whole = (!sentences).then_some(line);
        let split = sentences.then(|| line.split_inclusive(". "));
        whole.into_iter().chain(split.into_iter().flatten()).map(str::trim).filter(|piece| !piece.is_empty())
    })
}

/// A failure weighs more than a result, and a result more than figures.
fn weight(piece: &str) -> usize {
    const FAILURE: usize = 10;
    let piece = head(piece, FRONT);
    let failure = if tells_failure(piece) { FAILURE } else { 0 };
    let has_figure = piece.bytes().filter(u8::is_ascii_digit).count().min(3);
    let told = TELLING.find_iter(piece).take(3).count();
    let ends_label = usize::from(piece.ends_with(':'));
    if piece.len() < 12 && failure == 0 {
        return 0;
    }
    (failure + told * 3 + has_figure).saturating_sub(ends_label * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str, max_chars: usize) -> String {
        let mut sheet = Sheet::new(max_chars);
        assert!(summarize(text, &mut sheet));
        sheet.finish()
    }

    #[test]
    fn the_first_line_and_the_telling_lines_are_quoted() {
        let mut text = String::from("Report on the nightly migration\n\n");
        text += &"Nothing of interest happened in this part of the night.\n".repeat(40);
        text += "Total rows moved: 48213, root cause of the delay: lock on invoices\n";
        text += &"Nothing of interest happened in this part of the night.\n".repeat(40);
        assert_eq!(
            summary(&text, 200),
            "text, 83 lines\nReport on the nightly migration\nNothing of interest happened in this part of the…\n\
             Total rows moved: 48213, root cause of the delay: lock on invoices"
        );
    }

    #[test]
    fn the_error_that_ended_a_run_is_told() {
        let progress: String = (0..200).map(|i| format!("[{i}/200] synced tenant-{i} in {}ms\n", 40 + i % 9)).collect();
        let traceback = "Traceback (most recent call last):\n  File \"sync.py\", line 41, in <module>\n    main()\n";
        for (ending, told) in [
            (format!("{traceback}KeyError: 'acme-eu'\n"), &["KeyError: 'acme-eu'"] as &[&str]),
            (
                format!("{traceback}OSError: [Errno 28] No space left on device\n\nCommand exited with code 1\n"),
                &["OSError: [Errno 28] No space left on device", "Command exited with code 1"],
            ),
            ("Segmentation fault (core dumped)\nroot@box:~# \n".to_owned(), &["Segmentation fault (core dumped)"]),
            ("Killed\n\n(Command exited with code 137)\n$ \n".to_owned(), &["(Command exited with code 137)"]),
            (
                "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 7\n\
                 note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
                    .to_owned(),
                &["index out of bounds: the len is 3 but the index is 7", "thread 'main' panicked at src/main.rs:4:5:"],
            ),
        ] {
            let summary = summary(&format!("{progress}{ending}"), 300);
            for told in told {
                assert!(summary.contains(told), "{told}\n{summary}");
            }
        }
    }

    #[test]
    fn a_line_that_is_last_and_first_is_quoted_once() {
        let summary = summary(&"nothing to do here\n".repeat(30), 300);
        assert_eq!(summary.matches("nothing to do here").count(), 1, "{summary}");
    }

    #[test]
    fn a_long_paragraph_is_ranked_by_sentence() {
        let text =
            format!("{}The answer is 1729. {}", "Some words go by. ".repeat(60), "More words go by. ".repeat(60));
        assert!(summary(&text, 120).contains("The answer is 1729."), "{}", summary(&text, 120));
        assert!(summary(&text, 120).starts_with("text, one line\n"), "{}", summary(&text, 120));
    }

    #[test]
    fn blank_text_has_no_summary() {
        assert!(!summarize(" \n\t\n", &mut Sheet::new(100)));
    }
}
