//! A start tag, and the information for readers in its attributes.

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

    fn filled(&self, names: [&str; 2]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name).filter(|value| !value.is_empty()))
    }

    /// Returns a URL that leads elsewhere. Inline data is reduced to its description.
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
        self.filled(["aria-label", "title"]).unwrap_or_default()
    }

    /// Returns the text for embedded media.
    pub(super) fn media(&self) -> String {
        let is_media = matches!(&*self.element, "iframe" | "video" | "audio" | "embed" | "source");
        let url = self.url("src").filter(|_| is_media);
        url.map_or(String::new(), |url| format!("[{}]({url})", self.element))
    }

    /// Returns a note if the element is hidden or disabled.
    pub(super) fn state(&self) -> &'static str {
        let is_silent = matches!(&*self.element, "link" | "svg") || self.get("type") == Some("hidden");
        match (self.get("hidden"), self.get("disabled")) {
            (Some(_), _) if !is_silent => "(hidden)",
            (None, Some(_)) if !is_silent => "(disabled)",
            _ => "",
        }
    }

    /// Returns the number of columns and rows of a cell, if more than one.
    pub(super) fn span(&self) -> String {
        let many = |name, unit| Some(format!("({} {unit})", self.number(name).filter(|number| *number > 1)?));
        [many("colspan", "columns"), many("rowspan", "rows")].into_iter().flatten().collect()
    }

    /// Returns the text for an image: its description, or else the name of its file.
    pub(super) fn image(&self) -> String {
        let name = || self.url("src")?.split(['?', '#']).next()?.rsplit('/').next();
        match self.get("alt").or_else(name) {
            None | Some("") => String::new(),
            Some(words) => format!("[image: {words}]"),
        }
    }

    /// Returns the text for a form field: its value, or else its name and placeholder.
    pub(super) fn field(&self) -> String {
        let words = [self.filled(["name", "aria-label"]), self.filled(["value", "placeholder"])];
        match (self.get("type").unwrap_or_default(), words) {
            ("hidden", _) => String::new(),
            ("checkbox" | "radio", _) => if self.get("checked").is_some() { "[x]" } else { "[ ]" }.to_owned(),
            ("submit" | "button" | "reset", [_, value]) => value.map_or(String::new(), |value| format!("[{value}]")),
            (_, [None, None]) => String::new(),
            (_, words) => format!("[{}]", words.into_iter().flatten().collect::<Vec<_>>().join(": ")),
        }
    }
}
