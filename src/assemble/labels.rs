//! Notes in the label of an original beside its name: that it holds the arguments of a call, or that the host had cut
//! the output before it was stored.

use crate::reference::Original;
use crate::tokens::utf16;

/// Returns the note that the host had cut an output at this many UTF-16 units. It is part of the label and of every
/// shown form.
pub(super) fn cut_note(units: usize) -> String {
    format!("{CUT_NOTE_START}{}{CUT_NOTE_END}", utf16::thousands(units))
}

const CUT_NOTE_START: &str = "cut by the host at ";
const CUT_NOTE_END: &str = " characters; the rest was never received";

/// Returns the label of an output that the host had cut.
pub(super) fn label_with_cut_note(label: &str, units: usize) -> String {
    format!("{label} ({})", cut_note(units))
}

/// Returns the note of an original that the host had cut; `None` for a whole one.
pub(super) fn cut_note_of(original: &Original) -> Option<&str> {
    let note = original.label.strip_suffix(')')?;
    note.ends_with(CUT_NOTE_END).then(|| note.rfind(CUT_NOTE_START).map(|at| &note[at..]))?
}

/// Splits the note that the host had cut it from the end of a shown output, with the UTF-16 units that it states.
/// Returns `None` if there is no such note. A tool may print the same words itself; the caller decides by the text
/// before them.
pub(super) fn split_cut_note(shown: &str) -> Option<(&str, usize)> {
    let note = shown.strip_suffix(']')?.strip_suffix(CUT_NOTE_END)?;
    let at = note.rfind(CUT_NOTE_START)?;
    let units = note[at + CUT_NOTE_START.len()..].replace(',', "").parse().ok()?;
    Some((shown[..at].strip_suffix("\n[")?, units))
}

/// Returns words for a label that cannot be mistaken for a cut note.
pub(super) fn uncut_label(mut label: String) -> String {
    if label.strip_suffix(')').is_some_and(|label| label.ends_with(CUT_NOTE_END)) {
        label.push('…');
    }
    label
}

/// A limit in UTF-16 units above which no text ends within one unit by chance. Chosen by judgement.
const MIN_UNAMBIGUOUS_CUT_CHARS: usize = 1 << 16;

/// Returns true if a text ends where a host cuts: at the limit, or one unit before it, where a surrogate pair would not
/// fit. The second case requires that the text has other surrogate pairs, or that the limit is too large for a
/// coincidence.
pub(super) fn is_cut_at(text: &str, units: usize) -> bool {
    let length = utf16::len(text);
    length == units
        || length + 1 == units && (units >= MIN_UNAMBIGUOUS_CUT_CHARS || text.chars().any(|one| one.len_utf16() == 2))
}

/// Returns the label of a call's arguments.
pub(super) fn arguments_label(tool: &str) -> String {
    format!("{ARGUMENTS_OF}{tool}")
}

const ARGUMENTS_OF: &str = "arguments of ";

/// Returns the tool in the label of an original: what stands before its path or command.
pub(super) fn tool_of(label: &str) -> &str {
    let label = label.strip_prefix(ARGUMENTS_OF).unwrap_or(label);
    label.split_once(": ").map_or(label, |(tool, _)| tool)
}

/// Returns true if an original is the arguments of a call.
pub(super) fn is_arguments(original: &Original) -> bool {
    original.label.starts_with(ARGUMENTS_OF)
}
