//! A tree as OpenClaw's browser gives it as `aria`: nodes in JSON, each field on a line of its own, `depth` the last of a node.
//!
//! A long list is cut in the middle of a node, and stands in a frame of other lines. So it is read line by line, not as JSON.

use super::Element;

/// A node, as far as it is read.
#[derive(Default)]
pub(super) struct Node<'t> {
    reference: &'t str,
    role: &'t str,
    name: &'t str,
    value: &'t str,
}

impl<'t> Node<'t> {
    /// Takes in a field; with the last of them it is an element. A browser shows each text once more, by the line that it fills.
    pub(super) fn add(&mut self, key: &str, value: &'t str) -> Option<Element<'t>> {
        match key {
            "ref" => *self = Self { reference: value, ..Self::default() },
            "role" => self.role = value,
            "name" => self.name = value,
            "value" => self.value = value,
            "depth" if !self.role.is_empty() && !self.role.eq_ignore_ascii_case("InlineTextBox") => {
                let Self { reference, role, name, value: held } = std::mem::take(self);
                let (name, words) = if is_text(role) { ("", name) } else { (name, held) };
                return Some(Element { role, name, marks: "", words, reference, depth: value.parse().ok()? });
            }
            _ => {}
        }
        None
    }
}

/// Whether a node is nothing but text.
pub(super) fn is_text(role: &str) -> bool {
    role.eq_ignore_ascii_case("StaticText")
}

/// `"role": "button",`: a field and what it holds, escapes as written.
pub(super) fn field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.strip_prefix('"')?.split_once("\": ")?;
    let value = value.trim_end();
    let value = value.strip_suffix(',').unwrap_or(value);
    Some((key, value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)))
}
