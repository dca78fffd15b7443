//! Fetch: ids -> the original bytes, whole, by lines, by characters or by pattern. A query without ids is a search.
//!
//! A whole original is returned with nothing added, so that it is byte-exact. A part of it ends with one line that
//! states its range and the call that continues. Each answer is recorded, so that it is never compressed while it is
//! fresh and later folds back to the same original.

use std::borrow::Cow;
use std::collections::HashSet;

use super::engine::Engine;
use super::fetch_page::OriginalText;
use super::fetch_request::{Fetch, Fetched, FetchedBlock, QUOTED_CHARS, RequestedPart, read_id};
use super::labels::{cut_note_of, is_arguments, tool_of};
use super::marks::shown_copy;
use super::search::{FoundOriginal, SEARCH_CHARS};
use crate::error::{Error, Result};
use crate::reference::{ContentHash, Media, Original, RefId};
use crate::store::{AskedAgain, Batch, Ledger, Mark, MarkKind, Millis, PrintedKind, PrintedText, Scope};

/// The maximum number of originals that are looked up and held in memory at once. Chosen by judgement.
pub(super) const ORIGINALS_AT_ONCE: usize = 8;

/// An id as written. If it is valid: the parsed id, the words after it, and the original if there is one.
type RequestedId<'w> = (&'w str, Option<(RefId, &'w str, Option<(RefId, Original)>)>);

impl Engine {
    /// Answers a fetch. Unknown ids are reported in the answer, once each; duplicates are answered once.
    ///
    /// # Errors
    /// [`Error::BadPattern`]; [`Error::BadArgument`] for a bad query, and for one without ids and without a session;
    /// store errors. Invalid ids are reported in the answer and never looked up.
    pub fn fetch(&self, scope: &Scope, fetch: &Fetch, now: Millis) -> Result<Fetched> {
        let default_part = RequestedPart::of(fetch)?;
        if let Some(query) = fetch.query.as_deref().filter(|_| fetch.ref_ids.is_empty()) {
            let ranges = [("lines", fetch.lines.is_some()), ("chars", fetch.characters.is_some())];
            return match ranges.into_iter().find(|(_, is_given)| *is_given) {
                Some((name, _)) => Err(Error::bad_argument(name, "given", "absent beside a query without ids")),
                None => self.answer_query(scope, (query, &fetch.done), fetch.max_chars, now),
            };
        }
        let mut answer = Fetched { blocks: Vec::new(), found: 0, warning: None };
        let mut seen = HashSet::new();
        let mut batch = Batch::default();
        let ledger = if scope.session_id.is_empty() { Ledger::default() } else { self.store.ledger(scope)? };
        let mut budget = AnswerBudget { left: fetch.max_chars.max(1), unanswered: 0 };
        for (at, requested) in
            fetch.ref_ids.chunks(ORIGINALS_AT_ONCE).flat_map(|ids| self.look_up(ids, scope, now)).enumerate()
        {
            let (id_text, id) = requested?;
            // Reserve room to say that the remaining ids did not fit.
            let reserved_chars = if at + 1 < fetch.ref_ids.len() { UNSHOWN_NOTE_CHARS } else { 0 };
            let shown = || id_text.chars().take(QUOTED_CHARS).collect::<String>();
            let Some((id, part_words, original)) = id else {
                let note = format!(
                    "{:?} is not a valid REF_ID: an id is the 16 to 64 hexadecimal digits that a placeholder prints.",
                    shown()
                );
                answer.blocks.extend(budget.try_take(note, reserved_chars).map(FetchedBlock::Text));
                continue;
            };
            let Some(requested) = default_part.override_with(part_words)? else {
                let note = format!(
                    "{:?} names no part: after an id come lines ({id}:41-80), characters ({id}:c41-80) or a pattern ({id}:/regex/).",
                    shown()
                );
                answer.blocks.extend(budget.try_take(note, reserved_chars).map(FetchedBlock::Text));
                continue;
            };
            let Some((id, original)) = original else {
                if seen.insert(id.to_string()) {
                    answer.blocks.extend(budget.try_take(unknown_id_note(&id), reserved_chars).map(FetchedBlock::Text));
                }
                continue;
            };
            if !seen.insert(format!("{}:{part_words}", original.hash.to_hex())) {
                continue;
            }
            let text_of_original = match &original.media {
                Media::Image(mime) => {
                    answer.found += 1;
                    answer.blocks.push(FetchedBlock::Image(original.bytes.clone(), mime.clone()));
                    continue;
                }
                Media::Text => original.read_text(),
            };
            let (cut, is_arguments) = (cut_note_of(&original), is_arguments(&original));
            let has_lone_surrogates = matches!(text_of_original, Some(Cow::Owned(_)));
            let text = text_of_original.unwrap_or_else(|| String::from_utf8_lossy(&original.bytes));
            let whole = OriginalText { id: &id, text: &text, cut, is_arguments };
            let max_chars = budget.left.saturating_sub(reserved_chars);
            let mut part = whole.part(&requested, max_chars);
            // The whole is exact; a page shows U+FFFD for lone surrogates.
            let exact = (has_lone_surrogates && part == whole.text).then(|| original.bytes.clone());
            let printed_text_of = |part: &str| PrintedText {
                text: ContentHash::of(exact.as_deref().unwrap_or(part.as_bytes())),
                kind: PrintedKind::Copy,
                original: original.hash,
                saved: 0,
            };
            let is_of_another =
                |row: &PrintedText| row.text == printed_text_of(&part).text && row.original != original.hash;
            if exact.is_none() && batch.printed.iter().chain(&ledger.printed).any(is_of_another) {
                // Equal parts of two originals are distinguished by their ids.
                let note = format!("\n[of {id}]");
                part = whole.part(&requested, max_chars.saturating_sub(note.len())) + &note;
            }
            let printed = printed_text_of(&part);
            let Some(text) = budget.try_take(part, reserved_chars) else { continue };
            answer.found += 1;
            batch.unmarked.push(Mark::on(MarkKind::Released, original.hash));
            batch.printed.push(printed);
            batch.asked_again.push(AskedAgain {
                ref_id: id.to_string(),
                tool: tool_of(&original.label).to_owned(),
                tokens: self.contents.of_text(&text).1,
                is_rerun: false,
            });
            answer.blocks.push(exact.map_or(FetchedBlock::Text(text), FetchedBlock::Exact));
        }
        let released = release(&ledger, &fetch.done, &mut batch);
        answer.blocks.extend(released.and_then(|note| budget.try_take(note, 0)).map(FetchedBlock::Text));
        answer.blocks.extend(budget.unanswered_note(fetch.max_chars).map(FetchedBlock::Text));
        if answer.blocks.is_empty() {
            answer.blocks.push(FetchedBlock::Text("No valid REF_ID was provided; nothing was fetched.".into()));
        }
        // The answer is correct even if it cannot be recorded; unrecorded, it may later be folded under a second id.
        if !scope.session_id.is_empty() {
            answer.warning = self.put(scope, batch, now).err().as_ref().map(Into::into);
        }
        Ok(answer)
    }

    /// Answers a search of the session's own originals, and releases ids. Each original has a block of its own, which
    /// folds back to it.
    fn answer_query(
        &self,
        scope: &Scope,
        (query, done): (&str, &[String]),
        max_chars: usize,
        now: Millis,
    ) -> Result<Fetched> {
        if scope.session_id.is_empty() {
            return Err(Error::bad_argument("sessionId", "absent", "the session that a query without ids searches"));
        }
        let mut budget = AnswerBudget { left: max_chars.clamp(1, SEARCH_CHARS), unanswered: 0 };
        let room = budget.left.saturating_sub(UNSHOWN_NOTE_CHARS);
        let found = self.search(Some(scope), query, room, now)?;
        let mut answer = Fetched { blocks: Vec::new(), found: 0, warning: None };
        let mut batch = Batch::default();
        for FoundOriginal { id, hash, label, excerpt, .. } in found.originals {
            let Some(text) = budget.try_take(format!("{id} {label}\n{excerpt}"), 0) else { continue };
            let (printed, kind) = (ContentHash::of(text.as_bytes()), PrintedKind::Copy);
            batch.printed.push(PrintedText { text: printed, kind, original: hash, saved: 0 });
            answer.blocks.push(FetchedBlock::Text(text));
            answer.found += 1;
        }
        let note =
            if found.note.is_empty() { budget.unanswered_note(max_chars) } else { Some(format!("[{}]", found.note)) };
        let note = note.map(|note| note.chars().take(budget.left).collect::<String>());
        answer.blocks.extend(note.filter(|note| !note.is_empty()).map(FetchedBlock::Text));
        let released = if done.is_empty() { None } else { release(&self.store.ledger(scope)?, done, &mut batch) };
        answer.blocks.extend(released.and_then(|note| budget.try_take(note, 0)).map(FetchedBlock::Text));
        answer.warning = self.put(scope, batch, now).err().as_ref().map(Into::into);
        Ok(answer)
    }

    /// Looks up a group of originals at once.
    fn look_up<'w>(&self, id_texts: &'w [String], scope: &Scope, now: Millis) -> Vec<Result<RequestedId<'w>>> {
        let ids: Vec<Option<(RefId, &str)>> = id_texts.iter().map(|id_text| read_id(id_text)).collect();
        let valid: Vec<RefId> = ids.iter().flatten().map(|(id, _)| id.clone()).collect();
        let mut found = match self.store.get_all(&valid, &scope.agent_id, now) {
            Ok(found) => found.into_iter(),
            Err(error) => return vec![Err(error)],
        };
        let requested = |(id_text, id): (&'w String, Option<(RefId, &'w str)>)| {
            Ok((id_text.as_str(), id.map(|(id, part_words)| (id, part_words, found.next().flatten()))))
        };
        id_texts.iter().zip(ids).map(requested).collect()
    }
}

/// Releases the ids of copies that the session was shown, unless they are fetched in the same call. Returns the line
/// that says so.
fn release(ledger: &Ledger, done: &[String], batch: &mut Batch) -> Option<String> {
    let (mut released, mut unknown) = (Vec::new(), Vec::new());
    for id in done {
        let shown = read_id(id).and_then(|(id, _)| shown_copy(ledger, &id).map(|original| (id, original)));
        let is_fetched = |original| batch.unmarked.contains(&Mark::on(MarkKind::Released, original));
        match shown.filter(|(_, original)| !is_fetched(*original)) {
            Some((id, original)) => {
                batch.marked.push(Mark::on(MarkKind::Released, original));
                released.push(id.to_string());
            }
            None => unknown.push(id.chars().take(QUOTED_CHARS).collect::<String>()),
        }
    }
    let line = |words: &str, ids: &[String]| (!ids.is_empty()).then(|| format!("[{words}: {}]", ids.join(", ")));
    let lines = [
        line("released", &released),
        line("not released, because this session was not shown them before this call", &unknown),
    ];
    (!done.is_empty()).then(|| lines.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

fn unknown_id_note(id: &RefId) -> String {
    format!(
        "No original is stored under {id}: it has expired, was purged, or belongs to another agent. Asking again will not help; \
         run the tool that produced the data again if it is still needed."
    )
}

/// The characters that are left of an answer.
struct AnswerBudget {
    left: usize,
    /// The number of ids that were not answered because the answer was full.
    unanswered: usize,
}

impl AnswerBudget {
    /// Takes the text's length off the budget and returns the text, if it fits beside the reserved characters.
    fn try_take(&mut self, text: String, reserved_chars: usize) -> Option<String> {
        match self.left.checked_sub(text.chars().count()).filter(|left| *left >= reserved_chars) {
            Some(left) => {
                self.left = left;
                Some(text)
            }
            None => {
                self.unanswered += 1;
                None
            }
        }
    }

    /// Returns the line that says how many ids were not answered.
    fn unanswered_note(&self, max_chars: usize) -> Option<String> {
        let line = match self.unanswered {
            0 => return None,
            1 => format!(
                "[1 id did not fit in {max_chars} characters: ask for it alone, for less of it, or for more characters]"
            ),
            unanswered => {
                format!("[{unanswered} ids did not fit in {max_chars} characters: ask for them in a further call]")
            }
        };
        Some(line.chars().take(self.left).collect())
    }
}

/// Characters reserved for the line that says that ids did not fit: the length of its usual wording.
const UNSHOWN_NOTE_CHARS: usize = 120;
