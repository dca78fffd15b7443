//! Large outputs at birth: every name of a list of moderate length is in sight, and a reference says how much it stands
//! for and how it is fetched.

use concertina::assemble::{Engine, FetchedBlock};
use concertina::config::{Config, Schedule};
use concertina::pipeline::restore;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{directory, fetch, open, scope};

/// The threshold of the plugin.
const THRESHOLD: usize = 10_000;

/// Opens an engine with the plugin's threshold.
fn engine(dir: &TempDir) -> Engine {
    let threshold = THRESHOLD as u64;
    open(dir, Config { schedule: Schedule::CacheAware, sccs_compress_threshold: threshold, ..Config::default() })
}

fn call_of(ids: &[&str], command: &str) -> Value {
    let call = |id: &&str| json!({ "type": "toolCall", "id": id, "name": "exec", "arguments": { "command": command } });
    json!({ "role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>() })
}

/// Returns the shown form of a command's output, and the id of the original if a reference stands for it.
fn born(command: &str, text: &str) -> (String, Option<String>) {
    let dir = directory();
    let engine = engine(&dir);
    let content = json!([{ "type": "text", "text": text }]);
    let result = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": content });
    let reply = engine.admit(&scope(), Some(&call_of(&["c"], command)), &result, 1);
    assert_eq!(reply.report.warning, None);
    let Some(patch) = reply.rewrite.patches.first() else { return (text.to_owned(), None) };
    let action = &reply.report.actions[0];
    let id = action.ref_id.clone().filter(|_| action.reason == "large");
    if let Some(id) = &id {
        assert_eq!(fetch(&engine, id), FetchedBlock::Text(text.to_owned()), "{command}");
    }
    (patch.value.as_str().expect("a text").to_owned(), id)
}

struct Random(u32);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % end
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

const PARTS: &[&str] = &[
    "account", "billing", "cache", "draft", "event", "folder", "gate", "header", "invoice", "journal", "kernel",
    "ledger", "module", "notice", "order", "parser", "query", "router", "session", "token", "upload", "vector",
    "worker", "zone",
];

/// Returns sorted paths without duplicates.
fn paths(random: &mut Random, count: usize) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    while found.len() < count {
        let mut path = random.one_of(&["src", "lib", "app", "tests"]).to_owned();
        for _ in 0..random.below(4) {
            path = format!("{path}/{}", random.one_of(PARTS));
        }
        let (a, b) = (random.one_of(PARTS), random.one_of(PARTS));
        let suffix = random.one_of(&["rs", "ts", "test.ts", "py", "json", "md"]);
        found.insert(format!("{path}/{a}_{b}{}.{suffix}", random.below(40)));
    }
    found.into_iter().collect()
}

/// Returns the paths as `ls -R` prints them.
fn by_directory(paths: &[String], heading: impl Fn(&str) -> String, row: impl Fn(&str) -> String) -> String {
    let mut directories = std::collections::BTreeMap::<&str, Vec<&str>>::new();
    for (directory, name) in paths.iter().filter_map(|path| path.rsplit_once('/')) {
        directories.entry(directory).or_default().push(name);
    }
    let block = |(directory, names): (&&str, &Vec<&str>)| {
        heading(directory) + &names.iter().map(|name| row(name)).collect::<String>()
    };
    directories.iter().map(block).collect::<Vec<_>>().join("\n")
}

/// Commands that list paths, and their outputs.
fn listings(paths: &[String]) -> [(&'static str, String); 6] {
    let lines = paths.join("\n") + "\n";
    [
        ("find . -type f", paths.iter().map(|path| format!("./{path}\n")).collect()),
        ("rg --files", lines.clone()),
        ("git ls-files", lines),
        ("ls -R", by_directory(paths, |directory| format!("./{directory}:\n"), |name| format!("{name}\n"))),
        ("tree -f -i --noreport", paths.iter().map(|path| format!("./{path}\n")).collect()),
        ("tree", by_directory(paths, |directory| format!("├── {directory}\n"), |name| format!("│   ├── {name}\n"))),
    ]
}

#[test]
fn every_name_of_a_fresh_list_is_in_sight_up_to_twice_the_threshold() {
    let mut random = Random(11);
    let (mut whole, mut replaced) = (0, 0);
    for round in 0..12 {
        let paths = paths(&mut random, 150 + round * 100);
        for (command, text) in listings(&paths) {
            let (shown, id) = born(command, &text);
            if id.is_none() {
                whole += 1;
                assert!(shown.chars().count() <= 2 * THRESHOLD, "{command}: {} characters stay", shown.len());
                let restored = restore(&shown, &[]);
                let missing = paths.iter().find(|path| !restored.contains(path.rsplit('/').next().unwrap()));
                assert_eq!(missing, None, "{command}: a name is out of sight");
                continue;
            }
            replaced += 1;
            assert!(text.chars().count() > 2 * THRESHOLD, "{command}: a list of {} characters is replaced", text.len());
            // The reference says how much it stands for. The id is its own.
            assert!(shown.contains(&format!("[{} lines, ", text.lines().count())), "{command}: {shown}");
            let names = paths.iter().filter(|path| shown.contains(path.rsplit('/').next().unwrap())).count();
            assert!(names >= 50, "{command}: {names} names of {} in {shown}", paths.len());
            if command != "tree" && command != "ls -R" {
                assert!(shown.contains(&format!("{} paths", paths.len())), "{command}: {shown}");
            }
        }
    }
    assert!(whole >= 20 && replaced >= 10, "{whole} lists stay, {replaced} are replaced");
}

#[test]
fn a_reference_to_hits_or_records_counts_them_and_names_the_first() {
    let mut random = Random(5);
    for round in 0..6 {
        let paths = paths(&mut random, 200 + round * 100);
        let hits: String = paths
            .iter()
            .map(|path| {
                let words: Vec<&str> = (0..14).map(|_| random.one_of(PARTS)).collect();
                format!("{path}:{}:  call({})\n", 1 + random.below(900), words.join(", "))
            })
            .collect();
        let (shown, id) = born("grep -rn call .", &hits);
        assert!(id.is_some(), "{} characters of hits stay", hits.len());
        assert!(shown.contains(&format!("{0} matches in {0} files", paths.len())), "{shown}");
        let records: Vec<_> = paths
            .iter()
            .map(|path| {
                let words: Vec<&str> = (0..12).map(|_| random.one_of(PARTS)).collect();
                json!({ "id": format!("rec_{:08x}", random.below(1 << 24)), "path": path, "note": words.join(" ") })
            })
            .collect();
        let (shown, id) = born("curl -s https://example.com/records", &json!(records).to_string());
        assert!(id.is_some() && shown.contains(&records.len().to_string()), "{shown}");
        let named = records.iter().filter(|record| shown.contains(record["id"].as_str().unwrap())).count();
        assert!(named >= 5, "{named} ids of {} in {shown}", records.len());
    }
}

#[test]
fn the_texts_of_one_result_share_the_threshold_and_results_do_not() {
    let mut random = Random(7);
    // A word and its separator have about seven characters.
    let mut words = |chars: usize| (0..chars / 7).map(|_| random.one_of(PARTS)).collect::<Vec<_>>().join(" ");
    for count in 1..=8 {
        for (whole, is_over) in [(THRESHOLD * 3 / 4, false), (THRESHOLD * 3 / 2, true)] {
            let texts: Vec<String> = (0..count).map(|_| words(whole / count)).collect();
            let block = |text: &String| json!({ "type": "text", "text": text });
            let result = |id: &str, texts: &[String]| {
                let content: Vec<Value> = texts.iter().map(block).collect();
                json!({ "type": "tool_result", "tool_use_id": id, "content": content })
            };
            let replaced = |results: Vec<Value>, ids: &[&str]| {
                let message = json!({ "role": "user", "content": results });
                let reply = engine(&directory()).admit(&scope(), Some(&call_of(ids, "make")), &message, 1);
                reply.report.actions.iter().filter(|action| action.reason == "large").count()
            };
            assert_eq!(replaced(vec![result("a", &texts)], &["a"]), if is_over { count } else { 0 }, "{count} texts");
            if count > 1 {
                let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
                let each = texts.iter().zip(ids).map(|(text, id)| result(id, std::slice::from_ref(text)));
                assert_eq!(replaced(each.collect(), &ids[..count]), 0, "{count} results");
            }
        }
    }
}
