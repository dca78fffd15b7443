//! A scanned text -> the setting that explains its whitespace.

use concertina_format::ionizer::layout::{DEPTHS, Habit, Layout, Level, Place, Setting, Slot, walk};

use super::scan::Scan;

/// Returns the setting with the fewest exceptions; `None` if none is good enough.
pub(super) fn detect(scan: &Scan<'_>, lines: bool) -> Option<Setting> {
    // Most texts are set by the likeliest rule without an exception.
    if let Some(setting) = likeliest(scan, lines) {
        return Some(setting);
    }
    let mut best: Option<Setting> = None;
    for mut setting in candidates(scan, lines) {
        setting.lines = lines;
        setting.missing = scan.closers.len();
        // Beyond this, another layout is better, or none is any good: the list is not complete.
        let limit = best.as_ref().map_or(64 + scan.gaps.len() / 8, oddities);
        setting.except = exceptions(&setting, scan, limit);
        if setting.except.len() <= limit && (best.is_none() || oddities(&setting) < limit) {
            best = Some(setting);
        }
        if best.as_ref().is_some_and(|best| best.except.is_empty()) {
            break;
        }
    }
    best
}

/// Returns the number of exceptions of both kinds.
fn oddities(setting: &Setting) -> usize {
    setting.except.len() + if let Layout::Mixed { flips, .. } = &setting.layout { flips.len() } else { 0 }
}

fn exceptions(setting: &Setting, scan: &Scan<'_>, limit: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut gaps = scan.gaps.iter();
    let mut since = 0;
    walk(setting, &scan.tree, scan.tree.root, &mut |slot, _| {
        let Some(actual) = gaps.next() else { return };
        if found.len() > limit {
            return;
        }
        if setting.gap(slot).is(setting, actual) {
            since += 1;
        } else {
            found.push((since, (*actual).to_owned()));
            since = 0;
        }
    });
    found
}

/// Gaps by depth, kind and place.
type Seen<'a> = Vec<[[Option<&'a str>; 3]; 3]>;

fn by_level(levels: &Seen<'_>) -> Layout {
    let mut known: Vec<(usize, usize, Level)> = Vec::new();
    for (depth, kinds) in levels.iter().enumerate() {
        for (kind, level) in kinds.iter().enumerate() {
            if level.iter().any(Option::is_some) {
                known.push((depth, kind, level.map(|gap| gap.unwrap_or("").to_owned())));
            }
        }
    }
    let count = |level: &Level| known.iter().filter(|(_, _, other)| other == level).count();
    // The first of the most frequent.
    let usual = known.iter().rev().max_by_key(|(_, _, level)| count(level)).map(|(_, _, level)| level.clone());
    let usual = usual.unwrap_or_default();
    let special = known.into_iter().filter(|(_, _, level)| *level != usual).collect();
    Layout::Levels { usual, special }
}

/// Collects the places where a text differs from its habit.
#[derive(Default)]
struct MixedFinder {
    habit: Habit,
    flips: Vec<usize>,
    since: usize,
    /// The depth of the outermost container on one line, while inside it.
    flat_depth: Option<usize>,
}

impl MixedFinder {
    fn add(&mut self, slot: Slot, flat: bool) {
        if self.flat_depth.is_some_and(|depth| slot.depth > depth) {
            return;
        }
        self.flat_depth = flat.then_some(slot.depth);
        let last = self.habit.last(slot.depth, slot.kind);
        if *last == flat {
            self.since += 1;
        } else {
            *last = flat;
            self.flips.push(self.since);
            self.since = 0;
        }
    }
}

/// Returns the first of the [`candidates`] if it needs no exception.
fn likeliest(scan: &Scan<'_>, lines: bool) -> Option<Setting> {
    let crlf = scan.gaps.iter().any(|gap| gap.starts_with('\r'));
    let probe = Setting { lines, ..Setting::minified() };
    let mut setting = Setting { crlf, missing: scan.closers.len(), ..probe.clone() };
    let mut colon = [None; 2];
    let mut comma = None;
    let (mut is_first, mut fits) = (true, true);
    let mut gaps = scan.gaps.iter();
    walk(&probe, &scan.tree, scan.tree.root, &mut |slot, _| {
        let Some(&gap) = gaps.next().filter(|_| fits) else { return };
        match slot.place {
            // A text that is indented is so from its first bracket on.
            Place::First if is_first => {
                is_first = false;
                if let Some((_, indent)) = gap.rsplit_once('\n') {
                    setting.layout = Layout::Indent { unit: indent[..indent.len() / (slot.depth + 1)].into() };
                }
            }
            Place::Next if comma.is_none() => {
                comma = Some(gap);
                if let Layout::Flat { comma } = &mut setting.layout {
                    fits = !gap.contains('\n');
                    gap.clone_into(comma);
                }
            }
            Place::BeforeColon | Place::AfterColon => {
                let side = usize::from(slot.place == Place::AfterColon);
                if colon[side].is_none() {
                    colon[side] = Some(gap);
                    gap.clone_into(&mut setting.colon[side]);
                }
            }
            _ => {}
        }
        fits &= setting.gap(slot).is(&setting, gap);
    });
    if colon[1].is_none() {
        let is_indented = matches!(setting.layout, Layout::Indent { .. });
        usual_colon(comma, is_indented).clone_into(&mut setting.colon[1]);
    }
    fits.then_some(setting)
}

/// Returns the text after a colon if the text has none: the usual one of the layout has the shorter name.
fn usual_colon(comma: Option<&str>, is_indented: bool) -> &'static str {
    if comma == Some("") || (comma.is_none() && !is_indented) { "" } else { " " }
}

/// Returns the settings that a text may have, likely ones first.
fn candidates(scan: &Scan<'_>, lines: bool) -> Vec<Setting> {
    let mut colon = [None; 2];
    let mut unit = None;
    let mut comma = None;
    let mut crlf = false;
    let mut levels: Seen<'_> = Vec::new();
    let mut mixed = MixedFinder::default();
    let mut padded = None;
    let mut gaps = scan.gaps.iter();
    let probe = Setting { lines, ..Setting::minified() };
    walk(&probe, &scan.tree, scan.tree.root, &mut |slot, _| {
        let Some(&gap) = gaps.next() else { return };
        crlf |= gap.starts_with('\r');
        let place = match slot.place {
            Place::First => 0,
            Place::Next => 1,
            Place::Close => 2,
            Place::BeforeColon | Place::AfterColon => {
                colon[usize::from(slot.place == Place::AfterColon)].get_or_insert(gap);
                return;
            }
            Place::Edge | Place::LineEnd | Place::BeforeComma | Place::Empty => return,
        };
        if place == 0 {
            mixed.add(slot, !gap.contains('\n'));
            if slot.kind == 0 && !gap.contains('\n') {
                padded.get_or_insert(!gap.is_empty());
            }
        }
        if place == 1 {
            comma.get_or_insert(gap);
        }
        if let Some((_, indent)) = gap.rsplit_once('\n')
            && place < 2
            && unit.is_none()
        {
            unit = Some(&indent[..indent.len() / (slot.depth + 1)]);
        }
        let level = slot.depth.min(DEPTHS - 1);
        if levels.len() <= level {
            levels.resize(level + 1, Default::default());
        }
        levels[level][slot.kind][place].get_or_insert(gap);
    });
    let mut found = Vec::new();
    if let Some(unit) = unit {
        found.push(Layout::Indent { unit: unit.into() });
        found.push(Layout::Mixed { unit: unit.into(), padded: padded.unwrap_or(false), flips: mixed.flips });
    }
    found.push(Layout::Flat { comma: comma.unwrap_or("").into() });
    found.push(by_level(&levels));
    let colon = [colon[0].unwrap_or(""), colon[1].unwrap_or(usual_colon(comma, unit.is_some()))];
    found.into_iter().map(|layout| Setting { crlf, ..Setting::bare(layout, colon) }).collect()
}
