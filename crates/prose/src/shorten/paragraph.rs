//! The words of a paragraph as a list that shrinks, with the separators between them and what their sentences are
//! about.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use super::Shortened;
use super::class_counts::ClassCounts;
use super::separator::{Break, Joint, Separator, joined};
use crate::change::Change;
use crate::lexicon::{Category, Class, Classes, Entry, Place, Selection, Short, Word, key, lexicon, used_short_forms};
use crate::segment::{Atom, Kind};

/// How far a change may reach back: the longest phrase of the lexicon.
const BACK_WORDS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    Lower,
    Capitalized,
    /// A span, or a word that no list could hold.
    Other,
}

struct Node {
    range: Range<usize>,
    kind: Kind,
    /// What is known about it: for an abbreviation about its long form, for a span nothing.
    word: Word,
    letters: Letters,
    sentence: usize,
    clause: usize,
    before: usize,
    after: usize,
    is_gone: bool,
    instead: Option<Box<str>>,
}

pub(super) struct Paragraph<'a> {
    text: &'a str,
    selection: &'a Selection,
    /// Where the first separator starts.
    start: usize,
    nodes: Vec<Node>,
    /// Before each node, and after the last.
    separators: Vec<Separator<'a>>,
    sentences: Vec<ClassCounts>,
    clauses: Vec<ClassCounts>,
    used: Vec<u16>,
    /// The short forms that the text holds, once one is asked for.
    short_forms_in_use: OnceCell<HashSet<&'static str>>,
}

impl<'a> Paragraph<'a> {
    /// An empty one, to read the paragraphs of a text into.
    pub(super) fn new(text: &'a str, selection: &'a Selection) -> Self {
        Self {
            text,
            selection,
            start: 0,
            nodes: Vec::new(),
            separators: Vec::new(),
            sentences: Vec::new(),
            clauses: Vec::new(),
            used: Vec::new(),
            short_forms_in_use: OnceCell::new(),
        }
    }

    /// Reads one paragraph, in place of the one before.
    pub(super) fn read(&mut self, atoms: &[Atom], around: Range<usize>) {
        self.start = around.start;
        self.nodes.clear();
        self.separators.clear();
        self.sentences.clear();
        self.clauses.clear();
        let mut at = around.start;
        let mut before = None;
        for (index, atom) in atoms.iter().enumerate() {
            let separator = Separator::new(&self.text[at..atom.range.start], before);
            let written = &self.text[atom.range.clone()];
            self.begin(&separator);
            self.separators.push(separator);
            let node = self.node(atom, index);
            let classes = counted_classes(&node, written);
            self.count(&node, classes);
            self.nodes.push(node);
            at = atom.range.end;
            before = Some(written);
        }
        let last = Separator::new(&self.text[at..around.end], None);
        self.ask(&last);
        self.separators.push(last);
    }

    /// Opens a sentence or clause where the separator before a node says so.
    fn begin(&mut self, separator: &Separator) {
        if separator.kind == Break::Sentence {
            self.ask(separator);
            self.sentences.push(ClassCounts::default());
        }
        if matches!(separator.kind, Break::Sentence | Break::Clause) {
            self.clauses.push(ClassCounts::default());
        }
    }

    /// The separator behind a sentence may make it a question.
    fn ask(&mut self, separator: &Separator) {
        if let Some(sentence) = self.sentences.last_mut() {
            sentence.is_question |= separator.text.contains('?');
        }
    }

    fn node(&self, atom: &Atom, index: usize) -> Node {
        let text = self.text[atom.range.clone()].as_bytes();
        let word = match lexicon().expansion(atom.word) {
            Some(entry) => lexicon().word(entry.first_word()),
            None => atom.word,
        };
        let letters = match atom.kind {
            Kind::Prose if !text[0].is_ascii_uppercase() => Letters::Lower,
            Kind::Prose if key(text) != 0 => Letters::Capitalized,
            _ => Letters::Other,
        };
        Node {
            range: atom.range.clone(),
            kind: atom.kind,
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

    fn count(&mut self, node: &Node, classes: Classes) {
        if !classes.is_empty() {
            self.sentences[node.sentence].add(classes);
            self.clauses[node.clause].add(classes);
        }
    }

    /// Makes every change, and reports them.
    pub(super) fn shorten(&mut self, shortened: &mut Shortened) {
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
        let word = self.nodes[at].word;
        if !word.begins_entries() {
            return None;
        }
        let next = self.nodes.get(self.nodes[at].after).map_or(0, |next| next.word.id);
        for (index, entry) in lexicon().beginning_with(word, next, self.selection) {
            if entry.category == Category::Abbreviation {
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
    fn phrase(&self, at: usize, entry: &Entry) -> Option<Vec<usize>> {
        let mut phrase = Vec::new();
        let mut node = at;
        for &word in &entry.phrase {
            let found = self.nodes.get(node).filter(|found| found.word.id == word)?;
            let is_first = node == at;
            if !is_first && self.separators[node].kind != Break::Blank {
                return None;
            }
            match found.letters {
                Letters::Lower => {}
                Letters::Capitalized if is_first && self.is_initial(node) || self.written(found).starts_with('I') => {}
                _ => return None,
            }
            phrase.push(node);
            node = found.after;
        }
        (self.separators[at].opens() && self.separators[node].closes()).then_some(phrase)
    }

    fn written<'b>(&'b self, node: &'b Node) -> &'b str {
        node.instead.as_deref().unwrap_or(&self.text[node.range.clone()])
    }

    /// What is known about a word as it is written: `env` is a program, whatever it is short for.
    fn classes(&self, node: &Node) -> Classes {
        lexicon().word(key(self.written(node).as_bytes())).classes
    }

    fn is_initial(&self, node: usize) -> bool {
        self.separators[node].kind == Break::Sentence
    }

    /// Weighs the separator before a node again, when what stands before it has changed.
    fn weigh(&mut self, node: usize) {
        let text = std::mem::take(&mut self.separators[node].text);
        let before = self.nodes.get(node).and_then(|node| self.nodes.get(node.before));
        self.separators[node] = Separator::new(text, before.map(|before| self.written(before)));
    }

    /// The node before or after, when it is in the same clause.
    fn neighbour(&self, node: usize, separator: usize) -> Option<&Node> {
        let is_near = matches!(self.separators[separator].kind, Break::Blank | Break::Wrap);
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
        let id = |node: Option<&Node>| node.map_or(0, |node| node.word.id);
        if !entry.before.admit(id(next)) || !entry.after.admit(id(previous)) {
            return false;
        }
        let starts = self.is_initial(phrase[0]);
        let opens = starts || self.separators[phrase[0]].kind == Break::Clause;
        let ends = self.is_initial(after) || self.separators[after].kind == Break::Clause;
        let is_in_place = match entry.place {
            Place::Anywhere => true,
            Place::Start => starts,
            Place::Edge => opens || ends,
            Place::Alone => opens && ends,
            Place::Whole => starts && self.is_initial(after),
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
                Category::Pleasantry => !self.answers(phrase[0]),
                Category::Phrase | Category::Abbreviation => true,
            }
    }

    /// Whether a node follows a question: `Of course.` is an answer then.
    fn answers(&self, node: usize) -> bool {
        let is_first = self.nodes.get(self.nodes[node].before).is_none();
        let before = self.text[..self.start].trim_end_matches(|c: char| c.is_whitespace() || "*_)\"'”’".contains(c));
        self.separators[node].text.contains('?') || is_first && before.ends_with('?')
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

    /// Takes a phrase out, leaving its short form; `None` when the separators cannot be joined. Returns where to go on.
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
            None => self.separators[after].text = self.joined_separator(first, after)?,
            Some(&kept) => {
                let starts = self.is_initial(first);
                self.separators.swap(first, kept);
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
        self.weigh(after);
        Some(self.back(stays.first().copied().unwrap_or(after), frees))
    }

    fn replace(&mut self, node: usize, word: String, is_capital: bool) {
        let new = lexicon().word(key(word.as_bytes()));
        let node = &mut self.nodes[node];
        for content in [&mut self.sentences[node.sentence], &mut self.clauses[node.clause]] {
            content.add(new.classes);
            content.remove(node.word.classes);
        }
        node.word = new;
        node.letters = if is_capital { Letters::Capitalized } else { Letters::Lower };
        node.instead = Some(word.into());
    }

    /// Returns whether the sentence or the clause is now without one of the word's classes.
    fn unlink(&mut self, node: usize) -> bool {
        self.nodes[node].is_gone = true;
        let Node { before, after, sentence, clause, word, .. } = self.nodes[node];
        if let Some(before) = self.nodes.get_mut(before) {
            before.after = after;
        }
        if let Some(after) = self.nodes.get_mut(after) {
            after.before = before;
        }
        !word.classes.is_empty()
            && self.sentences[sentence].remove(word.classes) | self.clauses[clause].remove(word.classes)
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

    /// Whether the words around a place where words go would be read as something else once they meet: `the node` at
    /// the start of a line as a command, `5 the May` as a date.
    fn changes_its_neighbours(&self, first: usize, after: usize) -> bool {
        let Some(next) = self.nodes.get(after) else { return false };
        if self.begins_line(first) {
            let begins_code = self.classes(next).has_any(&[Class::Tool, Class::WordTool, Class::Code]);
            let separator = &self.separators[next.after].text;
            return begins_code
                || !matches!(next.kind, Kind::Prose | Kind::InlineCode | Kind::FileName | Kind::Url)
                || self.text[next.range.clone()].starts_with("```")
                || separator.starts_with(':')
                || separator.trim_start().starts_with('=');
        }
        self.nodes.get(self.nodes[first].before).is_some_and(|previous| {
            matches!(previous.kind, Kind::Number | Kind::Date | Kind::Command)
                || self.classes(previous).has_any(&[Class::Month, Class::WordTool]) && next.kind != Kind::Prose
        })
    }

    /// Whether a word would be the only one of its line before a colon or an equals sign: the key of a setting. `at` is
    /// where it will stand, when not where it stands.
    fn would_open_setting(&self, word: usize, at: Option<usize>, after: usize) -> bool {
        let place = at.unwrap_or(word);
        place < self.nodes.len() && self.begins_line(place) && self.separators[after].sets()
    }

    /// Whether a short form would be read as an argument of the command before it or as the beginning of code.
    fn would_read_as_code(&self, first: usize, entry: &Entry) -> bool {
        let is_command = |previous: &Node| previous.kind == Kind::Command;
        self.would_begin_code(first, entry)
            || !self.begins_line(first) && self.nodes.get(self.nodes[first].before).is_some_and(is_command)
    }

    /// Whether a short form would be read as a command with the flag behind it, or at the start of a line as a
    /// statement.
    fn would_begin_code(&self, first: usize, entry: &Entry) -> bool {
        let begins = key(entry.written.split(' ').next().unwrap_or_default().as_bytes());
        let classes = lexicon().word(begins).classes;
        if self.begins_line(first) {
            return classes.has_any(&[Class::Tool, Class::WordTool, Class::Code]);
        }
        let is_flag = |next: &Node| next.kind == Kind::Flag;
        classes.has(Class::WordTool) && self.nodes.get(self.nodes[first].after).is_some_and(is_flag)
    }

    fn begins_line(&self, node: usize) -> bool {
        self.nodes.get(self.nodes[node].before).is_none() || self.separators[node].has_line_end()
    }

    /// What stands between the words around a place where words go; `None` when they had better stay.
    fn joined_separator(&self, first: usize, after: usize) -> Option<Cow<'a, str>> {
        let left = &self.separators[first];
        let joint = Joint {
            begins_line: self.begins_line(first),
            begins_sentence: self.is_initial(first),
            is_end: after >= self.nodes.len(),
        };
        joined(&left.text, &self.separators[after].text, joint)
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
                .beginning_with(node.word, 0, self.selection)
                .find(|(_, entry)| entry.category == Category::Abbreviation && self.is_unambiguous(node, entry));
            let spared = self.selection.spares_failures && self.sentences[node.sentence].has(Class::Failure);
            let is_written = |entry: &Entry| self.written(node).eq_ignore_ascii_case(entry.long);
            let is_capital = node.letters == Letters::Capitalized;
            // `B/c` would read as something else.
            let keeps_case = |entry: &Entry| {
                !is_capital || !entry.is_lower_only && entry.written.bytes().all(|byte| byte.is_ascii_alphabetic())
            };
            if let Some((index, entry)) = found.filter(|(_, entry)| !spared && is_written(entry) && keeps_case(entry))
                && self.phrase(at, entry).is_some()
                && !self.would_begin_code(at, entry)
                && entry.before.admit(self.neighbour(node.after, node.after).map_or(0, |next| next.word.id))
            {
                let word = if is_capital { capitalized(entry.written) } else { entry.written.to_owned() };
                self.nodes[at].instead = Some(word.into());
                self.weigh(self.nodes[at].after);
                self.used.push(index);
            }
            at = self.nodes[at].after;
        }
    }

    /// Whether a short form would mean only this: the text does not use it as a word, and it is not read as a unit.
    fn is_unambiguous(&self, node: &Node, entry: &Entry) -> bool {
        let counts = |before: &Node| self.written(before).ends_with(|c: char| c.is_ascii_digit());
        let is_unit = entry.is_unit && self.nodes.get(node.before).is_some_and(counts);
        !is_unit && !self.short_forms_in_use.get_or_init(|| used_short_forms(self.text)).contains(entry.written)
    }

    fn first(&self) -> usize {
        self.nodes.iter().position(|node| !node.is_gone).unwrap_or(self.nodes.len())
    }

    fn report(&self, changes: &mut Vec<Change>) {
        let mut at = self.first();
        let mut end = self.start;
        // A separator is as it was where no word before it is gone.
        let mut expected = 0;
        loop {
            let node = self.nodes.get(at);
            if at != expected {
                let start = node.map_or_else(|| self.text_end(), |node| node.range.start);
                changes.push(Change::new(end..start, self.separators[at].text.clone()));
            }
            let Some(node) = node else { break };
            if let Some(instead) = &node.instead {
                changes.push(Change::new(node.range.clone(), instead.to_string()));
            }
            end = node.range.end;
            expected = at + 1;
            at = node.after;
        }
    }

    /// Where the last separator ends.
    fn text_end(&self) -> usize {
        let last = self.nodes.last().map_or(self.start, |node| node.range.end);
        last + memchr::memchr(b'\n', &self.text.as_bytes()[last..]).unwrap_or(self.text.len() - last)
    }
}

/// What a node brings into its sentence. Commands and statements act.
fn counted_classes(node: &Node, written: &str) -> Classes {
    match node.kind {
        Kind::Command | Kind::Flag | Kind::Sql => Classes::of(Class::Action),
        Kind::InlineCode if written.contains(' ') => Classes::of(Class::Action),
        // `NEVER` is no less a negation for being shouted.
        Kind::Identifier => lexicon().word(key(written.as_bytes())).classes,
        _ => node.word.classes,
    }
}

pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
