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

/// A number, with its unit if that is of memory.
const NUMBER: &str = r"\+?\b[0-9][0-9,.]*(?: ?[kmg]i?b)?";

/// The units of a text.
const TEXT_UNIT: &str = "(?:lines?|rows?|records?|bytes?|char(?:acter)?s?|tokens?)";

/// The units of a text and of what tools list.
const UNIT: &str = concat!(
    "(?:lines?|rows?|records?|bytes?|char(?:acter)?s?|tokens?|items?|entry|entries|results?|match(?:es)?|files?|hits?",
    "|objects?|elements?|messages?|issues?|errors?|warnings?|problems?|keys?|columns?)",
);

/// Words that say by themselves that a part is missing.
const CUT: &str = "(?:truncated|trimmed|omitted|clipped|elided|snipped|not (?:shown|displayed|listed|printed))";

/// Words that say so only of a number of lines. Tests and files are skipped for other reasons.
const LEFT_OUT: &str = "(?:skipped|hidden|cut)";

/// Compiles a pattern in which names stand for the constants above.
fn note_pattern(pattern: &str) -> Regex {
    let names = [("NUMBER", NUMBER), ("TEXT_UNIT", TEXT_UNIT), ("UNIT", UNIT), ("CUT", CUT), ("LEFT_OUT", LEFT_OUT)];
    line_pattern(&names.iter().fold(pattern.to_owned(), |pattern, (name, words)| pattern.replace(name, words)))
}

/// A note at an end of a text.
static AT_AN_END: LazyLock<Regex> = LazyLock::new(|| {
    note_pattern(concat!(
        r"(?i)^(?:",
        // A line that begins with a sign of a note.
        r"(?:[\[(<…]|\.\.\.|\*\*\*|# (?:ℹ|…|\.\.\.)).*(?:CUT|full output|use '?offset",
        r"|\bshowing (?:lines|first|last|[0-9])|NUMBER (?:more|additional|further) UNIT\b",
        r"|NUMBER TEXT_UNIT (?:[a-z]+ )?LEFT_OUT\b|\bLEFT_OUT NUMBER TEXT_UNIT\b)",
        r"|(?:…|\.\.\.) ?(?:and )?\+[0-9][0-9,]* TEXT_UNIT\b|(?:…|\.\.\.) ?and [0-9][0-9,]* more\W*$",
        r"|\[(?:\.\.\.|…)\]$",
        // A pager.
        r"|--+ ?more ?--|--+ .*not (?:shown|displayed)|lines [0-9]+-[0-9]+(?:/[0-9]+)? [0-9]+%",
        // A line of its own.
        r"|showing (?:(?:first|last|the|only|lines|rows|results|items) )*[0-9][0-9,\- to]* ",
        r"(?:out )?of (?:about )?[0-9]",
        r"|(?:only )?(?:the )?(?:first|last|top) NUMBER UNIT (?:are |were )?(?:shown|displayed|listed)\b",
        r"|NUMBER of NUMBER UNIT (?:are |were )?(?:shown|displayed|listed)\b",
        r"|(?:and )?NUMBER (?:more|additional|further) UNIT\b",
        r"|NUMBER UNIT (?:are |were |is |was )?(?:hidden\b|CUT)",
        r"|full output (?:is )?(?:saved|written|stored|in|at|:)",
        r"|(?:the )?(?:tool |command )?output (?:is |was |has been )?too large",
        // A sentence on the output.
        r"|(?:(?:warning|error|note): )?(?:(?:the|this|job(?:'s)?|build|resulting|tool|command) )*",
        r"(?:output|log|json|results?|stdout) (?:(?:output|length|size|is|are|was|were|has|have|been) )*",
        r"(?:truncated|clipped|cut off|exceed(?:s|ed) (?:[a-z]+ ){0,2}(?:limit|maximum|size|length)\b)",
        r")",
    ))
});

/// A note anywhere, on a line of its own or within one.
static ANYWHERE: LazyLock<Regex> = LazyLock::new(|| {
    note_pattern(concat!(
        r"(?i)…\s?[0-9][0-9,]* (?:tokens?|lines?|char(?:acter)?s?|bytes) (?:truncated|omitted)\s?…",
        r"|\[\.\.\. ?[0-9][0-9,]* (?:more )?(?:char\w*|bytes|tokens|lines) truncated[^\]]*\]",
        r"|^\s*(?:[\[(<…⋮]|\.\.\.|\*\*\*)[\[(<….\s]*(?:",
        r"[0-9][0-9,]* (?:more )?(?:TEXT_UNIT|results?|matches|entries) (?:[a-z]+ )?(?:CUT|LEFT_OUT\b)",
        r"|(?:omitted|truncated) [0-9][0-9,]* (?:of [0-9,]+ )?(?:lines?|char|bytes)",
        r"|output (?:truncated|trimmed|clipped)\b).*",
        r"|^\s*[^\w\s][^\w\n]*(?:8 )?snip(?:ped)?\b(?: 8)?[^\w\n]+$",
        // A few words between two signs.
        r"|^\s*(?:[\[(<…@]|\.\.\.)[^\w\n]*(?:[a-z]+ ){0,5}(?:truncated|trimmed|omitted|elided)\b[^\w\n]*[\])>….@]$",
        r"|^[^\w\n]*(?:\.\.\.|…)[^\w\n]*(?:[a-z]+ ){0,5}(?:removed|hidden)\b[^\w\n]*(?:\.\.\.|…)[^\w\n]*$",
    ))
});

/// The lines that a host puts around what it shows of an output.
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| line_pattern(r"^(?:</?persisted-output>|</?file>|Preview \(first .{1,12}\):|\.\.\.|…)$"));

/// Words of which each note in the middle of a text has one.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        "(?i)truncated|omitted|trimmed|clipped|elided|removed|snip|not (?:shown|displayed)|s (?:skipped|cut)|hidden",
    )
});

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

/// Returns true if a line between others is a note that states how much is missing.
pub(crate) fn is_note_between_lines(line: &str) -> bool {
    WORDS.is_match(head(line, LONGEST)) && ANYWHERE.is_match(head(line, LONGEST))
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

#[cfg(test)]
mod tests {
    use super::*;

    const BODIES: [&str; 4] = [
        "id,name\n1,ash\n2,oak\n3,elm\n",
        " id | name\n----+------\n  1 | ash\n  2 | oak\n",
        "[\n  {\"id\": 1},\n  {\"id\": 2}\n]\n",
        "ash\noak\n\nelm\nfir\nyew\n",
    ];

    #[test]
    fn a_number_a_unit_and_a_word_for_a_cut_are_a_note_in_each_order_and_frame() {
        let words = ["skipped", "omitted", "hidden", "cut", "truncated", "not shown", "not displayed"];
        let mut notes = Vec::new();
        for number in ["7", "1,204", "48213"] {
            for unit in ["lines", "rows", "bytes", "characters"] {
                notes.extend(words.map(|word| format!("{number} {unit} {word}")));
                notes.extend(words[..5].iter().map(|word| format!("{word} {number} {unit}")));
            }
            for unit in ["lines", "rows", "items", "entries", "results", "files", "errors"] {
                notes.push(format!("{number} more {unit}"));
                notes.push(format!("with {number} additional {unit} not shown"));
            }
        }
        for body in BODIES {
            for note in &notes {
                for note in
                    [format!("[... {note} ...]"), format!("… {note}"), format!("({note})"), format!("*** {note} ***")]
                {
                    let text = format!("{body}{note}\n");
                    let cut = cut_text(&text);
                    assert_eq!((cut.notes, cut.shown), (vec![&*note], body));
                }
            }
        }
    }

    #[test]
    fn the_notes_of_tools_are_not_a_part_of_what_they_cut() {
        for note in [
            "… +61 lines (ctrl+o to expand)",
            "# ℹ 3,310 more rows",
            "# … with 44 more rows",
            "# ... with 9 more rows, and 3 more columns",
            "and 41 more warnings",
            "... and 8 more",
            "Job's log exceeded limit of 2097152 bytes.",
            "The job log has exceeded the limit of 8 MB",
            "WARNING: resulting JSON is truncated at a depth of 3",
            "Output exceeds the size limit. Open it in an editor",
            "The output has exceeded the maximum length and was truncated.",
            "Only the first 50 matches are shown.",
            "30 of 412 problems shown. Use --all for the rest",
            "-- rows not shown --",
            "--More--",
            "lines 1-40/310 12%",
            "4 results hidden",
        ] {
            for body in BODIES {
                let text = format!("{body}{note}\n");
                let cut = cut_text(&text);
                assert_eq!((cut.notes, cut.shown), (vec![note], body));
            }
        }
    }

    #[test]
    fn a_note_between_lines_says_how_much_is_missing() {
        let body = "ash\noak\nelm\nfir\nyew\nbox\nbay\n";
        for note in [
            "[... 88 lines skipped ...]",
            "*** 17 lines cut ***",
            "... output trimmed to fit ...",
            "<...snip...>",
            "--- >8 snip 8< ---",
            "(2,000 rows not displayed)",
        ] {
            assert_eq!(cut_text(&format!("{body}{note}\n{body}")).notes, [note]);
        }
    }

    #[test]
    fn what_was_not_cut_from_the_output_is_no_note() {
        for line in [
            "3 skipped",
            "12 tests skipped",
            "[12 tests skipped]",
            "(3 skipped, 1 failed)",
            "2 files skipped due to complete coverage.",
            "10 rows skipped",
            "... 23 more",
            "2 more commits",
            "... and 2 more commits",
            "5 packets dropped, 3 hidden",
            "Your branch is ahead by 2 commits.",
            "1 file changed, 12 lines cut from it",
            "The rows that are hidden have no owner.",
            "A log exceeds its limit when nobody rotates it.",
            "The result exceeded all expectations.",
            "limit exceeded",
            "lines 3-9 of the file",
            "[3 workers skipped]",
            "snip the wire",
            "the file was truncated",
            "-- SELECT is hidden",
            "There are 3 more errors of this kind in the tests.",
        ] {
            for body in BODIES {
                assert_eq!(cut_text(&format!("{body}{line}\n")).notes, [""; 0], "{line}");
                assert_eq!(cut_text(&format!("{body}{line}\n{body}")).notes, [""; 0], "{line}");
            }
        }
    }
}
