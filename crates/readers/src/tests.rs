//! Tests of the readers with the cases of `fixtures/cases/forms`. The argument of a case names the reader.
//!
//! Most readers are applied to each line, some to each text; a line `%` separates texts. `␛`, `␇`, `␈`, `␍` and `␉`
//! stand for the control characters.

use std::fmt::Debug;

use crate::diff_hunk::{HunkHeader, StatRow};
use crate::hit_line::Row;
use crate::markup_block::{Fence, is_markdown_row, is_markdown_rule};
use crate::numbered::{Listing, NumberedLine};
use crate::time_stamp::Stamp;
use crate::{
    Hints, cut_note, diff_hunk, escapes, hints, hit_line, html, json_tree, log, markup, numbered, severity, table,
    test_report,
};

const PICTURES: [(char, char); 5] = [('␛', '\x1b'), ('␇', '\x07'), ('␈', '\x08'), ('␍', '\r'), ('␉', '\t')];

/// Returns each line with the answer of a reader after it.
pub(crate) fn lines<R: Debug>(input: &str, read: impl Fn(&str) -> R) -> String {
    let input = written(input);
    shown(input.lines().map(|line| format!("{line} => {}", said(&read(line)))))
}

/// Returns the answer of a reader for each text.
pub(crate) fn texts<R: Debug>(input: &str, read: impl Fn(&str) -> R) -> String {
    let input = written(input);
    shown(input.strip_suffix('\n').unwrap_or(&input).split("\n%\n").map(|text| said(&read(&format!("{text}\n")))))
}

/// The formatted answer of a reader that borrows from the text.
struct Debugged(String);

impl Debugged {
    fn of(answer: impl Debug) -> Self {
        Self(format!("{answer:?}"))
    }
}

impl Debug for Debugged {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Formats an answer in one or more lines: strings as they are, `Some` without its name.
fn said(answer: &impl Debug) -> String {
    let said = format!("{answer:?}");
    let said = said.strip_prefix("Some(").and_then(|said| said.strip_suffix(')')).unwrap_or(&said);
    match said.strip_prefix('"').and_then(|said| said.strip_suffix('"')) {
        Some(text) => text.replace("\\\"", "\"").replace("\\t", "\t").replace("\\r", "\r").replace("\\\\", "\\"),
        None => said.to_owned(),
    }
}

fn written(input: &str) -> String {
    PICTURES.iter().fold(input.to_owned(), |text, (picture, sign)| text.replace(*picture, &sign.to_string()))
}

fn shown(answers: impl Iterator<Item = String>) -> String {
    let text = answers.collect::<Vec<_>>().join("\n");
    PICTURES.iter().fold(text, |text, (picture, sign)| text.replace(*sign, &picture.to_string()))
}

#[test]
fn each_form_reads_as_its_cases_say() {
    concertina_cases::check!("forms", |input, reader| match reader {
        "path" => lines(input, hints::of_path),
        "info" => lines(input, hints::of_info),
        "command" => lines(input, hints::of_command),
        "stamp" => lines(input, |line| Stamp::find(line).map(|stamp| line[stamp.range].to_owned())),
        "level" => lines(input, |line| log::level(line).map(|(range, level)| (line[range].to_owned(), level))),
        "leading level" => lines(input, log::leads_with_level),
        "hit" => lines(input, |line| told(&hit_line::read_line(line))),
        "hits" => texts(input, |text| hit_line::read_lines(text).iter().map(|(_, row)| told(row)).collect::<Vec<_>>()),
        "number" => lines(input, |line| Debugged::of(NumberedLine::parse(line))),
        "listing" => texts(input, |text| Listing::of(text).map(|listing| listing.bare())),
        "lengths" => texts(input, numbered::number_lengths),
        "listed lines" => texts(input, |text| numbered::listed_lines(text).map(|lines| lines.len())),
        "hunk header" => lines(input, |line| Debugged::of(HunkHeader::parse(line))),
        "hunk" => texts(input, |text| {
            let (header, below) = text.split_once('\n')?;
            Some(HunkHeader::parse(header)?.body(below.lines()))
        }),
        "row of a diffstat" => lines(input, |line| Debugged::of(StatRow::parse(line))),
        "total of a diffstat" => lines(input, StatRow::is_total),
        "lines of a diff" => texts(input, |text| Some(text[..diff_hunk::block_end(text, 0)?].lines().count())),
        "document" => texts(input, html::is_document),
        "markup" => texts(input, |text| html::is_markup(&text.lines())),
        "pieces" => texts(input, |text| markup::pieces(text).map(Debugged::of).collect::<Vec<_>>()),
        "page" => texts(input, |text| html::is_page(text, &Hints::default())),
        "page of a path" => {
            lines(input, |path| html::is_page("<html>", &Hints { path: Some(path.to_owned()), ..Hints::default() }))
        }
        "page of a command" => lines(input, |command| {
            html::is_page("<html>", &Hints { command: Some(command.to_owned()), ..Hints::default() })
        }),
        "page of a tool" => lines(input, |tool| {
            html::is_page("<html>", &Hints { tool_name: Some(tool.to_owned()), ..Hints::default() })
        }),
        "fence" => lines(input, |line| Debugged::of(Fence::parse(line))),
        "row of Markdown" => lines(input, is_markdown_row),
        "rule of Markdown" => lines(input, is_markdown_rule),
        "control" => texts(input, |text| escapes::control(text.as_bytes())),
        "verdict" => lines(input, |line| Debugged::of(test_report::verdict(line))),
        "totals" => lines(input, |line| match test_report::is_totals(line) {
            true => [
                ("totals", true),
                ("of tests", test_report::is_test_totals(line)),
                ("with failures", test_report::have_failures(line)),
            ]
            .iter()
            .filter_map(|(word, is_so)| is_so.then_some(*word))
            .collect(),
            false => Vec::new(),
        }),
        "tree" => texts(input, |text| Debugged::of(json_tree::read(text))),
        "dialect" => texts(input, table::dialect_of),
        "separated" => texts(input, |text| table::separated(&text.lines().collect::<Vec<_>>()).next()),
        "rule" => lines(input, table::is_rule),
        "header" => lines(input, |line| table::is_header(line, b',')),
        "state" => lines(input, severity::severity_of_state),
        "value" => lines(input, severity::severity_of_value),
        "refusal" => lines(input, severity::refuses),
        "cut notes" => texts(input, |text| Debugged::of(cut_note::cut_text(text))),
        _ => panic!("no reader of this name: {reader}"),
    });
}

/// Formats the parts of a row.
fn told(row: &Row) -> String {
    let Row::Hit(hit) = row else { return format!("{row:?}") };
    let column = hit.column.map(|column| format!(", column {column}")).unwrap_or_default();
    let heading = if hit.is_headed { ", below its heading" } else { "" };
    format!("{:?} of {}{column}{heading}: {}", hit.form, hit.path, hit.text)
}
