//! A scanned text -> the setting that explains its white space.

use concertina_format::ionizer::layout::{Exception, Place, Rule, Setting, Slot, Start, Visitor, is_width, walk};

use super::scan::Scan;

/// The most exceptions of a setting: a number, and one more for this many tokens.
const MAX_EXCEPTIONS: (usize, usize) = (64, 8);

/// Returns the setting with the fewest exceptions; `None` if each has too many.
pub(super) fn detect(scan: &Scan<'_>, lines: bool) -> Option<Setting> {
    let crlf = scan.gaps.iter().any(|gap| gap.starts_with('\r'));
    let (fewest, each) = MAX_EXCEPTIONS;
    let mut limit = fewest + scan.gaps.len() / each;
    let mut best = None;
    for start in starts(scan, lines) {
        let mut setting = Setting { crlf, lines, missing: scan.closers.len(), ..Setting::new(start) };
        let Some(except) = exceptions(&setting, scan, limit) else { continue };
        setting.except = except;
        if setting.except.is_empty() {
            return Some(setting);
        }
        limit = setting.except.len() - 1;
        best = Some(setting);
    }
    best
}

/// Returns the layouts that a text may begin with, the likeliest first.
fn starts(scan: &Scan<'_>, lines: bool) -> Vec<Start> {
    let mut probe = Probe { gaps: scan.gaps.iter(), unit: None, comma: None };
    walk(&Setting { lines, ..Setting::new(Start::Minified) }, &scan.tree, scan.tree.root, &mut probe);
    let indent =
        probe.unit.filter(|unit| *unit == "\t" || is_width(&unit.len()) && unit.bytes().all(|byte| byte == b' '));
    let on_line =
        if probe.comma == Some("") { [Start::Minified, Start::Spaced] } else { [Start::Spaced, Start::Minified] };
    indent.map(|unit| Start::Indent(unit.to_owned())).into_iter().chain(on_line).collect()
}

/// Finds the indentation of a level and the space behind a comma.
struct Probe<'g> {
    gaps: std::slice::Iter<'g, &'g str>,
    unit: Option<&'g str>,
    comma: Option<&'g str>,
}

impl<'s> Visitor<'s> for Probe<'_> {
    fn token(&mut self, _: &Rule<'s>, slot: &Slot, _: &[&str]) -> Option<Exception<'s>> {
        let gap = *self.gaps.next()?;
        match slot.place {
            Place::First if self.unit.is_none() => {
                let indent = gap.rsplit_once('\n').map(|(_, indent)| indent);
                self.unit = indent.map(|indent| &indent[..indent.len() / (slot.depth + 1)]);
            }
            Place::Next if !gap.contains('\n') => {
                self.comma.get_or_insert(gap);
            }
            _ => {}
        }
        None
    }
}

/// Returns the exceptions of a setting; `None` if there are more than `limit`.
fn exceptions(setting: &Setting, scan: &Scan<'_>, limit: usize) -> Option<Vec<(usize, Option<String>)>> {
    let mut finder = Finder { gaps: scan.gaps.iter(), since: 0, found: Vec::new(), limit };
    walk(setting, &scan.tree, scan.tree.root, &mut finder);
    (finder.found.len() <= limit).then_some(finder.found)
}

/// Finds the exceptions of a text from a rule.
struct Finder<'g> {
    gaps: std::slice::Iter<'g, &'g str>,
    since: usize,
    found: Vec<(usize, Option<String>)>,
    limit: usize,
}

impl<'g: 's, 's> Visitor<'s> for Finder<'g> {
    fn token(&mut self, rule: &Rule<'s>, slot: &Slot, _: &[&str]) -> Option<Exception<'s>> {
        let gap = *self.gaps.next()?;
        if self.found.len() > self.limit || rule.space(slot) == gap {
            self.since += 1;
            return None;
        }
        let is_other = slot.place == Place::First && rule.space(&slot.in_other_form()) == gap;
        self.found.push((std::mem::take(&mut self.since), (!is_other).then(|| gap.to_owned())));
        Some(if is_other { Exception::OtherForm } else { Exception::Space(gap) })
    }
}
