//! Tests of the runner with test stages: which edits pay off, which are verified, which are discarded.

use std::cell::{Cell, RefCell};

use concertina::config::Preset;
use concertina::content::ContentType;
use concertina::pipeline::fold::Fold;
use concertina::pipeline::{
    CompressOptions, Compressed, Edit, FusionContext, FusionEngine, FusionPipeline, Gone, Question, Role, Stage,
    StageOption, StageOptions, elided, restore,
};
use concertina::tokens;

use crate::properties::{Case, check};

/// The edits of a test stage.
type Apply = fn(&FusionContext) -> Vec<Edit>;

struct Made {
    name: &'static str,
    lossless: bool,
    apply: Apply,
}

impl Stage for Made {
    fn name(&self) -> &'static str {
        self.name
    }
    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Unknown]
    }
    fn is_lossless(&self) -> bool {
        self.lossless
    }
    fn should_apply(&self, _: &FusionContext) -> bool {
        true
    }
    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        (self.apply)(context)
    }
}

/// Replaces runs of equal lines by the line and a count, as `rle` does.
fn fold_runs(context: &FusionContext) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let (mut start, mut lines) = (0, context.text.split('\n').peekable());
    while let Some(line) = lines.next() {
        let mut count = 1;
        while lines.next_if_eq(&line).is_some() {
            count += 1;
        }
        let end = start + count * (line.len() + 1) - 1;
        if count > 1 && context.is_free(&(start..end)) {
            let body = format!("|{line}\n*{}", count - 1);
            edits.push(Edit::fold(start..end, &Fold::new("rle", format!("{{}}: times {count}"), Some(body))));
        }
        start = end + 1;
    }
    edits
}

/// Replaces lines that start with `#` by a note.
fn drop_comments(context: &FusionContext) -> Vec<Edit> {
    if context.preset == Preset::Lossless {
        return Vec::new();
    }
    let (mut edits, mut start) = (Vec::new(), 0);
    for (index, line) in context.text.split('\n').enumerate() {
        let range = start..start + line.len();
        if line.starts_with('#') && context.is_free(&range) {
            edits.push(Edit::note(range, elided(1, "lines", Some((index + 1, index + 1)))));
        }
        start += line.len() + 1;
    }
    edits
}

/// Drops half of the text. It can be applied repeatedly to its own output.
fn drop_half(context: &FusionContext) -> Vec<Edit> {
    let text = context.text;
    let range = text.len() * 4 / 10..text.len() * 9 / 10;
    let cuts = !text.is_char_boundary(range.start) || !text.is_char_boundary(range.end);
    if context.preset == Preset::Lossless || cuts || !context.is_free(&range) {
        return Vec::new();
    }
    vec![Edit::reversible(range, "")]
}

const RUNS: Made = Made { name: "rle", lossless: true, apply: fold_runs };
const COMMENTS: Made = Made { name: "comments", lossless: false, apply: drop_comments };
const HALF: Made = Made { name: "half", lossless: false, apply: drop_half };

fn engine(stages: Vec<Made>) -> FusionEngine {
    let stages = stages.into_iter().map(|stage| Box::new(stage) as Box<dyn Stage>).collect();
    FusionEngine::new(FusionPipeline::only(stages, &StageOptions::default()).unwrap())
}

fn compress(engine: &FusionEngine, text: &str, preset: Preset) -> Compressed {
    let options = CompressOptions { preset, ..CompressOptions::default() };
    check(&Case { name: "made", engine, options: &options, text })
}

/// Returns runs of equal lines between comments that are long enough to pay for their notes.
fn sample() -> String {
    let comment = format!("# {}", "a comment of some length, ".repeat(12));
    let run = "the same line of output again and again\n".repeat(20);
    format!("first line\n{run}{comment}\nplain line\n{run}{comment}\nlast line")
}

#[test]
fn folds_alone_are_lossless_and_notes_add_a_marker() {
    let text = sample();
    let lossless = compress(&engine(vec![RUNS, COMMENTS]), &text, Preset::Lossless);
    assert!(lossless.lossless && lossless.text.contains("]] {}: times 20\n|the same line"), "{}", lossless.text);
    assert!(lossless.text.contains("a comment of some length"));

    let balanced = compress(&engine(vec![RUNS, COMMENTS]), &text, Preset::Balanced);
    assert!(!balanced.lossless);
    let id = balanced.originals[0].hash.to_ref_id(16);
    let last = format!("\n[[REWIND:sha256:{id}]] original: 45 lines");
    assert!(balanced.text.ends_with(&last), "{}", balanced.text);
    assert!(balanced.tokens_after < lossless.tokens_after);
    let fired: Vec<(&str, bool)> = balanced.stages.iter().map(|row| (row.name.as_str(), row.fired)).collect();
    assert_eq!(fired, [("cortex", false), ("rle", true), ("comments", true)]);
}

#[test]
fn notes_count_lines_of_the_original_behind_folds() {
    let text = sample();
    let balanced = compress(&engine(vec![RUNS, COMMENTS]), &text, Preset::Balanced);
    let comments: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| line.starts_with('#')).map(|(index, _)| index + 1).collect();
    assert_eq!(comments, [22, 44]);
    for line in comments {
        assert!(balanced.text.contains(&format!("[… 1 lines {line}-{line}]")), "{}", balanced.text);
    }
}

#[test]
fn notes_that_do_not_pay_for_the_marker_give_way_to_folds() {
    let text = format!("{}# a short comment that goes\nend", "the same line of output again\n".repeat(20));
    let balanced = compress(&engine(vec![RUNS, COMMENTS]), &text, Preset::Balanced);
    assert!(balanced.lossless && balanced.text.contains("# a short comment that goes"), "{}", balanced.text);
}

#[test]
fn a_stage_that_never_settles_costs_its_edits_but_not_the_folds() {
    let balanced = compress(&engine(vec![RUNS, HALF]), &sample().repeat(4), Preset::Balanced);
    assert!(balanced.lossless && balanced.text.contains("[[FOLD:rle"), "{}", balanced.text);
}

#[test]
fn a_fold_that_cannot_be_restored_is_dropped() {
    fn wrong_count(context: &FusionContext) -> Vec<Edit> {
        let mut edits = fold_runs(context);
        edits.iter_mut().for_each(|edit| edit.text = edit.text.replace("*19", "*20"));
        edits
    }
    let engine = engine(vec![Made { apply: wrong_count, ..RUNS }]);
    assert_eq!(compress(&engine, &sample(), Preset::Balanced).text, sample());
}

#[test]
fn a_text_that_came_in_folded_is_compressed_as_what_it_was() {
    let engine = engine(vec![RUNS, COMMENTS]);
    let folded = compress(&engine, &sample(), Preset::Lossless);
    assert_eq!(compress(&engine, &folded.text, Preset::Lossless).text, folded.text);
    let balanced = compress(&engine, &folded.text, Preset::Balanced);
    assert!(!balanced.lossless);
    // The original is the input text, and notes count its lines.
    let comment = 1 + folded.text.lines().position(|line| line.starts_with('#')).expect("a comment");
    assert!(balanced.text.contains(&format!("[… 1 lines {comment}-{comment}]")), "{}", balanced.text);
}

#[test]
fn texts_that_resemble_markers_are_not_cut() {
    fn drop_hashes(context: &FusionContext) -> Vec<Edit> {
        let found = context.text.match_indices("sha256").map(|(at, found)| at..at + found.len());
        found.map(|range| Edit::reversible(range, "")).collect()
    }
    let engine = engine(vec![Made { name: "hashes", lossless: false, apply: drop_hashes }]);
    let text = format!("{}\n[[REWIND:sha256:0123456789abcdef]] original: 5 lines", "sha256 is a hash\n".repeat(200));
    let compressed = compress(&engine, &text, Preset::Balanced);
    assert!(!compressed.lossless);
    assert!(compressed.text.contains("[[REWIND:sha256:0123456789abcdef]]"), "{}", compressed.text);
}

#[test]
fn words_of_users_stay() {
    let engine = engine(vec![RUNS, COMMENTS]);
    for role in [Role::User, Role::System, Role::Other] {
        let options = CompressOptions { role, ..CompressOptions::default() };
        assert_eq!(engine.compress(&sample(), &options, &|| 0.0).text, sample());
    }
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "overlaps the one before"))]
fn an_invalid_set_of_edits_means_that_the_stage_did_not_fire() {
    fn overlap(_: &FusionContext) -> Vec<Edit> {
        vec![Edit::reversible(0..200, ""), Edit::reversible(100..300, "")]
    }
    let engine = engine(vec![Made { name: "overlap", lossless: false, apply: overlap }]);
    assert_eq!(engine.compress(&sample(), &CompressOptions::default(), &|| 0.0).text, sample());
}

#[test]
fn the_clock_is_only_read() {
    let now = Cell::new(0.0);
    let clock = || {
        now.set(now.get() + 1.0);
        now.get()
    };
    let compressed = engine(vec![RUNS]).compress(&sample(), &CompressOptions::default(), &clock);
    let row = &compressed.stages[1];
    assert!(row.gate_ms >= 1.0 && row.work_ms >= 1.0, "{row:?}");
    assert_eq!(compressed.text, compress(&engine(vec![RUNS]), &sample(), Preset::Balanced).text);
}

#[test]
fn a_stage_of_the_callers_runs_between_native_ones() {
    let stages = vec![Box::new(RUNS) as Box<dyn Stage>, Box::new(COMMENTS)];
    let options = StageOptions { custom: vec![("mine".to_owned(), 15)], ..StageOptions::default() };
    let engine = FusionEngine::new(FusionPipeline::only(stages, &options).unwrap());
    let text = format!("{}\n{}", sample(), "something that the caller does not need at all\nand more\n".repeat(20));
    let options = CompressOptions::default();
    let count = Cell::new(0);
    let caller = |question: Question| {
        count.set(count.get() + 1);
        assert_eq!(question.stage, "mine");
        assert!(question.text.contains("[[FOLD:rle"), "after the stages before it");
        assert!(question.text.contains("a comment of some length") || count.get() > 1, "before those after it");
        Ok(Some(question.text.replace("something that the caller does not need at all\n", "")))
    };
    let done = engine.compress_asking(&text, &options, &caller, &|| 0.0).unwrap();
    let asked = count.get();
    assert!((2..=4).contains(&asked), "{asked}");
    assert!(!done.text.contains("does not need") && done.text.contains("and more"), "{}", done.text);
    assert_eq!(engine.restore(&done.text, &done.originals), text);
    assert_eq!(done.tokens_after, tokens::count(&done.text, options.encoding));
    assert!(done.stages.iter().any(|row| row.name == "mine" && row.fired));
    for leaves_at in 1..=asked {
        let left = Cell::new(0);
        let leaving = |question| {
            left.set(left.get() + 1);
            if left.get() < leaves_at { caller(question) } else { Err(Gone) }
        };
        assert_eq!(engine.compress_asking(&text, &options, &leaving, &|| 0.0).err(), Some(Gone));
        assert_eq!(left.get(), leaves_at, "nobody is asked who is gone");
    }
}

/// Covers 0 to 60 stages of the caller, in three orders, that do not apply, change nothing, or each drop a line.
#[test]
fn stages_of_the_callers_let_no_other_stage_work_twice_on_one_text() {
    thread_local! { static SEEN: RefCell<Vec<(String, Preset)>> = const { RefCell::new(Vec::new()) } }
    fn watched(context: &FusionContext) -> Vec<Edit> {
        SEEN.with_borrow_mut(|seen| seen.push((context.text.to_owned(), context.preset)));
        fold_runs(context)
    }
    let spare = |at: usize| format!("spare words number {at} that nobody would miss at all\n");
    let text = format!("{}\n{}", sample(), (0..60).map(spare).collect::<String>());
    let options = CompressOptions::default();
    let native = || vec![Box::new(Made { apply: watched, ..RUNS }) as Box<dyn Stage>, Box::new(COMMENTS)];
    let mut alone = 0;
    for (count, order) in [0, 1, 7, 60].into_iter().flat_map(|count| [1, 15, 40].map(|order| (count, order))) {
        for way in 0..3 {
            let custom: Vec<_> = (0..count).map(|at| (format!("mine{at}"), order)).collect();
            let stages = StageOptions { custom, ..StageOptions::default() };
            let engine = FusionEngine::new(FusionPipeline::only(native(), &stages).unwrap());
            let asked = RefCell::new(Vec::new());
            let caller = |question: Question| {
                let at: usize = question.stage["mine".len()..].parse().unwrap();
                asked.borrow_mut().push((at, question.text.clone()));
                Ok(match way {
                    0 => None,
                    1 => Some(question.text),
                    _ => Some(question.text.replace(&spare(at), "")),
                })
            };
            SEEN.take();
            let done = engine.compress_asking(&text, &options, &caller, &|| 0.0).unwrap();
            assert_eq!(engine.restore(&done.text, &done.originals), text);
            // A single line does not pay for a marker.
            assert!(count == 1 || done.text.contains(&spare(0)) == (count == 0 || way < 2));
            let (seen, mut asked) = (SEEN.take().len(), asked.into_inner());
            if count == 0 {
                alone = seen;
            }
            assert!(seen <= 8 * alone, "{count} stages, {order}, {way}: {seen} times, {alone} without");
            let questions = asked.len();
            asked.sort();
            asked.dedup();
            assert_eq!(asked.len(), questions, "nothing is asked twice");
        }
    }
}

#[test]
fn the_readme_shows_what_its_example_folds_to() {
    let read = |path: &str| {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
            .expect("a file of the project")
    };
    let (readme, text) = (read("README.md"), read("fixtures/readme/regions.json"));
    let compressed = FusionEngine::default().compress(&text, &CompressOptions::default(), &|| 0.0);
    assert!(readme.contains(compressed.text.trim_end()), "{}", compressed.text);
    let figures = format!("in {} tokens instead of {}", compressed.tokens_after, compressed.tokens_before);
    assert!(readme.contains(&figures), "{figures}");
    assert!(readme.contains(&format!("of eight rows and {} lines", text.lines().count())));
    assert!(compressed.lossless);
}

#[test]
fn regular_paragraphs_fold_by_two_thirds_whatever_their_type() {
    let line =
        |n: usize| format!("paragraph {n} tells about thing {} and {} in many words\n\n", n * 7919 % 97, n * 10 % 530);
    let text: String = (1..=900).map(line).collect();
    for preset in [Preset::Lossless, Preset::Balanced, Preset::Max] {
        let options = CompressOptions { preset, ..CompressOptions::default() };
        let done = FusionEngine::default().compress(&text, &options, &|| 0.0);
        assert!(done.lossless && done.tokens_after * 3 <= done.tokens_before, "{preset:?}: {}", done.tokens_after);
        assert_eq!(restore(&done.text, &[]), text);
    }
}

#[test]
fn reversible_results_are_clearly_shorter_than_lossless_ones() {
    let created = |n: u32| {
        let took = if n == 7 { "9m41s" } else { "2s" };
        format!("aws_instance.a[{n}]: Creation complete after {took} [id=i-{n}]\n")
    };
    let tested = |n: u32| {
        format!(
            "[INFO] Running com.x.T{n}Test\n[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, \
             Time elapsed: 0.01 s -- in com.x.T{n}Test\n"
        )
    };
    let applied = (0..20).map(created).collect::<String>() + "Apply complete! Resources: 20 added, 0 changed.\n";
    let engine = FusionEngine::default();
    for text in [applied, (0..30).map(tested).collect()] {
        let compress = |preset| {
            let options = CompressOptions { preset, ..CompressOptions::default() };
            check(&Case { name: "built", engine: &engine, options: &options, text: &text })
        };
        let (balanced, lossless) = (compress(Preset::Balanced), compress(Preset::Lossless));
        assert!(lossless.tokens_after * 2 < lossless.tokens_before, "{}", lossless.text);
        assert!(balanced.tokens_after <= lossless.tokens_after, "{}", balanced.text);
    }
}

/// Returns a kernel's report of its memory zones, of which all but the last are empty: blocks of similar lines, many of
/// them exact copies.
fn zones() -> String {
    let pages =
        ["free_pages", "inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable", "write_pending"];
    let pages = [&pages[..], &["mlock", "bounce", "zspages", "free_cma"]].concat();
    let zone = |zone: usize| {
        let number = |number: usize| if zone < 4 { 0 } else { number };
        let marks = [("min", 68 * (zone + 2)), ("low", 85 * (zone + 2)), ("high", 102 * (zone + 3))];
        let mut text = format!("Node 0, zone   zone{zone}\n  pages free     {}\n", number(3832 * (zone + 1)));
        text.extend(marks.map(|(name, value)| format!("        {name:8} {}\n", number(value))));
        let pages = pages.iter().enumerate();
        text.extend(pages.map(|(at, name)| format!("      nr_zone_{name} {}\n", number(zone * 7919 + at * 4729))));
        text.push_str("  pagesets\n");
        text.extend((0..6).map(|cpu| {
            let (high, batch, threshold) = if zone < 4 { (0, 1, 12) } else { (378, 63, 6 * (cpu + 1)) };
            format!(
                "    cpu: {cpu}\n              count: {}\n              high:  {high}\n              batch: {batch}\n  \
                 vm stats threshold: {threshold}\n",
                number((cpu * 37 + zone * 11) % 90)
            )
        }));
        text
    };
    (0..5).map(zone).collect()
}

#[test]
fn an_exact_copy_does_not_keep_like_blocks_apart() {
    let text = zones();
    let tokens = |without: &[&str]| {
        let off = |name: &&str| ((*name).to_owned(), StageOption { enabled: false, ..StageOption::default() });
        let options = StageOptions { stages: without.iter().map(off).collect(), ..StageOptions::default() };
        let engine = FusionEngine::new(FusionPipeline::build(&options).expect("known stages"));
        compress(&engine, &text, Preset::Lossless).tokens_after
    };
    let with = tokens(&[]);
    for without in [&["semanticDedup"][..], &["rle"], &["rle", "semanticDedup"]] {
        assert!(with <= tokens(without), "{with} tokens, without {without:?} {}", tokens(without));
    }
    let copies = tokens(&["structuralCollapse"]);
    assert!(
        with < copies && copies < tokens(&["structuralCollapse", "semanticDedup"]),
        "{with}, copies alone {copies}"
    );
}
