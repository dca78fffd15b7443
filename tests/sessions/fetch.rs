//! Tests of fetching: an answer is never longer than the requested maximum, and always states what is missing.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use concertina::assemble::{AssembleOptions, Engine, Fetch, FetchedBlock};
use concertina::config::{Config, Schedule};
use concertina::error::Error;
use concertina::reference::{Original, RefId};
use concertina::store::{Batch, PrintedKind, Scope};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::corpus;
use crate::engines::{self, scope};

fn put(engine: &Engine, text: &str) -> RefId {
    put_labelled(engine, text, "test")
}

fn put_labelled(engine: &Engine, text: &str, label: &str) -> RefId {
    let original = Original::text(text, label);
    let id = original.hash.to_ref_id(16);
    let batch = Batch { originals: vec![(id.clone(), original)], ..Batch::default() };
    engine.store().commit(&scope(), &batch, 1).unwrap();
    id
}

fn open(dir: &TempDir) -> Engine {
    engines::open(dir, Config::default())
}

fn texts(engine: &Engine, fetch: &Fetch) -> Vec<String> {
    let blocks = engine.fetch(&scope(), fetch, 2).unwrap().blocks;
    blocks
        .into_iter()
        .map(|block| match block {
            FetchedBlock::Text(text) => text,
            FetchedBlock::Exact(_) | FetchedBlock::Image(..) => panic!("no image was stored"),
        })
        .collect()
}

/// Returns the answer to an id with its selectors.
fn answer(engine: &Engine, asked: &str, max_chars: usize) -> String {
    let fetch = Fetch { ref_ids: vec![asked.to_owned()], max_chars, ..Fetch::default() };
    let [answer] = texts(engine, &fetch).try_into().unwrap();
    answer
}

/// Returns the lines of all pages of an original, each fetched as the page before says.
fn pages(engine: &Engine, id: &RefId, max_chars: usize) -> String {
    let (mut got, mut asked) = (String::new(), id.to_string());
    for _ in 0..1_000 {
        let page = answer(engine, &asked, max_chars);
        let (lines, note) = page.rsplit_once('\n').unwrap();
        got.push_str(lines);
        got.push('\n');
        match note.split_once(r#"{"ref_ids":[""#) {
            Some((_, next)) => asked = next.split('"').next().unwrap().to_owned(),
            None => return got,
        }
    }
    panic!("the pages of {id} do not end");
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
        (300..900).map(|line| format!("{line:>6}→{}unit 7\n", "y".repeat(line % 90))).collect(),
        json!({ "path": "a 7.rs", "content": format!("unit 7\n{}\n", "unit ".repeat(900)).repeat(9) }).to_string(),
    ]
    .map(|text: String| {
        let label = if text.starts_with('{') { "arguments of write" } else { "test" };
        put_labelled(&engine, &text, label).to_string()
    });
    let absent = ["0000000000000000".to_owned(), "no id".repeat(40), "ffffffffffffffff".to_owned()];
    let asked: Vec<Vec<String>> = vec![
        vec![ids[0].clone()],
        vec![ids[1].clone()],
        vec![ids[2].clone()],
        vec![ids[3].clone()],
        vec![ids[4].clone()],
        vec![ids[5].clone()],
        ids.to_vec(),
        [&ids[2..], &absent, &ids[..2]].concat(),
        ids.iter()
            .flat_map(|id| [":3-900", ":c5-40000", ":/7/", ":41-:/unit/", ":?"].map(|part| format!("{id}{part}")))
            .collect(),
        (0..5).flat_map(|_| absent.clone()).collect(),
        // A query without ids is a search.
        Vec::new(),
    ];
    for ref_ids in &asked {
        for (pattern, query) in [
            (None, None),
            (Some("7"), None),
            (Some("unit"), None),
            (Some("x"), None),
            (Some("nowhere"), None),
            (None, Some("unit 7")),
            (None, Some("nowhere")),
        ] {
            for (lines, characters) in
                [(None, None), (Some(3..=900), None), (None, Some(5..=40_000)), (Some(9_999..=9_999), None)]
            {
                for max_chars in [1, 50, 150, 200, 201, 400, 1_000, 2_500, 16_000, 100_000] {
                    if ref_ids.is_empty() && (query.is_none() || lines.is_some() || characters.is_some()) {
                        continue;
                    }
                    let fetch = Fetch {
                        ref_ids: ref_ids.clone(),
                        lines: lines.clone(),
                        characters: characters.clone(),
                        pattern: pattern.map(str::to_owned),
                        query: query.map(str::to_owned),
                        max_chars,
                        ..Fetch::default()
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
fn an_original_that_fits_is_whole_and_omitted_text_is_counted() {
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

fn listed(lines: RangeInclusive<usize>) -> String {
    lines.map(|line| format!("{line:>6}→let item{line} = {};\n", line % 7)).collect()
}

#[test]
fn a_listing_is_fetched_by_the_numbers_that_it_prints() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let text = listed(300..=420);
    let id = put(&engine, &text);
    let fetched = |part: &str| answer(&engine, &format!("{id}{part}"), 16_000);
    let page = |lines: RangeInclusive<usize>, note: &str| format!("{}[{note}]", listed(lines));
    assert_eq!(fetched(""), text);
    assert_eq!(fetched(":310-320"), page(310..=320, "lines 310-320 as numbered in it, of 300-420"));
    assert_eq!(fetched(":290-301"), page(300..=301, "lines 300-301 as numbered in it, of 300-420"));
    assert_eq!(fetched(":420"), page(420..=420, "lines 420-420 as numbered in it, of 300-420"));
    // A number that the file does not contain is a position, as in earlier placeholders.
    assert_eq!(fetched(":41-42"), page(340..=341, "lines 41-42 of 121, numbered 340-341 in it"));
    assert_eq!(fetched(":119-"), page(418..=420, "lines 119-121 of 121, numbered 418-420 in it"));
    assert_eq!(
        fetched(":500-520"),
        format!("The original {id} has 121 lines, numbered 300-420 in it; lines 500-520 do not exist.")
    );
    let line = |number: usize| listed(number..=number);
    assert_eq!(
        fetched(":/item310 /"),
        format!(
            "308-{}309-{}310:{}311-{}312-{}[1 of 1 matching lines, numbered as in it]",
            line(308),
            line(309),
            line(310),
            line(311),
            line(312)
        )
    );
    assert!(fetched(":400-:/item3/").starts_with("No line of the original"), "{}", fetched(":400-:/item3/"));
    let first = put(&engine, &listed(1..=90));
    assert_eq!(answer(&engine, &format!("{first}:41-42"), 900), page(41..=42, "lines 41-42 of 90"));
}

#[test]
fn the_pages_of_a_listing_are_all_of_it() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    for text in [
        listed(300..=420),
        // Here positions and line numbers overlap.
        listed(50..=170),
        listed(0..=120),
        format!("[File: a.rs]\n(39 more lines above)\n{}\n(80 more lines below)\n", listed(40..=160)),
        format!("{}{}", listed(1..=60), listed(300..=360)),
    ] {
        let id = put(&engine, &text);
        for max_chars in [400, 700, 2_000] {
            assert_eq!(pages(&engine, &id, max_chars), text, "{max_chars}");
        }
    }
}

#[test]
fn a_line_that_fits_no_page_is_cut_unless_many_lines_precede_it() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let long = "words ".repeat(500);
    let text = format!("{{\n  \"status\": 200,\n  \"text\": \"{long}\"\n}}\n");
    let id = put(&engine, &text);
    for (asked, begins) in [(id.to_string(), "{\n  \"status\""), (format!("{id}:2-"), "  \"status\"")] {
        let page = answer(&engine, &asked, 1_000);
        let (shown, note) = page.rsplit_once('\n').unwrap();
        assert!(shown.starts_with(begins) && text.contains(shown) && shown.len() > 800, "{page}");
        assert!(note.starts_with("[chars ") && note.contains("continue with"), "{note}");
    }
    let id = put(&engine, &format!("{}{long}", "a line of a head\n".repeat(30)));
    let page = answer(&engine, &id.to_string(), 1_000);
    assert!(page.contains("\n[lines 1-30 of 31; continue with"), "{page}");
}

/// Returns a read that begins at line 300 and a write of 300 lines, old enough to be folded.
fn read_and_written() -> (Vec<Value>, Value) {
    let source = |line: usize| match line % 30 {
        0 => format!("export function handle{}Batch{line}(input) {{", ["Invoice", "Refund", "Ledger"][line / 30 % 3]),
        _ => format!("  const step{line} = input.total * {};", line * 7919 % 977),
    };
    let read: String = (300..500).map(|line| format!("{line:>6}→{}\n", source(line))).collect();
    let content: String = (0..300).map(|line| format!("{}\n", source(line))).collect();
    let write = json!({ "path": "src/b.js", "content": content });
    let call = |id: &str, name: &str, arguments: &Value, at: usize| {
        json!({ "role": "assistant", "timestamp": at,
            "content": [{ "type": "toolCall", "id": id, "name": name, "arguments": arguments }] })
    };
    let result = |id: &str, name: &str, text: &str, at: usize| {
        json!({ "role": "toolResult", "toolCallId": id, "toolName": name, "timestamp": at,
            "content": [{ "type": "text", "text": text }] })
    };
    let mut messages = vec![
        json!({ "role": "user", "content": "go", "timestamp": 1 }),
        call("r", "read", &json!({ "path": "src/pay.js", "offset": 300 }), 2),
        result("r", "read", &read, 3),
        call("w", "write", &write, 4),
        result("w", "write", "ok", 5),
    ];
    messages
        .extend((0..8).map(|turn| json!({ "role": "user", "content": format!("t{turn}"), "timestamp": 10 + turn })));
    (messages, write)
}

/// Returns the folded messages and the ids of what was folded.
fn folded(engine: &Engine, messages: &[Value]) -> (Vec<Value>, Vec<String>) {
    let reply = engine.assemble(&scope(), messages, &AssembleOptions::default(), 10_000_000);
    assert_eq!(reply.report.warning, None);
    let ids = reply.report.actions.iter().map(|action| action.ref_id.clone().unwrap()).collect();
    (reply.rewrite.apply(messages), ids)
}

#[test]
fn the_numbers_that_a_placeholder_tells_are_those_that_are_fetched() {
    let dir = TempDir::new().unwrap();
    let engine = engines::open(&dir, Config { schedule: Schedule::CacheAware, ..Config::default() });
    let (messages, ids) = folded(&engine, &read_and_written().0);
    let shown = messages[2]["content"][0]["text"].as_str().unwrap();
    assert!(shown.contains("lines 300–499"), "{shown}");
    let told =
        regex::Regex::new(r"\bL(?<line>[0-9]+) (?<name>step[0-9]+)|(?<defined>handle\w+):(?<at>[0-9]+)").unwrap();
    let (mut named, mut defined) = (0, 0);
    for found in told.captures_iter(shown) {
        let (line, name, count) = match (found.name("line"), found.name("name")) {
            (Some(line), Some(name)) => (line.as_str(), name.as_str(), &mut named),
            _ => (&found["at"], &found["defined"], &mut defined),
        };
        let page = answer(&engine, &format!("{}:{line}", ids[0]), 16_000);
        assert!(page.lines().next().unwrap().contains(name), "{name} at {line}: {page}");
        *count += 1;
    }
    assert!(named > 0 && defined > 0, "{shown}");
}

#[test]
fn lines_and_matches_of_arguments_refer_to_their_strings() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let (messages, write) = read_and_written();
    let (messages, ids) = folded(&engine, &messages);
    let shown = messages[3]["content"][0]["arguments"]["content"].as_str().unwrap();
    assert!(shown.contains(" chars elided by concertina"), "{shown}");
    let fetched = |part: &str, max_chars| answer(&engine, &format!("{}{part}", ids[1]), max_chars);
    let content: Vec<&str> = write["content"].as_str().unwrap().lines().collect();
    assert_eq!(fetched("", 16_000), write.to_string());
    let note = "of the arguments as text; the id alone gives their JSON";
    assert_eq!(
        fetched(":1-4", 16_000),
        format!("path: src/b.js\ncontent:\n{}\n{}\n[lines 1-4 of 302 {note}]", content[0], content[1])
    );
    let hits = fetched(":/step41 /", 16_000);
    assert!(hits.contains(&format!("\n44:{}\n45-{}\n", content[41], content[42])), "{hits}");
    assert!(hits.ends_with(&format!("\n[1 of 1 matching lines {note}]")), "{hits}");
    // The pages of the whole original are the JSON too.
    let (mut got, mut next) = (String::new(), String::new());
    while got.len() < write.to_string().len() {
        let page = fetched(&next, 1_000);
        got.push_str(page.rsplit_once("\n[chars ").unwrap().0);
        next = format!(":c{}-", got.chars().count() + 1);
    }
    assert_eq!(got, write.to_string());
}

#[test]
fn a_line_of_arguments_that_does_not_fit_is_cut_and_the_next_follows() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let edits = json!({ "edits": [{ "old": "", "new": format!("{}\nlast\n", "x".repeat(900)) }, [], 7] });
    let id = put_labelled(&engine, &edits.to_string(), "arguments of edit");
    let page = answer(&engine, &format!("{id}:5-"), 600);
    let (line, note) = page.split_once('\n').unwrap();
    assert!(line.len() > 300 && line.bytes().all(|byte| byte == b'x'), "{page}");
    assert!(note.starts_with("[lines 5-5 of 8 of the arguments as text"), "{page}");
    assert!(
        note.ends_with(&format!(r#"; the line is cut; continue with fetch_original_data {{"ref_ids":["{id}:6-"]}}]"#))
    );
    let rest = "[lines 6-8 of 8 of the arguments as text; the id alone gives their JSON]";
    assert_eq!(answer(&engine, &format!("{id}:6-"), 600), format!("last\n[1]: []\n[2]: 7\n{rest}"));
}

/// Returns the answer to a query without ids.
fn searched(engine: &Engine, query: &str) -> Vec<String> {
    texts(engine, &Fetch { query: Some(query.to_owned()), max_chars: 16_000, ..Fetch::default() })
}

#[test]
fn every_word_of_an_original_finds_it_and_nothing_of_another_session() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let scopes = [("main", "s"), ("main", "t"), ("other", "s")]
        .map(|(agent, session)| Scope { agent_id: agent.into(), session_id: session.into() });
    let inputs = ["reports", "logs", "json", "search"].into_iter().flat_map(corpus::inputs);
    let texts: BTreeSet<String> = inputs
        .filter_map(|input| Some(input.text()?.to_owned()).filter(|text| text.len() < 60_000))
        .take(90)
        .chain(["Größe ÄNDERN 漢字 İstanbul 𝒳𝒴 ß ſ K\n".to_owned()])
        .collect();
    let mut granted: Vec<Vec<RefId>> = vec![Vec::new(); scopes.len()];
    for (number, text) in texts.iter().enumerate() {
        let original = Original::text(text, "test");
        let id = original.hash.to_ref_id(16);
        let batch = Batch { originals: vec![(id.clone(), original)], ..Batch::default() };
        // Every seventh text is in two sessions.
        for at in [number % 3, (number + usize::from(number % 7 == 0)) % 3] {
            engine.store().commit(&scopes[at], &batch, 1).unwrap();
            granted[at].push(id.clone());
        }
    }
    let ids_of = |scope: &Scope, query: &str| -> Vec<RefId> {
        let found = engine.search(Some(scope), query, usize::MAX, 2).unwrap();
        assert!(found.originals.iter().all(|found| found.scope == *scope && !found.excerpt.is_empty()), "{query}");
        assert_eq!(found.matching, found.originals.len(), "{query}");
        found.originals.into_iter().map(|found| found.id).collect()
    };
    let (mut searches, mut step) = (0, 0_usize);
    for text in &texts {
        let id = Original::text(text, "").hash.to_ref_id(16);
        for word in text.split_whitespace().filter(|word| word.len() < 400 && !word.contains('"')) {
            // Few of the words of a long text, at changing places.
            step += 1;
            if step % (1 + text.len() / 100) > 0 {
                continue;
            }
            searches += 1;
            for (scope, granted) in scopes.iter().zip(&granted) {
                let found = ids_of(scope, word);
                assert_eq!(found.contains(&id), granted.contains(&id), "{word:?} of {id}");
                assert!(found.iter().all(|id| granted.contains(id)), "{word:?} in {scope:?}");
            }
        }
    }
    assert!(searches > 100, "{searches}");
    // People may search everything.
    let all = engine.search(None, "e", usize::MAX, 2).unwrap();
    assert_eq!(all.matching, texts.iter().filter(|text| text.contains(['e', 'E'])).count());
}

#[test]
fn a_search_answers_with_the_lines_that_have_most_words_and_the_best_original_first() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let log: String = (1..=300).map(|line| format!("request {line} took {} ms\n", line % 7)).collect();
    let apart = put_labelled(&engine, &format!("{log}a timeout\n{log}the database\n"), "exec: make");
    let close = put_labelled(&engine, &format!("{log}Timeout of the DATABASE\n{log}"), "exec: npm test\nmore");
    put(&engine, "only a timeout\n");
    let [first, second] = searched(&engine, "database timeout").try_into().unwrap();
    assert_eq!(
        first,
        format!(
            "{close} exec: npm test\n299-request 299 took 5 ms\n300-request 300 took 6 ms\n\
             301:Timeout of the DATABASE\n302-request 1 took 1 ms\n303-request 2 took 2 ms\n[1 of 1 matching lines]"
        )
    );
    assert!(second.starts_with(&format!("{apart} exec: make\n")), "{second}");
    assert!(second.ends_with("[2 of 2 lines with 1 of the 2 words]"), "{second}");
    // The same words in one original, from a line on.
    let part = |asked: &str| {
        let (ref_ids, query) = (vec![asked.to_owned()], Some("Database timeout".to_owned()));
        texts(&engine, &Fetch { ref_ids, query, max_chars: 16_000, ..Fetch::default() }).remove(0)
    };
    assert!(first.ends_with(&part(close.as_str())));
    assert!(
        part(&format!("{apart}:302-")).starts_with("600-request 299 took 5 ms\n"),
        "{}",
        part(&format!("{apart}:302-"))
    );
    assert_eq!(searched(&engine, "database nowhere"), [r#"[no original has all of the words "database", "nowhere"]"#]);
    assert_eq!(searched(&engine, r#""timeout of" ms"#).len(), 1);
    // Arguments are searched as a fetch of their lines shows them.
    let written = json!({ "path": "a.rs", "content": "fn one() {}\n\tlet two = \"2\";\n" }).to_string();
    let id = put_labelled(&engine, &written, "arguments of write");
    assert!(searched(&engine, "LET two")[0].starts_with(&format!("{id} arguments of write\n")));
    // What a model was shown is recorded as a part of its original.
    let printed = engine.store().ledger(&scope()).unwrap().printed;
    let of = |text: &str| printed.iter().find(|row| row.text == Original::text(text, "").hash).map(|row| row.kind);
    assert_eq!([of(&first), of(&second)], [Some(PrintedKind::Copy); 2]);
}

#[test]
fn a_search_states_what_it_does_not_show() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let text = |number: usize| format!("{}needle {number}\n", "some line of a log\n".repeat(20));
    for number in 0..30 {
        put(&engine, &text(number));
    }
    let answer = searched(&engine, "needle");
    assert_eq!(answer.last().unwrap(), "[8 of 30 originals with all words; more words find fewer]");
    assert!(answer[0].contains("needle 29\n"), "the newest of equals comes first: {}", answer[0]);
    let all = engine.search(Some(&scope()), "needle", usize::MAX, 2).unwrap();
    assert_eq!((all.originals.len(), all.matching, all.note.as_str()), (30, 30, ""));
    // An original that became damaged hides no other.
    let damaged = put(&engine, &text(30));
    let file = rusqlite::Connection::open(dir.path().join("concertina.sqlite")).unwrap();
    file.execute("UPDATE originals SET payload = x'00' WHERE ref_id = ?1", [damaged.as_str()]).unwrap();
    let all = engine.search(Some(&scope()), "needle", usize::MAX, 2).unwrap();
    assert_eq!(
        (all.matching, all.note.as_str()),
        (30, "1 older or damaged originals that may have them were not read")
    );
}

#[test]
fn a_query_needs_words_and_without_ids_a_session() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let id = put(&engine, "a line\n");
    let asked = |scope: &Scope, ref_ids: &[&RefId], query: &str, pattern: Option<&str>| {
        let ref_ids = ref_ids.iter().map(ToString::to_string).collect();
        let (query, pattern) = (Some(query.to_owned()), pattern.map(str::to_owned));
        engine.fetch(scope, &Fetch { ref_ids, query, pattern, max_chars: 900, ..Fetch::default() }, 2)
    };
    let nobody = Scope { session_id: String::new(), ..scope() };
    for refused in [
        asked(&scope(), &[], " ", None),
        asked(&scope(), &[&id], "\"\"", None),
        asked(&scope(), &[&id], "line", Some("line")),
        asked(&nobody, &[], "line", None),
    ] {
        assert!(matches!(refused, Err(Error::BadArgument { .. })), "{refused:?}");
    }
    assert_eq!(asked(&nobody, &[&id], "line", None).unwrap().found, 1);
    let ranged = Fetch { query: Some("line".to_owned()), lines: Some(1..=2), max_chars: 900, ..Fetch::default() };
    assert!(matches!(engine.fetch(&scope(), &ranged, 2), Err(Error::BadArgument { .. })));
}
