//! A tree in the form `aria` of OpenClaw's browser: nodes in JSON, with each field on its own line and `depth` as the
//! last field of a node.
//!
//! A long list is cut in the middle of a node, and other lines surround it. So it is read line by line, not as JSON.

use super::Element;

/// A node while it is read.
#[derive(Default)]
pub(super) struct Node<'t> {
    reference: &'t str,
    role: &'t str,
    name: &'t str,
    value: &'t str,
    /// The name of the last node that was not text.
    named: &'t str,
}

impl<'t> Node<'t> {
    /// Adds a field, and returns the element after the last one. A browser repeats each text in a node for each line
    /// that it fills; those are skipped.
    pub(super) fn add(&mut self, key: &str, value: &'t str) -> Option<Element<'t>> {
        match key {
            "ref" => *self = Self { reference: value, named: self.named, ..Self::default() },
            "role" => self.role = value,
            "name" => self.name = value,
            "value" => self.value = value,
            "depth" if !self.role.is_empty() && !self.role.eq_ignore_ascii_case("InlineTextBox") => {
                let Self { reference, role, name, value: held, named } = std::mem::take(self);
                let is_text = role.eq_ignore_ascii_case("StaticText");
                self.named = if is_text { named } else { name };
                let (name, words) = if is_text { ("", name) } else { (name, held) };
                let element = Element { role, name, marks: "", words, reference, depth: value.parse().ok()? };
                // The text of a link or a heading repeats its name.
                return (!is_text || words != named).then_some(element);
            }
            _ => {}
        }
        None
    }
}

/// Returns the key and the value of a line such as `"role": "button",`, with escapes as written.
pub(super) fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix('"')?.split_once("\": ")?;
    let value = value.trim_end();
    let value = value.strip_suffix(',').unwrap_or(value);
    Some((key, value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)))
}
