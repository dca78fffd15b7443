//! What the label of an original says beside its name: that it holds the arguments of a call, or that the host had cut
//! the output before it was stored.

use crate::reference::Original;
use crate::tokens::utf16;

/// How an output of so many UTF-16 units that the host had cut before it reached us says so, in its label and wherever
/// it is shown.
pub(super) fn cut_words(units: usize) -> String {
    format!("{CUT_AT}{}{CUT_REST}", utf16::thousands(units))
}

const CUT_AT: &str = "cut by the host at ";
const CUT_REST: &str = " characters; the rest was never here";

/// The label of an output that the host had cut.
pub(super) fn cut_label(label: &str, units: usize) -> String {
    format!("{label} ({})", cut_words(units))
}

/// The words for an original that the host had cut before it was stored; `None` for a whole one.
pub(super) fn cut_of(original: &Original) -> Option<&str> {
    let words = original.label.strip_suffix(')')?;
    words.ends_with(CUT_REST).then(|| words.rfind(CUT_AT).map(|at| &words[at..]))?
}

/// A shown output without the words at its end that the host had cut it at so many UTF-16 units; `None` where it does
/// not end so. A tool may print such words itself: whether they are ours is told by what is before them.
pub(super) fn without_cut(shown: &str) -> Option<(&str, usize)> {
    let words = shown.strip_suffix(']')?.strip_suffix(CUT_REST)?;
    let at = words.rfind(CUT_AT)?;
    let units = words[at + CUT_AT.len()..].replace(',', "").parse().ok()?;
    Some((shown[..at].strip_suffix("\n[")?, units))
}

/// Words for a label that do not end as those of an original that the host had cut do.
pub(super) fn uncut_label(mut words: String) -> String {
    if words.strip_suffix(')').is_some_and(|words| words.ends_with(CUT_REST)) {
        words.push('…');
    }
    words
}

/// A limit in UTF-16 units that no text comes within one unit of by chance: chosen by judgement.
const LARGE_CUT_CHARS: usize = 1 << 16;

/// Whether a text ends where a host cuts: at a limit, or one unit before it, where a character of two units would not
/// fit. That it is such a character is known where the text has others, and at limits that no text comes so close to by
/// chance.
pub(super) fn is_cut_at(text: &str, units: usize) -> bool {
    let length = utf16::len(text);
    length == units || length + 1 == units && (units >= LARGE_CUT_CHARS || text.chars().any(|one| one.len_utf16() == 2))
}

/// The label of the arguments of a tool's call.
pub(super) fn arguments_label(tool: &str) -> String {
    format!("{ARGUMENTS_OF}{tool}")
}

const ARGUMENTS_OF: &str = "arguments of ";

/// Whether an original is the arguments of a call.
pub(super) fn is_arguments(original: &Original) -> bool {
    original.label.starts_with(ARGUMENTS_OF)
}
