//! log -> fold: decides what becomes a template, a column, a name.
//!
//! Depends on nothing but the text and its arguments, so that a fold can be told from a look-alike by folding again.

use std::ops::Range;

use super::alarm::Alarm;
use super::book::{Book, MARKS, Slot, is_expected};
use super::column::{Template, pays, template};
use super::legend::{self, Facts, Uses};
use super::log::{Log, lines};
use super::template::Group;
use super::{repeat, write};
use crate::config::Encoding;
use crate::pipeline::fold::Fold;
use crate::pipeline::hashing::FastMap;
use crate::tokens;

/// What becomes of a line.
pub(super) enum Entry {
    /// Itself.
    Raw,
    /// What follows its stamp, behind a gap.
    Text { gap: i64 },
    /// A row, or the definition when it is the template's first, and where its values are in the plan.
    Template { template: usize, gap: i64, values: Range<usize> },
}

/// What becomes of all lines.
pub(super) struct Plan<'a> {
    pub(super) entries: Vec<Entry>,
    /// The values of all rows; those that a reader can tell are `None`.
    pub(super) values: Vec<Option<&'a str>>,
}

/// Folds the lines of a log; `None` when nothing in it repeats.
pub(super) fn fold(text: &str, encoding: Encoding, errors_may_fold: bool) -> Option<Fold> {
    let log = Log::read(text, errors_may_fold);
    let mut marks = choose_marks(&log);
    let mut place = vec![None; log.lines.len()];
    let mut templates: Vec<Template> = Vec::new();
    let are_free = !has_one(log.text, marks);
    for group in log.groups.iter().filter(|group| are_free || !conflicts(&log, group, marks)) {
        let template = template(group, &log.words);
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
    let plan = plan(&log, &place, &templates);
    let names = worth_naming(&plan.values, encoding);
    let has_names = !names.is_empty();
    let book = Book::new(log.layout.clone(), log.clock, marks);
    let long = write::body(&log.lines, &plan, &templates, names, book, marks);
    let short = repeat::shorten(lines(&long));
    let repeats = short.len() < log.lines.len();
    let uses = Uses {
        templates: !templates.is_empty(),
        counts: templates.iter().flat_map(|template| &template.slots).any(|slot| matches!(slot, Slot::Count(_))),
        names: has_names,
        repeats,
    };
    let body = if repeats { short.join("\n") } else { long };
    let facts = Facts { is_crlf: log.is_crlf, layout: log.layout, clock: log.clock, marks };
    Some(Fold::new(super::NAME, legend::write(&facts, uses), Some(body)))
}

fn conflicts(log: &Log, group: &Group, marks: (char, char)) -> bool {
    group.lines.iter().any(|&line| has_one(log.lines[line].text, marks))
}

fn has_one(text: &str, marks: (char, char)) -> bool {
    match (u8::try_from(marks.0), u8::try_from(marks.1)) {
        (Ok(open), Ok(close)) if open.is_ascii() && close.is_ascii() => {
            memchr::memchr2(open, close, text.as_bytes()).is_some()
        }
        _ => text.contains([marks.0, marks.1]),
    }
}

/// The marks that the fewest lines of groups hold already.
fn choose_marks(log: &Log) -> (char, char) {
    if !has_one(log.text, MARKS[0]) {
        return MARKS[0];
    }
    let cost = |&marks: &(char, char)| {
        log.groups.iter().filter(|group| conflicts(log, group, marks)).map(|group| group.lines.len()).sum::<usize>()
    };
    let free = MARKS.iter().find(|marks| cost(marks) == 0);
    free.copied().unwrap_or_else(|| MARKS.into_iter().min_by_key(cost).expect("there are marks"))
}

/// Decides for each line how it is written, and which values a reader can tell without being told.
fn plan<'a>(log: &Log<'a>, place: &[Option<(usize, usize)>], templates: &[Template<'a>]) -> Plan<'a> {
    let mut clock = log.clock;
    let mut last: Vec<Option<usize>> = vec![None; templates.len()];
    let mut entries = Vec::with_capacity(log.lines.len());
    let mut values = Vec::with_capacity(4 * log.lines.len());
    for (index, line) in log.lines.iter().enumerate() {
        let gap = line.stamp.map_or(0, |stamp| stamp.ticks - clock);
        clock = line.stamp.map_or(clock, |stamp| stamp.ticks);
        let is_certain = line.stamp.is_none() || log.layout.as_ref().is_some_and(|layout| layout.is_certain(gap));
        entries.push(match place[index] {
            Some((template, row)) if is_certain => {
                let known = &templates[template];
                let start = values.len();
                let slots = known.slots.iter().zip(&known.columns);
                values.extend(slots.filter(|(slot, _)| !matches!(slot, Slot::Copy(_))).map(|(&slot, column)| {
                    let is_told = last[template].is_some_and(|last| is_expected(slot, column[last], column[row]));
                    (!is_told).then_some(column[row])
                }));
                last[template] = Some(row);
                Entry::Template { template, gap, values: start..values.len() }
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
    Plan { entries, values }
}

/// The values that are cheaper as `$1`, each still without its number.
fn worth_naming<'a>(values: &[Option<&'a str>], encoding: Encoding) -> FastMap<&'a str, usize> {
    let mut seen: FastMap<&str, usize> = FastMap::default();
    for value in values.iter().flatten().filter(|value| value.len() > 2) {
        *seen.entry(value).or_default() += 1;
    }
    // A reference costs two tokens, a definition three more than the value.
    seen.retain(|value, times| {
        *times > 1 && {
            let cost = tokens::count(&format!(" {value}"), encoding);
            (*times - 1) * cost.saturating_sub(2) > 3
        }
    });
    seen.values_mut().for_each(|times| *times = 0);
    seen
}
