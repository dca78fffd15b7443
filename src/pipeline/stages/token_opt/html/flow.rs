//! Words and structure -> Markdown, with single blanks and no more line ends than it needs.
//!
//! Nothing is written before the words that need it: gaps, list marks and brackets wait for the next visible character, so
//! that empty elements leave no trace.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What separates the words before from the words to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

/// Marks around a run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// With what to show for it, where it leads somewhere.
    Link(Option<Target>),
    Code,
    Struck,
    Raised,
    Lowered,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) url: String,
    /// What stands for the words of a link that has none, such as a picture's.
    pub(super) label: String,
}

impl Mark {
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    fn opening(&self) -> &'static str {
        match self {
            Self::Link(None) => "",
            Self::Link(Some(_)) => "[",
            Self::Code => "`",
            Self::Struck => "~~",
            Self::Raised => "^",
            Self::Lowered => "_",
        }
    }
}

/// A mark that is open, and where its words begin, once there are any.
#[derive(Debug)]
struct Opened {
    mark: Mark,
    start: Option<Start>,
}

#[derive(Debug)]
struct Start {
    /// Where to go back to when it turns out to be nothing.
    before: Place,
    /// Where the opening stands.
    at: usize,
    opening: &'static str,
}

/// A place to go back to.
#[derive(Debug, Clone)]
pub(super) struct Place {
    len: usize,
    gap: Gap,
    lead: String,
    lines: usize,
    marks: usize,
}

/// Deeper lists are indented no further: it would cost the square of their depth.
const INDENT_MAX: usize = 6;

/// The text as it is written.
#[derive(Debug)]
pub(super) struct Flow {
    out: String,
    gap: Gap,
    /// What the next line starts with.
    lead: String,
    marks: Vec<Opened>,
    /// How many lists are open.
    pub(super) lists: usize,
    /// Whether a pipe would end a table cell.
    pub(super) in_cell: bool,
    /// How many line ends were written.
    pub(super) lines: usize,
    /// How many bytes of words were written.
    pub(super) written: usize,
    /// How many of them inside links.
    pub(super) linked: usize,
    /// The links so far, words and target: the target is told once.
    links: HashSet<u64>,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self {
            out: String::new(),
            gap: Gap::None,
            lead: String::new(),
            marks: Vec::new(),
            lists: 0,
            in_cell: false,
            lines: 0,
            written: 0,
            linked: 0,
            links: HashSet::new(),
        }
    }

    /// The text.
    pub(super) fn finish(mut self) -> String {
        self.close_to(0);
        self.out
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        // A block inside an item starts beside the item's mark.
        if self.lead.is_empty() || self.gap < Gap::Line {
            self.gap = self.gap.max(gap);
        }
    }

    /// What the next line starts with: `## `, `- `.
    pub(super) fn lead(&mut self, lead: String) {
        self.lead = lead;
    }

    /// Words, with whatever white space between them.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.trim_start();
            if word.len() < rest.len() {
                self.gap(Gap::Space);
            }
            let (word, after) = word.split_at(word.find(char::is_whitespace).unwrap_or(word.len()));
            self.word(word);
            rest = after;
        }
    }

    /// Words with a blank before and behind them.
    pub(super) fn apart(&mut self, text: &str) {
        self.gap(Gap::Space);
        self.text(text);
        self.gap(Gap::Space);
    }

    fn word(&mut self, word: &str) {
        const SOFT_HYPHEN: char = '\u{ad}';
        if word.trim_matches(SOFT_HYPHEN).is_empty() {
            return;
        }
        self.begin(word);
        self.written += word.len();
        if self.is_in_link() {
            self.linked += word.len();
        }
        for c in word.chars().filter(|&c| c != SOFT_HYPHEN) {
            if c == '|' && self.in_cell {
                self.out.push('\\');
            }
            self.out.push(c);
        }
    }

    pub(super) fn is_in_link(&self) -> bool {
        self.marks.iter().any(|open| matches!(open.mark, Mark::Link(_)))
    }

    /// Writes all that waits for the next visible character.
    fn begin(&mut self, word: &str) {
        let before = self.place();
        let starts_line = self.start_line();
        let touches = !starts_line && !self.out.is_empty() && !self.out.ends_with([' ', '\n']);
        let mut marked = !before.lead.is_empty();
        for open in self.marks.iter_mut().filter(|open| open.start.is_none()) {
            // A power needs something that it is a power of.
            let is_script = matches!(open.mark, Mark::Raised | Mark::Lowered);
            let opening = if is_script && !touches { "" } else { open.mark.opening() };
            open.start = Some(Start { before: before.clone(), at: self.out.len(), opening });
            marked |= !opening.is_empty();
            self.out.push_str(opening);
        }
        // Decoded characters that would read as markup, or open a fence, at the start of a line.
        if starts_line && !marked && (word.starts_with('<') || word.starts_with("```") || word.starts_with("~~~")) {
            self.out.push('\\');
        }
    }

    /// Writes the gap; returns whether a line starts here.
    fn start_line(&mut self) -> bool {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if gap >= Gap::Line && self.out.ends_with(" | ") {
            // A cell that turns out to hold lines of its own.
            self.out.truncate(self.out.len() - 3);
        }
        let is_empty = self.out.is_empty();
        match gap {
            Gap::None => {}
            _ if is_empty => {}
            Gap::Space if self.out.ends_with([' ', '\n']) => {}
            Gap::Space => self.out.push(' '),
            Gap::Line => self.out.push('\n'),
            Gap::Paragraph => self.out.push_str("\n\n"),
        }
        let starts_line = is_empty || gap >= Gap::Line;
        if starts_line {
            self.lines += usize::from(!is_empty);
            let own = usize::from(!self.lead.is_empty());
            for _ in own..self.lists.min(INDENT_MAX) {
                self.out.push_str("  ");
            }
        }
        self.out.push_str(&std::mem::take(&mut self.lead));
        starts_line
    }

    /// A line of its own that stays as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.gap(Gap::Line);
        self.start_line();
        self.out.push_str(line);
        self.gap(Gap::Line);
    }

    /// Text whose white space counts.
    pub(super) fn verbatim(&mut self, text: &str) {
        let text = text.trim_end().trim_start_matches('\n');
        if text.trim().is_empty() {
            return;
        }
        self.written += text.len();
        self.gap(Gap::Paragraph);
        if !text.contains(['\n', '`']) {
            self.start_line();
            self.out.extend(["`", text, "`"]);
        } else {
            self.lead.clear();
            let lists = std::mem::take(&mut self.lists);
            self.start_line();
            self.lists = lists;
            let fence = "`".repeat(longest_run(text).max(2) + 1);
            self.out.extend([&fence, "\n", text, "\n", &fence]);
            self.lines += 1;
        }
        self.gap(Gap::Paragraph);
    }

    /// Opens a mark, unless one of its kind is open.
    pub(super) fn open(&mut self, mark: Mark) {
        if !self.marks.iter().any(|open| open.mark.is_like(&mark)) {
            self.marks.push(Opened { mark, start: None });
        }
    }

    /// Closes the mark of this kind and those inside it, where it is open.
    pub(super) fn close(&mut self, mark: &Mark) {
        if let Some(index) = self.marks.iter().position(|open| open.mark.is_like(mark)) {
            self.close_to(index);
        }
    }

    fn close_to(&mut self, marks: usize) {
        while self.marks.len() > marks {
            if let Some(Opened { mark: Mark::Link(Some(target)), start: None }) = self.marks.last() {
                let label = if target.label.is_empty() { &target.url } else { &target.label };
                self.text(&label.clone());
            }
            let Some(Opened { mark, start: Some(start) }) = self.marks.pop() else { continue };
            let content = start.at + start.opening.len();
            match mark {
                Mark::Link(target) => self.close_link(target.as_ref().map(|target| target.url.as_str()), &start),
                // Code over several lines has no marks that Markdown knows.
                Mark::Code if self.out[content..].contains('\n') => self.out.replace_range(start.at..content, ""),
                Mark::Code if self.out[content..].contains('`') => {
                    self.out.replace_range(start.at..content, "`` ");
                    self.out.push_str(" ``");
                }
                Mark::Code | Mark::Struck => self.out.push_str(start.opening),
                Mark::Raised | Mark::Lowered => {}
            }
        }
    }

    fn close_link(&mut self, target: Option<&str>, start: &Start) {
        let words = &self.out[start.at + start.opening.len()..];
        let Some(target) = target else {
            // `¶` and the like: a handle for the mouse.
            if !words.contains(char::is_alphanumeric) {
                let gap = self.gap.min(Gap::Space);
                self.rewind(&start.before);
                self.gap(gap);
            }
            return;
        };
        let key = xxh3_64_with_seed(words.as_bytes(), xxh3_64_with_seed(target.as_bytes(), 0));
        let bare = target.trim_start_matches("mailto:").trim_end_matches('/');
        let is_told = words.trim_matches('`').trim_end_matches('/') == bare || !self.links.insert(key);
        let is_block = words.contains('\n');
        if is_told || is_block {
            self.out.replace_range(start.at..start.at + start.opening.len(), "");
        }
        if is_block && !is_told {
            self.out.extend([" (", target, ")"]);
        } else if !is_told {
            self.out.extend(["](", target, ")"]);
        }
    }

    /// Starts a table cell; `row` is where its row began, and `is_first` whether nothing came before it.
    pub(super) fn cell(&mut self, row: &Place, is_first: bool) {
        if self.lines - row.lines > usize::from(row.len > 0) {
            // Something in the row took lines of its own.
            self.gap(Gap::Line);
        } else if self.out.len() > row.len {
            self.gap = Gap::None;
            self.out.push_str(if self.out.ends_with(' ') { "| " } else { " | " });
        } else if !is_first {
            self.start_line();
            self.out.push_str("| ");
        }
    }

    /// Ends a row: empty cells at its end tell nothing.
    pub(super) fn end_row(&mut self, row: &Place) {
        let mut len = self.out.len();
        while len > row.len {
            let kept = self.out[row.len..len].trim_end_matches(' ');
            let Some(kept) = kept.strip_suffix(" |").or_else(|| kept.strip_suffix("\n|")) else { break };
            len = row.len + kept.len();
        }
        if self.out[row.len..len].trim_matches([' ', '|', '\n']).is_empty() && len < self.out.len() {
            let marks = self.marks.len();
            self.rewind(&Place { marks, ..row.clone() });
        } else if len < self.out.len() {
            self.out.truncate(len);
        }
        self.gap(Gap::Line);
    }

    pub(super) fn place(&self) -> Place {
        Place {
            len: self.out.len(),
            gap: self.gap,
            lead: self.lead.clone(),
            lines: self.lines,
            marks: self.marks.len(),
        }
    }

    /// Takes back everything since `place`.
    pub(super) fn rewind(&mut self, place: &Place) {
        self.out.truncate(place.len);
        self.gap = place.gap;
        self.lead.clone_from(&place.lead);
        self.lines = place.lines;
        self.marks.truncate(place.marks);
        for open in &mut self.marks {
            open.start.take_if(|start| start.before.len >= place.len);
        }
    }
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
