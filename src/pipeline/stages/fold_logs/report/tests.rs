//! Properties of every report.

use std::fs;
use std::path::Path;

use super::sign::{seconds, speaks_of_failure};
use super::*;
use crate::config::Preset;
use crate::content::Hints;
use crate::pipeline::{CompressOptions, FusionEngine, Stage, restore};

/// Returns the text with its notes.
fn shown(text: &str) -> String {
    let segments = [Segment::whole(text, ContentType::Log, None)];
    with_edits(text, &find(&FusionContext::of(text, &segments), 0..text.trim_end_matches('\n').len()))
}

fn with_edits(text: &str, edits: &[Edit]) -> String {
    let mut shown = text.to_owned();
    edits.iter().rev().for_each(|edit| shown.replace_range(edit.range.clone(), &edit.text));
    shown
}

/// Returns the names and texts of the fixtures, in order.
fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the notes of a text: the number of hidden lines, the first, the last, and the whole line of the note.
fn notes(shown: &str) -> Vec<(usize, usize, usize, &str)> {
    let note = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let (range, _) = line.strip_prefix("[… ")?.split_once(']')?;
        let (count, range) = range.split_once(" lines ")?;
        let count = count.trim_end_matches(" of");
        let (first, last) = range.split_once('-')?;
        Some((count.parse().ok()?, first.parse().ok()?, last.parse().ok()?))
    };
    shown.lines().filter_map(|line| note(line).map(|(count, first, last)| (count, first, last, line))).collect()
}

#[test]
fn notes_replace_successful_lines() {
    concertina_cases::check!("reports", |text, _| shown(text));
}

#[test]
fn successful_lines_of_many_tools_are_recognised() {
    concertina_cases::check!("report_lines", |text, _| {
        let told = |line: &str| match judge(&[Line::of(0, line)], 0) {
            Some(sign) => format!("{} {} {}", sign.label, sign.count, sign.name).trim().to_owned(),
            None => "-".to_owned(),
        };
        text.lines().map(|line| format!("{}\t{line}\n", told(line))).collect()
    });
}

#[test]
fn notes_of_real_outputs() {
    let told: String = fixtures()
        .iter()
        .map(|(name, text)| {
            let notes: String = notes(&shown(text)).iter().map(|(.., line)| format!("  {line}\n")).collect();
            format!("{name}\n{notes}")
        })
        .collect();
    insta::assert_snapshot!(told);
}

#[test]
fn lines_about_errors_and_the_last_lines_stay() {
    for (name, text) in fixtures() {
        let shown = shown(&text);
        let mut kept = shown.lines();
        // The output consists of lines of the text and of notes.
        assert!(kept.all(|line| line.starts_with("[… ") || text.lines().any(|one| one == line)), "{name}");
        for line in text.lines().filter(|line| speaks_of_failure(line)) {
            let times = |text: &str| text.lines().filter(|one| *one == line).count();
            assert_eq!(times(&text), times(&shown), "{name}: {line}");
        }
        let last = |text: &str| text.lines().rev().take(LAST_LINES).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(last(&text), last(&shown), "{name}");
    }
}

#[test]
fn the_counts_of_lines_are_exact() {
    for (name, text) in fixtures() {
        let shown = shown(&text);
        let notes = notes(&shown);
        let gone: usize = notes.iter().map(|(count, ..)| count).sum();
        assert_eq!(text.lines().count(), shown.lines().count() - notes.len() + gone, "{name}");
        for (count, first, last, note) in notes {
            assert!(first + count <= last + 1, "{name}: {note}");
        }
    }
}

#[test]
fn every_passed_test_is_counted_or_in_sight() {
    for (name, mark, total) in [
        ("cargo_test_builds_first", " ... ok", 98),
        ("jest_verbose", "    ✓ ", 98),
        ("mocha_spec", "    ✔ ", 98),
        ("node_spec_nested", "  ✔ ", 98),
        ("phpunit_testdox", " ✔ ", 98),
        ("pytest_verbose_two_failures", " PASSED ", 196),
        ("unittest_with_descriptions", " ... ok", 98),
        ("go_test_subtests", "--- PASS: ", 138),
    ] {
        let text = &fixtures().into_iter().find(|(one, _)| one == name).unwrap().1;
        let shown = shown(text);
        let passed = |note: &str| -> usize {
            let (before, _) = note.split_once(" passed").unwrap_or_default();
            before.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
        };
        let counted: usize = notes(&shown).iter().map(|(.., note)| passed(note)).sum();
        let in_sight = shown.lines().filter(|line| !line.starts_with("[… ") && line.contains(mark)).count();
        assert_eq!(counted + in_sight, total, "{name}\n{shown}");
    }
}

#[test]
fn a_shortened_report_is_not_shortened_again() {
    for (name, text) in fixtures() {
        let once = shown(&text);
        assert_eq!(shown(&once), once, "{name}");
    }
}

#[test]
fn omitted_lines_are_restored() {
    let engine = FusionEngine::default();
    for (name, text) in fixtures() {
        for preset in [Preset::Balanced, Preset::Max] {
            let options = CompressOptions { preset, ..CompressOptions::default() };
            let once = engine.compress(&text, &options, &|| 0.0);
            assert_eq!(restore(&once.text, &once.originals), text, "{name}");
            let again = engine.compress(&once.text, &options, &|| 0.0);
            assert_eq!(again.text, once.text, "{name}");
        }
        let options = CompressOptions { preset: Preset::Lossless, ..CompressOptions::default() };
        assert!(engine.compress(&text, &options, &|| 0.0).lossless, "{name}");
    }
}

#[test]
fn the_lossless_preset_omits_no_lines() {
    for (name, text) in fixtures() {
        let segments = [Segment::whole(&text, ContentType::Log, None)];
        let context = FusionContext { preset: Preset::Lossless, ..FusionContext::of(&text, &segments) };
        assert!(super::super::LogCrunch.apply(&context).iter().all(|edit| edit.lossless), "{name}");
    }
}

#[test]
fn durations_are_read() {
    concertina_cases::check!("durations", |text, _| text
        .lines()
        .map(|line| format!("{:?} {line}\n", seconds(line)))
        .collect());
}

#[test]
fn sources_and_manuals_that_quote_a_report_stay() {
    let text: String = (0..40).map(|n| format!("test ledger::adds_{n} ... ok\n")).collect();
    let segments = [Segment::whole(&text, ContentType::Log, None)];
    for (path, is_free) in [("docs/testing.md", true), ("src/a.rs", true), ("run.log", false), ("out.txt", false)] {
        let hints = Hints { path: Some(path.to_owned()), ..Hints::default() };
        let context = FusionContext { hints: &hints, ..FusionContext::of(&text, &segments) };
        let edits = super::super::LogCrunch.apply(&context);
        assert_eq!(edits.iter().all(|edit| edit.lossless), is_free, "{path}");
    }
}

#[test]
fn commands_of_a_dry_run_stay() {
    let text: String = (0..40).map(|n| format!("gcc -O2 -c -o {n}.o {n}.c\n")).collect();
    let segments = [Segment::whole(&text, ContentType::Unknown, None)];
    concertina_cases::check!("shown_commands", |lines, _| {
        let said = |command: &str| {
            let hints = Hints { command: Some(command.to_owned()), ..Hints::default() };
            let context = FusionContext { hints: &hints, ..FusionContext::of(&text, &segments) };
            let stay = super::super::LogCrunch.apply(&context).is_empty();
            format!("{}: {command}\n", if stay { "stay" } else { "leave out" })
        };
        lines.lines().map(said).collect()
    });
}
