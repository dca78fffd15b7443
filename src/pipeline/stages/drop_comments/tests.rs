use super::*;
use crate::content::Segment;

fn edits(text: &str, language: Language, preset: Preset, sealed: &[std::ops::Range<usize>]) -> Vec<Edit> {
    let segments = [Segment::whole(text, ContentType::Code, Some(language))];
    let context = FusionContext { sealed, preset, ..FusionContext::of(text, &segments) };
    if Neurosyntax.should_apply(&context) { Neurosyntax.apply(&context) } else { Vec::new() }
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let (mut rewritten, mut at) = (String::new(), 0);
    for edit in edits {
        rewritten.push_str(&text[at..edit.range.start]);
        rewritten.push_str(&edit.text);
        at = edit.range.end;
    }
    rewritten + &text[at..]
}

fn rewritten(text: &str, language: Language, preset: Preset) -> String {
    apply(text, &edits(text, language, preset, &[]))
}

const LONG: &str = "Some words about the thing that follows, at length, so that they are worth a note with its range: \
                    what it is for, who calls it, and what it never does.";

#[test]
fn what_becomes_of_python() {
    concertina_cases::check!("neurosyntax", |text, preset| {
        rewritten(text, Language::Python, if preset == "max" { Preset::Max } else { Preset::Balanced })
    });
}

#[test]
fn nothing_reversible_happens_when_only_lossless_is_allowed() {
    assert_eq!(
        rewritten("# a comment that is long enough\nx = 1\n", Language::Python, Preset::Lossless).matches('…').count(),
        0
    );
}

#[test]
fn a_note_in_a_longer_text_names_the_lines_of_that() {
    let text = format!("x = 1\n\n# {LONG}\n# {LONG}\ny = 2\n");
    let fenced = format!("words\n\n{text}");
    let segments = [
        Segment { range: 0..7, content_type: ContentType::Text, language: None },
        Segment { range: 7..fenced.len(), content_type: ContentType::Code, language: Some(Language::Python) },
    ];
    let context = FusionContext { content_type: ContentType::Text, ..FusionContext::of(&fenced, &segments) };
    assert_eq!(apply(&fenced, &Neurosyntax.apply(&context)), "words\n\nx = 1\n\n# [… 2 lines 5-6]\ny = 2\n");
}

#[test]
fn a_listing_without_comments_leaves_out_numbers() {
    let text: String = (7..40).map(|number| format!("{number:>6}→x{number} = {number}\n")).collect();
    let listing = text.trim_end();
    let edits = edits(listing, Language::Python, Preset::Balanced, &[]);
    let (fold, _) = crate::pipeline::fold::parse(&edits[0].text).expect("a fold");
    assert!(edits[0].range == (0..listing.len()) && edits[0].lossless);
    assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(listing));
    assert!(fold.body.unwrap().starts_with("     7→x7 = 7\nx8 = 8\nx9 = 9\n    10→x10 = 10\nx11"));
}

#[test]
fn what_others_sealed_is_left_alone_and_the_rest_is_read() {
    let text = format!("# {LONG}\nx = 1\n[[FOLD:rle 1]] any\n# {LONG}\ny = 2  # and some words that are not needed\n");
    let start = text.find("[[").unwrap();
    let sealed = start..text.find("\ny").unwrap();
    assert_eq!(
        apply(&text, &edits(&text, Language::Python, Preset::Balanced, &[sealed])),
        format!("# […]\nx = 1\n[[FOLD:rle 1]] any\n# {LONG}\ny = 2  # […]\n")
    );
}

#[test]
fn line_ends_of_windows_stay() {
    let text = format!("// {LONG}\r\n// {LONG}\r\nint a; // and some words that are not needed\r\n");
    assert_eq!(rewritten(&text, Language::C, Preset::Balanced), "// [… 2 lines 1-2]\r\nint a; // […]\r\n");
    assert_eq!(rewritten(&text, Language::C, Preset::Max), "// [… 3 comment lines]\r\nint a;\r\n");
}

#[test]
fn long_code_is_an_outline_at_max_only() {
    let function = |n: usize| {
        format!(
            "int f{n}(int a) {{\n    int b = a * {n};\n    b += some_other_function(b);\n    return b + another_function(a, b);\n}}\n\n"
        )
    };
    let text: String = (0..200).map(function).collect();
    assert_eq!(rewritten(&text, Language::C, Preset::Balanced), text);
    let outline = rewritten(&text, Language::C, Preset::Max);
    assert!(outline.contains("int f7(int a) { /* [… 3 lines] */ }\n"), "{}", &outline[..400]);
    assert!(outline.len() * 2 < text.len());
}

#[test]
fn what_is_not_the_language_or_too_long_stays_as_it_is() {
    let prose = "# A title of the page\nSome words, (and more of them.\n".repeat(40);
    assert_eq!(rewritten(&prose, Language::Java, Preset::Max), prose);
    let long = "x = 1  # and some words that are not needed\n".repeat(8_000);
    assert_eq!(rewritten(&long, Language::Python, Preset::Max), long);
    // Scanning for comments has no length limit.
    let long = "int x; // and some words that are not needed\n".repeat(8_000);
    assert_eq!(rewritten(&long, Language::C, Preset::Balanced), "int x; // […]\n".repeat(8_000));
}

#[test]
fn hostile_texts_change_nothing_or_little() {
    for text in [
        "\n".repeat(40_000),
        "a".repeat(300_000),
        "#".repeat(100_000),
        "/*".repeat(50_000),
        "/**/ ".repeat(20_000),
        "\"\"\"".repeat(30_000),
        "if 0:\n".repeat(2_000),
        "\0\r\n".repeat(1_000),
        "# 世界 世界 世界 世界\n".repeat(5_000),
    ] {
        for language in [Language::Python, Language::C, Language::Sql, Language::JavaScript, Language::Shell] {
            for preset in [Preset::Balanced, Preset::Max] {
                let once = rewritten(&text, language, preset);
                assert!(once.len() <= text.len(), "{language:?}");
            }
        }
    }
}
