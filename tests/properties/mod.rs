//! The properties that hold for every text and every stage: one list for property tests, the corpus and fuzz targets.
//!
//! A property panics with the case's name and the violation. That the pipeline never panics needs no property of its
//! own.

#![allow(dead_code, reason = "not every test binary uses every part")]

use concertina::config::Preset;
use concertina::content::{ContentType, detect};
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{
    CompressOptions, Compressed, FusionContext, FusionEngine, FusionPipeline, Prior, Role, Stage, StageOption,
    StageOptions, check_edits, fold,
};
use concertina::reference::find_markers;
use concertina::tokens;

/// One text under one engine.
pub(crate) struct Case<'a> {
    /// The name of the case, for messages.
    pub(crate) name: &'a str,
    /// The engine under test.
    pub(crate) engine: &'a FusionEngine,
    /// Its options.
    pub(crate) options: &'a CompressOptions,
    /// The input.
    pub(crate) text: &'a str,
}

impl Case<'_> {
    pub(crate) fn compress(&self, text: &str) -> Compressed {
        self.engine.compress(text, self.options, &|| 0.0)
    }
}

/// A property: takes the case and the result of compressing its text.
pub(crate) type Property = fn(&Case, &Compressed);

/// All properties, by name.
pub(crate) const PROPERTIES: &[(&str, Property)] = &[
    ("restores", restores),
    ("never_longer", never_longer),
    ("idempotent", idempotent),
    ("deterministic", deterministic),
    ("lossless_when_asked", lossless_when_asked),
    ("marker_opaque", marker_opaque),
    ("report_adds_up", report_adds_up),
    ("edits_valid", edits_valid),
];

/// Checks all properties and returns the result, for totals.
pub(crate) fn check(case: &Case) -> Compressed {
    check_but(case, "")
}

/// Checks all properties but one. `idempotent` is skipped for a text that did not change, because `deterministic`
/// checks the same.
pub(crate) fn check_but(case: &Case, left_out: &str) -> Compressed {
    let compressed = case.compress(case.text);
    let is_asked = |name: &str| name != left_out && (name != "idempotent" || compressed.text != case.text);
    for (_, property) in PROPERTIES.iter().filter(|(name, _)| is_asked(name)) {
        property(case, &compressed);
    }
    compressed
}

/// `restore(compress(x)) == x`. A text that was folded already may be restored unfolded if the result is lossless.
pub(crate) fn restores(case: &Case, compressed: &Compressed) {
    let restored = case.engine.restore(&compressed.text, &compressed.originals);
    let expected = if restored != case.text && compressed.lossless {
        case.engine.restore(case.text, &[])
    } else {
        case.text.to_owned()
    };
    assert_same(case, "restored", &expected, &restored);
}

/// The output has fewer tokens than the input, or is the input. A stage that improves cache hits may add some tokens,
/// in system messages.
pub(crate) fn never_longer(case: &Case, compressed: &Compressed) {
    let count = |text: &str| tokens::count(text, case.options.encoding);
    assert_eq!(compressed.tokens_before, count(case.text), "{}: tokens before", case.name);
    assert_eq!(compressed.tokens_after, count(&compressed.text), "{}: tokens after", case.name);
    let shorter = compressed.tokens_after < compressed.tokens_before;
    assert!(
        shorter || compressed.text == case.text || case.options.role == Role::System,
        "{}: {} -> {} tokens",
        case.name,
        compressed.tokens_before,
        compressed.tokens_after
    );
}

/// Compressing the output changes nothing.
pub(crate) fn idempotent(case: &Case, compressed: &Compressed) {
    assert_same(case, "compressed twice", &compressed.text, &case.compress(&compressed.text).text);
}

/// The same text gives the same bytes.
pub(crate) fn deterministic(case: &Case, compressed: &Compressed) {
    assert_same(case, "compressed again", &compressed.text, &case.compress(case.text).text);
}

/// A lossless result has no originals, and any other result has the input as its original. The lossless preset gives
/// only lossless results.
pub(crate) fn lossless_when_asked(case: &Case, compressed: &Compressed) {
    if compressed.lossless {
        assert!(compressed.originals.is_empty(), "{}", case.name);
    } else {
        assert_ne!(case.options.preset, Preset::Lossless, "{}", case.name);
        let originals: Vec<&[u8]> = compressed.originals.iter().map(|original| &*original.bytes).collect();
        assert!(originals == [case.text.as_bytes()], "{}: the original is the input", case.name);
    }
}

/// Every marker in the output is the input's or that of its own original, and markers do not prevent folding.
pub(crate) fn marker_opaque(case: &Case, compressed: &Compressed) {
    // The input may hold folds of its own, and those may hold markers.
    let opened = case.engine.restore(case.text, &[]);
    let known: Vec<_> = [case.text, &opened].into_iter().flat_map(find_markers).map(|(_, marker)| marker).collect();
    let unfolded = case.engine.restore(&compressed.text, &[]);
    let fresh = find_markers(&unfolded).map(|(_, marker)| marker).filter(|marker| !known.contains(marker));
    let own = compressed.originals.iter().map(|original| format!("[[REWIND:sha256:{}]]", original.hash.to_ref_id(16)));
    let fresh: Vec<String> = fresh.map(|marker| marker.to_string()).collect();
    assert_eq!(fresh, own.collect::<Vec<_>>(), "{}", case.name);

    let saved = compressed.tokens_before - compressed.tokens_after.min(compressed.tokens_before);
    let mixes = matches!(compressed.content_type, ContentType::Text | ContentType::Log | ContentType::Unknown);
    if saved > 500 && mixes {
        let saved_with = |line: &str| {
            let again = case.compress(&format!("{}\n{line}", case.text));
            again.tokens_before - again.tokens_after.min(again.tokens_before)
        };
        let still = saved_with("[[REWIND:sha256:0123456789abcdef]] original: 5 lines");
        // If an additional line of words, or one similar to a marker, changes the type of the text, the marker is not
        // the cause.
        let others = ["and here are five more words or so", "[[REWOUND:sha256:0123456789abcdef]] original: 5 lines"];
        let protects = still * 2 <= saved && others.iter().all(|line| saved_with(line) * 2 > saved);
        assert!(!protects, "{}: a foreign marker protected the text: {saved} -> {still} saved", case.name);
    }
}

/// Each row continues from the one before, and rows that did not fire change nothing.
pub(crate) fn report_adds_up(case: &Case, compressed: &Compressed) {
    let mut tokens = compressed.tokens_before;
    for row in &compressed.stages {
        assert_eq!(row.tokens_before, tokens, "{}: {row:?}", case.name);
        assert!(row.fired || row.tokens_after == tokens, "{}: {row:?}", case.name);
        tokens = row.tokens_after;
    }
    let fired = compressed.stages.iter().any(|row| row.fired);
    assert!(fired || compressed.text == case.text || compressed.lossless, "{}", case.name);
}

/// The edits of each built-in stage are valid as a set, and its folds can be restored and fold again to the same text.
pub(crate) fn edits_valid(case: &Case, _: &Compressed) {
    let detection = detect(case.text, &case.options.hints);
    let running: Vec<String> = case.engine.pipeline().stages().into_iter().map(|stage| stage.name).collect();
    for (_, stage) in STAGES.iter().filter(|(_, stage)| running.iter().any(|name| name == stage.name())) {
        let context = FusionContext {
            content_type: detection.content_type,
            language: detection.language,
            role: case.options.role,
            hints: &case.options.hints,
            preset: case.options.preset,
            encoding: case.options.encoding,
            max_tokens: case.options.max_tokens,
            ..FusionContext::of(case.text, &detection.segments)
        };
        if !matches!(context.role, Role::Assistant | Role::Tool) || !stage.should_apply(&context) {
            continue;
        }
        let edits = stage.apply(&context);
        if let Err(wrong) = check_edits(*stage, &context, &edits) {
            panic!("{}: {wrong}", case.name);
        }
        // Texts that contain folds are checked by the result of compressing them.
        if case.engine.restore(case.text, &[]) != case.text {
            continue;
        }
        let folds = edits.iter().filter(|edit| edit.lossless && edit.text.len() < edit.range.len());
        for edit in folds {
            let (fold, _) = fold::parse(&edit.text).expect("a valid lossless edit is a fold");
            let mut before = Prior::of(&case.text[..edit.range.start]);
            let undone = concertina_format::unfold_after(&fold, &mut before);
            let replaced = &case.text[edit.range.clone()];
            let place = format!("{}: {} {:?}", case.name, stage.name(), edit.range);
            assert!(undone.as_deref() == Some(replaced), "{place} does not come undone: {:.300}", edit.text);
        }
    }
}

/// Returns an engine with all stages, and one engine per single stage, by name.
pub(crate) fn engines() -> Vec<(String, FusionEngine)> {
    let alone = STAGES.iter().map(|(_, stage)| {
        let others = STAGES.iter().filter(|(_, other)| other.name() != stage.name());
        let off = |(_, other): &(u32, &dyn Stage)| {
            (other.name().to_owned(), StageOption { enabled: false, ..StageOption::default() })
        };
        let options = StageOptions { stages: others.map(off).collect(), custom: Vec::new() };
        let pipeline = FusionPipeline::build(&options).expect("the options name built-in stages");
        (stage.name().to_owned(), FusionEngine::new(pipeline))
    });
    std::iter::once(("all".to_owned(), FusionEngine::default())).chain(alone).collect()
}

/// Compares two texts. On failure, prints only the surroundings of the first difference.
fn assert_same(case: &Case, what: &str, expected: &str, found: &str) {
    if expected != found {
        let at = expected.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count();
        let around = |text: &str| {
            let (start, end) = (at.saturating_sub(80), (at + 200).min(text.len()));
            String::from_utf8_lossy(&text.as_bytes()[start..end]).into_owned()
        };
        panic!(
            "{}: {what}, it differs from byte {at} on ({} bytes expected, {} found)\nexpected …{:?}\nfound    …{:?}",
            case.name,
            expected.len(),
            found.len(),
            around(expected),
            around(found)
        );
    }
}
