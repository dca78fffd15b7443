//! The way back: ids -> the original bytes, whole, by lines, by characters or by pattern.
//!
//! The whole original comes back with nothing added, so that it is byte-exact; a part of it carries one line that says which
//! part it is and which call continues. What was answered is recorded, so that an answer is never compressed again while it
//! is fresh and goes back to the same original when it is stale.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::asked::{Part, read_id};
use super::placeholder::cut_of;
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
    /// 1-based inclusive line range.
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
            let text = match &original.media {
                Media::Image(mime) => {
                    answer.found += 1;
                    answer.blocks.push(FetchedBlock::Image(original.bytes.clone(), mime.clone()));
                    continue;
                }
                Media::Text => String::from_utf8_lossy(&original.bytes),
            };
            let mut part = part(&id, &text, &asked, room.left.saturating_sub(kept));
            if let Some(words) = cut_of(&original).filter(|_| is_last_page(&part)) {
                part.pop();
                let _ = write!(part, "; {words}]");
            }
            let Some(text) = room.take(part, kept) else { continue };
            answer.found += 1;
            batch.printed.push(PrintedText {
                text: ContentHash::of(text.as_bytes()),
                printed: Printed::Copy,
                original: original.hash,
                saved: 0,
            });
            batch.fetched.push((id.to_string(), self.memo.of_text(&text).1));
            answer.blocks.push(FetchedBlock::Text(text));
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

/// What was asked for of a text, or as much of it as fits; longer than `max_chars` only where there is no room for any page.
fn part(id: &RefId, text: &str, asked: &Part, max_chars: usize) -> String {
    if asked.is_whole() && text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let max_chars = max_chars.max(PAGE_MIN_CHARS);
    match (&asked.pattern, &asked.lines, &asked.characters) {
        (Some(pattern), lines, _) => matches(id, text, pattern, lines.clone(), max_chars),
        (None, Some(lines), _) => line_page(id, text, lines, max_chars),
        (None, None, Some(characters)) => character_page(id, text, characters, max_chars),
        (None, None, None) => first_page(id, text, max_chars),
    }
}

/// The largest head of whole lines, or of characters where the first line alone is too long.
fn first_page(id: &RefId, text: &str, max_chars: usize) -> String {
    let first_line = text.split_inclusive('\n').next().unwrap_or_default();
    if first_line.chars().count() > max_chars.saturating_sub(NOTE_CHARS) {
        character_page(id, text, &(1..=usize::MAX), max_chars)
    } else {
        line_page(id, text, &(1..=usize::MAX), max_chars)
    }
}

/// Room for the line that says what part this is.
const NOTE_CHARS: usize = 190;

/// A page has room for this line and for something to read.
const PAGE_MIN_CHARS: usize = 200;

fn line_page(id: &RefId, text: &str, lines: &RangeInclusive<usize>, max_chars: usize) -> String {
    let total = text.split_inclusive('\n').count();
    let (first, wanted) = (*lines.start(), (*lines.end()).min(total));
    if first > total {
        return format!("The original {id} has {total} lines; lines {first} and after do not exist.");
    }
    let room = max_chars.saturating_sub(NOTE_CHARS).max(1);
    let (mut page, mut used, mut last) = (String::new(), 0, first - 1);
    for line in text.split_inclusive('\n').skip(first - 1).take(wanted - first + 1) {
        used += line.chars().count();
        if used > room {
            break;
        }
        page.push_str(line);
        last += 1;
    }
    if last < first {
        let start = text.split_inclusive('\n').take(first - 1).map(|line| line.chars().count()).sum::<usize>() + 1;
        return character_page(id, text, &(start..=usize::MAX), max_chars);
    }
    close(&mut page, id, LINES, first, last, total, last < wanted);
    page
}

fn character_page(id: &RefId, text: &str, characters: &RangeInclusive<usize>, max_chars: usize) -> String {
    let total = text.chars().count();
    let (first, wanted) = (*characters.start(), (*characters.end()).min(total));
    if first > total {
        return format!("The original {id} has {total} characters; characters {first} and after do not exist.");
    }
    let room = max_chars.saturating_sub(NOTE_CHARS).max(1);
    let mut page: String = text.chars().skip(first - 1).take((wanted - first + 1).min(room)).collect();
    let last = first - 1 + page.chars().count();
    close(&mut page, id, CHARACTERS, first, last, total, last < wanted);
    page
}

/// How a page says what it counts, and what stands for that after an id.
const LINES: (&str, &str) = ("lines", "");
/// See [`LINES`].
const CHARACTERS: (&str, &str) = ("chars", "c");

/// Appends the line that says what part a page is, and, where more was asked for, the call that continues.
fn close(
    page: &mut String,
    id: &RefId,
    (unit, sign): (&str, &str),
    first: usize,
    last: usize,
    total: usize,
    more: bool,
) {
    if !page.ends_with('\n') {
        page.push('\n');
    }
    let _ = write!(page, "[{unit} {first}-{last} of {total}");
    if more {
        let _ = write!(page, r#"; continue with {FETCH_TOOL} {{"ref_ids":["{id}:{sign}{}-"]}}"#, last + 1);
    }
    page.push(']');
}

/// Whether a page says that it is the last part of its original.
fn is_last_page(page: &str) -> bool {
    static LAST: LazyLock<regex::Regex> = LazyLock::new(|| {
        regex::Regex::new(r"\A\[(?:lines|chars) [0-9]+-([0-9]+) of ([0-9]+)\]\z")
            .expect("the pattern of pages is valid")
    });
    page.rsplit('\n').next().and_then(|line| LAST.captures(line)).is_some_and(|page| page[1] == page[2])
}

/// Matching lines with their numbers, as `grep -n -C 2` prints them.
fn matches(
    id: &RefId,
    text: &str,
    pattern: &regex::Regex,
    lines: Option<RangeInclusive<usize>>,
    max_chars: usize,
) -> String {
    let asked = lines.unwrap_or(1..=usize::MAX);
    let all: Vec<&str> = text.lines().collect();
    let hits: Vec<usize> =
        (0..all.len()).filter(|&at| asked.contains(&(at + 1)) && pattern.is_match(all[at])).collect();
    if hits.is_empty() {
        return format!("No line of the original {id} ({} lines) matches.", all.len());
    }
    let room = max_chars.saturating_sub(NOTE_CHARS).max(1);
    let (mut page, mut used, mut next, mut shown) = (String::new(), 0, 0, 0);
    for &hit in &hits {
        let mut piece = String::new();
        let first = hit.saturating_sub(CONTEXT_LINES).max(next);
        if first > next && next > 0 {
            piece.push_str("--\n");
        }
        let last = (hit + CONTEXT_LINES).min(all.len() - 1);
        for (at, line) in all.iter().enumerate().take(last + 1).skip(first) {
            let found = pattern.find(line);
            let sign = if found.is_some() { ':' } else { '-' };
            let _ = writeln!(piece, "{}{sign}{}", at + 1, clip(line, found.map_or(0, |found| found.start())));
        }
        if used + piece.chars().count() > room {
            if shown > 0 {
                break;
            }
            // Even one match with what is around it is too long: as much of its line as fits.
            let at = pattern.find(all[hit]).map_or(0, |found| found.start());
            page = format!("{}:{}", hit + 1, clip(all[hit], at)).chars().take(room.saturating_sub(1)).collect();
            page.push('\n');
            shown = 1;
            break;
        }
        used += piece.chars().count();
        page.push_str(&piece);
        next = next.max(last + 1);
        shown += 1;
    }
    let _ = write!(page, "[{shown} of {} matching lines", hits.len());
    if shown < hits.len() {
        let from = hits[shown] + 1;
        let _ = write!(page, "; continue with {id}:{from}-:/the same pattern/");
    }
    page.push(']');
    page
}

/// A line short enough to show: 400 characters around a byte offset, with `…` where it was cut.
fn clip(line: &str, at: usize) -> String {
    const AROUND: usize = 200;
    let start = line[..at].char_indices().rev().nth(AROUND - 1).map_or(0, |(start, _)| start);
    let end = line[at..].char_indices().nth(AROUND).map_or(line.len(), |(end, _)| at + end);
    let cut = |cut: bool| if cut { "…" } else { "" };
    format!("{}{}{}", cut(start > 0), &line[start..end], cut(end < line.len()))
}
