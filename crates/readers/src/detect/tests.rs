//! Tests of detection and of its parts, with the cases of `fixtures/cases/detect`, whose format is that of `forms`.
//! `detect` takes a hint as its argument: `detect path=a.rs`.

use super::code::{bone, declared, language_of, skeleton};
use super::page::Page;
use super::prose_shape::{Class, Shape, is_markdown};
use super::search::Survey;
use super::{detect, is_frame, json, program_output, tables};
use crate::tests::{lines, texts};
use crate::{ContentType, Hints, Language};

#[test]
fn each_text_is_detected_as_its_cases_say() {
    concertina_cases::check!("detect", |input, what| match what {
        "JSON" => texts(input, json::is_json),
        "search result" => texts(input, |text| Survey::of(Page::of(text).view().lines).is_search()),
        "table" => texts(input, |text| tables::is_table(Page::of(text).view().lines)),
        "rows with line ends" => texts(input, tables::has_broken_rows),
        "Markdown" => texts(input, |text| is_markdown(&Page::of(text).view().lines.iter().collect::<Vec<_>>())),
        "frame" => lines(input, is_frame),
        "output" => lines(input, program_output::is_output_line),
        "shape" => lines(input, |line| {
            let shape = Shape::of([Class::of(line)]);
            (if shape.is_text() { "text" } else { "" }).to_owned() + if shape.is_code() { "code" } else { "" }
        }),
        "declared language" => texts(input, declared),
        "language" => texts(input, |text| language_of(&skeleton(Page::of(text).view().lines))),
        "bone" => lines(input, |line| bone(line).into_owned()),
        _ => texts(input, |text| parts(text, what.strip_prefix("detect").expect("a known question").trim())),
    });
}

/// Returns the kinds of a text and of its segments, each with its lines.
fn parts(text: &str, hint: &str) -> String {
    let mut hints = Hints::default();
    match hint.split_once('=') {
        Some(("path", path)) => hints.path = Some(path.to_owned()),
        Some(("command", command)) => hints.command = Some(command.to_owned()),
        Some(("tool", tool)) => hints.tool_name = Some(tool.to_owned()),
        Some(("type", content_type)) => hints.content_type = ContentType::parse(content_type),
        Some(("language", language)) => hints.language = Language::parse(language),
        _ => assert_eq!(hint, "", "a known hint"),
    }
    let found = detect(text, &hints);
    let kind = |content_type: ContentType, language: Option<Language>| {
        language.map_or(content_type.as_str().to_owned(), |language| {
            format!("{} {}", content_type.as_str(), language.as_str())
        })
    };
    let line = |at: usize| text[..at].matches('\n').count();
    let segments = found.segments.iter().map(|part| {
        let (first, last) = (line(part.range.start) + 1, line(part.range.end).max(line(part.range.start) + 1));
        format!("{} {first}-{last}", kind(part.content_type, part.language))
    });
    format!("{}: {}", kind(found.content_type, found.language), segments.collect::<Vec<_>>().join(", "))
}
