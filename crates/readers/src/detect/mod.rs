//! Detects the type of a text from the text and its hints. Requested types outrank structure, structure outranks hints,
//! and hints outrank words.

use std::borrow::Cow;

use self::page::{Page, PageLine, Question, View, filled};
use self::prose_shape::{Shape, behind_front_matter, is_markdown, without_fences};
use self::search::Survey;
use crate::escapes::visible;
use crate::hints::{Expected, expected};
use crate::json_span::Budget;
use crate::lines::lines;
use crate::numbered::Listing;
use crate::severity::refuses;
use crate::test_report::is_test_totals;
use crate::time_stamp::Stamp;
use crate::{ContentType, Detection, Hints, Language, Segment, diff_hunk, html};

mod code;
mod json;
mod lexicon;
mod page;
mod program_output;
mod prose_shape;
mod search;
mod segments;
mod tables;
#[cfg(test)]
mod tests;

pub use program_output::is_frame;
use program_output::is_numbered_frame;
pub use search::is_url_line;

/// The maximum number of lines that are examined.
const MAX_LINES: usize = 1 << 20;

/// Detects the type of a text. Linear in its length.
///
/// A type or language in the hints applies to the whole text; a language alone means code. Fences, diffs, JSON values
/// and similar blocks inside a text, log or search result are still separate segments. A path, command or tool name
/// yields to the structure of the text, and to a text that clearly is something else. Terminal control sequences are
/// ignored. A text of more than a million lines gets only the type that the hints request, because the data kept for
/// each line would take too much memory.
pub fn detect(text: &str, hints: &Hints) -> Detection {
    if memchr::memchr_iter(b'\n', text.as_bytes()).count() > MAX_LINES {
        let content_type =
            hints.content_type.or(hints.language.map(|_| ContentType::Code)).unwrap_or(ContentType::Unknown);
        let segments = vec![Segment::whole(text, content_type, hints.language)];
        return Detection { content_type, language: hints.language, segments };
    }
    let visible = visible(text);
    let mut detection = detect_visible(&visible, hints);
    if let Cow::Owned(visible) = &visible {
        move_to_lines(&mut detection.segments, visible, text);
    }
    detection
}

/// Moves segments from the lines of one text to the same lines of another text.
fn move_to_lines(segments: &mut Vec<Segment>, from: &str, to: &str) {
    let mut ends = lines(from).map(|line| line.end).zip(lines(to).map(|line| line.end));
    let mut start = 0;
    for segment in segments.iter_mut() {
        let end = ends.find(|(end, _)| *end == segment.range.end).map_or(to.len(), |(_, end)| end);
        segment.range = start..end;
        start = end;
    }
    // The last line may have consisted of control sequences only.
    match segments.last_mut() {
        Some(last) => last.range.end = to.len(),
        None => segments.push(Segment::whole(to, ContentType::Unknown, None)),
    }
}

fn detect_visible(text: &str, hints: &Hints) -> Detection {
    let page = Page::of(text);
    let whole = page.view();
    let insisted = hints.content_type.or(hints.language.map(|_| ContentType::Code));
    let mut kind = match insisted {
        Some(ContentType::Code) => Kind::code(hints.language.or_else(|| language_of(whole, expected(hints)))),
        Some(content_type) => Kind::of(content_type),
        None => find(whole, hints),
    };
    let segments = segments::split(whole, kind.content_type, kind.language);
    if kind.content_type == ContentType::Unknown && insisted.is_none() {
        kind.content_type = prevailing(&segments, text.len());
    }
    Detection { content_type: kind.content_type, language: kind.language, segments }
}

/// The type of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    content_type: ContentType,
    /// The language, for code.
    language: Option<Language>,
    /// True if structure proves the type, so that hints cannot override it.
    is_proved: bool,
}

impl Kind {
    const UNKNOWN: Self = Self::of(ContentType::Unknown);

    const fn of(content_type: ContentType) -> Self {
        Self { content_type, language: None, is_proved: false }
    }

    fn proved(content_type: ContentType) -> Self {
        Self { is_proved: true, ..Self::of(content_type) }
    }

    fn code(language: Option<Language>) -> Self {
        Self { language, ..Self::of(ContentType::Code) }
    }
}

/// Returns the kind of a text.
fn find(view: View, hints: &Hints) -> Kind {
    let judged = judge(view);
    match expected(hints).filter(|expected| !judged.is_proved && view.sampled(|sample| fits(expected, sample))) {
        Some(expected) if expected.content_type == ContentType::Code => Kind::code(language_of(view, Some(expected))),
        Some(expected) => Kind::of(expected.content_type),
        None => judged,
    }
}

/// Returns the type of more than half of a text that has no type as a whole.
fn prevailing(segments: &[Segment], length: usize) -> ContentType {
    let bytes = |content_type| {
        segments.iter().filter(|part| part.content_type == content_type).map(|part| part.range.len()).sum::<usize>()
    };
    let is_most =
        |content_type: &&ContentType| **content_type != ContentType::Code && bytes(**content_type) * 2 > length;
    ContentType::ALL.iter().find(is_most).copied().unwrap_or(ContentType::Unknown)
}

fn language_of(view: View, expected: Option<Expected>) -> Option<Language> {
    let found = || {
        view.sampled(|sample| {
            without_numbers(sample, |source| {
                code::declared(source.text()).or_else(|| code::language_of(&code::skeleton(source.lines)))
            })
        })
    };
    if expected.is_some_and(|expected| expected.name.is_some()) {
        return None;
    }
    match expected.and_then(|expected| expected.language) {
        // `.h` is a suffix of C and of C++.
        Some(Language::C) if found() == Some(Language::Cpp) => Some(Language::Cpp),
        Some(language) => Some(language),
        None => found(),
    }
}

/// Applies `look` to the lines without their line numbers, if they have some.
fn without_numbers<T>(view: View, look: impl FnOnce(View) -> T) -> T {
    match Listing::of(view.text()).map(|listing| listing.bare()) {
        Some(bare) => look(Page::of(&bare).view()),
        None => look(view),
    }
}

/// Returns the kind of a text without hints, by structure first and by words last.
fn judge(view: View) -> Kind {
    if view.filled().next().is_none() {
        return Kind::UNKNOWN;
    }
    if json::is_json(view.text()) {
        return Kind::proved(ContentType::Json);
    }
    if tables::has_broken_rows(view.text()) {
        return Kind::proved(ContentType::Table);
    }
    view.sampled(judge_sample)
}

fn judge_sample(sample: View) -> Kind {
    if let Some(language) = code::declared(sample.text()) {
        return Kind { is_proved: true, ..Kind::code(Some(language)) };
    }
    if html::is_document(sample.text()) {
        return Kind::proved(ContentType::Html);
    }
    let Some(bare) = Listing::of(sample.text()).map(|listing| listing.bare()) else {
        return judge_lines(sample);
    };
    let page = Page::of(&bare);
    let bare = page.view();
    let inner = judge_lines(bare);
    // A window of code may be too small to identify its language, or contain a manual in a string. It is still code.
    let is_open = matches!(inner.content_type, ContentType::Unknown | ContentType::Text);
    let skeleton = code::skeleton(bare.lines);
    let is_code = is_open && !is_markdown(&bare.lines.iter().collect::<Vec<_>>()) && shape(&skeleton).is_code();
    if is_code { Kind::code(code::language_of(&skeleton)) } else { inner }
}

/// Returns the shape of the lines of a skeleton.
fn shape(skeleton: &[&PageLine]) -> Shape {
    Shape::of(skeleton.iter().map(|line| line.bone_class()))
}

fn judge_lines(sample: View) -> Kind {
    let blocks = Blocks::of(sample);
    let length = sample.range().len();
    if blocks.diff * 2 >= length || is_word_diff(sample) {
        return Kind::proved(ContentType::Diff);
    }
    if (blocks.json * 10 >= length * 6 || json::has_json_lines(sample.lines))
        && !is_markdown(&sample.lines.iter().collect::<Vec<_>>())
    {
        return Kind::of(ContentType::Json);
    }
    structure(&blocks.rest).unwrap_or_else(|| words(sample.lines, &blocks.rest))
}

/// Returns true for the output of `git diff --word-diff`, which marks words instead of lines.
fn is_word_diff(sample: View) -> bool {
    let is_marked = |line: &PageLine| {
        let has = |open: &str, close: &str| line.text.split_once(open).is_some_and(|(_, rest)| rest.contains(close));
        has("[-", "-]") || has("{+", "+}")
    };
    sample.filled().any(|line| line.is(Question::DiffStart)) && sample.filled().any(is_marked)
}

/// Returns the type that most lines agree on: diff, search result, table, log or markup.
fn structure(lines: &[&PageLine]) -> Option<Kind> {
    let survey = Survey::of(lines.iter().copied());
    if survey.is_search() {
        let is_proved = survey.hits * 10 >= survey.lines * 6;
        return Some(Kind { is_proved, ..Kind::of(ContentType::Search) });
    }
    let log = LogShare::of(lines.iter().copied());
    if log.is_output() {
        return Some(Kind::of(ContentType::Log));
    }
    if tables::is_table(lines.iter().copied()) {
        return Some(Kind::of(ContentType::Table));
    }
    if log.is_log() {
        return Some(Kind::of(ContentType::Log));
    }
    html::is_markup(&lines.iter().map(|line| line.bare)).then(|| Kind::of(ContentType::Html))
}

/// Totals for the diffs and JSON values of a text, and its remaining lines.
#[derive(Debug, Default)]
struct Blocks<'p, 't> {
    diff: usize,
    json: usize,
    rest: Vec<&'p PageLine<'t>>,
}

impl<'p, 't> Blocks<'p, 't> {
    fn of(sample: View<'p, 't>) -> Self {
        let mut blocks = Self::default();
        let mut budget = Budget::of(sample.text());
        let mut at = 0;
        while let Some(line) = sample.lines.get(at) {
            at += 1;
            if line.is(Question::DiffStart)
                && let Some(end) = diff_hunk::block_end(sample.above, line.start)
            {
                blocks.diff += end - line.start;
                at = sample.index(end);
            } else if line.text.starts_with(['{', '['])
                && let Some(end) = budget.block_end(sample.above, line.start)
            {
                blocks.json += end - line.start;
                at = sample.index(end);
            } else {
                blocks.rest.push(line);
            }
        }
        blocks
    }
}

/// The minimum number of output lines without time stamps that make a log. `Created a.txt` is a message.
const MIN_OUTPUT: usize = 3;

/// Counts of the lines of a log or of a build's output.
#[derive(Debug, Default)]
struct LogShare {
    lines: usize,
    stamped: usize,
    output: usize,
    /// Lines that are indented below one of the others, or numbered lines of a linter's excerpt.
    indented: usize,
}

impl LogShare {
    fn of<'p, 't: 'p>(lines: impl IntoIterator<Item = &'p PageLine<'t>>) -> Self {
        let mut share = Self::default();
        let mut inside = false;
        for line in filled(lines) {
            share.lines += 1;
            let stamped = line.is_log();
            let output = !stamped && (line.is(Question::Output) || line.is(Question::Message));
            share.stamped += usize::from(stamped);
            share.output += usize::from(output);
            let is_below = || line.text.starts_with([' ', '\t']) || is_numbered_frame(line.text);
            inside = stamped || output || inside && is_below();
            share.indented += usize::from(inside && !stamped && !output);
        }
        share
    }

    fn is_output(&self) -> bool {
        self.output >= MIN_OUTPUT && self.output * 100 >= self.lines * 70
    }

    fn is_log(&self) -> bool {
        let own = self.stamped + self.output;
        let is_enough = self.stamped > 0 || self.output >= MIN_OUTPUT;
        is_enough
            && (own * 2 >= self.lines || own * 100 >= self.lines * 30 && (own + self.indented) * 100 >= self.lines * 75)
    }
}

/// Returns the kind that words suggest: code first, then prose; unknown if neither prevails. `lines` are those outside
/// of diffs and JSON values.
fn words(all: &[PageLine], lines: &[&PageLine]) -> Kind {
    let bare = without_fences(lines);
    let skeleton = code::skeleton(bare.iter().copied());
    let shape = shape(&skeleton);
    if shape.is_code()
        && !is_report(all)
        && let Some(language) = code::language_of(&skeleton)
    {
        return if shape.is_told() { Kind::of(ContentType::Text) } else { Kind::code(Some(language)) };
    }
    // Settings in several documents are separated in the same way.
    if behind_front_matter(lines).is_some_and(|rest| !is_settings(rest))
        || !is_settings(&bare) && (is_markdown(lines) || shape.is_text())
    {
        return Kind::of(ContentType::Text);
    }
    if shape.is_surely_code() && !is_settings(&bare) && !is_report(all) {
        return Kind::code(None);
    }
    Kind::UNKNOWN
}

/// The number of first lines among which a ruled heading is searched.
const HEADING_LINES: usize = 3;

/// The minimum length of the rule below a heading, in characters.
const MIN_RULE: usize = 4;

/// Returns true if a program printed the lines about code or data, so that they are not source: below a ruled heading,
/// as numbered rows, with totals of tests, or between entries of a log.
fn is_report(lines: &[PageLine]) -> bool {
    let is_rule = |line: &PageLine| line.bare.len() >= MIN_RULE && line.bare.trim_matches(['-', '+']).is_empty();
    let (mut total, mut numbered, mut stamped, mut is_ruled) = (0, 0, 0, false);
    for line in filled(lines) {
        if is_test_totals(line.text) {
            return true;
        }
        stamped += usize::from(line.is(Question::Stamped) && Stamp::leads(line.text));
        is_ruled |= (1..HEADING_LINES).contains(&total) && is_rule(line);
        numbered += usize::from(line.bare.starts_with(|c: char| c.is_ascii_digit()));
        total += 1;
    }
    is_ruled || stamped > 1 || total > HEADING_LINES && numbered * 10 > total * 9
}

/// Returns true if most lines are `key: value` or `key = value`, as in YAML, TOML and property files. Such lines are
/// not prose, whatever the values are.
fn is_settings(lines: &[&PageLine]) -> bool {
    let is_comment = |line: &PageLine| line.bare.starts_with('#');
    let (mut total, mut settings) = (0usize, 0usize);
    for line in filled(lines.iter().copied()).filter(|line| !is_comment(line)) {
        total += 1;
        settings += usize::from(line.is(Question::Setting));
    }
    total >= 3 && settings * 10 >= total * 4
}

/// Returns true if the text is compatible with the expectation of the hints.
fn fits(expected: &Expected, sample: View) -> bool {
    let is_error = is_error_message(sample);
    match expected.content_type {
        ContentType::Code => without_numbers(sample, |source| {
            let skeleton = code::skeleton(source.lines);
            let shape = shape(&skeleton);
            !is_error && (shape.is_code() || !shape.is_text() || code::language_of(&skeleton).is_some())
        }),
        ContentType::Search => {
            let survey = Survey::of(sample.lines);
            (survey.hits + survey.unnumbered + survey.listed + survey.headed + survey.urls) * 10
                >= survey.lines.max(1) * 3
        }
        ContentType::Diff => sample.lines.iter().any(|line| diff_hunk::HunkHeader::parse(line.text).is_some()),
        ContentType::Json => sample.text().trim_start().starts_with(['{', '[']),
        ContentType::Html => sample.text().contains("</") || sample.text().contains("/>"),
        ContentType::Table | ContentType::Log => !is_error && sample.filled().next().is_some(),
        ContentType::Unknown => !is_error,
        ContentType::Text => true,
    }
}

/// Returns true if a text of few lines reports a failure.
fn is_error_message(view: View) -> bool {
    view.filled().nth(3).is_none() && view.filled().any(|line| refuses(line.text))
}
