//! Finds the notes of hosts and tools that an output was cut: `… 812 tokens truncated …`, `[Showing lines 1-420 of
//! 3911. Full output: /tmp/a.log]`, `Showing 30 of 412 issues`, `(12 more results)`.
//!
//! A document may quote such notes, so most forms count at the ends of a text only. A note in the middle has to state
//! how much is missing.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::{head, line_pattern};

/// The number of lines with words at each end of a text that are searched. A host may print the exit code of a command
/// behind its note. Chosen by judgement.
const END_LINES: usize = 6;

/// The maximum length of a note in bytes: the longest ones name a path.
const LONGEST: usize = 400;

/// The maximum number of notes that are read. A text has one for each place where it was cut.
const MOST: usize = 3;

/// A text and what it says of being cut.
#[derive(Debug, Default)]
pub struct CutText<'t> {
    /// The notes in the order of the text, each a line or a part of one.
    pub notes: Vec<&'t str>,
    /// The text without the notes that are at its very ends.
    pub shown: &'t str,
}

/// A note at an end of a text.
static AT_AN_END: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)^(?:",
        r"(?:[\[(<…]|\.\.\.|\*\*\*).*(?:truncated|trimmed|omitted|clipped|not shown|full output|use '?offset",
        r"|\bshowing (?:lines|first|last|[0-9])",
        r"|\b[0-9,]+ more (?:results?|rows?|lines?|matches|files?|items?|entries|characters|chars|bytes)\b)",
        r"|showing (?:(?:first|last|the|only|lines|rows|results|items) )*[0-9][0-9,\- to]* (?:out )?of (?:about )?[0-9]",
        r"|(?:the )?(?:tool |command )?output (?:is |was |has been )?(?:too large|truncated)",
        r"|results? (?:is |are |were )?truncated",
        r"|full output (?:is )?(?:saved|written|stored|in|at|:)",
        r"|(?:and )?[0-9,]+ more (?:results|rows|lines|matches|files|items|entries)\b",
        r")",
    ))
});

/// A note anywhere, on a line of its own or within one.
static ANYWHERE: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)…\s?[0-9][0-9,]* (?:tokens?|lines?|char(?:acter)?s?|bytes) (?:truncated|omitted)\s?…",
        r"|\[\.\.\. ?[0-9][0-9,]* (?:more )?(?:char\w*|bytes|tokens|lines) truncated[^\]]*\]",
        r"|^\s*(?:[\[(<…]|\.\.\.)[\[(<….\s]*(?:",
        r"[0-9][0-9,]* (?:more )?(?:tokens?|lines?|char(?:acter)?s?|bytes|rows?|results?|matches|entries) (?:\w+ )?",
        r"(?:truncated|omitted|trimmed|not shown)",
        r"|(?:omitted|truncated) [0-9][0-9,]* (?:of [0-9,]+ )?(?:lines?|char|bytes)",
        r").*",
    ))
});

/// The lines that a host puts around what it shows of an output.
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| line_pattern(r"^(?:</?persisted-output>|</?file>|Preview \(first .{1,12}\):|\.\.\.|…)$"));

/// Words of which each note in the middle of a text has one.
static WORDS: LazyLock<Regex> = LazyLock::new(|| line_pattern("truncated|omitted|trimmed|not shown"));

/// Reads what a text says of being cut. Linear in the text.
pub fn cut_text(text: &str) -> CutText<'_> {
    let mut notes = Vec::new();
    let shown = without_notes(text, &mut notes, first_line);
    let mut shown = without_notes(shown, &mut notes, last_line);
    let in_the_middle = WORDS.find_iter(shown).filter_map(|word| ANYWHERE.find(line_around(shown, word.start())));
    notes.extend(in_the_middle.map(|note| note.as_str().trim()).take(MOST));
    notes.sort_by_key(|note| note.as_ptr());
    notes.dedup_by_key(|note| note.as_ptr());
    notes.truncate(MOST);
    if notes.is_empty() {
        shown = text;
    }
    CutText { notes, shown }
}

/// Collects the notes at an end of a text, and returns the text without those that only lines of a frame are outside
/// of, and without that frame.
fn without_notes<'t>(
    text: &'t str,
    notes: &mut Vec<&'t str>,
    split: impl Fn(&'t str) -> (&'t str, &'t str),
) -> &'t str {
    let (mut rest, mut shown, mut is_outermost, mut seen) = (text, text, true, 0);
    while seen < END_LINES && !rest.is_empty() {
        let (line, others) = split(rest);
        rest = others;
        let bare = line.trim();
        // A trace of Java leaves frames out by itself.
        let is_note = bare.len() <= LONGEST && AT_AN_END.is_match(bare) && !bare.contains("frames omitted");
        seen += usize::from(!bare.is_empty());
        if is_note {
            notes.push(bare);
        }
        is_outermost &= is_note || bare.is_empty() || FRAME.is_match(head(bare, LONGEST));
        if is_outermost {
            shown = rest;
        }
    }
    shown
}

/// Returns the first line of a text and the rest.
fn first_line(text: &str) -> (&str, &str) {
    text.split_at(memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1))
}

/// Returns the last line of a text and what is before it.
fn last_line(text: &str) -> (&str, &str) {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let (before, line) = text.split_at(memchr::memrchr(b'\n', body.as_bytes()).map_or(0, |at| at + 1));
    (line, before)
}

/// Returns at most [`LONGEST`] bytes on each side of a position in its line.
fn line_around(text: &str, at: usize) -> &str {
    let start = text.ceil_char_boundary(at.saturating_sub(LONGEST));
    let start = memchr::memrchr(b'\n', &text.as_bytes()[start..at]).map_or(start, |before| start + before + 1);
    let rest = &text[start..text.floor_char_boundary(at + LONGEST)];
    rest.split('\n').next().unwrap_or(rest)
}
