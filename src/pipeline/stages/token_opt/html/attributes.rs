//! The attributes of a start tag, for those that tell a reader something.

use super::flow::Target;

/// A start tag as it is read.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    element: String,
    at: usize,
    /// Names and values; names that tell nothing are left out.
    found: Vec<(&'static str, String)>,
    /// Whether the value to come belongs to the last one found.
    is_wanted: bool,
}

#[rustfmt::skip]
const WANTED: &[&str] = &[
    "href", "src", "data", "alt", "type", "name", "value", "placeholder", "aria-label", "role", "start", "colspan",
    "rowspan", "checked", "selected", "label", "title", "disabled", "hidden",
];

impl Attributes {
    pub(super) fn start(&mut self, element: &[u8], at: usize) {
        *self = Self { element: String::from_utf8_lossy(element).into_owned(), at, ..Self::default() };
    }

    pub(super) fn name(&mut self, name: &[u8]) {
        let wanted = WANTED.iter().find(|wanted| wanted.as_bytes() == name);
        // Of attributes with one name the first counts.
        self.is_wanted = wanted.is_some_and(|wanted| self.get(wanted).is_none());
        if let Some(wanted) = wanted.filter(|_| self.is_wanted) {
            self.found.push((wanted, String::new()));
        }
    }

    pub(super) fn value(&mut self, value: &[u8]) {
        if let Some((_, found)) = self.found.last_mut().filter(|_| self.is_wanted) {
            found.push_str(String::from_utf8_lossy(value).trim());
        }
    }

    /// The name of the element, in small letters.
    pub(super) fn element(&self) -> &str {
        &self.element
    }

    /// Where the tag starts.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.found.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.parse().ok()
    }

    /// A URL that leads somewhere else; of inline data, only what it is.
    pub(super) fn url(&self, name: &str) -> Option<&str> {
        let url = self.get(name).filter(|url| !url.is_empty() && !url.starts_with('#'))?;
        let starts = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        match url {
            _ if starts("javascript:") => None,
            _ if starts("data:") => Some(url.split([',', ';']).next().unwrap_or(url)),
            _ => Some(url),
        }
    }

    /// What a link leads to.
    pub(super) fn target(&self) -> Option<Target> {
        let label = ["aria-label", "title", "alt"].into_iter().find_map(|name| self.get(name)).unwrap_or_default();
        Some(Target { url: self.url("href")?.to_owned(), label: label.to_owned() })
    }

    /// What nobody could use or see, in words.
    pub(super) fn state(&self) -> &'static str {
        match (self.get("hidden").is_some(), self.get("disabled").is_some()) {
            (true, _) => "(hidden)",
            (false, true) => "(disabled)",
            (false, false) => "",
        }
    }

    /// What stands for an image: its words, or the name of its file where the page gives none.
    pub(super) fn image(&self) -> String {
        let name = || Some(self.url("src")?.split(['?', '#']).next()?.rsplit('/').next()?.to_owned());
        match self.get("alt") {
            Some("") => String::new(),
            Some(words) => format!("[image: {words}]"),
            None => name().map_or_else(String::new, |name| format!("[image: {name}]")),
        }
    }

    /// What stands for an input.
    pub(super) fn input(&self) -> String {
        let kind = self.get("type").unwrap_or_default().to_ascii_lowercase();
        let value = self.get("value").filter(|value| !value.is_empty());
        let is_on = self.get("checked").is_some();
        match kind.as_str() {
            "hidden" => String::new(),
            "checkbox" => if is_on { "[x]" } else { "[ ]" }.to_owned(),
            "radio" => if is_on { "(x)" } else { "( )" }.to_owned(),
            "submit" | "button" | "reset" => value.map_or_else(String::new, |value| format!("[{value}]")),
            "image" => self.image(),
            _ => self.field(),
        }
    }

    /// What stands for a field: its name, and what it holds or asks for.
    pub(super) fn field(&self) -> String {
        let told = |name| self.get(name).filter(|text| !text.is_empty());
        let name = told("name").or_else(|| told("aria-label"));
        match (name, told("value").or_else(|| told("placeholder"))) {
            (Some(name), Some(text)) => format!("[{name}: {text}]"),
            (Some(one), None) | (None, Some(one)) => format!("[{one}]"),
            (None, None) => String::new(),
        }
    }
}
