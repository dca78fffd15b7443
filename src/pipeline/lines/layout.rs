//! The blanks between fields -> column widths, as `printf` pads: a wider cell moves the rest of its line.

pub(super) use concertina_format::lines::template::Pad;

use super::cells::Lines;
use super::group::{Group, MIN_ROWS};

/// The fields of the lines of a group, and the text between them.
#[derive(Debug)]
pub(super) struct Layout<'t> {
    /// The lines that fit the layout, ascending.
    pub(super) lines: Vec<usize>,
    /// For each field its text in each line.
    pub(super) columns: Vec<Vec<&'t str>>,
    pub(super) pads: Vec<Pad>,
    /// The text before each field, and after the last one.
    pub(super) between: Vec<&'t str>,
}

#[derive(Debug, Clone, Copy)]
enum Rule<'t> {
    Same(&'t str),
    /// The field before the gap is padded to the width, then this text follows.
    Behind(usize, &'t str),
    /// This text comes first, then the field after the gap is padded to the width.
    Before(usize, &'t str),
}

/// A gap of a line, with the widths of the fields beside it in characters.
#[derive(Debug, Clone, Copy)]
struct Gap<'t> {
    text: &'t str,
    left: usize,
    right: usize,
}

impl Rule<'_> {
    fn holds(&self, gap: &Gap) -> bool {
        match *self {
            Rule::Same(text) => gap.text == text,
            Rule::Behind(width, tail) => {
                gap.text.strip_suffix(tail).is_some_and(|text| is_blanks(text, width.saturating_sub(gap.left)))
            }
            Rule::Before(width, head) => {
                gap.text.strip_prefix(head).is_some_and(|text| is_blanks(text, width.saturating_sub(gap.right)))
            }
        }
    }
}

fn is_blanks(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte == b' ')
}

/// Returns the layout of most lines of a group; lines that do not fit are left out.
pub(super) fn layout<'t>(lines: &Lines<'t>, group: &Group) -> Option<Layout<'t>> {
    let mut rows: Vec<usize> = group.lines.clone();
    let mut pads = vec![Pad::None; group.fields];
    let mut between = Vec::with_capacity(group.fields + 1);
    for at in 0..=group.fields {
        let first = between_text(lines, rows[0], at, group);
        if rows.iter().all(|&line| between_text(lines, line, at, group) == first) {
            between.push(first);
            continue;
        }
        let gaps: Vec<Gap> = rows.iter().map(|&line| gap(lines, line, at, group)).collect();
        let is_taken = at.checked_sub(1).is_none_or(|before| pads[before] != Pad::None);
        let rule = rule(&gaps, is_taken, at == group.fields)?;
        let mut holds = gaps.iter().map(|gap| rule.holds(gap));
        rows.retain(|_| holds.next() == Some(true));
        if rows.len() < MIN_ROWS {
            return None;
        }
        match rule {
            Rule::Same(text) => between.push(text),
            Rule::Behind(width, tail) => {
                pads[at - 1] = Pad::Behind(width);
                between.push(tail);
            }
            Rule::Before(width, head) => {
                pads[at] = Pad::Before(width);
                between.push(head);
            }
        }
    }
    let columns = (0..group.fields).map(|field| rows.iter().map(|&line| text(lines, line, field, group)).collect());
    let columns = columns.collect();
    Some(Layout { lines: rows, columns, pads, between })
}

/// Returns a field of a line.
fn text<'t>(lines: &Lines<'t>, line: usize, field: usize, group: &Group) -> &'t str {
    let (start, end) = span(lines, line, field, group);
    &lines.texts[line][start..end]
}

fn span(lines: &Lines, line: usize, field: usize, group: &Group) -> (usize, usize) {
    let cells = lines.cells(line);
    let end = if group.has_rest && field + 1 == group.fields { cells[cells.len() - 1].1 } else { cells[field].1 };
    (cells[field].0 as usize, end as usize)
}

/// Returns the text before a field of a line, or after the last one.
fn between_text<'t>(lines: &Lines<'t>, line: usize, at: usize, group: &Group) -> &'t str {
    let whole = lines.texts[line];
    let start = at.checked_sub(1).map_or(0, |before| span(lines, line, before, group).1);
    let end = if at < group.fields { lines.cells(line)[at].0 as usize } else { whole.len() };
    &whole[start..end]
}

fn gap<'t>(lines: &Lines<'t>, line: usize, at: usize, group: &Group) -> Gap<'t> {
    let whole = lines.texts[line];
    let before = at.checked_sub(1).map_or((0, 0), |before| span(lines, line, before, group));
    let behind = if at < group.fields { span(lines, line, at, group) } else { (whole.len(), whole.len()) };
    let width = |(start, end): (usize, usize)| {
        let text = &whole[start..end];
        if text.is_ascii() { text.len() } else { text.chars().count() }
    };
    let text = &whole[before.1..behind.0];
    Gap { text, left: width(before), right: width(behind) }
}

/// Returns the rule that most gaps follow.
fn rule<'t>(gaps: &[Gap<'t>], is_taken: bool, is_last: bool) -> Option<Rule<'t>> {
    let shortest = gaps.iter().map(|gap| gap.text).min_by_key(|text| text.len())?;
    let common = |of: fn(&str, &str) -> usize| gaps.iter().map(|gap| of(gap.text, shortest)).min().unwrap_or(0);
    let tail = &shortest[shortest.len()
        - common(|one, other| one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count())..];
    let head = &shortest[..common(|one, other| one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count())];
    let mut rules = vec![Rule::Same(most(gaps.iter().map(|gap| gap.text))?)];
    let widths =
        |of: fn(&Gap) -> usize, fixed: usize| most(gaps.iter().map(of)).map(|width| width.saturating_sub(fixed));
    if !is_taken {
        rules.push(Rule::Behind(widths(|gap| gap.left + gap.text.len(), tail.len())?, tail));
    }
    if !is_last {
        rules.push(Rule::Before(widths(|gap| gap.right + gap.text.len(), head.len())?, head));
    }
    let followed = |rule: &Rule| gaps.iter().filter(|gap| rule.holds(gap)).count();
    // `max_by_key` returns the last of equals, so the order is reversed to prefer the first.
    rules.into_iter().rev().max_by_key(followed)
}

fn most<T: std::hash::Hash + Eq + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut seen: concertina_base::hashing::FastMap<T, (usize, usize)> = concertina_base::hashing::FastMap::default();
    for (at, value) in values.enumerate() {
        seen.entry(value).or_insert((0, at)).0 += 1;
    }
    seen.into_iter().max_by_key(|&(_, (times, at))| (times, std::cmp::Reverse(at))).map(|(value, _)| value)
}
