//! The words of a paragraph, the properties of its sentences and clauses, and the phrases that may be removed.

use std::ops::Range;

use super::separator::{Break, Joint, breaks, closes, joined, opens};
use crate::dictionary::capitalized;
use crate::draft::Change;
use crate::lexicon::{Category, Class, Classes, Entry, Place, Selection, lexicon};
use crate::segment::{Atom, Kind};

/// The properties of a sentence or a clause.
#[derive(Default)]
struct Content {
    classes: Classes,
    modals: usize,
    is_question: bool,
}

impl Content {
    fn has(&self, class: Class) -> bool {
        self.classes.has(class)
    }
}

/// The text before a phrase, as it is after earlier changes.
struct Left {
    text: String,
    /// The byte at which it starts.
    start: usize,
    breaks: Break,
    /// The atom before it.
    previous: Option<usize>,
}

impl Left {
    fn is_initial(&self) -> bool {
        self.breaks == Break::Sentence
    }

    /// Returns true if no word stands before it on its line.
    fn begins_line(&self) -> bool {
        self.previous.is_none() || self.breaks != Break::Blank && self.text.contains('\n')
    }
}

pub(super) struct Paragraph<'a> {
    text: &'a str,
    atoms: &'a [Atom],
    /// The range from the end of the line before the first atom to the end of the last line.
    around: Range<usize>,
    /// The break before each atom, and after the last one.
    breaks: Vec<Break>,
    sentences: Vec<Content>,
    clauses: Vec<Content>,
    /// The sentence and the clause of each atom.
    places: Vec<(usize, usize)>,
}

impl<'a> Paragraph<'a> {
    pub(super) fn new(text: &'a str, atoms: &'a [Atom], around: Range<usize>) -> Self {
        let (sentences, clauses, places) = (Vec::new(), Vec::new(), Vec::new());
        let mut paragraph = Self { text, atoms, around, breaks: Vec::new(), sentences, clauses, places };
        for (at, atom) in atoms.iter().enumerate() {
            let separator = paragraph.separator(at);
            let found = match at.checked_sub(1) {
                Some(before) => breaks(separator, paragraph.written(before)),
                None => Break::Sentence,
            };
            if found == Break::Sentence {
                paragraph.ask(separator);
                paragraph.sentences.push(Content::default());
            }
            if matches!(found, Break::Sentence | Break::Clause) {
                paragraph.clauses.push(Content::default());
            }
            let classes = contained(atom, paragraph.written(at));
            let contents = [paragraph.sentences.last_mut(), paragraph.clauses.last_mut()];
            for content in contents.into_iter().flatten() {
                content.classes.add(classes);
                content.modals += usize::from(classes.has(Class::Modal));
            }
            paragraph.places.push((paragraph.sentences.len() - 1, paragraph.clauses.len() - 1));
            paragraph.breaks.push(found);
        }
        paragraph.ask(paragraph.separator(atoms.len()));
        paragraph.breaks.push(Break::Sentence);
        paragraph
    }

    /// Notes that the separator after a sentence makes it a question.
    fn ask(&mut self, separator: &str) {
        if let Some(sentence) = self.sentences.last_mut() {
            sentence.is_question |= separator.contains('?');
        }
    }

    /// Returns the text before an atom, or after the last one.
    fn separator(&self, at: usize) -> &'a str {
        let start = at.checked_sub(1).map_or(self.around.start, |before| self.atoms[before].range.end);
        &self.text[start..self.atoms.get(at).map_or(self.around.end, |atom| atom.range.start)]
    }

    fn written(&self, at: usize) -> &'a str {
        &self.text[self.atoms[at].range.clone()]
    }

    fn is_capital(&self, at: usize) -> bool {
        self.atoms[at].kind == Kind::Prose && self.written(at).starts_with(|c: char| c.is_ascii_uppercase())
    }

    fn is_initial(&self, at: usize) -> bool {
        self.breaks[at] == Break::Sentence
    }

    /// Returns the changes for phrases that may be removed or shortened. A phrase that becomes removable by a later
    /// change is left to the next round.
    pub(super) fn changes(&self, selection: &Selection) -> Vec<Change> {
        let (mut at, mut changes) = (0, Vec::new());
        // The end of the last removed phrase, and the atom before it.
        let mut removed: Option<(usize, Option<usize>)> = None;
        while let Some(atom) = self.atoms.get(at) {
            let found = atom.word.begins_entries().then(|| {
                let next = self.atoms.get(at + 1).map_or(0, |next| next.word.id);
                let joins = removed.filter(|(end, _)| *end == at).and_then(|(_, previous)| {
                    changes.last().map(|change: &Change| (change.text.clone(), change.range.start, previous))
                });
                let (text, start, previous) = joins.unwrap_or_else(|| {
                    let text = self.separator(at);
                    (text.to_owned(), atom.range.start - text.len(), at.checked_sub(1))
                });
                let breaks = previous.map_or(Break::Sentence, |previous| breaks(&text, self.written(previous)));
                let left = Left { text, start, breaks, previous };
                let mut entries = lexicon().beginning_with(atom.word, next).filter(|entry| selection.includes(entry));
                entries.find_map(|entry| {
                    let phrase = self.phrase(at, &left, entry)?;
                    let may_go = self.may_go(&phrase, &left, entry, selection);
                    let change = if may_go { self.change(&phrase, &left, entry) } else { None };
                    Some((change?, phrase.end, entry.short.is_empty().then_some(left.previous)))
                })
            });
            at = match found.flatten() {
                Some((change, end, previous)) => {
                    changes.pop_if(|last| last.range.start == change.range.start);
                    changes.push(change);
                    removed = previous.map(|previous| (end, previous));
                    end
                }
                None => at + 1,
            };
        }
        changes
    }

    /// Returns the atoms of an entry's phrase if it stands here on one line.
    fn phrase(&self, at: usize, left: &Left, entry: &Entry) -> Option<Range<usize>> {
        let end = at + entry.phrase.len();
        let atoms = self.atoms.get(at..end)?;
        let is_here = atoms.iter().zip(&entry.phrase).enumerate().all(|(index, (atom, &word))| {
            let may_be_capital = index == 0 && left.is_initial() || self.written(at + index).starts_with('I');
            atom.word.id == word
                && atom.kind == Kind::Prose
                && (index == 0 || self.breaks[at + index] == Break::Blank)
                && (may_be_capital || !self.is_capital(at + index))
        });
        (is_here && opens(&left.text) && closes(self.separator(end))).then_some(at..end)
    }

    fn may_go(&self, phrase: &Range<usize>, left: &Left, entry: &Entry, selection: &Selection) -> bool {
        let (first, after) = (phrase.start, phrase.end);
        let (sentence, clause) = self.places[first];
        let (sentence, clause) = (&self.sentences[sentence], &self.clauses[clause]);
        if selection.spares_failures && sentence.has(Class::Failure) {
            return false;
        }
        let is_near = |breaks: Break| matches!(breaks, Break::Blank | Break::Wrap);
        let next = Some(after).filter(|&after| is_near(self.breaks[after]) && after < self.atoms.len());
        let previous = left.previous.filter(|_| is_near(left.breaks));
        let id = |at: Option<usize>| at.map_or(0, |at| self.atoms[at].word.id);
        if !entry.before.admit(id(next)) || !entry.after.admit(id(previous)) {
            return false;
        }
        let starts = left.is_initial();
        let opens = starts || left.breaks == Break::Clause;
        let ends = self.is_initial(after) || self.breaks[after] == Break::Clause;
        let is_in_place = match entry.place {
            Place::Anywhere => true,
            Place::Start => starts,
            Place::Edge => opens || ends,
            Place::Alone => opens && ends,
            Place::Whole => starts && self.is_initial(after),
        };
        let own = || phrase.clone().filter(|&at| self.atoms[at].word.classes.has(Class::Modal)).count();
        let is_name =
            || self.is_capital(first) && next.is_some_and(|next| self.is_capital(next) && self.written(next) != "I");
        is_in_place
            && match entry.category {
                Category::Filler => !clause.has(Class::Negation) && !sentence.is_question && !is_name(),
                Category::RuleFiller => {
                    !clause.classes.has_any(&[Class::Negation, Class::Action]) && !sentence.is_question
                }
                Category::Hedge => {
                    let turns = &[Class::Negation, Class::Action, Class::Verdict];
                    !sentence.is_question && !sentence.classes.has_any(turns) && sentence.modals <= own()
                }
                Category::Article => next.is_some_and(|next| self.article_may_go(first, previous, next)),
                Category::Pleasantry => !self.answers(left),
                Category::Phrase => true,
            }
    }

    /// Returns true if a phrase follows a question: `Of course.` is an answer then.
    fn answers(&self, left: &Left) -> bool {
        let is_mark = |c: char| c.is_whitespace() || "*_)\"'”’".contains(c);
        let before = self.text[..self.around.start].trim_end_matches(is_mark);
        left.text.contains('?') || left.previous.is_none() && before.ends_with('?')
    }

    /// Returns false if an article may be a name, as `a`, or begin one, as `The`.
    fn article_may_go(&self, article: usize, previous: Option<usize>, next: usize) -> bool {
        let is_capital = self.is_capital(article);
        let written = self.written(next);
        match self.atoms[next].kind {
            Kind::Prose => {
                let listed = &[Class::Function, Class::Negation, Class::Modal];
                let is_in_name = is_capital || previous.is_some_and(|previous| self.is_capital(previous));
                written.len() > 1
                    && !self.atoms[next].word.classes.has_any(listed)
                    && !(self.is_capital(next) && is_in_name)
            }
            Kind::Identifier => !is_capital && written.len() > 1,
            Kind::InlineCode | Kind::FileName | Kind::Path | Kind::Url | Kind::Command | Kind::Host => true,
            _ => false,
        }
    }

    /// Returns the change that replaces a phrase by its short form, or `None` if the text around it would be read
    /// differently.
    fn change(&self, phrase: &Range<usize>, left: &Left, entry: &Entry) -> Option<Change> {
        let (first, after) = (phrase.start, phrase.end);
        let range = self.atoms[first].range.start..self.atoms[after - 1].range.end;
        if !entry.short.is_empty() {
            let is_capital = left.is_initial() && self.is_capital(first) || entry.short.starts_with("i ");
            let short = if is_capital { capitalized(entry.short) } else { entry.short.to_owned() };
            return (!self.would_read_as_code(left, entry)).then(|| Change::new(range, short));
        }
        if self.changes_its_neighbours(left, after) {
            return None;
        }
        let joint = Joint {
            begins_line: left.begins_line(),
            begins_sentence: left.is_initial(),
            is_end: after >= self.atoms.len(),
        };
        let right = self.separator(after);
        let joined = joined(&left.text, right, joint)?;
        Some(Change::new(left.start..range.end + right.len(), joined))
    }

    /// Returns true if the words around a removed phrase would be read as something else: `the node` at the start of a
    /// line as a command, `5 the May` as a date.
    fn changes_its_neighbours(&self, left: &Left, after: usize) -> bool {
        let Some(next) = self.atoms.get(after) else { return false };
        let classes = |at: usize| lexicon().classes(self.written(at));
        if left.begins_line() {
            let separator = self.separator(after + 1);
            return classes(after).has_any(&[Class::Tool, Class::WordTool, Class::Code])
                || !matches!(next.kind, Kind::Prose | Kind::InlineCode | Kind::FileName | Kind::Url)
                || self.written(after).starts_with("```")
                || separator.starts_with(':')
                || separator.trim_start().starts_with('=');
        }
        left.previous.is_some_and(|previous| {
            matches!(self.atoms[previous].kind, Kind::Number | Kind::Date | Kind::Command)
                || classes(previous).has_any(&[Class::Month, Class::WordTool]) && next.kind != Kind::Prose
        })
    }

    /// Returns true if a short form would be read as the beginning of code, or as an argument of the command before it.
    fn would_read_as_code(&self, left: &Left, entry: &Entry) -> bool {
        if let Some(previous) = left.previous.filter(|_| !left.begins_line()) {
            return self.atoms[previous].kind == Kind::Command;
        }
        let begins = lexicon().classes(entry.short.split(' ').next().unwrap_or_default());
        begins.has_any(&[Class::Tool, Class::WordTool, Class::Code])
    }
}

/// Returns the classes that an atom adds to its sentence. Commands and statements act.
fn contained(atom: &Atom, written: &str) -> Classes {
    match atom.kind {
        Kind::Command | Kind::Flag | Kind::Sql => Classes::of(Class::Action),
        Kind::InlineCode if written.contains(' ') => Classes::of(Class::Action),
        // A shouted `NEVER` is still a negation.
        Kind::Identifier => lexicon().classes(written),
        _ => atom.word.classes,
    }
}
