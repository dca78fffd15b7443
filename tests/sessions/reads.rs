//! Commands that print files, composed at random from `fixtures/cases/commands`. While such an output is fresh, it
//! keeps every comment, at every preset and thrift, whatever the form of the command.

use concertina::assemble::AssembleOptions;
use concertina::config::Config;
use concertina::pipeline::FusionEngine;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::engines;

/// The number of compositions of each test. Each is tried with one configuration, drawn at random.
const CASES: u32 = 400;

/// The size of an output that is replaced by a reference if it may be, in bytes.
const LONG_BYTES: usize = 6_000;

/// Returns the commands of the case files whose class is the given one.
fn commands(class: &str) -> Vec<String> {
    let written = |line: &str| line.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\");
    let cases = include_str!("../../fixtures/cases/commands/prints.txt").split("%%% ");
    let of_class = cases.filter_map(|case| case.split_once("\n--->\n")).filter(|(_, found)| found.trim() == class);
    let lines = of_class.flat_map(|(input, _)| input.lines()).filter_map(|line| line.strip_prefix("$ "));
    let commands: Vec<String> = lines.map(written).filter(|command| command.chars().count() > 2).collect();
    assert!(commands.len() > 7, "{class}");
    commands
}

/// A composed command, the call that runs it, and the configuration that applies to its output.
#[derive(Debug, Clone)]
struct Composed {
    command: String,
    call: Value,
    preset: &'static str,
    thrift: &'static str,
    /// The number of times that the output contains the code.
    repeats: usize,
}

fn composed(parts: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = Composed> {
    let configuration = (select(&["lossless", "balanced", "max"][..]), select(&["careful", "normal", "high"][..]));
    (parts, separators(), 0..WRAPPERS.len(), 0..FORMS, configuration, any::<bool>()).prop_map(
        |(parts, separators, wrapper, form, (preset, thrift), is_long)| {
            let mut line = String::new();
            for (at, part) in parts.iter().enumerate() {
                // A here-document ends with its line, and so does a comment.
                let separator = if line.contains("<<") || line.contains("# ") { "\n" } else { separators[at % 3] };
                line = if at == 0 { part.clone() } else { line + separator + part };
            }
            let command = WRAPPERS[wrapper](&line);
            let call = call(form, &command, &line);
            Composed {
                command,
                call,
                preset,
                thrift,
                repeats: if is_long { LONG_BYTES.div_ceil(CODE.len()) } else { 1 },
            }
        },
    )
}

fn separators() -> impl Strategy<Value = [&'static str; 3]> {
    let one = || select(&["; ", " && ", "\n", " || ", " & ", "; echo '=== a; b ==='; ", "\n\necho ---\n", ";\n  "][..]);
    [one(), one(), one()]
}

/// The ways to pass a command line to another shell.
const WRAPPERS: &[fn(&str) -> String] = &[
    str::to_owned,
    str::to_owned,
    |line| format!("set -e; cd /w/app && {line}"),
    |line| format!("bash -lc {}", quoted(line)),
    |line| format!("bash -c \"{}\"", line.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")),
    |line| format!("ssh -p 22 host {} 2>&1", quoted(line)),
    |line| format!("sudo -E env A=1 timeout 9 sh -c {}", quoted(line)),
    |line| format!("docker exec -i app sh -c {}", quoted(line)),
    |line| format!("if true; then\n{line}\nfi"),
    |line| format!("bash <<'SCRIPT'\n{line}\nSCRIPT"),
];

/// Quotes a text for a shell.
fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

/// The number of forms in which agents run commands.
const FORMS: usize = 7;

/// Builds a call in one of these forms.
fn call(form: usize, command: &str, line: &str) -> Value {
    let (name, arguments) = match form {
        0 => ("exec", json!({ "command": command })),
        1 => ("Bash", json!({ "command": command, "description": "shows it" })),
        2 => ("exec_command", json!({ "cmd": command, "workdir": "/w", "max_output_tokens": 9000 })),
        3 => ("shell", json!({ "command": ["bash", "-lc", command] })),
        4 => ("shell", json!({ "command": ["sudo", "/bin/bash", "-lc", line] })),
        5 => ("run", json!({ "script": command })),
        _ => ("shell", json!({ "commands": ["cd /w", command] })),
    };
    json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": name, "arguments": arguments }] })
}

/// Code with comments of every kind.
const CODE: &str = "\
//! Keeps the orders of a shop.

use std::collections::HashMap;

/// An order with its lines. It is written once and never changed, so a copy of it is as good as the order itself.
pub struct Order {
    // The number is not an index: numbers of deleted orders are never given again to another order.
    number: u64,
    lines: Vec<String>, // in the order in which they were typed
}

/* The totals are kept beside the orders, because adding
   them up for each page took longer than the page. */
pub fn total(orders: &HashMap<u64, Order>) -> usize {
    // TODO: count the lines that were cancelled, which the shop wants to see from next year on.
    orders.values().map(|order| order.lines.len()).sum()
}
";

/// Returns the lines of the code with comments that the pipeline drops, which a note on what is to do is not.
fn comments() -> impl Iterator<Item = &'static str> {
    let is_comment = |line: &&str| line.contains("//") && !line.contains("TODO");
    CODE.lines().filter(is_comment)
}

/// Shows an output through birth and assembly. Returns the text as the next request holds it.
fn shown(case: &Composed, text: &str) -> String {
    let options = json!({ "preset": case.preset, "thrift": case.thrift, "schedule": "cache-aware" });
    let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
    let dir = engines::directory();
    let engine = engines::open(&dir, config);
    let result = json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": text }] });
    let born = engine.admit(&engines::scope(), Some(&case.call), &result, 1);
    assert_eq!(born.report.warning, None);
    let result = born.rewrite.apply(&[result]).remove(0);
    let messages = [json!({ "role": "user", "content": "go" }), case.call.clone(), result];
    let assembled = engine.assemble(&engines::scope(), &messages, &AssembleOptions::default(), 2);
    assert_eq!(assembled.report.warning, None);
    let messages = assembled.rewrite.apply(&messages);
    messages[2]["content"][0]["text"].as_str().expect("a text").to_owned()
}

fn check(parts: impl Strategy<Value = Vec<String>>, property: impl Fn(&Composed)) {
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&composed(parts), |case| {
            property(&case);
            Ok(())
        })
        .unwrap();
}

/// Builds parts of which one is of the given class. Up to three others print no file.
fn one_among_others(class: &str) -> impl Strategy<Value = Vec<String>> {
    let others = proptest::collection::vec(select(commands("Nothing")), 0..4);
    (others, select(commands(class)), any::<prop::sample::Index>()).prop_map(|(mut parts, one, at)| {
        parts.insert(at.index(parts.len() + 1), one);
        parts
    })
}

#[test]
fn an_output_with_files_keeps_every_comment_while_it_is_fresh() {
    check(one_among_others("Files"), |case| {
        let text = format!("=== a.rs ===\n{}", CODE.repeat(case.repeats));
        assert_eq!(shown(case, &text), text, "{:?} {} {}", case.command, case.preset, case.thrift);
    });
}

#[test]
fn an_output_with_hits_keeps_every_comment_while_it_is_fresh() {
    check(one_among_others("Hits"), |case| {
        let shown = shown(case, CODE);
        let restored = FusionEngine::default().restore(&shown, &[]);
        assert_eq!(restored, CODE, "{:?} {} {}", case.command, case.preset, case.thrift);
    });
}

/// This guards the tests above, which an engine that drops no comments would pass.
#[test]
fn an_output_without_files_loses_its_comments() {
    let commands = ["cat > a.rs <<'E'\ncat b.rs\nE", "cat a.rs > b.rs", "sed -i s/a/b/ b.rs", "cp a.rs b.rs"];
    for (command, preset) in commands.iter().flat_map(|command| [(*command, "balanced"), (*command, "max")]) {
        for form in 0..FORMS {
            let call = call(form, command, command);
            let shown =
                shown(&Composed { command: command.to_owned(), call, preset, thrift: "high", repeats: 1 }, CODE);
            assert!(!comments().any(|comment| shown.contains(comment)), "{command} {shown}");
        }
    }
}

/// A search tool of a host prints parts of a file if the call asks for context lines in a single file.
#[test]
fn search_tools_keep_comments() {
    let text = |repeats| {
        let code = CODE.repeat(repeats);
        code.lines().enumerate().map(|(at, line)| format!("{}:{line}\n", at + 1)).collect::<String>()
    };
    let shown = |arguments: &Value, text: &str| {
        let call = json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": "Grep", "arguments": arguments }] });
        shown(&Composed { command: String::new(), call, preset: "max", thrift: "high", repeats: 1 }, text)
    };
    let file = json!({ "pattern": "total", "path": "/w/shop.rs", "-n": true, "-A": 30 });
    for repeats in [1, LONG_BYTES.div_ceil(CODE.len())] {
        let shown = shown(&file, &text(repeats));
        assert!(CODE.lines().all(|line| shown.matches(line).count() >= repeats), "{shown}");
    }
    for arguments in [
        json!({ "pattern": "total", "path": "/w/shop.rs", "-n": true }),
        json!({ "pattern": "total", "path": "/w/src", "-C": 30, "output_mode": "content" }),
    ] {
        let shown = FusionEngine::default().restore(&shown(&arguments, &text(1)), &[]);
        assert_eq!(shown, text(1), "{arguments}");
    }
}
