//! log -> fold: decides what becomes a template, a column, a name.
//!
//! Depends on nothing but the text and its arguments, so that a fold can be told from a look-alike by folding again.

use super::alarm::Alarm;
use super::book::{Book, MARKS, Slot, expected};
use super::column::{Template, pays, template};
use super::legend::{self, Facts, Uses};
use super::log::Log;
use super::template::Group;
use super::{repeat, write};
use crate::config::Encoding;
use crate::pipeline::fold::Fold;
use crate::pipeline::stages::hashing::{FastMap, FastSet};
use crate::tokens;

/// What becomes of a line.
pub(super) enum Entry<'a> {
    /// Itself.
    Raw,
    /// What follows its stamp, behind a gap.
    Text { gap: i64 },
    /// A row, or the definition when it is the template's first; values that a reader can tell are `None`.
    Template { template: usize, gap: i64, values: Vec<Option<&'a str>> },
}

/// Folds the lines of a log; `None` when nothing in it repeats.
pub(super) fn fold(text: &str, encoding: Encoding, errors_may_fold: bool) -> Option<Fold> {
    let log = Log::read(text, errors_may_fold);
    let mut marks = choose_marks(&log);
    let mut place = vec![None; log.lines.len()];
    let mut templates: Vec<Template> = Vec::new();
    for group in log.groups.iter().filter(|group| !conflicts(&log, group, marks)) {
        let template = template(group, &log.words, encoding);
        if pays(&template, encoding) {
            for (row, &line) in group.lines.iter().enumerate() {
                place[line] = Some((templates.len(), row));
            }
            templates.push(template);
        }
    }
    if templates.is_empty() {
        marks = MARKS[0];
    }
    let entries = plan(&log, &place, &templates);
    let names = worth_naming(&entries, encoding);
    let book = Book::new(log.layout.clone(), log.clock, marks);
    let long = write::body(&log.lines, &entries, &templates, &names, book, marks)?;
    let long_len = long.len();
    let body = repeat::shorten(long);
    let uses = Uses {
        templates: !templates.is_empty(),
        counts: templates.iter().flat_map(|template| &template.slots).any(|slot| matches!(slot, Slot::Count(_))),
        names: !names.is_empty(),
        repeats: body.len() < long_len,
    };
    let facts = Facts { is_crlf: log.is_crlf, layout: log.layout, clock: log.clock, marks };
    Some(Fold::new(super::NAME, legend::write(&facts, uses), Some(body.join("\n"))))
}

fn conflicts(log: &Log, group: &Group, marks: (char, char)) -> bool {
    let has_one = |text: &str| match (u8::try_from(marks.0), u8::try_from(marks.1)) {
        (Ok(open), Ok(close)) if open.is_ascii() && close.is_ascii() => {
            memchr::memchr2(open, close, text.as_bytes()).is_some()
        }
        _ => text.contains([marks.0, marks.1]),
    };
    group.lines.iter().any(|&line| has_one(log.lines[line].text))
}

/// The marks that the fewest lines of groups hold already.
fn choose_marks(log: &Log) -> (char, char) {
    let cost = |&marks: &(char, char)| {
        log.groups.iter().filter(|group| conflicts(log, group, marks)).map(|group| group.lines.len()).sum::<usize>()
    };
    let free = MARKS.iter().find(|marks| cost(marks) == 0);
    free.copied().unwrap_or_else(|| MARKS.into_iter().min_by_key(cost).expect("there are marks"))
}

/// Decides for each line how it is written, and which values a reader can tell without being told.
fn plan<'a>(log: &Log<'a>, place: &[Option<(usize, usize)>], templates: &[Template<'a>]) -> Vec<Entry<'a>> {
    let mut clock = log.clock;
    let mut last: Vec<Option<&[&'a str]>> = vec![None; templates.len()];
    let mut entries = Vec::with_capacity(log.lines.len());
    for (index, line) in log.lines.iter().enumerate() {
        let gap = line.stamp.map_or(0, |stamp| stamp.ticks - clock);
        clock = line.stamp.map_or(clock, |stamp| stamp.ticks);
        let is_certain = line.stamp.is_none() || log.layout.as_ref().is_some_and(|layout| layout.is_certain(gap));
        entries.push(match place[index] {
            Some((template, row)) if is_certain => {
                let known = &templates[template];
                let row = known.rows[row].as_slice();
                let values = known.slots.iter().enumerate().filter(|(_, slot)| !matches!(slot, Slot::Copy(_)));
                let values = values
                    .map(|(at, &slot)| {
                        let is_expected = last[template].is_some_and(|last| expected(slot, last[at]) == row[at]);
                        (!is_expected).then_some(row[at])
                    })
                    .collect();
                last[template] = Some(row);
                Entry::Template { template, gap, values }
            }
            _ if is_certain
                && line.alarm < Alarm::Error
                && line.stamp.is_some_and(|stamp| stamp.start == 0)
                && index + 1 < log.lines.len() =>
            {
                Entry::Text { gap }
            }
            _ => Entry::Raw,
        });
    }
    entries
}

/// The values that are cheaper as `$1`.
fn worth_naming<'a>(entries: &[Entry<'a>], encoding: Encoding) -> FastSet<&'a str> {
    let mut seen: FastMap<&str, usize> = FastMap::default();
    for entry in entries {
        if let Entry::Template { values, .. } = entry {
            for value in values.iter().flatten() {
                *seen.entry(value).or_default() += 1;
            }
        }
    }
    // A reference costs two tokens, a definition three more than the value.
    seen.retain(|value, times| {
        *times > 1 && value.len() > 2 && {
            let cost = tokens::count(&format!(" {value}"), encoding);
            (*times - 1) * cost.saturating_sub(2) > 3
        }
    });
    seen.into_keys().collect()
}
