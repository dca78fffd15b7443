//! A start tag, and the parts of its attributes that a reader needs.

use html5gum::StartTag;

/// A start tag.
pub(super) struct Tag {
    element: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn of(tag: &StartTag<usize>) -> Self {
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
        let attributes = tag.attributes.iter().map(|(name, value)| (words(name), words(value))).collect();
        Self { element: words(&tag.name), attributes }
    }

    /// Returns the name of the element in lower case.
    pub(super) fn element(&self) -> &str {
        &self.element
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.parse().ok()
    }

    /// Returns the URL in an attribute, or `None` for fragments and scripts. Of a data URL only the media type is
    /// returned.
    pub(super) fn url(&self, name: &str) -> Option<&str> {
        let url = self.get(name).filter(|url| !url.is_empty() && !url.starts_with('#'))?;
        let starts = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        match url {
            _ if starts("javascript:") => None,
            _ if starts("data:") => Some(url.split([',', ';']).next().unwrap_or(url)),
            _ => Some(url),
        }
    }

    /// Returns the text for a link without words.
    pub(super) fn label(&self) -> &str {
        let named = ["aria-label", "title"].iter().find_map(|name| self.get(name).filter(|value| !value.is_empty()));
        named.unwrap_or_default()
    }

    /// Returns a note for a hidden element, or an empty string.
    pub(super) fn state(&self) -> &'static str {
        let is_silent = matches!(&*self.element, "link" | "svg" | "input");
        if self.get("hidden").is_some() && !is_silent { "(hidden)" } else { "" }
    }

    /// Returns a note on the columns and rows that a cell spans, if more than one.
    pub(super) fn span(&self) -> String {
        let many = |name, unit| Some(format!("({} {unit})", self.number(name).filter(|number| *number > 1)?));
        [many("colspan", "columns"), many("rowspan", "rows")].into_iter().flatten().collect()
    }

    /// Returns the text for an image: its alternative text, or its file name if the page gives none.
    pub(super) fn image(&self) -> String {
        let name = || self.url("src")?.split(['?', '#']).next()?.rsplit('/').next();
        match self.get("alt").or_else(name) {
            None | Some("") => String::new(),
            Some(words) => format!("[image: {words}]"),
        }
    }

    /// Returns whether a box is ticked: `[x]`, `[ ]`, or an empty string for other fields.
    pub(super) fn tick(&self) -> &'static str {
        match (self.get("type"), self.get("checked")) {
            (Some("checkbox" | "radio"), Some(_)) => "[x]",
            (Some("checkbox" | "radio"), None) => "[ ]",
            _ => "",
        }
    }
}
