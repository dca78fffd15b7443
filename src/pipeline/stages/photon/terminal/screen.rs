//! `10%\r50%\r100% done` -> `100% done`: what a terminal leaves in sight of each line, as wide as need be.
//!
//! Rows that the cursor went back to stand together as one block. A place counted from the top of the screen is a new row here,
//! because nobody knows what stood there: rather too much stays in sight than too little.

use std::collections::VecDeque;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::content::escapes::{Control, control};

/// Rows of a terminal: the cursor never comes further up from the last one.
const SCREEN_ROWS: usize = 100;

/// Columns of a terminal, for cursors that are sent to the right.
const SCREEN_COLUMNS: usize = 240;

const TAB_COLUMNS: usize = 8;

/// Lines of a text and what is in sight of them.
#[derive(Debug)]
pub(super) struct Block {
    /// The lines, without the last line end and the carriage returns before it.
    pub(super) source: Range<usize>,
    /// What they show; `None` for themselves.
    pub(super) shown: Option<String>,
}

impl Block {
    /// What the lines show, given the text that they are of.
    pub(super) fn text<'a>(&'a self, text: &'a str) -> &'a str {
        self.shown.as_deref().unwrap_or(&text[self.source.clone()])
    }
}

/// Each line of a text, without its end and the carriage returns before that.
pub(super) fn sources(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let source = start..start + line.trim_end_matches('\n').trim_end_matches('\r').len();
        start += line.len();
        source
    })
}

/// Shows a text line by line. Linear but for the rows of a screen.
pub(super) fn show(text: &str) -> Vec<Block> {
    let mut screen = Screen { text, blocks: Vec::new(), row: 0, column: 0 };
    sources(text).for_each(|source| screen.line(source));
    screen.blocks.into_iter().map(|block| block.into_shown(text)).collect()
}

/// The characters of a row, each with its joiners; nothing for the further columns of a wide one.
type Cells<'a> = Vec<&'a str>;

struct Rows<'a> {
    source: Range<usize>,
    /// What the rows hold, for lines that do more than change colours.
    cells: Option<VecDeque<Cells<'a>>>,
}

impl Rows<'_> {
    fn into_shown(self, text: &str) -> Block {
        let source = &text[self.source.clone()];
        let shown = match self.cells {
            None if source.bytes().any(is_special) => Some(bare(source)),
            None => None,
            Some(_) if is_table(source) => None,
            Some(rows) => {
                let rows: Vec<String> = rows.into_iter().map(|row| row.concat().trim_end().to_owned()).collect();
                let shown = rows.join("\n");
                let shown = shown.trim_end_matches('\n').to_owned();
                // Moves over nothing, which would become blanks.
                Some(if shown.len() <= source.len() { shown } else { bare(source) })
            }
        };
        Block { shown: shown.filter(|shown| shown != source), source: self.source }
    }
}

struct Screen<'a> {
    text: &'a str,
    /// The last one holds the cursor.
    blocks: Vec<Rows<'a>>,
    row: usize,
    column: usize,
}

impl<'a> Screen<'a> {
    /// Shows a line where the cursor is.
    fn line(&mut self, source: Range<usize>) {
        let text = &self.text[source.clone()];
        self.column = 0;
        self.row += 1;
        match self.blocks.last_mut() {
            Some(Rows { source: before, cells: Some(rows) }) if self.row < rows.len() => before.end = source.end,
            _ => {
                let moves = moves(text);
                self.row = 0;
                self.blocks.push(Rows { source, cells: moves.then(|| VecDeque::from([Vec::new()])) });
                if !moves {
                    return;
                }
            }
        }
        self.write_line(text);
    }

    fn write_line(&mut self, text: &'a str) {
        for item in items(text) {
            match item {
                Item::Text(run) => self.write(run),
                Item::Return => self.column = 0,
                Item::Backspace => self.column = self.column.saturating_sub(1),
                Item::Tab => self.tab(),
                Item::Control(control) => self.obey(control),
            }
        }
    }

    fn rows(&mut self) -> &mut VecDeque<Cells<'a>> {
        let last = self.blocks.last_mut().and_then(|block| block.cells.as_mut());
        last.expect("the block with the cursor has cells")
    }

    fn cells(&mut self) -> &mut Cells<'a> {
        let row = self.row;
        &mut self.rows()[row]
    }

    fn write(&mut self, run: &'a str) {
        let mut column = self.column;
        let cells = self.cells();
        let mut put = |character: &'a str, columns: usize| {
            for further in 0..columns {
                put(cells, column, if further == 0 { character } else { "" });
                column += 1;
            }
        };
        if run.is_ascii() {
            (0..run.len()).for_each(|at| put(&run[at..=at], 1));
        } else {
            run.graphemes(true).for_each(|character| put(character, columns(character)));
        }
        self.column = column;
    }

    fn tab(&mut self) {
        let next = (self.column / TAB_COLUMNS + 1) * TAB_COLUMNS;
        let column = self.column;
        let cells = self.cells();
        if cells.len() <= column {
            (column..next).for_each(|at| put(cells, at, if at == column { "\t" } else { "" }));
        }
        self.column = next;
    }

    fn obey(&mut self, control: Control) {
        let column = self.column;
        match control {
            Control::Up(rows) => self.up(rows),
            Control::UpToStart(rows) => {
                self.up(rows);
                self.column = 0;
            }
            Control::Down(rows) => self.down(rows),
            Control::DownToStart(rows) => {
                self.down(rows);
                self.column = 0;
            }
            Control::Forward(columns) => self.column = (column + columns).min(SCREEN_COLUMNS.max(column)),
            Control::Back(columns) => self.column = column.saturating_sub(columns),
            Control::Column(to) => self.column = to.min(SCREEN_COLUMNS.max(column)),
            Control::Place => self.place(),
            Control::EraseInRow(0) => erase_from(self.cells(), column),
            Control::EraseInRow(1) => {
                let cells = self.cells();
                let end = cells.len().min(column + 1).min(SCREEN_COLUMNS);
                (0..end).for_each(|at| put(cells, at, " "));
            }
            Control::EraseInRow(_) => self.cells().clear(),
            Control::EraseBelow => {
                erase_from(self.cells(), column);
                let below = self.row + 1;
                self.rows().iter_mut().skip(below).for_each(Vec::clear);
            }
            Control::Colour | Control::Silent => {}
        }
    }

    fn down(&mut self, rows: usize) {
        let last = self.rows().len() - 1;
        if self.row == last && rows > 0 {
            self.rows().push_back(Vec::new());
            self.row += 1;
        } else {
            self.row = (self.row + rows).min(last);
        }
    }

    fn place(&mut self) {
        let rows = self.rows();
        if rows.back().is_some_and(|row| !row.is_empty()) {
            rows.push_back(Vec::new());
        }
        self.row = self.rows().len() - 1;
        self.column = 0;
    }

    fn up(&mut self, rows: usize) {
        let below = self.rows().len() - 1 - self.row;
        let rows = rows.min(SCREEN_ROWS.saturating_sub(below + 1));
        while self.row < rows && self.blocks.len() > 1 {
            self.join_last();
        }
        self.row = self.row.saturating_sub(rows);
    }

    /// Makes one block of the last two. What is less is moved.
    fn join_last(&mut self) {
        let (Some(mut last), Some(before)) = (self.blocks.pop(), self.blocks.pop()) else { return };
        let source = before.source.start..last.source.end;
        let mut above = before.cells.unwrap_or_else(|| VecDeque::from([line_cells(&self.text[before.source])]));
        let below = last.cells.get_or_insert_default();
        self.row += above.len();
        if above.len() < below.len() {
            while let Some(row) = above.pop_back() {
                below.push_front(row);
            }
            above = std::mem::take(below);
        } else {
            above.append(below);
        }
        self.blocks.push(Rows { source, cells: Some(above) });
    }
}

/// The cells of a line that moves nothing.
fn line_cells(line: &str) -> Cells<'_> {
    let blocks = vec![Rows { source: 0..line.len(), cells: Some(VecDeque::from([Vec::new()])) }];
    let mut screen = Screen { text: line, blocks, row: 0, column: 0 };
    screen.write_line(line);
    std::mem::take(screen.cells())
}

/// Puts a character into a column. A wide one of which a column goes leaves blanks.
fn put<'a>(cells: &mut Cells<'a>, column: usize, character: &'a str) {
    if column >= cells.len() {
        cells.resize(column, " ");
        cells.push(character);
        return;
    }
    // The columns of the character that has stood here, unless this is a further column of the one that comes.
    if !character.is_empty() {
        let start = (0..=column).rev().find(|&at| !cells[at].is_empty()).unwrap_or(0);
        cells[start..column].fill(" ");
    }
    cells[column] = character;
    if let Some(behind) = cells.get_mut(column + 1..) {
        behind.iter_mut().take_while(|cell| cell.is_empty()).for_each(|cell| *cell = " ");
    }
}

fn erase_from(cells: &mut Cells, column: usize) {
    if column < cells.len() {
        put(cells, column, " ");
        cells.truncate(column);
    }
}

/// How many columns a character takes.
fn columns(character: &str) -> usize {
    let is_wide = |c: char| {
        matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}'
            | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f900}'..='\u{1f9ff}' | '\u{20000}'..='\u{3fffd}')
    };
    let is_picture = character.contains('\u{fe0f}');
    if is_picture || character.chars().next().is_some_and(is_wide) { 2 } else { 1 }
}

/// What a terminal does not show as it stands.
fn is_special(byte: u8) -> bool {
    matches!(byte, 0x07 | 0x08 | b'\r' | 0x1b)
}

/// A piece of a line.
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

/// Whether a line moves the cursor or erases something.
fn moves(line: &str) -> bool {
    let stays = |item: &Item| {
        matches!(
            item,
            Item::Text(_) | Item::Tab | Item::Control(Control::Colour | Control::Silent | Control::EraseInRow(0))
        )
    };
    line.bytes().any(is_special) && !items(line).all(|item| stays(&item))
}

/// Fewest rows of a table in one line, and fewest marks between the fields of one.
const FEWEST_ROWS: usize = 4;
const FEWEST_MARKS: usize = 2;

/// Whether carriage returns end the rows of a table, as spreadsheets of old wrote them, and take nothing out of sight. Most have
/// as many fields, and no blanks before them or behind a comma, as progress has.
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

/// A line without its controls; a blank for each move.
fn bare(line: &str) -> String {
    let mut bare = String::with_capacity(line.len());
    for item in items(line) {
        match item {
            Item::Text(text) => bare.push_str(text),
            Item::Tab => bare.push('\t'),
            Item::Control(Control::Colour | Control::Silent | Control::EraseInRow(_)) => {}
            Item::Control(Control::Place) if !bare.is_empty() => bare.push('\n'),
            _ if bare.ends_with([' ', '\n']) || bare.is_empty() => {}
            _ => bare.push(' '),
        }
    }
    bare.truncate(bare.trim_end().len());
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut shown = text.to_owned();
        for block in show(text).into_iter().rev() {
            if let Some(new) = block.shown {
                shown.replace_range(block.source, &new);
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
    fn rows_that_were_gone_back_to_show_their_last_state() {
        for (text, expected) in [
            (
                "one 1%\ntwo 1%\n\x1b[2A\x1b[2Kone 100%\n\x1b[2Ktwo 50%\n\x1b[1A\x1b[2Ktwo 100%\nend\n",
                "one 100%\ntwo 100%\nend\n",
            ),
            ("head\na\nb\n\x1b[2F\x1b[Jc\nend\n", "head\nc\nend\n"),
            ("a\nb\n\x1b[1A\x1b[1A\x1b[Bx\n", "a\nx\n"),
            ("a\x1b[99Ab\n", "ab\n"),
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
            let longer = show(&text)
                .iter()
                .filter(|block| block.shown.as_ref().is_some_and(|shown| shown.len() > block.source.len()))
                .count();
            assert_eq!(longer, 0, "{:?}", &text[text.len() - 8..]);
        }
    }
}
