//! Text and hints -> [`Detection`]: what is insisted on > structure > hints > words.

use super::hints::{Expected, expected};
use super::lines::{lines, lines_from, sample};
use super::search::Survey;
use super::text::{Shape, is_markdown, without_fences};
use super::{ContentType, Detection, Hints, Language, Segment, code, diff, html, json, log, segments, table};

/// What the text alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) content_type: ContentType,
    pub(super) language: Option<Language>,
    /// Whether structure proves it, so that no hint can say otherwise.
    proved: bool,
}

impl Judgement {
    fn proved(content_type: ContentType) -> Self {
        Self { content_type, language: None, proved: true }
    }

    fn likely(content_type: ContentType) -> Self {
        Self { content_type, language: None, proved: false }
    }

    fn code(language: Option<Language>, proved: bool) -> Self {
        Self { content_type: ContentType::Code, language, proved }
    }
}

/// Detects what a text is. Linear in its length.
///
/// A type or language in the hints holds for the whole; a language alone means code. Fences, diffs, JSON values and the like
/// inside a text, log or search result still stand apart in the segments. A path, command or tool name gives way to what the
/// text's structure proves, and to a text that is plainly something else.
pub fn detect(text: &str, hints: &Hints) -> Detection {
    let insisted = hints.content_type.or(hints.language.map(|_| ContentType::Code));
    let (mut content_type, language) = match insisted {
        Some(ContentType::Code) => (ContentType::Code, hints.language.or_else(|| language_of(text, expected(hints)))),
        Some(content_type) => (content_type, None),
        None => find(text, hints),
    };
    let segments = segments::split(text, content_type, language);
    if content_type == ContentType::Unknown && insisted.is_none() {
        content_type = prevailing(&segments, text.len());
    }
    Detection { content_type, language, segments }
}

fn find(text: &str, hints: &Hints) -> (ContentType, Option<Language>) {
    let judged = judge(text);
    match expected(hints).filter(|expected| !judged.proved && fits(expected, text)) {
        Some(expected) if expected.content_type == ContentType::Code => {
            (ContentType::Code, language_of(text, Some(expected)))
        }
        Some(expected) => (expected.content_type, None),
        None => (judged.content_type, judged.language),
    }
}

/// The type of more than half of a text that is nothing as a whole.
fn prevailing(segments: &[Segment], length: usize) -> ContentType {
    let bytes = |content_type| {
        segments.iter().filter(|part| part.content_type == content_type).map(|part| part.range.len()).sum::<usize>()
    };
    let is_most =
        |content_type: &&ContentType| **content_type != ContentType::Code && bytes(**content_type) * 2 > length;
    ContentType::ALL.iter().find(is_most).copied().unwrap_or(ContentType::Unknown)
}

fn language_of(text: &str, expected: Option<Expected>) -> Option<Language> {
    let found = || {
        let sample = sample(text);
        let bare = code::strip_numbers(&sample);
        let source = bare.as_deref().unwrap_or(&sample);
        code::declared(source).or_else(|| code::language_of(&code::skeleton(source)).language)
    };
    match expected.and_then(|expected| expected.language) {
        // `.h` is C's and C++'s.
        Some(Language::C) if found() == Some(Language::Cpp) => Some(Language::Cpp),
        Some(language) => Some(language),
        None => found(),
    }
}

/// What the text alone says, by structure first and by words last.
pub(super) fn judge(text: &str) -> Judgement {
    if text.trim().is_empty() {
        return Judgement::likely(ContentType::Unknown);
    }
    if json::is_json(text) {
        return Judgement::proved(ContentType::Json);
    }
    let sample = sample(text);
    if let Some(language) = code::declared(&sample) {
        return Judgement::code(Some(language), true);
    }
    if html::is_document(&sample) {
        return Judgement::proved(ContentType::Html);
    }
    if let Some(bare) = code::strip_numbers(&sample) {
        let inner = structure(&bare).unwrap_or_else(|| words(&bare));
        if matches!(inner.content_type, ContentType::Code | ContentType::Text | ContentType::Html) {
            return inner;
        }
    }
    structure(&sample).unwrap_or_else(|| words(&sample))
}

/// Diffs, search results, tables, logs, markup: whatever most lines agree on.
fn structure(sample: &str) -> Option<Judgement> {
    let (diff, json) = block_bytes(sample);
    if diff * 2 >= sample.len() {
        return Some(Judgement::proved(ContentType::Diff));
    }
    let survey = Survey::of(sample);
    if survey.is_search() {
        return Some(Judgement {
            content_type: ContentType::Search,
            language: None,
            proved: survey.hits * 10 >= survey.lines * 6,
        });
    }
    if table::is_table(sample) {
        return Some(Judgement::likely(ContentType::Table));
    }
    if is_log(sample) {
        return Some(Judgement::likely(ContentType::Log));
    }
    if json * 10 >= sample.len() * 6 && !is_markdown(sample) {
        return Some(Judgement::likely(ContentType::Json));
    }
    html::is_markup(sample).then(|| Judgement::likely(ContentType::Html))
}

/// Bytes of diffs and of JSON values inside.
fn block_bytes(sample: &str) -> (usize, usize) {
    let (mut diffs, mut values, mut at) = (0, 0, 0);
    let mut budget = json::Budget::of(sample);
    while let Some(line) = lines_from(sample, at).next() {
        at = line.end;
        if diff::may_start(line.text)
            && let Some(end) = diff::block_end(sample, line.start)
        {
            diffs += end - line.start;
            at = end;
        } else if line.text.starts_with(['{', '['])
            && let Some(end) = budget.block_end(sample, line.start)
        {
            values += end - line.start;
            at = end;
        }
    }
    (diffs, values)
}

/// Whether half of the lines are of a log, or of a build's output, with the lines indented below them.
fn is_log(sample: &str) -> bool {
    let (mut total, mut stamped, mut output, mut indented) = (0usize, 0usize, 0usize, 0usize);
    let mut inside = false;
    for line in lines(sample).filter(|line| !line.text.trim().is_empty()) {
        total += 1;
        if log::is_log_line(line.text) {
            stamped += 1;
            inside = true;
        } else if log::is_output_line(line.text) || is_compiler_message(line.text) {
            output += 1;
            inside = true;
        } else if inside && line.text.starts_with([' ', '\t']) {
            indented += 1;
        } else {
            inside = false;
        }
    }
    let own = stamped + output;
    stamped * 2 >= total || own * 2 >= total || own * 100 >= total * 30 && (own + indented) * 100 >= total * 75
}

fn is_compiler_message(line: &str) -> bool {
    matches!(super::search::SearchLine::parse(line), Some(super::search::SearchLine::Hit(hit)) if super::search::is_message(&hit))
}

/// Code by its words, then prose; unknown when neither prevails.
fn words(sample: &str) -> Judgement {
    let bare = without_fences(sample);
    let skeleton = code::skeleton(&bare);
    let verdict = code::language_of(&skeleton);
    let shape = Shape::of(&skeleton);
    if verdict.language.is_some() && shape.is_code() {
        return Judgement::code(verdict.language, false);
    }
    if is_markdown(sample) || Shape::of(&bare).is_text() {
        return Judgement::likely(ContentType::Text);
    }
    Judgement::likely(ContentType::Unknown)
}

/// Whether a text may be what the hints promise.
fn fits(expected: &Expected, text: &str) -> bool {
    let sample = sample(text);
    let is_error = is_error_message(&sample);
    match expected.content_type {
        ContentType::Code => {
            let bare = code::strip_numbers(&sample);
            let skeleton = code::skeleton(bare.as_deref().unwrap_or(&sample));
            let shape = Shape::of(&skeleton);
            !is_error && (shape.is_code() || !shape.is_text() || code::language_of(&skeleton).language.is_some())
        }
        ContentType::Search => {
            let survey = Survey::of(&sample);
            (survey.hits + survey.unnumbered + survey.listed + survey.headed + survey.urls) * 10
                >= survey.lines.max(1) * 3
        }
        ContentType::Diff => lines(&sample).any(|line| diff::HunkHeader::parse(line.text).is_some()),
        ContentType::Json => sample.trim_start().starts_with(['{', '[']),
        ContentType::Html => sample.contains("</") || sample.contains("/>"),
        ContentType::Table | ContentType::Log => !is_error && !sample.trim().is_empty(),
        ContentType::Text | ContentType::Unknown => true,
    }
}

/// Whether a text of few lines says that something failed.
fn is_error_message(text: &str) -> bool {
    const FAILURES: &[&str] = &[
        "No such file",
        "not found",
        "Permission denied",
        "permission denied",
        "ENOENT",
        "Is a directory",
        "does not exist",
        "cannot access",
        "cannot open",
        "fatal: ",
    ];
    lines(text).filter(|line| !line.text.trim().is_empty()).take(4).count() <= 3
        && FAILURES.iter().any(|failure| text.contains(failure))
}
