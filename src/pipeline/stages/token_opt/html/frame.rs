//! The text of one element while it is open, and of all elements that are written like plain words inside it.
//!
//! A gap is only written with the words behind it, so that empty elements leave no trace.

/// What separates the words before from the words to come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

/// How the text of an element is written into the one around it.
#[derive(Debug, Default)]
pub(super) enum Kind {
    /// As it is, on lines of its own.
    #[default]
    Block,
    /// Behind these characters: an item of a list, a heading, a quotation.
    Item(String),
    /// A list, with the number of its last item if it has numbers.
    List(Option<usize>),
    Table,
    /// A row, with the cells that have ended.
    Row(Vec<String>),
    Cell,
    /// White space counts.
    Pre,
    /// A part that is folded if it is little but links.
    Menu(Menu),
    /// Where it leads, and what stands for the words of a link that has none.
    Link(Option<String>, String),
    /// `code`, `del`, `sup` or `sub`, by the element's name.
    Mark,
}

/// A navigation bar, a footer or the like.
#[derive(Debug)]
pub(super) struct Menu {
    pub(super) what: &'static str,
    /// The line where it starts.
    pub(super) line: usize,
    /// How many elements of the same name are open inside it.
    pub(super) nested: usize,
    /// How many links had been shown before it.
    pub(super) shown: usize,
}

/// An open element.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) text: String,
    /// The gap before its first words.
    pub(super) before: Gap,
    /// The gap before its next words.
    pub(super) gap: Gap,
    /// Bytes of its words, how many of them are inside links, and how many links lead somewhere.
    pub(super) words: usize,
    pub(super) linked: usize,
    pub(super) links: usize,
    /// Whether it holds a table or code, which need lines of their own.
    pub(super) is_tall: bool,
}

impl Frame {
    pub(super) fn is_inline(&self) -> bool {
        matches!(self.kind, Kind::Link(..) | Kind::Mark)
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Adds a text as it is.
    pub(super) fn push(&mut self, text: &str) {
        let gap = std::mem::take(&mut self.gap);
        match gap {
            _ if self.text.is_empty() => self.before = gap,
            Gap::None => {}
            Gap::Space => self.text.push(' '),
            Gap::Line => self.text.push('\n'),
            Gap::Paragraph => self.text.push_str("\n\n"),
        }
        self.text.push_str(text);
    }

    /// Adds a text with a gap on both sides.
    pub(super) fn apart(&mut self, gap: Gap, text: &str) {
        if !text.is_empty() {
            self.gap(gap);
            self.push(text);
            self.gap(gap);
        }
    }

    /// Adds a piece of a line. At the start of a line, what would read as markup or open a fence is escaped.
    pub(super) fn piece(&mut self, text: &str) {
        let starts_line = match self.text.is_empty() {
            true => !self.is_inline() && !matches!(self.kind, Kind::Item(_)),
            false => self.gap >= Gap::Line,
        };
        if starts_line && ["<", "```", "~~~"].iter().any(|markup| text.starts_with(markup)) {
            self.push("\\");
        }
        self.push(text);
    }

    /// Adds what stands between two tags.
    pub(super) fn add(&mut self, text: &str) {
        match self.kind {
            Kind::Pre => self.push(text),
            _ => self.words(text),
        }
    }

    /// Adds the words of a text, with single blanks for its white space.
    pub(super) fn words(&mut self, text: &str) {
        const SOFT_HYPHEN: char = '\u{ad}';
        let text = if text.contains(SOFT_HYPHEN) { &text.replace(SOFT_HYPHEN, "") } else { text };
        for (index, word) in text.split(char::is_whitespace).enumerate() {
            if index > 0 {
                self.gap(Gap::Space);
            }
            if !word.is_empty() {
                self.words += word.len();
                self.piece(word);
            }
        }
    }

    /// Adds text whose white space counts.
    pub(super) fn verbatim(&mut self, text: &str) {
        let text = text.trim_end().trim_start_matches('\n');
        self.words += text.len();
        if text.trim().is_empty() {
        } else if text.contains(['\n', '`']) {
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            self.apart(Gap::Paragraph, &format!("{fence}\n{text}\n{fence}"));
            self.is_tall = true;
        } else {
            self.apart(Gap::Paragraph, &format!("`{text}`"));
        }
    }
}
