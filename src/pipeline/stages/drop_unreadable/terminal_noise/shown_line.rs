//! `10%\r50%\r100% done` -> `100% done`: computes the text of each line that stays visible on a terminal.
//!
//! Only a single line is emulated. If the cursor moves to other rows, the text of every state of the line is kept.
//! Tools print such output only to a terminal, and no recorded session contains any.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::content::escapes::{Control, control};

/// The width of the terminal, which limits cursor moves to the right.
const SCREEN_COLUMNS: usize = 240;

const TAB_COLUMNS: usize = 8;

/// A line of a text with its visible text.
#[derive(Debug)]
pub(super) struct ShownLine {
    /// The range of the line, without its line end and the carriage returns before it.
    pub(super) source: Range<usize>,
    /// The visible text; `None` if it equals the line.
    pub(super) shown: Option<String>,
}

impl ShownLine {
    /// Returns the visible text. `text` is the text that contains the line.
    pub(super) fn text<'a>(&'a self, text: &'a str) -> &'a str {
        self.shown.as_deref().unwrap_or(&text[self.source.clone()])
    }
}

/// Returns the lines of a text. If `is_plain`, all of them are shown unchanged. The time is linear.
pub(super) fn lines(text: &str, is_plain: bool) -> Vec<ShownLine> {
    let mut start = 0;
    let line = |line: &str| {
        let source = start..start + line.trim_end_matches('\n').trim_end_matches('\r').len();
        start += line.len();
        let shown = if is_plain { None } else { shown(&text[source.clone()]) };
        ShownLine { source, shown }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Returns the visible text of a line; `None` if it equals the line.
fn shown(line: &str) -> Option<String> {
    if !line.bytes().any(is_special) {
        return None;
    }
    let shown = match moves(line) {
        Moves::No | Moves::ToOtherRows => without_controls(line),
        Moves::WithinRow if is_table(line) => return None,
        Moves::WithinRow => {
            let mut row = Row::default();
            items(line).for_each(|item| row.write(item));
            let shown = row.cells.concat();
            let shown = shown.trim_end();
            // Moves over empty columns would turn into blanks.
            if shown.len() <= line.len() { shown.to_owned() } else { without_controls(line) }
        }
    };
    (shown != line).then_some(shown)
}

/// The characters of a row, each with its combining characters. Further columns of a wide character are empty.
type Cells<'a> = Vec<&'a str>;

/// A row of a terminal with its cursor.
#[derive(Default)]
struct Row<'a> {
    cells: Cells<'a>,
    column: usize,
}

impl<'a> Row<'a> {
    fn write(&mut self, item: Item<'a>) {
        match item {
            Item::Text(run) => self.put(run),
            Item::Return => self.column = 0,
            Item::Backspace => self.column = self.column.saturating_sub(1),
            Item::Tab => {
                let next = (self.column / TAB_COLUMNS + 1) * TAB_COLUMNS;
                if self.cells.len() <= self.column {
                    (self.column..next)
                        .for_each(|at| put(&mut self.cells, at, if at == self.column { "\t" } else { "" }));
                }
                self.column = next;
            }
            Item::Control(control) => self.obey(control),
        }
    }

    fn put(&mut self, run: &'a str) {
        if run.is_ascii() {
            (0..run.len()).for_each(|at| put(&mut self.cells, self.column + at, &run[at..=at]));
            self.column += run.len();
            return;
        }
        for character in run.graphemes(true) {
            put(&mut self.cells, self.column, character);
            self.column += 1;
            if columns(character) == 2 {
                put(&mut self.cells, self.column, "");
                self.column += 1;
            }
        }
    }

    fn obey(&mut self, control: Control) {
        let column = self.column;
        match control {
            Control::Forward(columns) => self.column = (column + columns).min(SCREEN_COLUMNS.max(column)),
            Control::Back(columns) => self.column = column.saturating_sub(columns),
            Control::Column(to) => self.column = to.min(SCREEN_COLUMNS.max(column)),
            Control::EraseInRow(0) | Control::EraseBelow => self.erase_from(column),
            Control::EraseInRow(1) => {
                let end = self.cells.len().min(column + 1).min(SCREEN_COLUMNS);
                (0..end).for_each(|at| put(&mut self.cells, at, " "));
            }
            Control::EraseInRow(_) => self.cells.clear(),
            // Lines with moves to other rows are not emulated.
            _ => {}
        }
    }

    fn erase_from(&mut self, column: usize) {
        if column < self.cells.len() {
            put(&mut self.cells, column, " ");
            self.cells.truncate(column);
        }
    }
}

/// Puts a character into a column. Overwriting one column of a wide character turns its other column into a blank.
fn put<'a>(cells: &mut Cells<'a>, column: usize, character: &'a str) {
    if column >= cells.len() {
        cells.resize(column, " ");
        cells.push(character);
        return;
    }
    // Clear the overwritten character, unless this call fills a further column of the new one.
    if !character.is_empty() {
        let start = (0..=column).rev().find(|&at| !cells[at].is_empty()).unwrap_or(0);
        cells[start..column].fill(" ");
    }
    cells[column] = character;
    if let Some(following) = cells.get_mut(column + 1..) {
        following.iter_mut().take_while(|cell| cell.is_empty()).for_each(|cell| *cell = " ");
    }
}

/// Returns the number of columns of a character.
fn columns(character: &str) -> usize {
    let is_wide = |c: char| {
        matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}'
            | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f900}'..='\u{1f9ff}' | '\u{20000}'..='\u{3fffd}')
    };
    let is_picture = character.contains('\u{fe0f}');
    if is_picture || character.chars().next().is_some_and(is_wide) { 2 } else { 1 }
}

/// Returns true for bytes that a terminal interprets.
fn is_special(byte: u8) -> bool {
    matches!(byte, 0x07 | 0x08 | b'\r' | 0x1b)
}

/// A piece of a line.
#[derive(Clone, Copy)]
enum Item<'a> {
    Text(&'a str),
    Return,
    Backspace,
    Tab,
    Control(Control),
}

fn items(line: &str) -> impl Iterator<Item = Item<'_>> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let byte = *bytes.get(at)?;
        at += 1;
        match byte {
            b'\r' => return Some(Item::Return),
            0x08 => return Some(Item::Backspace),
            b'\t' => return Some(Item::Tab),
            0x07 => return Some(Item::Control(Control::Silent)),
            0x1b => {
                if let Some((control, len)) = control(&bytes[start..]) {
                    at = start + len;
                    return Some(Item::Control(control));
                }
            }
            _ => {}
        }
        at += bytes[at..].iter().take_while(|&&byte| !is_special(byte) && byte != b'\t').count();
        Some(Item::Text(&line[start..at]))
    })
}

/// The range within which the controls of a line move the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moves {
    /// The controls neither move the cursor nor erase anything.
    No,
    WithinRow,
    ToOtherRows,
}

/// Returns the widest range of all controls in a line.
fn moves(line: &str) -> Moves {
    let of = |item| match item {
        Item::Text(_) | Item::Tab => Moves::No,
        Item::Control(Control::Colour | Control::Silent | Control::EraseInRow(0)) => Moves::No,
        Item::Control(
            Control::Up(_) | Control::Down(_) | Control::UpToStart(_) | Control::DownToStart(_) | Control::Place,
        ) => Moves::ToOtherRows,
        _ => Moves::WithinRow,
    };
    items(line).map(of).max().unwrap_or(Moves::No)
}

/// The minimum number of rows in a line that is a table, and of separators in a row.
const FEWEST_ROWS: usize = 4;
const FEWEST_MARKS: usize = 2;

/// Returns true if carriage returns separate the rows of a table, as old spreadsheets wrote them, and overwrite
/// nothing. Unlike progress output, most rows have the same number of fields and no blank at the start or after a
/// comma.
fn is_table(line: &str) -> bool {
    let rows = || line.split('\r').filter(|row| !row.is_empty());
    let Some(first) = rows().next() else { return false };
    [',', ';', '\t'].into_iter().any(|mark| {
        let marks = first.matches(mark).count();
        let is_tight = |row: &str| !row.starts_with(' ') && !row.contains(", ");
        let is_like = |row: &str| row.matches(mark).count() == marks && is_tight(row);
        let (all, alike) = rows().fold((0, 0), |(all, alike), row| (all + 1, alike + usize::from(is_like(row))));
        marks >= FEWEST_MARKS && all >= FEWEST_ROWS && alike * 4 >= all * 3
    })
}

/// Returns a line without controls. A move becomes a blank, and a move to another row becomes a line end.
fn without_controls(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for item in items(line) {
        match item {
            Item::Text(text) => shown.push_str(text),
            Item::Tab => shown.push('\t'),
            Item::Control(Control::Colour | Control::Silent | Control::EraseInRow(_)) => {}
            Item::Control(
                Control::Up(_) | Control::Down(_) | Control::UpToStart(_) | Control::DownToStart(_) | Control::Place,
            ) if !shown.is_empty() && !shown.ends_with('\n') => {
                shown.truncate(shown.trim_end_matches(' ').len());
                shown.push('\n');
            }
            _ if shown.ends_with([' ', '\n']) || shown.is_empty() => {}
            _ => shown.push(' '),
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut shown = text.to_owned();
        for line in lines(text, false).into_iter().rev() {
            if let Some(new) = line.shown {
                shown.replace_range(line.source, &new);
            }
        }
        shown
    }

    #[test]
    fn what_was_overwritten_is_out_of_sight() {
        for (text, expected) in [
            ("\x1b[32mok\x1b[0m \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\n", "ok link\n"),
            ("a 10%\ra 50%\ra 100%, done.\nnext\n", "a 100%, done.\nnext\n"),
            ("long line\rshort\n", "shortline\n"),
            ("long line\rshort\x1b[K\n", "short\n"),
            ("0% [Working]\r            \rHit:1 http://a\r\n", "Hit:1 http://a\r\n"),
            ("|\x08/\x08-\x08done\n", "done\n"),
            ("wait \x1b[?25l⠋\x1b[1G\x1b[0Kready\x1b[?25h", "ready"),
            ("N\x08NA\x08AM\x08ME\x08E\n  _\x08l_\x08s x\x08\x08\n", "NAME\n  ls x\n"),
            ("a\tb\rc\n", "c\tb\n"),
            ("漢字\rab\n漢字\ra\n", "ab字\na 字\n"),
            ("plain  \nlines\r\n", "plain  \nlines\r\n"),
            ("title\x07\x1b]0;t\x07\n", "title\n"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
            assert_eq!(shown(expected), expected, "{expected:?}");
        }
    }

    #[test]
    fn rows_of_a_table_are_no_states_of_a_line() {
        let row = |n: u32| format!("{n},Clay County,{},3.{n}", n * 7919 % 523);
        let table = ["id,county,site limit,factor".to_owned()].into_iter().chain((1..30).map(row));
        let table = table.collect::<Vec<_>>().join("\r");
        for text in [table.clone(), table.clone() + "\n(exit 0)\n"] {
            assert_eq!(shown(&text), text);
        }
        let bar = |n: u32| format!("  {n},768,000  {n}%  1.2MB/s  0:00:0{n} (xfr#{n}, to-chk=9/12)");
        let bars = (1..9).map(bar).collect::<Vec<_>>().join("\r");
        assert_eq!(shown(&bars), bar(8));
    }

    #[test]
    fn every_state_of_rows_that_were_gone_back_to_stays_in_sight() {
        for (text, expected) in [
            ("one 1%\ntwo 1%\n\x1b[2A\x1b[2Kone 100%\nend\n", "one 1%\ntwo 1%\none 100%\nend\n"),
            ("a\x1b[99Ab\n", "a\nb\n"),
            ("first\x1b[2;1Hsecond\x1b[H\x1b[2Jthird\n", "first\nsecond\nthird\n"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_cut_sequence_hides_nothing() {
        assert_eq!(shown("a\x1b]0;title\nall of this stays\n"), "a\x1b]0;title\nall of this stays\n");
    }

    #[test]
    fn hostile_texts_are_shown_once() {
        let up = format!("{}{}", "\n".repeat(50_000), "\x1b[1A".repeat(50_000));
        let bits = [
            "a\r",
            "a\x08",
            "\x1b[200Cx\n",
            "\x1b[99B",
            "\x1b[99A\n",
            "\x1b[A\n\n",
            "\x1b[H",
            "漢\r",
            "\t\x08",
            "\x1b[1K",
            "\x1b[J\n",
        ];
        for text in bits.iter().map(|bit| bit.repeat(100_000 / bit.len())).chain([up]) {
            let is_longer = |line: &ShownLine| line.shown.as_ref().is_some_and(|shown| shown.len() > line.source.len());
            let longer = lines(&text, false).iter().filter(|line| is_longer(line)).count();
            assert_eq!(longer, 0, "{:?}", &text[text.len() - 8..]);
        }
    }
}
