//! The lines of a text, with cached properties.
//!
//! A text is judged as a whole, then in parts, at headings and at blank lines. The properties of a single line do not
//! change: each is computed when it is first asked for and cached with the line.

use std::cell::{Cell, OnceCell};

use super::prose_shape::{Class, is_setting, shown};
use super::{code, program_output, search, tables};
use crate::hit_line::{Row, read_headed, read_line};
use crate::lines::{Line, lines, sample};
use crate::markup_block::{self, Fence};
use crate::time_stamp::Stamp;
use crate::{diff_hunk, json_span, log};

/// A line with its cached properties.
#[derive(Debug)]
pub(super) struct PageLine<'t> {
    /// The start of the line, and the start of the next line, in the text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The text of the line without its line end (`text`), and also without surrounding blanks (`bare`).
    pub(super) text: &'t str,
    pub(super) bare: &'t str,
    /// The bits of the questions that were asked; the same bits of `answers` hold the answers.
    asked: Cell<u64>,
    answers: Cell<u64>,
    class: Cell<Option<Class>>,
    bone_class: Cell<Option<Class>>,
    clues: OnceCell<Box<[u16]>>,
}

macro_rules! questions {
    ($($name:ident: $line:ident => $answer:expr;)*) => {
        /// A question about a line.
        #[derive(Debug, Clone, Copy)]
        pub(super) enum Question { $($name),* }

        impl Question {
            const COUNT: usize = [$(Self::$name),*].len();

            fn answer(self, seen: &PageLine) -> bool {
                match self { $(Self::$name => { let $line = seen; $answer })* }
            }
        }
    };
}

questions! {
    Blank: line => line.bare.is_empty();
    DiffStart: line => diff_hunk::may_start(line.text);
    Fence: line => Fence::parse(line.text).is_some();
    Hit: line => read_line(line.text) != Row::Other;
    Headed: line => read_headed(line.text) != Row::Other;
    Listed: line => search::is_listed(line.text);
    SurelyListed: line => search::is_surely_listed(line.text);
    UnnumberedHit: line => search::is_unnumbered_hit(line.text);
    Url: line => search::is_url_line(line.bare);
    Message: line => search::is_compiler_message(line.text);
    Stamped: line => Stamp::find(line.text).is_some();
    LeadsWithLevel: line => log::leads_with_level(line.text);
    Output: line => program_output::is_output_line(line.text);
    Frame: line => program_output::is_frame(line.text);
    Record: line => json_span::is_record(line.bare);
    Member: line => json_span::is_member(line.bare);
    Item: line => json_span::is_item(line.bare);
    Setting: line => is_setting(line.bare);
    OpensBlock: line => code::opens_block(line.bare).is_some();
    MarkdownHeading: line => markup_block::is_heading(shown(line.bare));
    MarkdownItem: line => markup_block::without_list_mark(shown(line.bare)).len() < shown(line.bare).len();
    MarkdownQuote: line => shown(line.bare).starts_with("> ");
    MarkdownLink: line => markup_block::has_link(shown(line.bare));
    MarkdownEmphasis: line => markup_block::has_emphasis(shown(line.bare));
    MarkdownRule: line => markup_block::is_markdown_rule(shown(line.bare));
    Gap: line => tables::has_gap(line.text);
    Numbers: line => tables::has_number(line.text);
    Hash: line => tables::has_hash(line.text);
    Mode: line => tables::has_mode(line.text);
}

const _: () = assert!(Question::COUNT <= 64);

impl<'t> PageLine<'t> {
    /// Returns the answer to a question.
    pub(super) fn is(&self, question: Question) -> bool {
        let bit = 1 << question as u32;
        if self.asked.get() & bit == 0 {
            let answer = question.answer(self);
            self.asked.set(self.asked.get() | bit);
            self.answers.set(self.answers.get() | if answer { bit } else { 0 });
        }
        self.answers.get() & bit != 0
    }

    /// Returns the fence that the line opens or closes.
    pub(super) fn fence(&self) -> Option<Fence<'t>> {
        if self.is(Question::Fence) { Fence::parse(self.text) } else { None }
    }

    /// Returns true if the line is one of a log.
    pub(super) fn is_log(&self) -> bool {
        self.is(Question::Stamped) || self.is(Question::LeadsWithLevel)
    }

    /// Returns the class of the line.
    pub(super) fn class(&self) -> Class {
        self.class.get().unwrap_or_else(|| {
            let class = Class::of(self.bare);
            self.class.set(Some(class));
            class
        })
    }

    /// Returns the class of the line without its comment.
    pub(super) fn bone_class(&self) -> Class {
        self.bone_class.get().unwrap_or_else(|| {
            let bone = code::bone(self.bare);
            let class = if *bone == *shown(self.bare) { self.class() } else { Class::of(&bone) };
            self.bone_class.set(Some(class));
            class
        })
    }

    /// Returns the language clues in the line without its comment.
    pub(super) fn clues(&self) -> &[u16] {
        self.clues.get_or_init(|| code::clues(&code::bone(self.bare)))
    }
}

/// A text with its lines.
#[derive(Debug)]
pub(super) struct Page<'t> {
    text: &'t str,
    lines: Vec<PageLine<'t>>,
}

impl<'t> Page<'t> {
    /// Splits a text into lines.
    pub(super) fn of(text: &'t str) -> Self {
        let seen = |line: Line<'t>| PageLine {
            start: line.start,
            end: line.end,
            text: line.text,
            bare: line.text.trim(),
            asked: Cell::default(),
            answers: Cell::default(),
            class: Cell::default(),
            bone_class: Cell::default(),
            clues: OnceCell::new(),
        };
        Self { text, lines: lines(text).map(seen).collect() }
    }

    /// Returns a view of all lines.
    pub(super) fn view(&self) -> View<'_, 't> {
        View { above: self.text, lines: &self.lines }
    }
}

/// Consecutive lines of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'p, 't> {
    /// The text up to the end of these lines.
    pub(super) above: &'t str,
    /// The lines.
    pub(super) lines: &'p [PageLine<'t>],
}

impl<'p, 't> View<'p, 't> {
    /// Returns the start of the lines in the text.
    pub(super) fn start(&self) -> usize {
        self.lines.first().map_or(self.above.len(), |line| line.start)
    }

    /// Returns the byte range of the lines in the text.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start()..self.above.len()
    }

    /// Returns the text of the lines.
    pub(super) fn text(&self) -> &'t str {
        &self.above[self.range()]
    }

    /// Returns the lines in a range of the text, which must begin and end at line boundaries.
    pub(super) fn within(&self, range: std::ops::Range<usize>) -> Self {
        let lines = &self.lines[self.index(range.start)..self.index(range.end)];
        Self { above: &self.above[..range.end], lines }
    }

    /// Returns the number of lines that start before a byte of the text.
    pub(super) fn index(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start < at)
    }

    /// Returns the lines that are not blank.
    pub(super) fn filled(&self) -> impl Iterator<Item = &'p PageLine<'t>> + use<'p, 't> {
        filled(self.lines)
    }

    /// Applies `look` to a sample of the lines.
    pub(super) fn sampled<T>(&self, look: impl FnOnce(View) -> T) -> T {
        match sample(self.text()) {
            std::borrow::Cow::Borrowed(_) => look(*self),
            std::borrow::Cow::Owned(sample) => look(Page::of(&sample).view()),
        }
    }
}

/// Returns the lines that are not blank.
pub(super) fn filled<'p, 't: 'p>(
    lines: impl IntoIterator<Item = &'p PageLine<'t>>,
) -> impl Iterator<Item = &'p PageLine<'t>> {
    lines.into_iter().filter(|line| !line.is(Question::Blank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_some_lines_with_their_places_in_the_text() {
        let page = Page::of("a\r\n\n b \nlast");
        let view = page.view().within(3..8);
        assert_eq!((view.text(), view.range(), view.start()), ("\n b \n", 3..8, 3));
        assert_eq!(view.filled().map(|line| (line.text, line.bare)).collect::<Vec<_>>(), [(" b ", "b")]);
        assert_eq!((page.view().index(0), page.view().index(4), page.view().index(12)), (0, 2, 4));
        let none = page.view().within(12..12);
        assert_eq!((none.text(), none.filled().count()), ("", 0));
    }
}
