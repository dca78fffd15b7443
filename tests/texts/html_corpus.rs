//! Tests of web pages in the pipeline: the savings, and that every visible word stays, in order, or is behind a note
//! that states its lines. `--nocapture` prints the table.

use std::sync::LazyLock;

use std::ops::{Range, RangeInclusive};

use concertina::config::Preset;
use concertina::content::{ContentType, Hints, Segment};
use concertina::pipeline::{CompressOptions, FusionContext, FusionEngine, restore};
use regex::{Captures, Regex};

use crate::corpus;
use crate::stages::stage;

/// Returns the output of the stage alone.
fn text_of(page: &str) -> String {
    let segments = [Segment::whole(page, ContentType::Html, None)];
    let context = FusionContext::of(page, &segments);
    let edits = stage("tokenOpt").apply(&context);
    assert_eq!(edits.len(), 1, "one edit for a page");
    edits[0].text.clone()
}

/// Returns the visible text, found by patterns, with each line at its place.
fn visible(page: &str) -> String {
    let gone = Regex::new(
        r#"(?is)<script\b.*?</script>|<style\b.*?</style>|<!--.*?-->|<td class="linenos">.*?</td>|<[a-z/!][^>]*>"#,
    )
    .unwrap();
    let entity = Regex::new(r"&(#x?[0-9A-Fa-f]+|[a-z]+);").unwrap();
    let bare = gone.replace_all(page, |tag: &Captures| format!(" {}", "\n".repeat(tag[0].matches('\n').count())));
    entity.replace_all(&bare, |entity: &Captures| decoded(&entity[1])).into_owned()
}

fn decoded(entity: &str) -> String {
    let number =
        |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32).unwrap().to_string();
    match entity {
        "amp" => "&".into(),
        "lt" => "<".into(),
        "gt" => ">".into(),
        "quot" => "\"".into(),
        "nbsp" | "thinsp" => " ".into(),
        "mdash" => "—".into(),
        "copy" => "©".into(),
        "para" => "¶".into(),
        _ if entity.starts_with("#x") => number(&entity[2..], 16),
        _ if entity.starts_with('#') => number(&entity[1..], 10),
        _ => panic!("&{entity}; is not in the test's list"),
    }
}

/// Returns the line ranges of the notes of a text.
fn noted(text: &str) -> Vec<RangeInclusive<usize>> {
    let note = Regex::new(r"\[… (\d+) lines (\d+)-(\d+): \w+, \d+ links\]").unwrap();
    let ranges = note.captures_iter(text).map(|note| {
        let [count, first, last] = [1, 2, 3].map(|group| note[group].parse::<usize>().unwrap());
        assert_eq!(count, last - first + 1, "{}", &note[0]);
        first..=last
    });
    ranges.collect()
}

static MENU: LazyLock<Regex> = LazyLock::new(|| Regex::new("<nav|<footer|<aside|role=\"").unwrap());
static TARGET: LazyLock<Regex> = LazyLock::new(|| Regex::new(r##"<a\b[^>]*?\bhref="([^"#][^"]*)""##).unwrap());

#[test]
fn every_visible_word_stays_in_order_or_behind_a_note() {
    let mut words = 0;
    for input in corpus::inputs("html") {
        let page = input.text().expect("UTF-8");
        let text = text_of(page);
        let noted = noted(&text);
        let lines: Vec<&str> = page.lines().collect();
        for range in &noted {
            let (first, last) = (lines[range.start() - 1], lines[range.end() - 1]);
            assert!(MENU.is_match(first), "{}: {first}", input.name);
            assert!(last.contains("</"), "{}: {last}", input.name);
        }
        let mut at = 0;
        for (number, line) in visible(page).lines().enumerate() {
            if noted.iter().any(|range| range.contains(&(number + 1))) {
                continue;
            }
            for word in line.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)) {
                let found = text[at..].find(word);
                let found = found.unwrap_or_else(|| panic!("{}:{}: {word:?} is lost", input.name, number + 1));
                // Only markup and link targets may lie between two words, so a long gap is an error.
                assert!(found < 400, "{}:{}: {word:?} only {found} bytes on", input.name, number + 1);
                at += found + word.len();
                words += 1;
            }
        }
    }
    assert!(words > 40, "{words} words looked for");
}

#[test]
fn links_of_the_main_part_keep_their_targets() {
    for input in corpus::inputs("html") {
        let page = input.text().expect("UTF-8");
        let text = text_of(page);
        let noted = noted(&text);
        for (number, line) in page.lines().enumerate() {
            if noted.iter().any(|range| range.contains(&(number + 1))) {
                continue;
            }
            for link in TARGET.captures_iter(line) {
                let target = link[1].replace("&amp;", "&");
                let shown = target.trim_end_matches('/').trim_start_matches("mailto:");
                assert!(text.contains(shown), "{}:{}: {target}", input.name, number + 1);
            }
        }
    }
}

#[test]
fn most_of_a_page_is_markup() {
    let engine = FusionEngine::default();
    let (mut before, mut after) = (0, 0);
    for input in corpus::inputs("html") {
        let page = input.text().expect("UTF-8");
        let options = CompressOptions::default();
        let done = engine.compress(page, &options, &|| 0.0);
        assert_eq!(restore(&done.text, &done.originals), page, "{}", input.name);
        for row in &done.stages {
            assert!(!row.notes.iter().any(|(name, _)| name == "unsettled"), "{}: {row:?}", input.name);
        }
        let again = engine.compress(&done.text, &options, &|| 0.0);
        assert_eq!(again.text, done.text, "{}", input.name);
        let saved = 100.0 * (1.0 - done.tokens_after as f64 / done.tokens_before as f64);
        println!("{saved:5.1} %  {:7} -> {:6}  {}", done.tokens_before, done.tokens_after, input.name);
        assert!(saved >= 60.0, "{} saves {saved:.1} %", input.name);
        before += done.tokens_before;
        after += done.tokens_after;
    }
    println!("{:5.1} %  {before:7} -> {after:6}  all", 100.0 * (1.0 - after as f64 / before as f64));
    assert!(before > 0);
}

#[test]
fn lines_of_a_page_fold_only_where_the_markup_stays() {
    let row =
        |n: u32| format!("<tr><td class=\"name\">part {n}</td><td class=\"size\">{}</td></tr>\n", n * 7919 % 1000);
    let rows: String = (0..40).map(row).collect();
    let log: String = (0..40).map(|n| format!("step {n} took {} ms\n", n * 7919 % 1000)).collect();
    let text = [&*log, &rows, &log].concat();
    let page = log.len()..log.len() + rows.len();
    let segment = |range, content_type| Segment { range, ..Segment::whole("", content_type, None) };
    let segments = [
        segment(0..page.start, ContentType::Log),
        segment(page.clone(), ContentType::Html),
        segment(page.end..text.len(), ContentType::Log),
    ];
    for (preset, folds) in [(Preset::Lossless, true), (Preset::Balanced, false), (Preset::Max, false)] {
        let edits = stage("structuralCollapse").apply(&FusionContext { preset, ..FusionContext::of(&text, &segments) });
        let is_apart = |range: &Range<usize>| range.end <= page.start || range.start >= page.end;
        assert!(!edits.is_empty(), "{preset:?}: the log folds");
        assert_eq!(edits.iter().any(|edit| !is_apart(&edit.range)), folds, "{preset:?}");
    }
}

#[test]
fn lines_of_data_fold_like_those_of_other_texts_and_those_of_markup_like_code() {
    let engine = FusionEngine::default();
    let saved = |text: &str, path: &str| {
        let hints = Hints { path: Some(path.to_owned()), ..Hints::default() };
        let done = engine.compress(text, &CompressOptions { hints, ..CompressOptions::default() }, &|| 0.0);
        assert_eq!(restore(&done.text, &done.originals), text);
        100 * (done.tokens_before - done.tokens_after) / done.tokens_before
    };
    let case = |n: u32| format!("  <testcase classname=\"a.B\" name=\"t{n}\" time=\"0.{:02}\"/>\n", n * 37 % 100);
    let report = format!("<?xml version=\"1.0\"?>\n<suite>\n{}</suite>\n", (0..50).map(case).collect::<String>());
    assert!(saved(&report, "report.xml") >= 60);
    let words = ["oak", "stone", "river", "lamp", "cloud", "paper", "iron", "field"];
    let word = |n: usize| words[n * 7919 % 8];
    let item = |n: usize| {
        format!(
            "<li class=\"{}\">{} {} {} {} {n}</li>\n",
            word(n),
            word(n * n + 1),
            word(n * 3 + n * n),
            word(n / 3),
            word(n + n / 2)
        )
    };
    let list = format!("<html>\n<body>\n{}</body>\n</html>\n", (0..30).map(item).collect::<String>());
    assert_eq!(saved(&list, "list.html"), 0);
}
