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

/// Writes the legend of a body, without what the body does not use.
pub(super) fn write(facts: &Facts, body: &[String]) -> String {
    let (open, close) = facts.marks;
    let mut legend = String::new();
    if facts.is_crlf {
        legend += "CRLF; ";
    }
    if let Some(layout) = &facts.layout {
        let (sample, unit) = (layout.write(facts.clock), layout.unit());
        legend += &format!("from `{sample}`; `5: x` = x, 5 {unit} after the line above; ");
    }
    legend +=
        &format!("`a:` names a template; `a5 v w` or `5 v w` = template a or the last, new values for {open}{close}");
    legend += "; `.` or none = as before, `.3` = three such";
    if body.iter().any(|line| line.contains('$')) {
        legend += "; $1 = word";
    }
    if body.iter().any(|line| line.contains('*')) {
        legend += "; `2*9` = 2 lines above 9 more times";
    }
    legend
}

/// Reads the facts back.
pub(super) fn read(legend: &str) -> Option<Facts> {
    let (is_crlf, rest) = legend.strip_prefix("CRLF; ").map_or((false, legend), |rest| (true, rest));
    let (layout, clock) = match rest.strip_prefix("from `") {
        Some(rest) => {
            let sample = rest.split_once('`')?.0;
            let layout = Layout::of_sample(sample)?;
            let clock = layout.find(sample)?.ticks;
            (Some(layout), clock)
        }
        None => (None, 0),
    };
    let marks = MARKS.into_iter().find(|(open, close)| legend.contains(&format!("new values for {open}{close}")))?;
    Some(Facts { is_crlf, layout, clock, marks })
}
