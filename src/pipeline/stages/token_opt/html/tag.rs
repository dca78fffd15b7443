//! A start tag, and what its attributes tell a reader.

/// A start tag as it is read.
#[derive(Debug, Default)]
pub(super) struct Tag {
    element: String,
    at: usize,
    attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn new(element: &[u8], at: usize) -> Self {
        Self { element: String::from_utf8_lossy(element).into_owned(), at, attributes: Vec::new() }
    }

    pub(super) fn name(&mut self, name: &[u8]) {
        self.attributes.push((String::from_utf8_lossy(name).into_owned(), String::new()));
    }

    pub(super) fn value(&mut self, value: &[u8]) {
        if let Some((_, found)) = self.attributes.last_mut() {
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

    /// The value of an attribute; of those with one name the first counts.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.parse().ok()
    }

    fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// A URL that leads somewhere else; of inline data, only what it is.
    pub(super) fn url(&self, name: &str) -> Option<&str> {
        let url = self.filled(name).filter(|url| !url.starts_with('#'))?;
        let starts = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        match url {
            _ if starts("javascript:") => None,
            _ if starts("data:") => Some(url.split([',', ';']).next().unwrap_or(url)),
            _ => Some(url),
        }
    }

    /// What stands for the words of a link that has none.
    pub(super) fn label(&self) -> &str {
        ["aria-label", "title", "alt"].into_iter().find_map(|name| self.get(name)).unwrap_or_default()
    }

    /// What is shown from elsewhere.
    pub(super) fn media(&self) -> Option<String> {
        let source = match self.element() {
            "iframe" | "video" | "audio" | "embed" | "source" => "src",
            "object" => "data",
            _ => return None,
        };
        self.url(source).map(|url| format!("[{}]({url})", self.element))
    }

    /// That nobody could use or see an element.
    pub(super) fn state(&self) -> &'static str {
        let is_silent = matches!(self.element(), "link" | "svg")
            || self.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
        match (self.get("hidden"), self.get("disabled")) {
            _ if is_silent => "",
            (Some(_), _) => "(hidden)",
            (None, Some(_)) => "(disabled)",
            (None, None) => "",
        }
    }

    /// How many columns and rows a cell takes, if more than one.
    pub(super) fn span(&self) -> String {
        let many = |name, unit| Some(format!("{} {unit}", self.number(name).filter(|number| *number > 1)?));
        let spans: Vec<String> = [many("colspan", "columns"), many("rowspan", "rows")].into_iter().flatten().collect();
        if spans.is_empty() { String::new() } else { format!("({})", spans.join(", ")) }
    }

    /// What stands for an image: its words, or the name of its file if the page gives none.
    pub(super) fn image(&self) -> String {
        let name = || self.url("src")?.split(['?', '#']).next()?.rsplit('/').next();
        match self.get("alt").or_else(name) {
            None | Some("") => String::new(),
            Some(words) => format!("[image: {words}]"),
        }
    }

    /// What stands for a field: what it is set to, or its name and what it holds or asks for.
    pub(super) fn field(&self) -> String {
        let name = self.filled("name").or_else(|| self.filled("aria-label"));
        let value = self.filled("value").or_else(|| self.filled("placeholder"));
        match (self.get("type").unwrap_or_default().to_ascii_lowercase().as_str(), name, value) {
            ("hidden", ..) => String::new(),
            ("image", ..) => self.image(),
            ("checkbox" | "radio", ..) => if self.get("checked").is_some() { "[x]" } else { "[ ]" }.to_owned(),
            ("submit" | "button" | "reset", _, value) => value.map_or(String::new(), |value| format!("[{value}]")),
            (_, Some(name), Some(text)) => format!("[{name}: {text}]"),
            (_, Some(one), None) | (_, None, Some(one)) => format!("[{one}]"),
            (_, None, None) => String::new(),
        }
    }
}
