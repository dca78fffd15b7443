//! The header line of a folded log: what a reader must know, and the few facts that reading it back needs.

use super::book::MARKS;
use super::stamp::Layout;

/// What the lines of a body rest on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// Whether every line ends with a carriage return.
    pub(super) is_crlf: bool,
    /// How stamps are written.
    pub(super) layout: Option<Layout>,
    /// The stamp before the first line.
    pub(super) clock: i64,
    /// The marks around values.
    pub(super) marks: (char, char),
}

/// What a body makes use of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Uses {
    pub(super) templates: bool,
    pub(super) counts: bool,
    pub(super) names: bool,
    pub(super) repeats: bool,
}

/// Writes the legend, without what the body does not use.
pub(super) fn write(facts: &Facts, uses: Uses) -> String {
    let (open, close) = facts.marks;
    let gap = if facts.layout.is_some() { "5" } else { "" };
    let mut legend = Vec::new();
    if facts.is_crlf {
        legend.push("CRLF".to_owned());
    }
    if let Some(layout) = &facts.layout {
        let (sample, unit) = (layout.write(facts.clock), layout.unit());
        legend.push(format!("from `{sample}`; `5: x` = x, 5 {unit} after the line above"));
    }
    if uses.templates {
        let before = if uses.counts { "as before, or next of `1,+1`" } else { "as before" };
        legend.push(format!(
            "`a{gap}: x {open}v{close}` = x v, template a; `a{gap} w` or `{gap} w` = a, or the last one, with w for v; `.` or nothing = {before}, `.3` = three such",
        ));
    }
    if uses.names {
        legend.push("$1 = what followed `$1=`".to_owned());
    }
    if uses.repeats {
        legend.push("`2*9` = 2 lines above, 9 more times".to_owned());
    }
    legend.join("; ")
}

/// Reads the facts back.
pub(super) fn read(legend: &str) -> Option<Facts> {
    let (is_crlf, rest) = match legend.strip_prefix("CRLF") {
        Some(rest) => (true, rest.strip_prefix("; ").unwrap_or(rest)),
        None => (false, legend),
    };
    let (layout, clock) = match rest.strip_prefix("from `") {
        Some(rest) => {
            let sample = rest.split_once('`')?.0;
            let layout = Layout::of_sample(sample)?;
            let clock = layout.find(sample)?.ticks;
            (Some(layout), clock)
        }
        None => (None, 0),
    };
    let marks = MARKS.into_iter().find(|(open, close)| legend.contains(&format!(": x {open}v{close}` = ")));
    Some(Facts { is_crlf, layout, clock, marks: marks.unwrap_or(MARKS[0]) })
}
