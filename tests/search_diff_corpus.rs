//! SearchCrunch and DiffCrunch on real search results and diffs: what they save in real tokens, and that they lose nothing.
//!
//! `cargo test --test search_diff_corpus -- --nocapture` prints the tables.

mod corpus;

use concertina::config::{Encoding, Preset};
use concertina::content::{Hints, Segment};
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{Edit, FusionContext, Role, Stage, fold};
use concertina::tokens::count;

fn stage(name: &str) -> &'static dyn Stage {
    STAGES.iter().copied().find(|stage| stage.name() == name).expect("a registered stage")
}

fn edits(stage: &dyn Stage, text: &str, preset: Preset) -> Vec<Edit> {
    let content_type = stage.content_types()[0];
    let segments = [Segment { range: 0..text.len(), content_type, language: None }];
    let context = FusionContext {
        text,
        content_type,
        language: None,
        segments: if text.is_empty() { &[] } else { &segments },
        sealed: &[],
        role: Role::Tool,
        hints: &Hints::default(),
        original_len: text.len(),
        preset,
        encoding: Encoding::O200kBase,
        max_tokens: None,
    };
    stage.apply(&context)
}

fn replaced(text: &str, edits: &[Edit]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for edit in edits {
        assert!(at <= edit.range.start, "edits are sorted and apart");
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out + &text[at..]
}

fn tokens(text: &str) -> usize {
    count(text, Encoding::O200kBase)
}

/// The text with its folds, where they save tokens; each is undone, byte for byte, and folds again to itself.
fn folded(stage: &dyn Stage, text: &str) -> String {
    let all = edits(stage, text, Preset::Lossless);
    let mut kept = Vec::new();
    for edit in all {
        assert!(edit.lossless && edit.sealed);
        let replaced = &text[edit.range.clone()];
        let (fold, len) = fold::parse(&edit.text).expect("a fold");
        assert_eq!(len, edit.text.len());
        let unfolded = stage.unfold(&fold).expect("a fold of the stage");
        assert!(unfolded == replaced, "unfolds to something else");
        assert_eq!(edits(stage, &unfolded, Preset::Lossless), [Edit::fold(0..unfolded.len(), &fold)]);
        if tokens(&edit.text) < tokens(replaced) {
            kept.push(edit);
        }
    }
    replaced(text, &kept)
}

/// What the engine makes of a text with this stage alone: reversible edits with their marker where they pay, then folds.
fn crunched(stage: &dyn Stage, text: &str, preset: Preset) -> String {
    let lossless = folded(stage, text);
    if preset == Preset::Lossless {
        return lossless;
    }
    let worth_it = |edit: &Edit| !edit.lossless && tokens(&edit.text) < tokens(&text[edit.range.clone()]);
    let changes: Vec<Edit> = edits(stage, text, preset).into_iter().filter(worth_it).collect();
    if changes.is_empty() {
        return lossless;
    }
    let shortened = replaced(text, &changes);
    let worth_more = |edit: &Edit| !edit.lossless && tokens(&edit.text) < tokens(&shortened[edit.range.clone()]);
    let again: Vec<Edit> = edits(stage, &shortened, preset).into_iter().filter(worth_more).collect();
    assert_eq!(again, [], "the stage finds more to do in its own output");
    if tokens(text) < tokens(&shortened) + 32 {
        return lossless;
    }
    let marker = format!("[[REWIND:sha256:0123456789abcdef]] original: {} lines", text.lines().count());
    let joint = if shortened.ends_with('\n') { "" } else { "\n" };
    folded(stage, &format!("{shortened}{joint}{marker}"))
}

/// The table of one kind of file; returns tokens before and after.
fn table(stage: &dyn Stage, inputs: &[(String, String)], preset: Preset) -> (usize, usize) {
    let mut total = (0, 0);
    println!("\n{} {}\n{:>8} {:>8} {:>7}", stage.name(), preset.as_str(), "before", "after", "saved");
    let row = |name: &str, (before, after): (usize, usize)| {
        println!("{before:>8} {after:>8} {:>6.1}%  {name}", 100.0 * (1.0 - after as f64 / before as f64));
    };
    for (name, text) in inputs {
        let (before, after) = (tokens(text), tokens(&crunched(stage, text, preset)).min(tokens(text)));
        total = (total.0 + before, total.1 + after);
        row(name, (before, after));
    }
    row("TOTAL", total);
    total
}

fn inputs(kind: &str) -> Vec<(String, String)> {
    let texts = corpus::inputs(kind).into_iter();
    texts.filter_map(|input| Some((input.name.clone(), input.text()?.to_owned()))).collect()
}

fn saved((before, after): (usize, usize)) -> f64 {
    100.0 * (1.0 - after as f64 / before as f64)
}

/// One of the fusion reference's own inputs, next to the corpus.
fn peer(name: &str) -> Option<Vec<(String, String)>> {
    let path = corpus::root()?.join("../peers/inputs").join(name);
    let text = std::fs::read_to_string(path).ok()?;
    Some(vec![(name.to_owned(), text)])
}

#[test]
fn search_results_shrink_and_come_back() {
    let stage = stage("searchCrunch");
    let all = inputs("search");
    let grep: Vec<_> =
        all.iter().filter(|(name, _)| name.contains("grep-") || name.contains("tool-search")).cloned().collect();
    let rest: Vec<_> =
        all.iter().filter(|(name, _)| !(name.contains("grep-") || name.contains("tool-search"))).cloned().collect();
    table(stage, &grep, Preset::Balanced);
    table(stage, &rest, Preset::Balanced);
    if let Some(peer) = peer("tc6_search.rg") {
        assert!(saved(table(stage, &peer, Preset::Balanced)) >= 60.0);
    }
}

#[test]
fn diffs_shrink_and_come_back() {
    let stage = stage("diffCrunch");
    let all = inputs("diffs");
    table(stage, &all, Preset::Lossless);
    table(stage, &all, Preset::Balanced);
    table(stage, &all, Preset::Max);
    if let Some(peer) = peer("tc5_git.diff") {
        table(stage, &peer, Preset::Lossless);
        table(stage, &peer, Preset::Balanced);
        table(stage, &peer, Preset::Max);
    }
}
