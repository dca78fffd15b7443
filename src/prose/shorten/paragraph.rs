//! The words of a paragraph as a list that shrinks, with the gaps between them and what their sentences are about.

use std::borrow::Cow;
use std::ops::Range;

use super::{Change, Selection, Shortened};
use crate::prose::lexicon::{Category, Class, Classes, Entry, Key, Neighbours, Place, Short, Word, key, lexicon};
use crate::prose::segment::{Kind, Token};

/// How far a change may reach back: the longest phrase of the lexicon.
const BACK_WORDS: usize = 8;

/// What is counted in sentences and clauses.
const COUNTED: [Class; 5] = [Class::Negation, Class::Modal, Class::Action, Class::Verdict, Class::Failure];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    Lower,
    Capitalized,
    /// A span, or a word that is never changed.
    Other,
}

struct Node {
    range: Range<usize>,
    kind: Kind,
    /// The long form of an abbreviation; 0 for a span.
    key: Key,
    word: Word,
    letters: Letters,
    sentence: usize,
    clause: usize,
    before: usize,
    after: usize,
    is_gone: bool,
    instead: Option<String>,
}

#[derive(Default)]
struct Content {
    counts: [u32; COUNTED.len()],
    is_question: bool,
}

impl Content {
    fn has(&self, class: Class) -> bool {
        self.count(class) > 0
    }

    fn count(&self, class: Class) -> u32 {
        let index = COUNTED.iter().position(|&counted| counted == class).expect("the class is counted");
        self.counts[index]
    }
}

/// The nodes of a phrase of the lexicon.
struct Phrase {
    nodes: [usize; BACK_WORDS],
    len: usize,
}

impl std::ops::Deref for Phrase {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.nodes[..self.len]
    }
}

/// What stands between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Blank,
    /// A line end inside a sentence.
    Wrap,
    /// A comma, a bracket, a dash.
    Clause,
    Sentence,
}

pub(super) struct Paragraph<'a> {
    text: &'a str,
    selection: &'a Selection,
    /// Where the first gap starts.
    start: usize,
    nodes: Vec<Node>,
    /// Before each node, and after the last.
    gaps: Vec<Cow<'a, str>>,
    sentences: Vec<Content>,
    clauses: Vec<Content>,
    used: Vec<u16>,
}

impl<'a> Paragraph<'a> {
    pub(super) fn new(text: &'a str, atoms: &[Token], around: Range<usize>, selection: &'a Selection) -> Self {
        let mut paragraph = Self {
            text,
            selection,
            start: around.start,
            nodes: Vec::with_capacity(atoms.len()),
            gaps: Vec::with_capacity(atoms.len() + 1),
            sentences: Vec::new(),
            clauses: Vec::new(),
            used: Vec::new(),
        };
        let mut at = around.start;
        for (index, atom) in atoms.iter().enumerate() {
            let gap = &text[at..atom.range.start];
            at = atom.range.end;
            paragraph.gaps.push(Cow::Borrowed(gap));
            paragraph.begin(gap, index);
            let node = paragraph.node(atom, index);
            let classes = counted_classes(&node, text);
            paragraph.count(node.sentence, node.clause, classes, true);
            paragraph.nodes.push(node);
        }
        let last = &text[at..around.end];
        paragraph.gaps.push(Cow::Borrowed(last));
        paragraph.ask(last);
        paragraph
    }

    /// Opens a sentence or clause where the gap before a node says so.
    fn begin(&mut self, gap: &str, index: usize) {
        let kind =
            if index == 0 { Gap::Sentence } else { gap_kind(gap, &self.text[self.nodes[index - 1].range.clone()]) };
        if kind == Gap::Sentence {
            self.ask(gap);
            self.sentences.push(Content::default());
        }
        if matches!(kind, Gap::Sentence | Gap::Clause) {
            self.clauses.push(Content::default());
        }
    }

    /// The gap behind a sentence may make it a question.
    fn ask(&mut self, gap: &str) {
        if let Some(sentence) = self.sentences.last_mut() {
            sentence.is_question |= gap.contains('?');
        }
    }

    fn node(&self, atom: &Token, index: usize) -> Node {
        let text = &self.text[atom.range.clone()];
        let mut letters = Letters::Other;
        let (mut found, mut word) = (0, Word::default());
        if atom.kind == Kind::Prose {
            found = key(text.as_bytes());
            word = lexicon().word(found);
            if let Some(entry) = lexicon().expansion(word) {
                found = entry.phrase[0];
                word = lexicon().word(found);
            }
            letters = match text.as_bytes()[0] {
                _ if found == 0 => Letters::Other,
                byte if byte.is_ascii_uppercase() => Letters::Capitalized,
                _ => Letters::Lower,
            };
        }
        Node {
            range: atom.range.clone(),
            kind: atom.kind,
            key: found,
            word,
            letters,
            sentence: self.sentences.len() - 1,
            clause: self.clauses.len() - 1,
            before: index.wrapping_sub(1),
            after: index + 1,
            is_gone: false,
            instead: None,
        }
    }

    /// Returns whether the sentence or the clause is now without one of these classes.
    fn count(&mut self, sentence: usize, clause: usize, classes: Classes, comes: bool) -> bool {
        let mut ends = false;
        if classes.is_empty() {
            return ends;
        }
        for (index, _) in COUNTED.iter().enumerate().filter(|(_, class)| classes.has(**class)) {
            for content in [&mut self.sentences[sentence], &mut self.clauses[clause]] {
                let count = &mut content.counts[index];
                *count = if comes { *count + 1 } else { *count - 1 };
                ends |= *count == 0;
            }
        }
        ends
    }

    /// Makes every change, and reports them.
    pub(super) fn shorten(mut self, shortened: &mut Shortened) {
        let mut at = 0;
        while at < self.nodes.len() {
            at = self.change(at).unwrap_or(self.nodes[at].after);
        }
        self.abbreviate();
        if !self.used.is_empty() {
            shortened.used.append(&mut self.used);
            self.report(&mut shortened.changes);
        }
    }

    /// Applies the first entry that may begin at a node; returns where to go on.
    fn change(&mut self, at: usize) -> Option<usize> {
        for (index, entry) in lexicon().beginning_with(self.nodes[at].word) {
            if entry.category == Category::Abbreviation || !self.selection.has(entry) {
                continue;
            }
            let Some(phrase) = self.phrase(at, entry) else { continue };
            if self.may_go(&phrase, entry)
                && let Some(next) = self.take(&phrase, entry)
            {
                self.used.push(index);
                return Some(next);
            }
        }
        None
    }

    /// The nodes of an entry's phrase, when they begin here on one line.
    fn phrase(&self, at: usize, entry: &Entry) -> Option<Phrase> {
        let mut phrase = Phrase { nodes: [0; BACK_WORDS], len: entry.phrase.len() };
        let mut node = at;
        for (index, &word) in entry.phrase.iter().enumerate() {
            let found = self.nodes.get(node).filter(|found| found.key == word)?;
            let is_first = index == 0;
            if !is_first && self.gap(node) != Gap::Blank {
                return None;
            }
            let is_i = self.written(found).starts_with('I');
            match found.letters {
                Letters::Lower => {}
                Letters::Capitalized if is_i || is_first && self.is_initial(node) => {}
                _ => return None,
            }
            phrase.nodes[index] = node;
            node = found.after;
        }
        let opens = self.gaps[at].chars().next_back().is_none_or(|c| c.is_ascii_whitespace() || c == '(');
        let closes = self.gaps[node].chars().next().is_none_or(|c| c.is_ascii_whitespace() || ".,;:!?)".contains(c));
        (opens && closes).then_some(phrase)
    }

    fn written<'b>(&'b self, node: &'b Node) -> &'b str {
        node.instead.as_deref().unwrap_or(&self.text[node.range.clone()])
    }

    fn gap(&self, node: usize) -> Gap {
        let before = self.nodes[node].before;
        match self.nodes.get(before) {
            Some(before) => gap_kind(&self.gaps[node], self.written(before)),
            None => Gap::Sentence,
        }
    }

    fn is_initial(&self, node: usize) -> bool {
        node >= self.nodes.len() || self.gap(node) == Gap::Sentence
    }

    /// The node before or after, when it is in the same clause.
    fn neighbour(&self, node: usize, gap: usize) -> Option<&Node> {
        let is_near = gap < self.nodes.len() && matches!(self.gap(gap), Gap::Blank | Gap::Wrap);
        is_near.then(|| self.nodes.get(node)).flatten()
    }

    fn may_go(&self, phrase: &[usize], entry: &Entry) -> bool {
        let first = &self.nodes[phrase[0]];
        let after = self.nodes[phrase[phrase.len() - 1]].after;
        let (sentence, clause) = (&self.sentences[first.sentence], &self.clauses[first.clause]);
        if self.selection.spares_failures && sentence.has(Class::Failure) {
            return false;
        }
        let next = self.neighbour(after, after);
        let previous = self.neighbour(first.before, phrase[0]);
        let fits = |neighbours: &Neighbours, node: Option<&Node>| {
            let found = node.map_or(0, |node| node.key);
            !neighbours.not.contains(&found) && (neighbours.only.is_empty() || neighbours.only.contains(&found))
        };
        if !fits(&entry.before, next) || !fits(&entry.after, previous) {
            return false;
        }
        let starts = self.is_initial(phrase[0]);
        let opens = starts || self.gap(phrase[0]) == Gap::Clause;
        let ends = self.is_initial(after) || self.gap(after) == Gap::Clause;
        let is_in_place = match entry.place {
            Place::Anywhere => true,
            Place::Start => starts,
            Place::Edge => opens || ends,
            Place::Alone => opens && ends,
        };
        is_in_place
            && match entry.category {
                Category::Filler | Category::LowInformation => {
                    let is_name = first.letters == Letters::Capitalized
                        && next.is_some_and(|next| next.letters == Letters::Capitalized && self.written(next) != "I");
                    !clause.has(Class::Negation) && !sentence.is_question && !is_name
                }
                Category::RuleFiller => {
                    !clause.has(Class::Negation) && !clause.has(Class::Action) && !sentence.is_question
                }
                Category::Hedge => {
                    let own = phrase.iter().filter(|&&node| self.nodes[node].word.classes.has(Class::Modal)).count();
                    !(sentence.is_question
                        || sentence.has(Class::Negation)
                        || sentence.has(Class::Action)
                        || sentence.has(Class::Verdict)
                        || sentence.count(Class::Modal) as usize > own)
                }
                Category::Article => next.is_some_and(|next| self.article_may_go(first, previous, next)),
                Category::Pleasantry | Category::Phrase | Category::Abbreviation => true,
            }
    }

    /// `a` may be a name, and `The` may begin one.
    fn article_may_go(&self, article: &Node, previous: Option<&Node>, next: &Node) -> bool {
        let is_capital = article.letters == Letters::Capitalized;
        match next.kind {
            Kind::Prose => {
                let is_name = next.letters == Letters::Capitalized;
                let is_listed = next.word.classes.has_any(&[Class::Function, Class::Negation, Class::Modal]);
                let is_in_name =
                    is_name && (is_capital || previous.is_some_and(|node| node.letters == Letters::Capitalized));
                self.written(next).len() > 1 && !is_listed && !is_in_name
            }
            Kind::Identifier => !is_capital && next.range.len() > 1,
            Kind::InlineCode | Kind::FileName | Kind::Path | Kind::Url | Kind::Command | Kind::Host => true,
            _ => false,
        }
    }

    /// Takes a phrase out, leaving its short form; `None` when the gaps cannot be joined. Returns where to go on.
    fn take(&mut self, phrase: &[usize], entry: &Entry) -> Option<usize> {
        let (first, last) = (phrase[0], phrase[phrase.len() - 1]);
        let after = self.nodes[last].after;
        let stays: Vec<usize> = match &entry.short {
            Short::Nothing => Vec::new(),
            Short::Words(kept) => kept.iter().map(|&index| phrase[index]).collect(),
            Short::Word(_) => vec![first],
        };
        let leaves = stays.last().copied().unwrap_or(self.nodes[first].before);
        if stays.len() <= 1 && self.would_open_setting(leaves, stays.first().map(|_| first), after) {
            return None;
        }
        match stays.first() {
            None if self.changes_its_neighbours(first, after) => return None,
            Some(_) if self.would_read_as_code(first, entry) => return None,
            None => self.gaps[after] = Cow::Owned(self.joined_gap(first, after)?),
            Some(&kept) => {
                let starts = self.is_initial(first);
                let gap = std::mem::take(&mut self.gaps[first]);
                self.gaps[kept] = gap;
                let is_capital = starts && self.nodes[first].letters == Letters::Capitalized;
                let word = match entry.short {
                    Short::Word(word) => Some(word),
                    _ if kept != first && is_capital => Some(self.written(&self.nodes[kept])),
                    _ => None,
                };
                let word = word.map(|word| if is_capital { capitalized(word) } else { word.to_owned() });
                if let Some(word) = word {
                    self.replace(kept, word, is_capital);
                }
            }
        }
        let mut frees = false;
        for &node in phrase.iter().filter(|node| !stays.contains(node)) {
            frees |= self.unlink(node);
        }
        Some(self.back(stays.first().copied().unwrap_or(after), frees))
    }

    fn replace(&mut self, node: usize, word: String, is_capital: bool) {
        let found = key(word.as_bytes());
        let (sentence, clause) = (self.nodes[node].sentence, self.nodes[node].clause);
        let (old, new) = (self.nodes[node].word.classes, lexicon().word(found));
        self.count(sentence, clause, new.classes, true);
        self.count(sentence, clause, old, false);
        let node = &mut self.nodes[node];
        (node.key, node.word) = (found, new);
        node.letters = if is_capital { Letters::Capitalized } else { Letters::Lower };
        node.instead = Some(word);
    }

    fn unlink(&mut self, node: usize) -> bool {
        let Node { before, after, sentence, clause, .. } = self.nodes[node];
        let classes = counted_classes(&self.nodes[node], self.text);
        self.nodes[node].is_gone = true;
        if let Some(before) = self.nodes.get_mut(before) {
            before.after = after;
        }
        if let Some(after) = self.nodes.get_mut(after) {
            after.before = before;
        }
        self.count(sentence, clause, classes, false)
    }

    /// Some words before a node, or the start of its sentence.
    fn back(&self, from: usize, to_start: bool) -> usize {
        let mut node = from;
        let mut steps = 0;
        let last = || self.nodes.iter().rposition(|node| !node.is_gone);
        if node >= self.nodes.len() {
            match last() {
                Some(last) => node = last,
                None => return self.nodes.len(),
            }
        }
        let sentence = self.nodes[node].sentence;
        while let Some(before) = self.nodes.get(self.nodes[node].before) {
            let goes_on = steps < BACK_WORDS || to_start && before.sentence + 1 >= sentence;
            if !goes_on {
                break;
            }
            node = self.nodes[node].before;
            steps += 1;
        }
        node
    }

    /// Whether the words around a place where words go would be read as something else once they meet: `the node` at the start
    /// of a line as a command, `5 the May` as a date.
    fn changes_its_neighbours(&self, first: usize, after: usize) -> bool {
        let Some(next) = self.nodes.get(after) else { return false };
        let previous = self.nodes.get(self.nodes[first].before);
        if previous.is_none() || self.gaps[first].contains('\n') {
            let begins_code = next.word.classes.has_any(&[Class::Tool, Class::WordTool, Class::Code]);
            let gap = &self.gaps[next.after];
            return begins_code
                || !matches!(next.kind, Kind::Prose | Kind::InlineCode | Kind::FileName | Kind::Url)
                || self.text[next.range.clone()].starts_with("```")
                || gap.starts_with(':')
                || gap.trim_start().starts_with('=');
        }
        previous.is_some_and(|previous| {
            matches!(previous.kind, Kind::Number | Kind::Date | Kind::Command)
                || previous.word.classes.has_any(&[Class::Month, Class::WordTool]) && next.kind != Kind::Prose
        })
    }

    /// Whether a word would be the only one of its line before a colon or an equals sign: the key of a setting. `at` is where it
    /// will stand, when not where it stands.
    fn would_open_setting(&self, word: usize, at: Option<usize>, after: usize) -> bool {
        let place = at.unwrap_or(word);
        let Some(node) = self.nodes.get(place) else { return false };
        let begins_line = self.nodes.get(node.before).is_none() || self.gaps[place].contains('\n');
        begins_line && self.gaps[after].trim_start_matches([' ', '\t', '.']).starts_with([':', '='])
    }

    /// Whether a short form would be read as something else: as an argument of the command before it, or at the start of a line
    /// as a statement.
    fn would_read_as_code(&self, first: usize, entry: &Entry) -> bool {
        let previous = self.nodes.get(self.nodes[first].before);
        if previous.is_none() || self.gaps[first].contains('\n') {
            let begins = key(entry.written.split(' ').next().unwrap_or_default().as_bytes());
            return lexicon().word(begins).classes.has_any(&[Class::Tool, Class::WordTool, Class::Code]);
        }
        previous.is_some_and(|previous| previous.kind == Kind::Command)
    }

    /// What stands between the words around a place where words go; `None` when they had better stay.
    fn joined_gap(&self, first: usize, after: usize) -> Option<String> {
        let (left, right) = (&*self.gaps[first], &*self.gaps[after]);
        let is_blank = |gap: &str| !gap.is_empty() && gap.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
        let is_line_start = self.nodes.get(self.nodes[first].before).is_none() || left.contains('\n');
        let is_end = after >= self.nodes.len();
        let rest = right.trim_start_matches(['.', ',', ';', ':', '!', '?', ')', ' ', '\t', '\r']);
        if is_line_start && (rest.starts_with('\n') || rest.is_empty() && is_end) {
            return None;
        }
        let starts = self.is_initial(first);
        if is_blank(right) && !is_end {
            return Some(left.to_owned());
        }
        if is_blank(left) {
            let joined = right.trim_start_matches([' ', '\t']);
            let closes = joined.is_empty() || joined.starts_with(['.', ',', ';', ':', '!', '?', ')', '\n', '\r']);
            return Some(if closes { joined } else { right }.to_owned());
        }
        let right_blank = |prefix: char| right.strip_prefix(prefix).is_some_and(is_blank);
        if starts && (right_blank(',') || right_blank('!') || right_blank('.')) && !is_end {
            return Some(left.to_owned());
        }
        if left == ", " {
            return if right_blank(',') {
                Some(" ".to_owned())
            } else if right.starts_with(['.', ';', ':', '!', '?', ')', '\n']) || is_end && right.is_empty() {
                Some(right.to_owned())
            } else {
                None
            };
        }
        // `Done. Thanks!`: the stop before stays, the one behind goes.
        let stop = left.trim_end_matches(' ');
        let behind = right.trim_start_matches(['.', '!', ',']);
        let ends_line = behind.starts_with(['\n', '\r']) || behind.is_empty() && is_end;
        (matches!(stop, "." | "!" | "?") && ends_line && right.len() - behind.len() <= 1)
            .then(|| stop.to_owned() + behind)
    }

    /// Abbreviates single words; their keys stay those of the long forms.
    fn abbreviate(&mut self) {
        if !self.selection.categories.contains(&Category::Abbreviation) {
            return;
        }
        let mut at = self.first();
        while at < self.nodes.len() {
            let node = &self.nodes[at];
            let found = lexicon()
                .beginning_with(node.word)
                .find(|(_, entry)| entry.category == Category::Abbreviation && self.selection.has(entry));
            let spared = self.selection.spares_failures && self.sentences[node.sentence].has(Class::Failure);
            let is_written = |entry: &Entry| self.written(node).eq_ignore_ascii_case(entry.long);
            let is_capital = node.letters == Letters::Capitalized;
            // `B/c` would read as something else.
            let keeps_case = |entry: &Entry| {
                !is_capital || !entry.is_lower_only && entry.written.bytes().all(|byte| byte.is_ascii_alphabetic())
            };
            if let Some((index, entry)) = found.filter(|(_, entry)| !spared && is_written(entry) && keeps_case(entry))
                && self.phrase(at, entry).is_some()
            {
                let word = if is_capital { capitalized(entry.written) } else { entry.written.to_owned() };
                self.nodes[at].instead = Some(word);
                self.used.push(index);
            }
            at = self.nodes[at].after;
        }
    }

    fn first(&self) -> usize {
        self.nodes.iter().position(|node| !node.is_gone).unwrap_or(self.nodes.len())
    }

    fn report(&self, changes: &mut Vec<Change>) {
        let mut at = self.first();
        let mut end = self.start;
        loop {
            let node = self.nodes.get(at);
            let start = node.map_or_else(|| self.text_end(), |node| node.range.start);
            if self.text[end..start] != *self.gaps[at] {
                changes.push(Change { range: end..start, text: self.gaps[at].clone().into_owned() });
            }
            let Some(node) = node else { break };
            if let Some(instead) = &node.instead {
                changes.push(Change { range: node.range.clone(), text: instead.clone() });
            }
            end = node.range.end;
            at = node.after;
        }
    }

    /// Where the last gap ends.
    fn text_end(&self) -> usize {
        let last = self.nodes.last().map_or(self.start, |node| node.range.end);
        last + memchr::memchr(b'\n', &self.text.as_bytes()[last..]).unwrap_or(self.text.len() - last)
    }
}

/// What a node brings into its sentence. Commands and statements act.
fn counted_classes(node: &Node, text: &str) -> Classes {
    let written = &text[node.range.clone()];
    match node.kind {
        Kind::Command | Kind::Flag | Kind::Sql => Classes::of(Class::Action),
        Kind::InlineCode if written.contains(' ') => Classes::of(Class::Action),
        // `NEVER` is no less a negation for being shouted.
        Kind::Identifier => lexicon().word(key(written.as_bytes())).classes,
        _ => node.word.classes,
    }
}

fn gap_kind(gap: &str, before: &str) -> Gap {
    let mut kind = if gap.is_empty() { Gap::Clause } else { Gap::Blank };
    let mut has_line_end = false;
    let mut has_stop = false;
    for byte in gap.bytes() {
        match byte {
            b' ' | b'\t' | b'\r' => {
                if has_stop {
                    return Gap::Sentence;
                }
            }
            b'\n' => {
                if has_stop {
                    return Gap::Sentence;
                }
                has_line_end = true;
                kind = if kind == Gap::Blank { Gap::Wrap } else { kind };
            }
            // A mark at the start of a line begins a list item or a quote.
            _ if has_line_end => return Gap::Sentence,
            b'!' | b'?' => has_stop = true,
            b'.' if !matches!(before, "e.g" | "i.e" | "etc" | "vs" | "cf") => has_stop = true,
            b')' | b'"' | b'\'' | b'*' if has_stop => {}
            _ => kind = Gap::Clause,
        }
    }
    if has_stop { Gap::Sentence } else { kind }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
