//! The lines that a read returned. They may be fewer than requested: hosts cut reads, with or without a notice.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::content::head;
use crate::content::numbered::renumbered;
use crate::content::severity::refuses;
use crate::reference::Marker;

/// A range of lines of a file, 1-based and not empty. A `last` of `None` means to the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineRange {
    pub(super) first: u64,
    pub(super) last: Option<u64>,
}

impl LineRange {
    /// All lines.
    pub(super) const ALL: Self = Self { first: 1, last: None };

    /// Returns true if every line of `other` is in this range.
    pub(super) fn covers(self, other: Self) -> bool {
        other.without(self).next().is_none()
    }

    /// Returns the lines of this range that are not in `other`.
    pub(super) fn without(self, other: Self) -> impl Iterator<Item = Self> {
        let before = Self { last: Some(self.last.unwrap_or(u64::MAX).min(other.first.saturating_sub(1))), ..self };
        let after = other.last.map(|last| Self { first: self.first.max(last.saturating_add(1)), last: self.last });
        [Some(before), after].into_iter().flatten().filter(|lines| lines.last.is_none_or(|last| last >= lines.first))
    }
}

/// The content that the result of a read shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadResult<'a> {
    /// The lines that were returned.
    pub(super) returned: LineRange,
    /// The same range, extended without end if it reaches the end of the file.
    pub(super) lines: LineRange,
    /// The text, without a notice of the host at its end.
    pub(super) text: Cow<'a, str>,
}

/// Returns the lines that a read's result shows, given the requested lines; `None` if the text does not tell, or shows
/// nothing.
///
/// The end of the file is reached if fewer lines than requested came back without a notice that there are more. A text
/// that stands for another one (a placeholder, a shortened output) has no countable lines.
pub(super) fn read_result(requested: LineRange, text: &str) -> Option<ReadResult<'_>> {
    /// Hosts that cut a read without a notice cut it at a multiple of this many lines: 500, 1,000 and 2,000 are in use.
    const SILENT_CUT_LINES: u64 = 500;
    let whole = renumbered(text);
    let text = &*whole;
    if text.starts_with("[REF_ID: ")
        || text.contains("[[FOLD:")
        || ends_in_marker(text)
        || NO_OUTPUT.is_match(text)
        || CLEARED.is_match(text)
        || MISSING_MIDDLE.is_match(text)
    {
        return None;
    }
    // A notice may follow the remainder of a cut line, in the last line.
    let last_line = text.trim_end().rfind('\n').map_or(0, |end| end + 1);
    let (text, cut_within_line) =
        match CUT_WITHIN_LINE.captures(&text[last_line..]).and_then(|found| found.name("words")) {
            Some(words) => (&text[..last_line + words.start()], Some(words.as_str())),
            None => (text, None),
        };
    let (mut count, mut end) = (0, 0);
    let mut notice: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        if line.starts_with("<system-reminder>") {
            break;
        }
        if notice.is_some() {
            // Lines are missing in the middle.
            if !line.trim().is_empty() {
                return None;
            }
        } else if line.trim_start().starts_with(['[', '(', '<', '.', '…']) && CUT_NOTICE.is_match(line) {
            notice = Some(line);
        } else {
            count += 1;
            end += line.len();
        }
    }
    let notice = notice.or(cut_within_line);
    let mut text = text[..end].trim_end();
    if notice.is_some_and(|notice| COUNTS_CHARACTERS.is_match(notice) && last_shown_line(notice).is_none()) {
        // The last line is an incomplete remainder.
        text = text[..text.rfind('\n')?].trim_end();
        count = 1 + memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    }
    if text.is_empty()
        || notice.and_then(|notice| number_in_notice(notice, "first")).is_some_and(|first| first != requested.first)
    {
        return None;
    }
    let len = text.len();
    let last_line_number = requested.first.checked_add(count)?.checked_sub(1)?;
    let may_be_silent_cut = count % SILENT_CUT_LINES == 0;
    let is_shorter_than_requested = match requested.last {
        None => !may_be_silent_cut,
        Some(last) => last_line_number < last && !may_be_silent_cut,
    };
    // Lines added by a host or a shell are not part of the file.
    let last_line_number =
        [requested.last, notice.and_then(last_shown_line)].into_iter().flatten().fold(last_line_number, u64::min);
    let returned = LineRange { first: requested.first, last: Some(last_line_number) };
    let reaches_the_end = notice.is_none() && is_shorter_than_requested;
    let lines = if reaches_the_end { LineRange { last: None, ..returned } } else { returned };
    let text = match whole {
        Cow::Borrowed(whole) => Cow::Borrowed(&whole[..len]),
        Cow::Owned(mut whole) => {
            whole.truncate(len);
            Cow::Owned(whole)
        }
    };
    (last_line_number >= requested.first).then_some(ReadResult { returned, lines, text })
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// Notices that a read was cut or a result was removed: `[80 more lines in file. Use offset=41 to continue]`, `... (9
/// more lines not shown. …)`, `[Showing lines 1-40 of 99 (50.0KB limit). …]`, `[... 4000 more characters truncated;
/// …]`, `[Old tool result content cleared]`.
static CUT_NOTICE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\A\s*(?:\[|\(|<|\.\.\.|…).*(?:more (?:lines|characters|chars|bytes)|truncated|trimmed|omitted|cleared|removed|squeezed|lines? not shown|showing lines|use offset|cut by the host|tool result:)",
    )
});

/// The notice of a cut by characters, after the remainder of a line.
static CUT_WITHIN_LINE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)[^\n](?<words>\[\.\.\. [0-9][0-9,]* (?:more )?char\w* truncated[^\]\n]*\])\s*\z"));

/// Notices that something before the end is missing. The pattern has literals only, because every read is searched at
/// every assembly.
static MISSING_MIDDLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)middle content omitted|tokens? truncated…|<response clipped>|file content has been truncated")
});

/// Notices that nothing of a result is left.
static CLEARED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\A\s*\[(?:tool result elided|partial:|read )"));

/// A cut that counts characters or bytes ends within a line.
static COUNTS_CHARACTERS: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\b(?:char\w*|bytes)\b"));

/// The line numbers in a cut notice: the line to continue with, and the lines shown.
static CUT_NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)use offset[= ]+(?<next>[0-9]+)|lines (?<first>[0-9]+) ?- ?(?<last>[0-9]+)"));

fn number_in_notice(notice: &str, name: &str) -> Option<u64> {
    CUT_NUMBERS.captures_iter(notice).find_map(|found| found.name(name)?.as_str().parse().ok())
}

/// Returns the line before the one to continue with, or the last line shown, according to a cut notice.
fn last_shown_line(notice: &str) -> Option<u64> {
    number_in_notice(notice, "next").and_then(|next| next.checked_sub(1)).or_else(|| number_in_notice(notice, "last"))
}

/// Texts that shells and tools print when there is no output.
static NO_OUTPUT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\A\s*[\[(<]?(?:no (?:output|content)|(?:the )?(?:empty file|file is empty)|empty)\b[^\n]*\s*\z")
});

fn ends_in_marker(text: &str) -> bool {
    text.lines().last().is_some_and(|line| {
        crate::reference::find_markers(line).any(|(_, marker)| !matches!(marker, Marker::Repeat { .. }))
    })
}

/// The number of bytes at the beginning of a line or a text that are searched for words on success or failure. Chosen
/// by judgement.
const HEAD_BYTES: usize = 400;

/// Returns true if the first or last two lines of a result report that its call failed, as systems and shells do, or as
/// an error envelope of a tool.
pub fn reports_failure(text: &str) -> bool {
    static ENVELOPE: LazyLock<Regex> =
        LazyLock::new(|| regex(r#"(?i)\A\s*<tool_use_error>|"status"\s*:\s*"error"|"error"\s*:\s*["{]"#));
    let is_failure = |line: &str| refuses(line) || ENVELOPE.is_match(head(line, HEAD_BYTES));
    text.lines().take(2).any(is_failure) || text.lines().rev().take(2).any(is_failure)
}

/// Returns true if the answer to a call that changes a file reports that it did not: a person refused it, or the tool
/// failed.
pub(super) fn reports_no_change(text: &str) -> bool {
    static NO_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?i)missing tool result|(?-ui:\bE[A-Z]{3,}:)|denied|rejected|cancell?ed|aborted|interrupted|unable to|\snot\s|user modified|no changes|doesn't want to",
        )
    });
    let first = text.lines().next().unwrap_or_default();
    NO_CHANGE.is_match(head(first, HEAD_BYTES))
}

/// Returns true if the answer to a call that writes a whole file reports success, in the words of known tools or by
/// empty output.
pub(super) fn reports_success(text: &str) -> bool {
    static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r#"(?ix)
            \A \s* (?: <\w+> \s* )? (?:
                (?: successfully | wrote | created | updated | saved | overwrote ) (?-u:\b)
                | (?: done | ok | success | written ) [\x20\t]* (?: [.:,!] (?: \s | \z ) | [(\n] | \z )
                | (?: the\ )? (?: new\ )? file \s (?: \S+ \s )? (?: was \s | has\ been \s )? (?: successfully \s )?
                  (?: created | written | updated | saved | overwritten ) (?: \s successfully )? [\x20\t]*
                  (?: (?: at | to ) (?-u:\b) | [.:,!] (?: \s | \z ) | [(\n] | \z )
                | the\ following\ files\ were\ successfully (?-u:\b)
                | \{ [^{}]* " (?: (?: ok | success ) " \s* : \s* true | bytes_?written " \s* : )
            )"#,
        )
    });
    /// Texts that a shell or a host prints for a command without output.
    static SILENCE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?ix)
            \A \s* (?:
                [^\n]{0,60} (?-u:\b) (?: no | without\ any ) \ output [\])>.]*
                | <returncode> 0 </returncode> \s* <output> \s* </output>
            )? \s* \z",
        )
    });
    WRITTEN.is_match(head(text, HEAD_BYTES)) || SILENCE.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::numbered::{LEGEND, without_expected_numbers};
    use concertina_cases::check;
    use concertina_format::fold::Fold;

    fn of(first: u64, last: u64) -> LineRange {
        LineRange { first, last: Some(last) }
    }

    fn from(first: u64) -> LineRange {
        LineRange { first, last: None }
    }

    #[test]
    fn a_range_covers_what_lies_in_it() {
        assert!(LineRange::ALL.covers(of(5, 9)) && LineRange::ALL.covers(LineRange::ALL));
        assert!(of(2, 9).covers(of(2, 9)) && !of(2, 9).covers(of(1, 3)) && !of(2, 9).covers(of(8, 10)));
        assert!(!of(1, 900).covers(LineRange::ALL) && !from(2).covers(LineRange::ALL) && from(2).covers(from(3)));
    }

    #[test]
    fn what_a_range_leaves_of_another_lies_on_both_sides_of_it() {
        for (lines, other, left) in [
            (of(1, 9), of(4, 6), vec![of(1, 3), of(7, 9)]),
            (of(1, 9), of(1, 6), vec![of(7, 9)]),
            (of(1, 9), of(6, 20), vec![of(1, 5)]),
            (of(1, 9), of(12, 20), vec![of(1, 9)]),
            (of(5, 9), of(1, 3), vec![of(5, 9)]),
            (from(3), of(5, 6), vec![of(3, 4), from(7)]),
            (LineRange::ALL, from(9), vec![of(1, 8)]),
            (of(2, 3), LineRange::ALL, vec![]),
        ] {
            assert_eq!(lines.without(other).collect::<Vec<_>>(), left, "{lines:?} without {other:?}");
        }
    }

    #[test]
    fn a_listing_that_leaves_numbers_out_shows_as_much() {
        let listing: String = (1..60).map(|line| format!("{line:>6}\tline {line}\n")).collect();
        let bare = without_expected_numbers(listing.trim_end());
        let folded = format!("{}\n\n[7 more lines in file. Use offset=60 to continue]", Fold::new("x", LEGEND, bare));
        let whole = format!("{listing}\n[7 more lines in file. Use offset=60 to continue]");
        assert_eq!(read_result(LineRange::ALL, &folded), read_result(LineRange::ALL, &whole));
        assert_eq!(read_result(LineRange::ALL, &folded).unwrap().returned, of(1, 59));
    }

    /// The argument is the requested range.
    #[test]
    fn what_reads_show() {
        check!("reads", |input, requested| {
            let (first, last) = requested.split_once('-').expect("a range");
            let requested = LineRange { first: first.parse().unwrap(), last: last.parse().ok() };
            let Some(ReadResult { returned, lines, text }) = read_result(requested, input) else {
                return "nothing".to_owned();
            };
            let written = |LineRange { first, last }| {
                format!("{first}-{}", last.map_or_else(String::new, |last: u64| last.to_string()))
            };
            format!("came back {}, shows {}, {} bytes", written(returned), written(lines), text.len())
        });
    }

    /// Each line of an input is an answer, with its line ends as `\n`.
    #[test]
    fn what_answers_of_tools_say() {
        check!("tool_answers", |input, requested| {
            let says = |line: &str| {
                let answer = line.replace("\\n", "\n");
                match requested {
                    "no change" => reports_no_change(&answer),
                    "written" => reports_success(&answer),
                    _ => read_result(LineRange::ALL, &answer).is_some(),
                }
            };
            input.lines().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{}\n", says(line))).collect()
        });
    }
}
