//! Folds of format version 1 must be restorable forever, without an encoder: this crate links none.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use concertina_format::fold::{self, Fold};
use concertina_format::{DECODERS, restore, restore_whole};

/// Returns the pairs of fold and text below `fixtures/format/1`, by name.
fn golden() -> BTreeMap<String, (String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/format/1");
    let mut pairs = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder of golden folds") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "fold") {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            pairs.insert(name, (read(&path), read(&path.with_extension("text"))));
        }
    }
    pairs
}

/// Returns the sealed folds of a text, without nested ones.
fn folds(text: &str) -> Vec<Fold> {
    let starts = text.match_indices(fold::OPENING).map(|(at, _)| at);
    let starts_line = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let found = starts.filter(starts_line).filter_map(|at| fold::parse(&text[at..]));
    found.map(|(fold, _)| fold).filter(Fold::claims_a_seal).collect()
}

#[test]
fn every_golden_fold_is_restored() {
    let golden = golden();
    assert!(golden.len() > 50, "{}", golden.len());
    for (name, (fold, text)) in &golden {
        assert_ne!(fold, text, "{name}");
        let restored = restore_whole(fold, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(&restored, text, "{name}");
    }
}

#[test]
fn every_stage_and_every_legend_word_has_a_golden_fold() {
    let all: Vec<Fold> = golden().values().flat_map(|(fold, _)| folds(fold)).collect();
    for (stage, _) in DECODERS {
        assert!(all.iter().any(|fold| fold.stage == stage), "{stage}");
    }
    let missing: Vec<&&str> =
        WORDS.iter().filter(|word| !all.iter().any(|fold| fold.legend.contains(**word))).collect();
    assert!(missing.is_empty(), "no golden fold has {missing:?} in its legend");
    let bodies: Vec<String> = all.iter().filter_map(|fold| fold.body.clone()).collect();
    let missing: Vec<&&str> = MARKS.iter().filter(|mark| !bodies.iter().any(|body| body.contains(**mark))).collect();
    assert!(missing.is_empty(), "no golden fold has {missing:?} in its body");
    assert!(all.iter().any(|fold| fold.is_sealed_below));
}

/// The legend words that `docs/format.md` specifies.
const WORDS: &[&str] = &[
    "N stands for line N of the first ",
    "a line without a number has the next one",
    "each line begins \"",
    "each line begins as in the last ",
    "{}: ",
    "«»: ",
    "json minified",
    "json spaced",
    "json indent=2",
    "json indent=tab",
    " except=[",
    " crlf",
    " lines",
    " tail",
    " cut=",
    "; A: columns of rows A, =rule: implied",
    "table tsv",
    "table csv",
    "table split=;",
    "table split=|",
    " crlf open",
    " crlf;",
    "hits by file: line text",
    "by file: line:hit; line or tab, then context",
    "; -- at gaps",
    "; …x is ",
    "; x… is ",
    "; paths but ~ below ",
    "; hits but ~ below ",
    "; context but ~ below ",
    "; ~ below ",
    "paths: a/ b c = a/b a/c",
    "paths: a/*.x b c.y = a/b.x a/c.y",
    "short headers: diff path, @@ -old +new",
    "§=\\e[",
    "repeats 1 line above",
    " lines above; line ",
];

/// The notation of bodies, for templates and JSON.
const MARKS: &[&str] = &["{>", "{<", "{+1", "{=", "{/}", "\n*", "\n|", "\n. ", "^", "[=", "`", "\"\"\""];

/// Returns the next number of a fixed pseudo-random sequence (Knuth's 64-bit linear congruential generator).
fn next(dice: &mut u64) -> usize {
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*dice >> 33) as usize
}

/// Returns the text with one to three characters replaced, removed or inserted.
fn mutated(text: &str, dice: &mut u64) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=next(dice) % 3 {
        let at = next(dice) % characters.len().max(1);
        let other = ['0', '1', 'a', 'b', ' ', '\n', '"', ',', '^', '.', '|', '*'][next(dice) % 12];
        match next(dice) % 3 {
            0 if at < characters.len() => characters[at] = other,
            1 if at < characters.len() => drop(characters.remove(at)),
            _ => characters.insert(at, other),
        }
    }
    characters.into_iter().collect()
}

/// The number of folds of each stage that are mutated. The shortest are taken, so that 100,000 mutations take seconds.
const FOLDS: usize = 6;

/// The number of mutations per stage.
const MUTATIONS: usize = 10_000;

/// A header whose seal was lost is ordinary text and is skipped.
#[test]
fn a_changed_fold_is_restored_exactly_or_said_to_be_damaged() {
    let mut by_stage: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (name, (fold, text)) in golden() {
        // The fold is the whole text, so that its result can be compared. A repeat needs the text before it.
        if let Some((only, len)) = fold::parse(&fold)
            && len + 1 >= fold.len()
        {
            by_stage.entry(only.stage).or_default().push((fold, text));
        } else if name.starts_with("semanticDedup") || name.starts_with("quantumLock") {
            by_stage.entry(name.split('-').next().unwrap_or_default().to_owned()).or_default().push((fold, text));
        }
    }
    assert_eq!(by_stage.len(), DECODERS.len(), "{:?}", by_stage.keys());
    let mut dice = 1;
    for (stage, pairs) in &mut by_stage {
        pairs.sort_by_key(|(fold, _)| fold.len());
        pairs.truncate(FOLDS);
        let mut damaged = 0;
        for (fold, text) in pairs.iter().cycle().take(MUTATIONS) {
            let (start, header) =
                fold.match_indices(fold::OPENING).next().map_or((0, fold.as_str()), |(at, _)| (at, &fold[at..]));
            let before = &fold[..start];
            let changed = mutated(header, &mut dice);
            let first = changed.split('\n').next().and_then(fold::parse_header);
            if first.is_none_or(|(header, _)| !header.claims_a_seal()) {
                continue;
            }
            match restore_whole(&format!("{before}{changed}"), &[]) {
                // A line that was added after the fold is not part of it.
                Ok(restored) => {
                    let (_, len) = fold::parse(header).expect("a fold");
                    let of_fold = &text[..text.len() - (header.len() - len)];
                    assert!(restored.starts_with(of_fold), "{stage}: {changed:.300}\n{restored:.300}");
                }
                Err(error) => {
                    assert_eq!(error.code(), "CONCERTINA_FOLD_DAMAGED");
                    damaged += 1;
                }
            }
        }
        assert!(damaged > MUTATIONS / 4, "{stage}: {damaged}");
    }
    assert_eq!(restore("[[FOLD:rle 1]]\na", &[]), "[[FOLD:rle 1]]\na");
}
