//! The expected types of the detection inputs: the directory of a file determines its type, with the exceptions below.

use concertina::content::{ContentType, Language};

use crate::corpus;

/// A text with its expected type.
pub(crate) struct Labelled {
    /// Path below its root.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// The expected type.
    pub(crate) content_type: ContentType,
    /// The language, for code.
    pub(crate) language: Option<Language>,
}

/// Directories of the corpus, with the type of their files.
const DIRECTORIES: &[(&str, ContentType)] = &[
    ("code", ContentType::Code),
    ("json", ContentType::Json),
    ("logs", ContentType::Log),
    ("diffs", ContentType::Diff),
    ("search", ContentType::Search),
    ("tables", ContentType::Table),
    ("html", ContentType::Html),
    ("prose", ContentType::Text),
    ("rules", ContentType::Text),
];

/// Files of another type than their directory's (a part of the name, the type), with the reason.
const EXCEPTIONS: &[(&str, ContentType)] = &[
    // Web pages that a tool fetched and turned into Markdown.
    ("search/tool-webfetch-", ContentType::Text),
    // `grep -h` over novels: lines of verse without file or number.
    ("search/tool-search-swe-agent-ctf-flash-call_3", ContentType::Text),
    // The help text of a linter.
    ("logs/tool-logs-entire-cli-51a26504-cj8VAd", ContentType::Text),
    // A list of prompts by day, formatted for people.
    ("logs/tool-logs-entire-cli-f5dab3d9-e1rDvk", ContentType::Text),
    // Only compiler messages of the form `path(line,column): error`, which count as search hits.
    ("logs/tool-logs-pi-mono-before-compaction-ySHzSk", ContentType::Search),
    ("logs/tool-logs-pi-mono-large-session-1F1cNU", ContentType::Search),
    ("logs/tool-logs-pi-mono-large-session-6ZoPjA", ContentType::Search),
    // `git status`, which consists neither of rows nor of sentences.
    ("tables/tool-tables-entire-cli-63095cc2-njwTkn", ContentType::Unknown),
];

/// Returns all labelled inputs: the corpus if there is one, then the project's own.
pub(crate) fn all() -> Vec<Labelled> {
    let mut found = Vec::new();
    for &(directory, content_type) in DIRECTORIES {
        found.extend(corpus::inputs(directory).into_iter().filter_map(|input| label(input, content_type)));
    }
    found.extend(own());
    found
}

/// Returns the project's own inputs, `fixtures/detection/<type>[/<language>]/`.
pub(crate) fn own() -> Vec<Labelled> {
    let of_type = |&content_type: &ContentType| {
        let inputs = corpus::inputs(&format!("detection/{}", content_type.as_str()));
        inputs.into_iter().filter_map(move |input| label(input, content_type))
    };
    ContentType::ALL.iter().flat_map(of_type).collect()
}

fn label(input: corpus::Input, content_type: ContentType) -> Option<Labelled> {
    let text = input.text()?.to_owned();
    let exception = EXCEPTIONS.iter().find(|(name, _)| input.name.contains(name));
    let content_type = exception.map_or(content_type, |&(_, content_type)| content_type);
    let parent = input.name.rsplit(['/', '\\']).nth(1).unwrap_or_default();
    let language = (content_type == ContentType::Code).then(|| Language::parse(parent)).flatten();
    Some(Labelled { name: input.name, text, content_type, language })
}
