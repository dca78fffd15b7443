//! The way back: ids -> the original bytes, whole, by lines, by characters or by pattern.
//!
//! The whole original comes back with nothing added, so that it is byte-exact; a part of it carries one line that says which
//! part it is and which call continues. What was answered is recorded, so that an answer is never compressed again while it
//! is fresh and goes back to the same original when it is stale.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::asked::{Part, read_id};
use super::lines::{Lines, rendered};
use super::placeholder::{cut_of, is_arguments};
use super::{Engine, FETCH_TOOL};
use crate::error::{Error, Result};
use crate::reference::{ContentHash, Media, Original, RefId};
use crate::store::{Batch, Millis, Printed, PrintedText, Scope};

/// Lines shown before and after a matching line.
const CONTEXT_LINES: usize = 2;

/// Originals that are asked for, and in memory, at once.
pub(super) const AT_ONCE: usize = 8;

/// What to fetch.
#[derive(Debug, Clone, Default)]
pub struct Fetch {
    /// Bare ids, or whole markers as a placeholder prints them; what of it is wanted may follow after a colon, and goes before what
    /// the other fields say: `id:41-80`, `id:c41-80` for characters, `id:/regex/`, `id:41-80:/regex/`.
    pub ref_ids: Vec<String>,
    /// 1-based inclusive line range; of a listing by the numbers that it prints, of a call's arguments in a rendering of them.
    pub lines: Option<RangeInclusive<usize>>,
    /// 1-based inclusive character range, for texts of few long lines.
    pub characters: Option<RangeInclusive<usize>>,
    /// Regular expression; only matching lines come back, numbered, with two lines around each.
    pub pattern: Option<String>,
    /// Most characters of the whole answer.
    pub max_chars: usize,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// In the order of the ids.
    pub blocks: Vec<FetchedBlock>,
    /// How many ids led to an original.
    pub found: usize,
    /// Set when the answer could not be recorded; it is right all the same.
    pub warning: Option<super::Warning>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchedBlock {
    /// Text.
    Text(String),
    /// A whole text that has lone surrogates, as its original's bytes ([`crate::reference::wtf8`]).
    Exact(Vec<u8>),
    /// An image: the decoded bytes and their MIME type.
    Image(Vec<u8>, String),
}

impl Fetch {
    /// Reads a range as a model writes it: `41-420`, `41-` or `41`.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for anything else, for a first of 0, and for a last before the first.
    pub fn parse_range(name: &str, text: &str) -> Result<RangeInclusive<usize>> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let last = if last.trim().is_empty() { Ok(usize::MAX) } else { last.trim().parse() };
        match (first.trim().parse::<usize>(), last) {
            (Ok(first), Ok(last)) if first >= 1 && last >= first => Ok(first..=last),
            _ => Err(Error::bad_argument(
                name,
                format!("{:?}", text.chars().take(40).collect::<String>()),
                "a range such as \"41-420\", counted from 1",
            )),
        }
    }
}

/// An id as it was written; and where it is one, what it is, the words after it and what it leads to.
type Asked<'w> = (&'w str, Option<(RefId, &'w str, Option<(RefId, Original)>)>);

impl Engine {
    /// Answers a fetch. Unknown ids are answered in words, once each; duplicates are answered once.
    ///
    /// # Errors
    /// [`Error::BadPattern`], and store errors. Ids that are not valid are named in the answer before the store is asked.
    pub fn fetch(&self, scope: &Scope, fetch: &Fetch, now: Millis) -> Result<Fetched> {
        let of_call = Part::of(fetch)?;
        let mut answer = Fetched { blocks: Vec::new(), found: 0, warning: None };
        let mut seen = HashSet::new();
        let mut batch = Batch::default();
        let shown_before = if scope.session_id.is_empty() { Vec::new() } else { self.store.ledger(scope)?.printed };
        let mut room = Room { left: fetch.max_chars.max(1), unshown: 0 };
        for (at, asked) in fetch.ref_ids.chunks(AT_ONCE).flat_map(|ids| self.look_up(ids, scope, now)).enumerate() {
            let (written, id) = asked?;
            // Where more is to come, there is always room to say that it did not fit.
            let kept = if at + 1 < fetch.ref_ids.len() { UNSHOWN_CHARS } else { 0 };
            let shown = || written.chars().take(80).collect::<String>();
            let Some((id, words, original)) = id else {
                let note = format!(
                    "{:?} is not a valid REF_ID: an id is the 16 to 64 hexadecimal digits that a placeholder prints.",
                    shown()
                );
                answer.blocks.extend(room.take(note, kept).map(FetchedBlock::Text));
                continue;
            };
            let Some(asked) = of_call.or(words)? else {
                let note = format!(
                    "{:?} names no part: after an id come lines ({id}:41-80), characters ({id}:c41-80) or a pattern ({id}:/regex/).",
                    shown()
                );
                answer.blocks.extend(room.take(note, kept).map(FetchedBlock::Text));
                continue;
            };
            let Some((id, original)) = original else {
                if seen.insert(id.to_string()) {
                    answer.blocks.extend(room.take(unknown(&id), kept).map(FetchedBlock::Text));
                }
                continue;
            };
            if !seen.insert(format!("{}:{words}", original.hash.to_hex())) {
                continue;
            }
            let read = match &original.media {
                Media::Image(mime) => {
                    answer.found += 1;
                    answer.blocks.push(FetchedBlock::Image(original.bytes.clone(), mime.clone()));
                    continue;
                }
                Media::Text => original.read_text(),
            };
            let (cut, is_arguments) = (cut_of(&original), is_arguments(&original));
            let has_lone_surrogates = matches!(read, Some(Cow::Owned(_)));
            let text = read.unwrap_or_else(|| String::from_utf8_lossy(&original.bytes));
            let whole = Whole { id: &id, text: &text, cut, is_arguments };
            let most = room.left.saturating_sub(kept);
            let mut part = whole.part(&asked, most);
            // The whole is exact; a page shows U+FFFD for lone surrogates.
            let exact = (has_lone_surrogates && part == whole.text).then(|| original.bytes.clone());
            let of = |part: &str| PrintedText {
                text: ContentHash::of(exact.as_deref().unwrap_or(part.as_bytes())),
                printed: Printed::Copy,
                original: original.hash,
                saved: 0,
            };
            let is_of_another = |row: &PrintedText| row.text == of(&part).text && row.original != original.hash;
            if exact.is_none() && batch.printed.iter().chain(&shown_before).any(is_of_another) {
                // Equal parts of two originals are told apart by their ids.
                let note = format!("\n[of {id}]");
                part = whole.part(&asked, most.saturating_sub(note.len())) + &note;
            }
            let printed = of(&part);
            let Some(text) = room.take(part, kept) else { continue };
            answer.found += 1;
            batch.printed.push(printed);
            batch.fetched.push((id.to_string(), self.memo.of_text(&text).1));
            answer.blocks.push(exact.map_or(FetchedBlock::Text(text), FetchedBlock::Exact));
        }
        answer.blocks.extend(room.close(fetch.max_chars).map(FetchedBlock::Text));
        if answer.blocks.is_empty() {
            answer.blocks.push(FetchedBlock::Text("No valid REF_ID was provided; nothing was fetched.".into()));
        }
        // The answer is right whether or not it can be recorded; unrecorded, it may be folded under a second id later.
        if !scope.session_id.is_empty() {
            answer.warning = self.put(scope, batch, now).err().as_ref().map(Into::into);
        }
        Ok(answer)
    }

    /// Asks for some originals at once.
    fn look_up<'w>(&self, written: &'w [String], scope: &Scope, now: Millis) -> Vec<Result<Asked<'w>>> {
        let ids: Vec<Option<(RefId, &str)>> = written.iter().map(|written| read_id(written)).collect();
        let valid: Vec<RefId> = ids.iter().flatten().map(|(id, _)| id.clone()).collect();
        let mut found = match self.store.get_all(&valid, &scope.agent_id, now) {
            Ok(found) => found.into_iter(),
            Err(error) => return vec![Err(error)],
        };
        let asked = |(written, id): (&'w String, Option<(RefId, &'w str)>)| {
            Ok((written.as_str(), id.map(|(id, words)| (id, words, found.next().flatten()))))
        };
        written.iter().zip(ids).map(asked).collect()
    }
}

fn unknown(id: &RefId) -> String {
    format!(
        "No original is stored under {id}: it has expired, was purged, or belongs to another agent. Asking again will not help; \
         run the tool that produced the data again if it is still needed."
    )
}

/// Characters that are left of an answer.
struct Room {
    left: usize,
    /// How many ids were not answered for want of room.
    unshown: usize,
}

impl Room {
    /// The text, when it fits beside what is kept.
    fn take(&mut self, text: String, kept: usize) -> Option<String> {
        match self.left.checked_sub(text.chars().count()).filter(|left| *left >= kept) {
            Some(left) => {
                self.left = left;
                Some(text)
            }
            None => {
                self.unshown += 1;
                None
            }
        }
    }

    /// The line that says how many ids were not answered.
    fn close(&self, max_chars: usize) -> Option<String> {
        let line = match self.unshown {
            0 => return None,
            1 => format!(
                "[1 id did not fit in {max_chars} characters: ask for it alone, for less of it, or for more characters]"
            ),
            unshown => format!("[{unshown} ids did not fit in {max_chars} characters: ask for them in a further call]"),
        };
        Some(line.chars().take(self.left).collect())
    }
}

/// Room for the line that says that ids did not fit.
const UNSHOWN_CHARS: usize = 120;

/// Room for the line that says what part this is.
const NOTE_CHARS: usize = 190;

/// More room for it, where lines are not counted as they stand.
const NUMBERING_CHARS: usize = 60;

/// A page has room for this line and for something to read.
const PAGE_MIN_CHARS: usize = 200;

/// How many of an answer's characters are for lines.
fn room_for(lines: &Lines, max_chars: usize) -> usize {
    let note = NOTE_CHARS + if lines.numbering().is_empty() { 0 } else { NUMBERING_CHARS };
    max_chars.saturating_sub(note).max(PAGE_MIN_CHARS - NOTE_CHARS)
}

/// An original that parts are taken from.
struct Whole<'a> {
    id: &'a RefId,
    text: &'a str,
    /// The words for one that the host had cut.
    cut: Option<&'a str>,
    is_arguments: bool,
}

impl Whole<'_> {
    /// What was asked for, or as much of it as fits; longer than `max_chars` only where there is no room for any page.
    fn part(&self, asked: &Part, max_chars: usize) -> String {
        if asked.is_whole() && self.text.chars().count() <= max_chars {
            return self.text.to_owned();
        }
        let max_chars = max_chars.max(PAGE_MIN_CHARS);
        // Characters are those of the original itself.
        let by_line = asked.pattern.is_some() || asked.lines.is_some();
        let rendering = if self.is_arguments && by_line { rendered(self.text) } else { None };
        let lines = || rendering.as_deref().map_or_else(|| Lines::of(self.text), Lines::of_rendering);
        match (&asked.pattern, &asked.lines, &asked.characters) {
            (Some(pattern), asked, _) => self.matches(&lines(), pattern, asked.as_ref(), max_chars),
            (None, Some(asked), _) => self.line_page(&lines(), asked, max_chars),
            (None, None, Some(characters)) => self.character_page(characters, max_chars),
            (None, None, None) => self.first_page(max_chars),
        }
    }

    /// The largest head of whole lines, or of characters where the first line alone is too long or lines are those of a rendering.
    fn first_page(&self, max_chars: usize) -> String {
        let first_line = self.text.split_inclusive('\n').next().unwrap_or_default();
        if self.is_arguments || first_line.chars().count() > max_chars.saturating_sub(NOTE_CHARS) {
            self.character_page(&(1..=usize::MAX), max_chars)
        } else {
            // A listing may begin with the number 0.
            self.line_page(&Lines::of(self.text), &(0..=usize::MAX), max_chars)
        }
    }

    fn line_page(&self, lines: &Lines, asked: &RangeInclusive<usize>, max_chars: usize) -> String {
        let (wanted, is_by_place) = lines.find(asked);
        if wanted.is_empty() {
            let (first, last) = (asked.start(), asked.end());
            let absent = if *last == usize::MAX { format!("{first} and after") } else { format!("{first}-{last}") };
            return format!("The original {} has {}; lines {absent} do not exist.", self.id, lines.count());
        }
        let room = room_for(lines, max_chars);
        let (mut page, mut used, mut end) = (String::new(), 0, wanted.start);
        for line in &lines.all[wanted.clone()] {
            used += line.text.chars().count();
            if used > room {
                break;
            }
            page.push_str(line.text);
            end += 1;
        }
        let is_cut = end == wanted.start;
        let next_is_long = lines.all[end..wanted.end].first().is_some_and(|line| line.text.chars().count() > room);
        // A line that fits no page goes by characters, and with it the few before it, which are not worth a call.
        if next_is_long && page.chars().count() * 2 < room && !lines.is_rendering() {
            let start = lines.all[..wanted.start].iter().map(|line| line.text.chars().count()).sum::<usize>() + 1;
            return self.character_page(&(start..=usize::MAX), max_chars);
        }
        if is_cut {
            page.extend(lines.all[end].text.chars().take(room));
            end += 1;
        }
        let told = lines.told(&(wanted.start..end), is_by_place) + if is_cut { "; the line is cut" } else { "" };
        let next = lines.all[end..wanted.end].first().map(|line| line.number.to_string());
        self.close(&mut page, &told, next.as_deref(), end == lines.all.len());
        page
    }

    fn character_page(&self, characters: &RangeInclusive<usize>, max_chars: usize) -> String {
        let total = self.text.chars().count();
        let (first, wanted) = (*characters.start(), (*characters.end()).min(total));
        if first > total {
            return format!(
                "The original {} has {total} characters; characters {first} and after do not exist.",
                self.id
            );
        }
        let room = max_chars.saturating_sub(NOTE_CHARS).max(1);
        let mut page: String = self.text.chars().skip(first - 1).take((wanted - first + 1).min(room)).collect();
        let last = first - 1 + page.chars().count();
        let next = (last < wanted).then(|| format!("c{}", last + 1));
        self.close(&mut page, &format!("chars {first}-{last} of {total}"), next.as_deref(), last == total);
        page
    }

    /// Appends the line that says what part a page is, which call continues where more was asked for, and at the end of an original
    /// that the host had cut it.
    fn close(&self, page: &mut String, told: &str, next: Option<&str>, is_end: bool) {
        if !page.ends_with('\n') {
            page.push('\n');
        }
        let _ = write!(page, "[{told}");
        if let Some(next) = next {
            let _ = write!(page, r#"; continue with {FETCH_TOOL} {{"ref_ids":["{}:{next}-"]}}"#, self.id);
        }
        if let Some(words) = self.cut.filter(|_| is_end) {
            let _ = write!(page, "; {words}");
        }
        page.push(']');
    }

    /// Matching lines with their numbers, as `grep -n -C 2` prints them.
    fn matches(
        &self,
        lines: &Lines,
        pattern: &regex::Regex,
        asked: Option<&RangeInclusive<usize>>,
        max_chars: usize,
    ) -> String {
        let all = &lines.all;
        // A line of a listing may have others below it.
        let found = |at: usize| all[at].text.lines().find_map(|row| Some((row, pattern.find(row)?.start())));
        let asked = asked.map_or(0..all.len(), |asked| lines.find(asked).0);
        let hits: Vec<usize> = asked.filter(|&at| found(at).is_some()).collect();
        if hits.is_empty() {
            return format!("No line of the original {} ({}) matches.", self.id, lines.count());
        }
        let room = room_for(lines, max_chars);
        let (mut page, mut used, mut next, mut shown) = (String::new(), 0, 0, 0);
        for &hit in &hits {
            let mut piece = String::new();
            let first = hit.saturating_sub(CONTEXT_LINES).max(next);
            if first > next && next > 0 {
                piece.push_str("--\n");
            }
            let last = (hit + CONTEXT_LINES).min(all.len() - 1);
            for line in all.iter().take(last + 1).skip(first) {
                for row in line.text.lines() {
                    let place = pattern.find(row).map(|found| found.start());
                    let sign = if place.is_some() { ':' } else { '-' };
                    let _ = writeln!(piece, "{}{sign}{}", line.number, clip(row, place.unwrap_or(0)));
                }
            }
            if used + piece.chars().count() > room {
                if shown > 0 {
                    break;
                }
                // Even one match with what is around it is too long: as much of its line as fits.
                let (row, at) = found(hit).unwrap_or_default();
                page = format!("{}:{}", all[hit].number, clip(row, at)).chars().take(room.saturating_sub(1)).collect();
                page.push('\n');
                shown = 1;
                break;
            }
            used += piece.chars().count();
            page.push_str(&piece);
            next = next.max(last + 1);
            shown += 1;
        }
        let _ = write!(page, "[{shown} of {} matching lines{}", hits.len(), lines.numbering());
        if shown < hits.len() {
            let _ = write!(page, "; continue with {}:{}-:/the same pattern/", self.id, all[hits[shown]].number);
        }
        page.push(']');
        page
    }
}

/// A line short enough to show: 400 characters around a byte offset, with `…` where it was cut.
fn clip(line: &str, at: usize) -> String {
    const AROUND: usize = 200;
    let start = line[..at].char_indices().rev().nth(AROUND - 1).map_or(0, |(start, _)| start);
    let end = line[at..].char_indices().nth(AROUND).map_or(line.len(), |(end, _)| at + end);
    let cut = |cut: bool| if cut { "…" } else { "" };
    format!("{}{}{}", cut(start > 0), &line[start..end], cut(end < line.len()))
}
