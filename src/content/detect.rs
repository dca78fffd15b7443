//! Text and hints -> [`Detection`]: what is insisted on > structure > hints > words.

use std::borrow::Cow;

use super::escapes::visible;
use super::hints::{Expected, expected};
use super::lines::{lines, lines_from, sample};
use super::numbered::strip_numbers;
use super::prefixes::without_prefix;
use super::search::{SearchLine, Survey, is_message};
use super::text::{Shape, behind_front_matter, is_markdown, without_fences};
use super::{
    ContentType, Detection, Hints, Language, Segment, code, diff, html, json, log, output, sections, segments, table,
};

/// What the text alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) content_type: ContentType,
    pub(super) language: Option<Language>,
    /// Whether structure proves it, so that no hint can say otherwise.
    proved: bool,
    /// Whether its lines stand behind prefixes.
    is_prefixed: bool,
}

impl Judgement {
    fn proved(content_type: ContentType) -> Self {
        Self { content_type, language: None, proved: true, is_prefixed: false }
    }

    fn likely(content_type: ContentType) -> Self {
        Self { content_type, language: None, proved: false, is_prefixed: false }
    }

    fn code(language: Option<Language>, proved: bool) -> Self {
        Self { content_type: ContentType::Code, language, proved, is_prefixed: false }
    }
}

/// Detects what a text is. Linear in its length.
///
/// A type or language in the hints holds for the whole; a language alone means code. Fences, diffs, JSON values and the like
/// inside a text, log or search result still stand apart in the segments. A path, command or tool name gives way to what the
/// text's structure proves, and to a text that is plainly something else. Control sequences of terminals say nothing.
pub fn detect(text: &str, hints: &Hints) -> Detection {
    let visible = visible(text);
    let mut detection = detect_visible(&visible, hints);
    if let Cow::Owned(visible) = &visible {
        move_to_lines(&mut detection.segments, visible, text);
    }
    detection
}

/// Moves segments from the lines of one text to the same lines of another.
fn move_to_lines(segments: &mut Vec<Segment>, from: &str, to: &str) {
    let mut ends = lines(from).map(|line| line.end).zip(lines(to).map(|line| line.end));
    let mut start = 0;
    for segment in segments.iter_mut() {
        let end = ends.find(|(end, _)| *end == segment.range.end).map_or(to.len(), |(_, end)| end);
        segment.range = start..end;
        start = end;
    }
    // The last line may have been nothing but control sequences.
    match segments.last_mut() {
        Some(last) => last.range.end = to.len(),
        None => segments.push(Segment::whole(to, ContentType::Unknown, None)),
    }
}

fn detect_visible(text: &str, hints: &Hints) -> Detection {
    let insisted = hints.content_type.or(hints.language.map(|_| ContentType::Code));
    let mut kind = match insisted {
        Some(ContentType::Code) => Kind::code(hints.language.or_else(|| language_of(text, expected(hints)))),
        Some(content_type) => Kind::of(content_type),
        None => find(text, hints),
    };
    if insisted.is_none()
        && let Some(found) = sections::detect(text, kind, hints)
    {
        return found;
    }
    let segments = kind.segments(text);
    if kind.content_type == ContentType::Unknown && insisted.is_none() {
        kind.content_type = prevailing(&segments, text.len());
    }
    Detection { content_type: kind.content_type, language: kind.language, segments }
}

/// What one output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) content_type: ContentType,
    /// The language of code.
    pub(super) language: Option<Language>,
    /// Whether structure proves it.
    pub(super) is_proved: bool,
    /// Whether its lines stand behind prefixes.
    is_prefixed: bool,
}

impl Kind {
    pub(super) const UNKNOWN: Self = Self::of(ContentType::Unknown);

    const fn of(content_type: ContentType) -> Self {
        Self { content_type, language: None, is_proved: false, is_prefixed: false }
    }

    fn code(language: Option<Language>) -> Self {
        Self { language, ..Self::of(ContentType::Code) }
    }

    /// The parts of a text of this kind. Behind prefixes everything reads as the lines of a log: what knows its form would
    /// read the prefixes, too.
    pub(super) fn segments(self, text: &str) -> Vec<Segment> {
        if self.is_prefixed {
            return vec![Segment::whole(text, ContentType::Log, None)];
        }
        segments::split(text, self.content_type, self.language)
    }
}

/// Finds what one output is.
pub(super) fn find(text: &str, hints: &Hints) -> Kind {
    let judged = judge(text);
    match expected(hints).filter(|expected| !judged.proved && fits(expected, text)) {
        Some(expected) if expected.content_type == ContentType::Code => Kind::code(language_of(text, Some(expected))),
        Some(expected) => Kind::of(expected.content_type),
        None => Kind {
            content_type: judged.content_type,
            language: judged.language,
            is_proved: judged.proved,
            is_prefixed: judged.is_prefixed,
        },
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
        let bare = strip_numbers(&sample);
        let source = bare.as_deref().unwrap_or(&sample);
        code::declared(source).or_else(|| code::language_of(&code::skeleton(source)))
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
    if let Some(language) = code::declared(&sample).filter(|_| !is_contradicted(&sample)) {
        return Judgement::code(Some(language), true);
    }
    if html::is_document(&sample) {
        return Judgement::proved(ContentType::Html);
    }
    if let Some(bare) = strip_numbers(&sample) {
        let inner = judge_lines(&bare);
        // A window of code may be too small to tell its language, or hold a manual in a string; it is code still.
        let is_open = matches!(inner.content_type, ContentType::Unknown | ContentType::Text);
        let skeleton = code::skeleton(&bare);
        let is_code = is_open && !is_markdown(&bare) && Shape::of(&skeleton).is_code();
        return if is_code { Judgement::code(code::language_of(&skeleton), false) } else { inner };
    }
    behind_prefixes(&sample, judge_lines(&sample))
}

/// Whether what follows a first line is plainly no code.
fn is_contradicted(sample: &str) -> bool {
    let Some(rest) = lines(sample).find(|line| !line.text.trim().is_empty()).map(|line| &sample[line.end..]) else {
        return false;
    };
    let survey = Survey::of(rest);
    let log = LogShare::of(rest);
    (survey.hits * 10 >= survey.lines * 8 || log.stamped * 10 >= log.lines * 8 || table::is_table(rest))
        && log.lines > MIN_OUTPUT
        && !Shape::of(&code::skeleton(rest)).is_code()
}

/// How many prefixes stand one behind the other at most: a container, a stream, a time.
const MAX_PREFIXES: usize = 3;

/// What the lines are behind the prefixes that they share, where that says more than `plain`, the lines with them.
fn behind_prefixes(sample: &str, plain: Judgement) -> Judgement {
    use ContentType::{Code, Diff, Html, Json, Log, Search, Table, Text, Unknown};
    if plain.proved {
        return plain;
    }
    let mut text = Cow::Borrowed(sample);
    let mut is_stamped = false;
    for _ in 0..MAX_PREFIXES {
        let Some(bare) = without_prefix(&text) else { break };
        is_stamped |= bare.is_stamp;
        let is_json = json::is_json(&bare.text);
        let inner = if is_json { Judgement::likely(Json) } else { judge_lines(&bare.text) };
        let says_more = match (plain.content_type, inner.content_type) {
            (_, Html) => false,
            (_, Json) => true,
            // Few names before a bar: who printed it, not a first column.
            (Table, Code | Diff | Log | Search | Text) => bare.is_bar,
            // What has a time is a log, whatever it tells.
            (Log, _) if is_stamped => false,
            (Log, Code) | (Unknown, Code) => inner.language.is_some(),
            (Log | Text | Unknown | Code, Diff | Search | Table) => true,
            (Text | Unknown | Code, Log) | (Unknown | Code, Text) => true,
            (Text, Code) => inner.language.is_some(),
            (Code, Code) => true,
            _ => false,
        };
        if says_more {
            return Judgement { proved: false, is_prefixed: inner.content_type != Text, ..inner };
        }
        text = Cow::Owned(bare.text);
    }
    plain
}

fn judge_lines(sample: &str) -> Judgement {
    let blocks = Blocks::of(sample);
    if blocks.diff * 2 >= sample.len() {
        return Judgement::proved(ContentType::Diff);
    }
    if (blocks.json * 10 >= sample.len() * 6 || json::has_json_lines(sample)) && !is_markdown(sample) {
        return Judgement::likely(ContentType::Json);
    }
    structure(&blocks.rest).unwrap_or_else(|| match json::share_of_records(sample) {
        share if share >= 60 && !is_markdown(sample) => Judgement::likely(ContentType::Json),
        // A program's lines between the records of its log.
        share if share >= 25 && !is_markdown(sample) => Judgement::likely(ContentType::Log),
        _ => words(&blocks.rest),
    })
}

/// Diffs, search results, tables, logs, markup: whatever most lines agree on.
fn structure(sample: &str) -> Option<Judgement> {
    let survey = Survey::of(sample);
    if survey.is_search() {
        return Some(Judgement {
            content_type: ContentType::Search,
            language: None,
            proved: survey.hits * 10 >= survey.lines * 6,
            is_prefixed: false,
        });
    }
    let log = LogShare::of(sample);
    if log.is_output() {
        return Some(Judgement::likely(ContentType::Log));
    }
    if table::is_table(sample) {
        return Some(Judgement::likely(ContentType::Table));
    }
    if log.is_log() {
        return Some(Judgement::likely(ContentType::Log));
    }
    html::is_markup(sample).then(|| Judgement::likely(ContentType::Html))
}

/// A text's diffs and JSON values, and what is left without them.
#[derive(Debug, Default)]
struct Blocks {
    diff: usize,
    json: usize,
    rest: String,
}

impl Blocks {
    fn of(sample: &str) -> Self {
        let mut blocks = Self::default();
        let mut budget = json::Budget::of(sample);
        let mut at = 0;
        while let Some(line) = lines_from(sample, at).next() {
            let start = line.start;
            at = line.end;
            if diff::may_start(line.text)
                && let Some(end) = diff::block_end(sample, start)
            {
                blocks.diff += end - start;
                at = end;
            } else if line.text.starts_with(['{', '['])
                && let Some(end) = budget.block_end(sample, start)
            {
                blocks.json += end - start;
                at = end;
            } else {
                blocks.rest.push_str(&sample[start..at]);
            }
        }
        blocks
    }
}

/// Fewer lines of output without a stamp among them make no log: `Created a.txt` is a message.
const MIN_OUTPUT: usize = 3;

/// How many lines are of a log, or of a build's output.
#[derive(Debug, Default)]
struct LogShare {
    lines: usize,
    stamped: usize,
    output: usize,
    /// Lines that are indented below one of the others.
    indented: usize,
}

impl LogShare {
    fn of(sample: &str) -> Self {
        let mut share = Self::default();
        let mut inside = false;
        for line in lines(sample).map(|line| line.text).filter(|line| !line.trim().is_empty()) {
            share.lines += 1;
            let stamped = log::is_log_line(line);
            let output = !stamped && (output::is_output_line(line) || is_compiler_message(line));
            share.stamped += usize::from(stamped);
            share.output += usize::from(output);
            inside = stamped || output || inside && line.starts_with([' ', '\t']);
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

fn is_compiler_message(line: &str) -> bool {
    matches!(SearchLine::parse(line), Some(SearchLine::Hit(hit)) if is_message(&hit))
}

/// Code by its words, then prose; unknown when neither prevails.
fn words(sample: &str) -> Judgement {
    let bare = without_fences(sample);
    let skeleton = code::skeleton(&bare);
    let shape = Shape::of(&skeleton);
    if shape.is_code()
        && let Some(language) = code::language_of(&skeleton)
    {
        return if shape.is_told() {
            Judgement::likely(ContentType::Text)
        } else {
            Judgement::code(Some(language), false)
        };
    }
    // Settings of several documents are parted in the same way.
    if behind_front_matter(sample).is_some_and(|rest| !is_settings(rest))
        || !is_settings(&bare) && (is_markdown(sample) || shape.is_text())
    {
        return Judgement::likely(ContentType::Text);
    }
    if shape.is_surely_code() && !is_settings(&bare) {
        return Judgement::code(None, false);
    }
    Judgement::likely(ContentType::Unknown)
}

/// Whether most lines are `key: value` or `key = value`, as in YAML, TOML and property files: no prose, whatever the values say.
fn is_settings(text: &str) -> bool {
    let (mut total, mut settings) = (0usize, 0usize);
    for line in lines(text).map(|line| line.text.trim()).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // `- Hardware: two cards` is an item of prose: keys are not capitalised.
        let item = line.strip_prefix("- ").filter(|item| !item.starts_with(|c: char| c.is_ascii_uppercase()));
        let bare = item.unwrap_or(line);
        let key = bare.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(byte)).count();
        let rest = &bare[key..];
        total += 1;
        settings += usize::from(
            key > 0 && (rest == ":" || rest.starts_with(": ") || rest.starts_with(" = ") || rest.starts_with('=')),
        );
    }
    total >= 3 && settings * 10 >= total * 4
}

/// Whether a text may be what the hints promise.
fn fits(expected: &Expected, text: &str) -> bool {
    let sample = sample(text);
    let is_error = is_error_message(&sample);
    match expected.content_type {
        ContentType::Code => {
            let bare = strip_numbers(&sample);
            let skeleton = code::skeleton(bare.as_deref().unwrap_or(&sample));
            let shape = Shape::of(&skeleton);
            !is_error && (shape.is_code() || !shape.is_text() || code::language_of(&skeleton).is_some())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn by_path(text: &str, path: &str) -> (ContentType, Option<Language>) {
        let found = detect(text, &Hints { path: Some(path.to_owned()), ..Hints::default() });
        (found.content_type, found.language)
    }

    fn by_command(text: &str, command: &str) -> ContentType {
        detect(text, &Hints { command: Some(command.to_owned()), ..Hints::default() }).content_type
    }

    #[test]
    fn a_path_tells_what_words_cannot() {
        assert_eq!(by_path("pub mod a;\n", "src/lib.rs"), (ContentType::Code, Some(Language::Rust)));
        assert_eq!(by_path("x = 1\n", "a.py"), (ContentType::Code, Some(Language::Python)));
        assert_eq!(by_path("key: value\n", "a.yaml"), (ContentType::Unknown, None));
        assert_eq!(by_path("     1→x = 1\n", "a.rb"), (ContentType::Code, Some(Language::Ruby)));
    }

    #[test]
    fn a_header_file_is_what_its_words_say() {
        assert_eq!(by_path("int f(int a);\n", "a.h").1, Some(Language::C));
        let cpp = "namespace a {\nclass B {\npublic:\n  virtual ~B() = default;\n  std::string c() const;\n};\n}\n";
        assert_eq!(by_path(cpp, "a.h").1, Some(Language::Cpp));
    }

    #[test]
    fn a_hint_gives_way_to_what_was_printed() {
        let failure = "cat: src/lib.rs: No such file or directory\n";
        assert_eq!(by_path(failure, "src/lib.rs"), (ContentType::Text, None));
        assert_eq!(by_command(failure, "cat src/lib.rs"), ContentType::Text);
        assert_eq!(by_path("{\"a\": [1, 2]}\n", "a.ts").0, ContentType::Json);
        assert_ne!(by_command("Nothing was found by the search.\n", "rg -n needle"), ContentType::Search);
        assert_ne!(by_command("nothing to show here, all is clean\n", "git diff"), ContentType::Diff);
    }

    #[test]
    fn commands_tell_kinds_apart() {
        assert_eq!(by_command("a.rs:1:x\n", "grep -rn x ."), ContentType::Search);
        assert_eq!(by_command("two words\nor three more\n", "docker logs web"), ContentType::Log);
        assert_eq!(by_command("a\nb.c\nd/\n", "ls -F"), ContentType::Search);
    }

    #[test]
    fn what_is_insisted_on_holds() {
        let hints = Hints { content_type: Some(ContentType::Log), ..Hints::default() };
        assert_eq!(detect("{\"a\": 1}", &hints).content_type, ContentType::Log);
        let hints = Hints { language: Some(Language::Sql), ..Hints::default() };
        let found = detect("anything at all", &hints);
        assert_eq!((found.content_type, found.language), (ContentType::Code, Some(Language::Sql)));
        assert_eq!(
            found.segments,
            [Segment { range: 0..15, content_type: ContentType::Code, language: Some(Language::Sql) }]
        );
    }

    #[test]
    fn colours_hide_no_kind_and_segments_are_ranges_of_the_text() {
        let log = "\x1b[2m2024-01-02 03:04:05\x1b[0m \x1b[32mINFO\x1b[0m request sent to the server\n".repeat(4);
        let text = format!("Here are the last lines of the server's log:\n\n{log}");
        let found = detect(&text, &Hints::default());
        let kinds: Vec<_> = found.segments.iter().map(|part| (part.content_type, &text[part.range.clone()])).collect();
        let first = &text[..text.len() - log.len()];
        assert_eq!(kinds, [(ContentType::Text, first), (ContentType::Log, log.as_str())]);
        let json = "\x1b[1;39m{\n  \x1b[34;1m\"a\"\x1b[0m: \x1b[0;39m1\n}\x1b[0m\n";
        let found = detect(json, &Hints::default());
        assert_eq!(found.segments, [Segment::whole(json, ContentType::Json, None)]);
    }

    #[test]
    fn a_short_message_is_a_text() {
        for text in [
            "Updated task #1 status\n",
            "Successfully wrote 81 bytes to the file\n",
            "Created the file as you wished\n",
        ] {
            assert_eq!(detect(text, &Hints::default()).content_type, ContentType::Text, "{text}");
        }
    }

    #[test]
    fn settings_data_and_nothing_are_unknown() {
        for text in ["", "\n\n", "name: a\non:\n  push:\n    branches: [b]\n", "3.5\n1.25\n", "\0\0\0"] {
            assert_eq!(detect(text, &Hints::default()).content_type, ContentType::Unknown, "{text:?}");
        }
    }
}
