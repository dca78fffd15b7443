use serde_json::{Value, json};

use super::*;
use crate::transcript::Transcript;

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn assistant() -> Value {
    json!({ "role": "assistant", "content": "hm" })
}

fn call(id: &str, name: &str, arguments: Value) -> Value {
    let part = Value::from_iter([
        ("type", json!("toolCall")),
        ("id", json!(id)),
        ("name", json!(name)),
        ("arguments", arguments),
    ]);
    json!({ "role": "assistant", "content": [part] })
}

fn result(id: &str, text: &str) -> Value {
    json!({ "role": "toolResult", "toolCallId": id, "content": [{ "type": "text", "text": text }] })
}

/// Message, reason, calls and turns of the blocks that may go, in order.
fn ripe(messages: &[Value]) -> Vec<(usize, Reason, u64, u64)> {
    ripe_with(messages, &json!({}))
}

fn ripe_with(messages: &[Value], options: &Value) -> Vec<(usize, Reason, u64, u64)> {
    let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
    let fates = fates(&Transcript::read(messages), &config);
    let blocks = fates.iter().enumerate().flat_map(|(at, blocks)| blocks.iter().map(move |fate| (at, fate.may_go())));
    blocks.filter_map(|(at, may)| may.map(|may| (at, may.reason, may.calls, may.turns))).collect()
}

fn long(what: &str) -> String {
    format!("a line of {what} of some length\n").repeat(20)
}

/// One call and its long result in the oldest turn, then `turns - 1` turns of talk.
fn aged(turns: usize) -> Vec<Value> {
    let mut messages = vec![user("go"), call("c", "exec", json!({ "command": "ls" })), result("c", &long("output"))];
    messages.extend((1..turns).map(|_| user("and")));
    messages
}

#[test]
fn age_is_counted_from_the_moment_it_was_reached() {
    let mut messages = vec![user("go"), call("a", "exec", json!({ "command": "ls" })), result("a", "x")];
    for turn in 0..6 {
        messages.extend([user("and"), assistant()]);
        // The fourth further turn makes it five turns old.
        let expected = (turn >= 3).then(|| u64::try_from(turn - 3).unwrap() + 1);
        let found = ripe(&messages).into_iter().find(|row| row.0 == 2);
        assert_eq!(found, expected.map(|calls| (2, Reason::Stale, calls, calls - 1)), "turn {turn}");
    }
}

#[test]
fn one_long_turn_ages_by_model_calls() {
    let mut messages = aged(1);
    for calls in 1..=15 {
        messages.push(assistant());
        let found = ripe(&messages).into_iter().find(|row| row.0 == 2);
        assert_eq!(found.map(|row| row.2), (calls > 12).then(|| calls - 13), "{calls} calls");
    }
}

#[test]
fn without_a_user_message_nothing_may_go() {
    let mut messages = aged(1);
    messages.remove(0);
    messages.extend((0..50).map(|_| assistant()));
    assert_eq!(ripe(&messages), []);
}

#[test]
fn skipped_and_unlisted_tools_stay() {
    for (options, found) in [
        (json!({ "skipTools": ["ex*"] }), 0),
        (json!({ "skipTools": ["read"] }), 2),
        (json!({ "onlyTools": ["read"] }), 0),
        (json!({ "onlyTools": ["exec"] }), 2),
    ] {
        assert_eq!(ripe_with(&aged(9), &options).len(), found, "{options}");
    }
    let mut nameless = aged(9);
    nameless[2]["toolCallId"] = json!("other");
    assert_eq!(ripe_with(&nameless, &json!({ "onlyTools": ["exec"] })).len(), 1);
    assert_eq!(ripe_with(&nameless, &json!({ "skipTools": ["exec"] })).len(), 1);
}

#[test]
fn words_of_people_and_of_the_model_stay() {
    let messages = [
        user(&long("words")),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": long("words") },
            { "type": "thinking", "thinking": long("thought") }] }),
        user("1"),
        user("2"),
        user("3"),
        user("4"),
    ];
    assert_eq!(ripe_with(&messages, &json!({ "staleTurns": 1 })), []);
}

#[test]
fn a_persons_image_ages_by_turns_and_a_tools_image_also_by_calls() {
    let image = json!({ "type": "image", "data": "unreadable", "mimeType": "image/png" });
    let mut messages = vec![
        json!({ "role": "user", "content": [{ "type": "text", "text": "look" }, image] }),
        json!({ "role": "toolResult", "toolCallId": "c", "content": [image] }),
    ];
    messages.extend((0..20).map(|_| assistant()));
    assert_eq!(ripe(&messages), [(1, Reason::Stale, 7, 0)]);
    messages.extend([user("2"), user("3")]);
    assert_eq!(ripe(&messages).len(), 2);
}

#[test]
fn older_reads_and_repeats_may_go_at_once() {
    let messages = [
        user("go"),
        call("a", "read", json!({ "path": "a.rs" })),
        result("a", &long("a")),
        call("b", "read", json!({ "path": "a.rs", "offset": 3, "limit": 4 })),
        result("b", "short"),
        call("c", "read", json!({ "path": "a.rs" })),
        result("c", &long("c")),
        call("d", "exec", json!({ "command": "make" })),
        result("d", &long("a")),
        assistant(),
    ];
    assert_eq!(ripe(&messages), [(2, Reason::Superseded, 2, 0), (4, Reason::Superseded, 2, 0)]);
    let repeated = [&messages[..3], &messages[7..]].concat();
    assert_eq!(ripe(&repeated), [(2, Reason::Duplicate, 1, 0)]);
}

/// A read of 60 lines, and a later read of the same file.
fn read_twice(first: Value, second: Value, came_back: &str) -> Vec<(usize, Reason, u64, u64)> {
    let shown: String = (1..=60).map(|line| format!("line {line} as it was\n")).collect();
    ripe(&[
        user("go"),
        call("a", "read", first),
        result("a", &shown),
        call("b", "read", second),
        result("b", came_back),
        assistant(),
    ])
}

#[test]
fn a_later_read_supersedes_only_what_it_really_showed() {
    let superseded = [(2, Reason::Superseded, 1, 0)];
    let lines = |count: usize| (1..=count).map(|line| format!("line {line} as it is\n")).collect::<String>();
    let path = || json!({ "path": "a.rs" });
    assert_eq!(read_twice(path(), path(), &lines(60)), superseded);
    assert_eq!(read_twice(path(), path(), &lines(40)), superseded, "the file became shorter");
    let cut = |notice: &str| format!("{}\n{notice}", lines(40));
    for notice in [
        "[20 more lines in file. Use offset=41 to continue]",
        "... (20 more lines not shown. Use offset=41 to continue reading)",
        "[Showing lines 1-40 of 60 (50.0KB limit). Use offset=41 to continue]",
        "[... 4000 more characters truncated; rerun with narrower args if needed]",
    ] {
        assert_eq!(read_twice(path(), path(), &cut(notice)), [], "{notice}");
    }
    assert_eq!(read_twice(path(), path(), &lines(500)), superseded, "500 lines hold 60 all the same");
    assert_eq!(read_twice(path(), path(), &format!("{}[... 200 lines omitted ...]\n{}", lines(9), lines(9))), []);
    assert_eq!(read_twice(path(), json!({ "path": "a.rs", "limit": 59 }), &lines(59)), []);
    assert_eq!(read_twice(path(), json!({ "path": "a.rs", "limit": 80 }), &lines(60)), superseded);
    assert_eq!(read_twice(path(), json!({ "path": "b.rs" }), &lines(60)), []);
    assert_eq!(read_twice(path(), json!({ "path": "a.rs", "pages": "1-2" }), &lines(60)), []);
    assert_eq!(read_twice(path(), path(), "cat: a.rs: Permission denied"), []);
    assert_eq!(read_twice(path(), path(), "[REF_ID: 0123456789abcdef] (Summary: a)\n[60 lines folded]"), []);
}

#[test]
fn only_a_whole_write_that_succeeded_supersedes_a_read() {
    let conversation = |name: &str, arguments: Value, answer: Value| {
        ripe(&[
            user("go"),
            call("a", "read", json!({ "path": "a.rs" })),
            result("a", "text"),
            call("b", name, arguments),
            answer,
        ])
    };
    let write = || json!({ "path": "a.rs", "content": "x" });
    assert_eq!(conversation("write", write(), result("b", "done")), [(2, Reason::Superseded, 0, 0)]);
    let mut failed = result("b", "done");
    failed["isError"] = json!(true);
    assert_eq!(conversation("write", write(), failed), []);
    for words in ["a.rs: Permission denied", "done\n\n(Command exited with code 1)", "Error: the disk is full"] {
        assert_eq!(conversation("write", write(), result("b", words)), [], "{words}");
    }
    assert_eq!(
        conversation("write", json!({ "path": "a.rs", "content": "x", "append": true }), result("b", "done")),
        []
    );
    assert_eq!(conversation("edit", json!({ "path": "a.rs", "oldText": "t" }), result("b", "done")), []);
    assert_eq!(conversation("review_code", write(), result("b", "done")), []);
}

#[test]
fn a_written_body_may_go_once_the_file_was_read_back() {
    let conversation = |read: Value, is_error: bool| {
        let mut answer = result("r", &long("file"));
        answer["isError"] = json!(is_error);
        [
            user("go"),
            call("w", "write", json!({ "path": "a.rs", "content": long("file") })),
            result("w", "ok"),
            call("r", "read", read),
            answer,
        ]
    };
    let superseded = [(1, Reason::Superseded, 0, 0)];
    assert_eq!(ripe(&conversation(json!({ "path": "a.rs" }), false)), superseded);
    assert_eq!(ripe(&conversation(json!({ "path": "b.rs" }), false)), []);
    assert_eq!(ripe(&conversation(json!({ "path": "a.rs", "offset": 10 }), false)), []);
    assert_eq!(ripe(&conversation(json!({ "path": "a.rs" }), true)), []);
    let in_order = conversation(json!({ "path": "a.rs" }), false);
    let read_first = [0, 3, 4, 1, 2].map(|at| in_order[at].clone());
    assert_eq!(ripe(&read_first)[0].0, 2, "a read shows nothing of a later write");
}

#[test]
fn results_of_calls_with_one_id_or_none_answer_in_order() {
    for id in ["", "same"] {
        let read = |path: &str| json!({ "type": "toolCall", "id": id, "name": "read", "arguments": { "path": path } });
        let messages = [
            user("go"),
            json!({ "role": "assistant", "content": [read("a.rs"), read("b.rs")] }),
            result(id, &long("a")),
            result(id, &long("b")),
            json!({ "role": "assistant", "content": [read("b.rs")] }),
            result(id, &long("b, changed")),
        ];
        assert_eq!(ripe(&messages), [(3, Reason::Superseded, 0, 0)], "{id:?}");
    }
}
