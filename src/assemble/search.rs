//! Search: words -> the originals of a session that have all of them, best first.
//!
//! The signatures in the store rule most originals out, and the texts of the others decide. A signature is made when a
//! search first reads an original, so a session that is never searched costs nothing.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::engine::Engine;
use super::fetch_page::OriginalText;
use super::fetch_request::RequestedPart;
use super::labels::{cut_note_of, is_arguments};
use super::line_matcher::Words;
use super::numbered_lines::render_arguments;
use crate::error::{Error, Result};
use crate::reference::{ContentHash, Original, RefId};
use crate::store::{Candidates, Millis, Probes, Scope, Signature};

/// The number of characters that a search returns by default, and to a model at most: about 2,000 tokens. Chosen by
/// judgement.
pub const SEARCH_CHARS: usize = 6_000;

/// The minimum number of characters of an excerpt, if there is room for it. Fewer originals have longer ones.
const EXCERPT_CHARS: usize = 700;

/// The maximum number of bytes of originals that one search reads: less than a second of work.
const READ_BYTES: u64 = 64 << 20;

/// The maximum number of bytes of originals that one search makes signatures of: a few seconds of work.
const SIGN_BYTES: u64 = 512 << 20;

/// The number of bytes of originals that are read and signed at once.
const BYTES_AT_ONCE: u64 = 4 << 20;

/// The number of bytes as which the smallest original counts.
const MIN_BYTES: u64 = 4 << 10;

/// The number of characters of a label that are shown.
const LABEL_CHARS: usize = 100;

/// The originals that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The best ones: with most words in one line, then with most such lines, then the newest.
    pub originals: Vec<FoundOriginal>,
    /// The number of originals that have all words, those that are not in `originals` included.
    pub matching: usize,
    /// A statement of what is missing in `originals`, and how to find it; empty if nothing is missing.
    pub note: String,
}

/// An original that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundOriginal {
    /// Its id.
    pub id: RefId,
    /// Its hash.
    pub hash: ContentHash,
    /// The session that was searched.
    pub scope: Scope,
    /// The beginning of its label, in one line.
    pub label: String,
    /// The lines with most of the words, as a fetch by pattern returns them.
    pub excerpt: String,
}

/// A search in progress.
struct Search<'e> {
    engine: &'e Engine,
    words: Words,
    probes: Probes,
    now: Millis,
    bytes_to_sign: u64,
    bytes_to_read: u64,
    seen: HashSet<ContentHash>,
    matches: Vec<Match>,
    /// The number of originals that may match and were not read.
    unread: u64,
    /// The number of originals that have no signature yet.
    unsigned: u64,
}

/// An original with all words.
struct Match {
    id: RefId,
    original: Original,
    scope: Scope,
    /// The largest number of words in one line, and the number of such lines.
    rank: (usize, usize),
}

impl Engine {
    /// Searches the originals of one session, or of every session in the store. Returns as many as have excerpts of a
    /// useful length in `max_chars`, but at least the best one.
    ///
    /// # Errors
    /// [`Error::BadArgument`] and [`Error::BadPattern`] for a bad query, and store errors.
    pub fn search(&self, scope: Option<&Scope>, query: &str, max_chars: usize, now: Millis) -> Result<Found> {
        let words = Words::parse(query)?;
        let scopes: Vec<Scope> = match scope {
            Some(scope) => vec![scope.clone()],
            None => (self.store.sessions()?.into_iter())
                .map(|known| Scope { agent_id: known.agent_id, session_id: known.session_id })
                .collect(),
        };
        let mut search = Search {
            engine: self,
            probes: words.probes(),
            words,
            now,
            bytes_to_sign: SIGN_BYTES,
            bytes_to_read: READ_BYTES,
            seen: HashSet::new(),
            matches: Vec::new(),
            unread: 0,
            unsigned: 0,
        };
        for scope in &scopes {
            search.read_session(scope)?;
        }
        Ok(search.found(max_chars))
    }
}

impl Search<'_> {
    fn read_session(&mut self, scope: &Scope) -> Result<()> {
        let store = &self.engine.store;
        let mut searched = store.search(scope, &self.probes, self.now)?;
        while !searched.unsigned.newest.is_empty() && self.bytes_to_sign > 0 {
            self.sign(scope, &searched.unsigned)?;
            searched = store.search(scope, &self.probes, self.now)?;
        }
        self.unsigned += searched.unsigned.newest.len() as u64 + searched.unsigned.older;
        self.unread += searched.likely.older;
        for group in groups(&searched.likely) {
            if self.bytes_to_read == 0 {
                self.unread += group.len() as u64;
                continue;
            }
            self.bytes_to_read = self.bytes_to_read.saturating_sub(bytes_of(group));
            for original in self.read(scope, group)? {
                match original {
                    Some((id, original)) => self.examine(scope, id, original),
                    None => self.unread += 1,
                }
            }
        }
        Ok(())
    }

    /// Stores the signatures of originals.
    fn sign(&mut self, scope: &Scope, unsigned: &Candidates) -> Result<()> {
        for group in groups(unsigned) {
            if self.bytes_to_sign == 0 {
                break;
            }
            self.bytes_to_sign = self.bytes_to_sign.saturating_sub(bytes_of(group));
            let signatures = self
                .read(scope, group)?
                .into_iter()
                .map(|original| original.map_or_else(Signature::of_unknown, |(_, original)| signature(&original)));
            let hashes = group.iter().map(|(hash, _)| *hash);
            self.engine.store.sign(scope, &hashes.zip(signatures).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Reads originals, in order. One that is damaged is absent and does not hide the others.
    fn read(&self, scope: &Scope, group: &[(ContentHash, u64)]) -> Result<Vec<Option<(RefId, Original)>>> {
        let (store, agent) = (&self.engine.store, &scope.agent_id);
        let ids: Vec<RefId> = group.iter().map(|(hash, _)| hash.to_ref_id(64)).collect();
        match store.get_all(&ids, agent, self.now) {
            Err(Error::OriginalDamaged { .. }) => (ids.iter())
                .map(|id| match store.get(id, agent, self.now) {
                    Err(Error::OriginalDamaged { .. }) => Ok(None),
                    read => read,
                })
                .collect(),
            read => read,
        }
    }

    /// Adds an original to the matches if its text has all words.
    fn examine(&mut self, scope: &Scope, id: RefId, original: Original) {
        if !self.seen.insert(original.hash) {
            return;
        }
        let Some(text) = searched_text(&original).filter(|text| self.words.are_in(text)) else { return };
        let counts = || text.lines().map(|line| self.words.count_in(line));
        let most = counts().max().unwrap_or(0);
        let rank = (most, counts().filter(|count| *count == most).count());
        self.matches.push(Match { id, original, scope: scope.clone(), rank });
    }

    fn found(mut self, max_chars: usize) -> Found {
        // Sessions come with the last seen first, and originals of a session with the newest first.
        self.matches.sort_by_key(|found| Reverse(found.rank));
        let matching = self.matches.len();
        let shown = matching.min((max_chars / EXCERPT_CHARS).max(1));
        let note = self.note(shown);
        let requested = RequestedPart::of_words(self.words);
        let excerpt_chars = max_chars / shown.max(1);
        let original = |Match { id, original, scope, .. }: Match| {
            let text = original.read_text().unwrap_or_default();
            let (cut, is_arguments) = (cut_note_of(&original), is_arguments(&original));
            let label: String = original.label.lines().next().unwrap_or_default().chars().take(LABEL_CHARS).collect();
            let room = excerpt_chars.saturating_sub(id.as_str().len() + label.chars().count() + 2);
            let excerpt = OriginalText { id: &id, text: &text, cut, is_arguments }.part(&requested, room);
            FoundOriginal { hash: original.hash, label, excerpt, scope, id }
        };
        Found { originals: self.matches.into_iter().take(shown).map(original).collect(), matching, note }
    }

    /// States what is not among the shown originals.
    fn note(&self, shown: usize) -> String {
        let matching = self.matches.len();
        let mut notes = Vec::new();
        if matching == 0 {
            notes.push(format!("no original has all of the words {}", self.words));
        } else if shown < matching {
            notes.push(format!("{shown} of {matching} originals with all words; more words find fewer"));
        }
        if self.unread > 0 {
            notes.push(format!("{} older or damaged originals that may have them were not read", self.unread));
        }
        if self.unsigned > 0 {
            notes.push(format!("{} older originals were not searched yet; search again", self.unsigned));
        }
        notes.join("; ")
    }
}

/// Returns the signature of an original.
fn signature(original: &Original) -> Signature {
    searched_text(original).map_or_else(Signature::of_no_text, |text| Signature::of(&text))
}

/// Returns the text whose lines a fetch by pattern returns; `None` for an image.
fn searched_text(original: &Original) -> Option<String> {
    let text = original.read_text()?.into_owned();
    let rendering = if is_arguments(original) { render_arguments(&text) } else { None };
    Some(rendering.unwrap_or(text))
}

/// Splits candidates into groups that are read at once.
fn groups(candidates: &Candidates) -> impl Iterator<Item = &[(ContentHash, u64)]> {
    let mut bytes = 0;
    candidates.newest.chunk_by(move |(_, size), _| {
        bytes += (*size).max(MIN_BYTES);
        let is_full = bytes >= BYTES_AT_ONCE;
        bytes = if is_full { 0 } else { bytes };
        !is_full
    })
}

fn bytes_of(group: &[(ContentHash, u64)]) -> u64 {
    group.iter().map(|(_, size)| (*size).max(MIN_BYTES)).sum()
}
