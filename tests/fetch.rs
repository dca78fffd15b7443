//! An answer is never longer than asked for, whatever is asked, and always says what is missing.

use std::sync::Arc;

use concertina::assemble::{Engine, Fetch, FetchedBlock};
use concertina::config::Config;
use concertina::reference::{Original, RefId};
use concertina::store::{Batch, Scope, SqliteStore, StoreOptions};
use tempfile::TempDir;

fn scope() -> Scope {
    Scope { agent_id: "main".into(), session_id: "s".into() }
}

fn put(engine: &Engine, text: &str) -> RefId {
    let original = Original::text(text, "test");
    let id = original.hash.to_ref_id(16);
    let batch = Batch { originals: vec![(id.clone(), original)], ..Batch::default() };
    engine.store().commit(&scope(), &batch, 1).unwrap();
    id
}

fn open(dir: &TempDir) -> Engine {
    let store = SqliteStore::open(dir.path(), StoreOptions::default()).unwrap();
    Engine::new(Arc::new(store), Config::default()).unwrap()
}

fn texts(engine: &Engine, fetch: &Fetch) -> Vec<String> {
    let blocks = engine.fetch(&scope(), fetch, 2).unwrap().blocks;
    blocks
        .into_iter()
        .map(|block| match block {
            FetchedBlock::Text(text) => text,
            FetchedBlock::Image(..) => panic!("no image was stored"),
        })
        .collect()
}

#[test]
fn no_answer_is_longer_than_asked_for() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let ids = [
        "short\n".to_owned(),
        "x".repeat(50_000),
        (0..2_000).map(|line| format!("{line} unit took {} ms\n", line * 7919 % 977)).collect(),
        (0..40).map(|line| format!("{line} {}unit 7\n", "漢 ".repeat(900))).collect(),
    ]
    .map(|text: String| put(&engine, &text).to_string());
    let absent = ["0000000000000000".to_owned(), "no id".repeat(40), "ffffffffffffffff".to_owned()];
    let asked: Vec<Vec<String>> = vec![
        vec![ids[0].clone()],
        vec![ids[1].clone()],
        vec![ids[2].clone()],
        vec![ids[3].clone()],
        ids.to_vec(),
        [&ids[2..], &absent, &ids[..2]].concat(),
        ids.iter()
            .flat_map(|id| [":3-900", ":c5-40000", ":/7/", ":41-:/unit/", ":?"].map(|part| format!("{id}{part}")))
            .collect(),
        (0..5).flat_map(|_| absent.clone()).collect(),
    ];
    for ref_ids in &asked {
        for pattern in [None, Some("7"), Some("unit"), Some("x"), Some("nowhere")] {
            for (lines, characters) in
                [(None, None), (Some(3..=900), None), (None, Some(5..=40_000)), (Some(9_999..=9_999), None)]
            {
                for max_chars in [1, 50, 150, 200, 201, 400, 1_000, 2_500, 16_000, 100_000] {
                    let pattern = pattern.map(str::to_owned);
                    let fetch = Fetch {
                        ref_ids: ref_ids.clone(),
                        lines: lines.clone(),
                        characters: characters.clone(),
                        pattern,
                        max_chars,
                    };
                    let answer = texts(&engine, &fetch);
                    let length: usize = answer.iter().map(|text| text.chars().count()).sum();
                    assert!(length <= max_chars, "{length} characters for {fetch:?}: {answer:?}");
                    assert!(!answer.is_empty());
                }
            }
        }
    }
}

#[test]
fn what_fits_is_whole_and_what_does_not_is_counted() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let (first, second) = ("a line\n".repeat(100), "another\n".repeat(100));
    let ref_ids = vec![put(&engine, &first).to_string(), put(&engine, &second).to_string()];
    let asked = |ref_ids: &[String], max_chars| {
        texts(&engine, &Fetch { ref_ids: ref_ids.to_vec(), max_chars, ..Fetch::default() })
    };
    assert_eq!(asked(&ref_ids[..1], 700), std::slice::from_ref(&first));
    assert_eq!(asked(&ref_ids, 1_500), [first.clone(), second]);
    let [shown, rest] = asked(&ref_ids, 850).try_into().unwrap();
    assert_eq!(shown, first);
    assert!(rest.starts_with("another\n[lines 1-1 of 100; continue with fetch_original_data"), "{rest}");
    let [rest] = asked(&ref_ids[..1], 60).try_into().unwrap();
    assert!(rest.starts_with("[1 id did not fit in 60 characters: ask for it alone"), "{rest}");
    let [page] = asked(&ref_ids[..1], 400).try_into().unwrap();
    assert!(page.starts_with("a line\n") && page.contains("; continue with fetch_original_data"), "{page}");
}

#[test]
fn pages_of_a_pattern_show_every_match_once() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let text: String = (1..=300)
        .map(
            |line| if line % 7 == 0 { format!("{}needle {line}\n", "y".repeat(line * 5)) } else { format!("{line}\n") },
        )
        .collect();
    let id = put(&engine, &text).to_string();
    for max_chars in [230, 500, 1_200] {
        let (mut found, mut from) = (Vec::new(), 1);
        while from <= 300 {
            let fetch = Fetch {
                ref_ids: vec![id.clone()],
                pattern: Some("needle".into()),
                lines: Some(from..=usize::MAX),
                max_chars,
                ..Fetch::default()
            };
            let [page] = texts(&engine, &fetch).try_into().unwrap();
            let shown = page.lines().filter_map(|line| line.split_once(':')?.0.parse::<usize>().ok());
            found.extend(shown.filter(|line| line % 7 == 0 && *line >= from));
            from = match page.split_once(&format!("; continue with {id}:")) {
                Some((_, rest)) => rest.split('-').next().unwrap().parse().unwrap(),
                None => break,
            };
        }
        let expected: Vec<usize> = (1..=300).filter(|line| line % 7 == 0).collect();
        assert_eq!(found, expected, "{max_chars}");
    }
}
