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
fn a_turn_that_begins_makes_all_before_it_older() {
    let config = Config::default();
    let may_go = |transcript: &Transcript| fates(transcript, &config)[2][0].may_go();
    for turns in 1..=6 {
        let before = aged(turns);
        let after = aged(turns + 1);
        let [ahead, begun] = [Transcript::before_turn(&before), Transcript::read(&after)].map(|read| may_go(&read));
        assert_eq!(ahead, begun, "{turns} turns");
        assert_eq!(ahead.is_some(), turns >= 4);
    }
}

#[test]
fn one_long_turn_ages_by_model_calls() {
    let mut messages = aged(1);
    for calls in 1..=21 {
        messages.push(assistant());
        let found = ripe(&messages).into_iter().find(|row| row.0 == 2);
        assert_eq!(found.map(|row| row.2), (calls > 18).then(|| calls - 19), "{calls} calls");
    }
}

/// Neighbours: each kind of call of the Responses API that has a command, its command in words, as one text and as several.
#[test]
fn skipped_commands_are_known_in_every_kind_of_call() {
    for (kind, key, given) in [
        ("local_shell_call", "action", json!({ "type": "exec", "command": ["bash", "-lc", "vault list"], "env": {} })),
        ("local_shell_call", "action", json!({ "type": "exec", "command": ["vault", "list"] })),
        ("shell_call", "action", json!({ "commands": ["vault list"] })),
        ("shell_call", "action", json!({ "commands": ["cd /tmp", "vault list"], "timeout_ms": 5 })),
        ("function_call", "arguments", json!(json!({ "command": ["bash", "-lc", "vault list"] }).to_string())),
        ("function_call", "arguments", json!(json!({ "cmd": "cd /tmp\nvault list" }).to_string())),
    ] {
        for output in ["function_call_output", "local_shell_call_output", "shell_call_output"] {
            let mut call = json!({ "type": kind, "id": "i", "call_id": "c" });
            if kind == "function_call" {
                call["name"] = json!("shell");
            }
            call[key] = given.clone();
            let answer = json!({ "type": output, "call_id": "c", "output": long("output") });
            let mut messages = vec![user("go"), call, answer];
            messages.extend((0..9).map(|_| user("and")));
            let outputs = |options| ripe_with(&messages, &options).iter().filter(|row| row.0 == 2).count();
            assert_eq!(outputs(json!({})), 1, "{kind} {output}");
            assert_eq!(outputs(json!({ "skipCommands": ["vault *"] })), 0, "{kind} {output} {given}");
        }
    }
}

/// Neighbours: the four shapes, and windows that drop the user's message alone or the oldest calls with it.
#[test]
fn without_a_user_message_calls_tell_the_age() {
    let text = long("output");
    let shapes: [fn(&str, &str) -> [Value; 2]; 4] = [
        |id, text| [call(id, "exec", json!({ "command": "ls" })), result(id, text)],
        |id, text| {
            [
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "exec", "input": {} }] }),
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] }),
            ]
        },
        |id, text| {
            [
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": id, "function": { "name": "exec", "arguments": "{}" } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": text }),
            ]
        },
        |id, text| {
            [
                json!({ "type": "function_call", "call_id": id, "name": "exec", "arguments": "{}" }),
                json!({ "type": "function_call_output", "call_id": id, "output": text }),
            ]
        },
    ];
    for (at, pair) in shapes.into_iter().enumerate() {
        let calls = (0..30).flat_map(|index| pair(&format!("c{index}"), &format!("{index} {text}")));
        let messages: Vec<Value> = std::iter::once(user("go")).chain(calls).collect();
        let results = |from: usize| -> Vec<u64> {
            let window = ripe(&messages[from..]).into_iter();
            let of_result = window.filter(|(message, ..)| (message + from).is_multiple_of(2));
            of_result.map(|(_, _, calls, _)| calls).collect()
        };
        let all = results(0);
        assert_eq!(all.len(), 11, "shape {at}");
        for dropped in 0..=11 {
            assert_eq!(results(1 + 2 * dropped), all[dropped..], "shape {at} without {dropped} calls");
        }
    }
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
    assert_eq!(ripe(&messages), [(1, Reason::Stale, 1, 0)]);
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
    for words in [
        "a.rs: Permission denied",
        "done\n\n(Command exited with code 1)",
        "Error: the disk is full",
        "Held for review: a.rs",
    ] {
        assert_eq!(conversation("write", write(), result("b", words)), [], "{words}");
    }
    let heredoc = || json!({ "command": "cat > a.rs <<'E'\nx\nE" });
    assert_eq!(conversation("exec", heredoc(), result("b", "(no output)")), [(2, Reason::Superseded, 0, 0)]);
    assert_eq!(conversation("exec", heredoc(), result("b", "zsh: file exists: a.rs")), []);
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
fn a_written_body_is_old_in_half_the_time_if_the_file_took_it() {
    let stale_after = |name: &str, is_error: bool| {
        let mut answer = result("w", "ok");
        answer["isError"] = json!(is_error);
        let mut messages =
            vec![user("go"), call("w", name, json!({ "path": "a.rs", "content": long("file") })), answer];
        let mut calls = 0;
        while ripe_with(&messages, &json!({ "staleCalls": 5 })).is_empty() {
            messages.push(assistant());
            calls += 1;
        }
        calls
    };
    assert_eq!(stale_after("write", false), 4);
    assert_eq!(stale_after("write", true), 6);
    assert_eq!(stale_after("edit", false), 6);
}

#[test]
fn a_bulky_result_is_old_after_half_as_many_turns_where_folding_has_a_price() {
    let turns_until_stale = |bytes: usize, schedule: &str| {
        let messages = |turns| {
            let mut messages = aged(turns);
            messages[2] = result("c", &"x".repeat(bytes));
            messages
        };
        (1..9).find(|&turns| ripe_with(&messages(turns), &json!({ "schedule": schedule })).iter().any(|row| row.0 == 2))
    };
    assert_eq!(turns_until_stale(16_000, "cache-aware"), Some(3));
    assert_eq!(turns_until_stale(15_999, "cache-aware"), Some(5));
    assert_eq!(turns_until_stale(16_000, "every-turn"), Some(5));
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

/// Calls with what answered them, after a person's word, in each of the four shapes: the call of a round stands at an odd index, its
/// answer behind it.
fn in_all_shapes(rounds: &[(&str, Value, &str)]) -> [Vec<Value>; 4] {
    let messages = |round: fn(&str, &str, &Value, &str) -> [Value; 2]| {
        let of = |(at, (name, arguments, answer)): (usize, &(&str, Value, &str))| {
            round(&format!("c{at}"), name, arguments, answer)
        };
        std::iter::once(user("go")).chain(rounds.iter().enumerate().flat_map(of)).collect()
    };
    [
        messages(|id, name, arguments, answer| [call(id, name, arguments.clone()), result(id, answer)]),
        messages(|id, name, arguments, answer| {
            [
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": name, "input": arguments }] }),
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": answer }] }),
            ]
        }),
        messages(|id, name, arguments, answer| {
            [
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": answer }),
            ]
        }),
        messages(|id, name, arguments, answer| {
            [
                json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string() }),
                json!({ "type": "function_call_output", "call_id": id, "output": answer }),
            ]
        }),
    ]
}

const NONE: [usize; 0] = [];

/// Which rounds' answers may go, the same in every shape.
fn answers_that_may_go(rounds: &[(&str, Value, &str)]) -> Vec<usize> {
    let found = in_all_shapes(rounds).map(|messages| -> Vec<usize> {
        ripe(&messages).into_iter().filter(|row| row.0 % 2 == 0).map(|row| row.0 / 2 - 1).collect()
    });
    assert!(found.iter().all(|other| *other == found[0]), "{found:?} of {rounds:?}");
    found[0].clone()
}

fn lines_from(first: usize, count: usize, what: &str) -> String {
    (first..first + count).map(|line| format!("line {line} {what}\n")).collect()
}

#[test]
fn a_file_is_the_same_however_a_call_names_it() {
    let (then, now) = (lines_from(1, 9, "then"), lines_from(1, 9, "now"));
    let read = |arguments: Value| ("read", arguments);
    let exec = |arguments: Value| ("exec", arguments);
    let in_w = || read(json!({ "path": "src/a.rs", "cwd": "/w" }));
    for (first, second, is_same) in [
        (in_w(), read(json!({ "path": "/w/src/a.rs" })), true),
        (in_w(), read(json!({ "path": "./src/a.rs", "workdir": "/w/" })), true),
        (in_w(), read(json!({ "file_path": "/w/b/../src/./a.rs" })), true),
        (in_w(), read(json!({ "path": "../src/a.rs", "cwd": "/w/b" })), true),
        (in_w(), exec(json!({ "command": "cat a.rs", "workdir": "/w/src" })), true),
        (in_w(), exec(json!({ "command": "cd src && cat -n ./a.rs", "cwd": "/w" })), true),
        (in_w(), exec(json!({ "command": "cd /w/src && cat a.rs" })), true),
        (in_w(), read(json!({ "path": "src/a.rs", "cwd": "/v" })), false),
        (in_w(), read(json!({ "path": "src/a.rs" })), false),
        (in_w(), exec(json!({ "command": "cat src/a.rs", "workdir": "/v" })), false),
        (in_w(), read(json!({ "path": "/w/a.rs" })), false),
        (exec(json!({ "command": "cat a.rs", "workdir": "/v" })), exec(json!({ "command": "cat a.rs" })), false),
        (read(json!({ "path": "a.rs" })), read(json!({ "path": "b/../a.rs" })), true),
        (read(json!({ "path": "a.rs" })), exec(json!({ "command": "cat a.rs" })), true),
    ] {
        let rounds = [(first.0, first.1, then.as_str()), (second.0, second.1, now.as_str())];
        assert_eq!(answers_that_may_go(&rounds), if is_same { vec![0] } else { vec![] }, "{rounds:?}");
    }
}

#[test]
fn a_shell_that_has_gone_elsewhere_reads_other_files() {
    let (then, now) = (lines_from(1, 9, "then"), lines_from(1, 9, "now"));
    for (shell, between, is_same) in [
        ("bash", "ls", true),
        ("bash", "cd src; ls", false),
        ("Bash", "(pushd src)", false),
        ("bash", "abcd", true),
        ("exec", "cd src; ls", true),
    ] {
        let run = |command: &str| json!({ "command": command });
        let rounds = |path: &str| {
            let cat = run(&format!("cat {path}"));
            answers_that_may_go(&[(shell, cat.clone(), &then), (shell, run(between), "x"), (shell, cat, &now)])
        };
        assert_eq!(rounds("a.rs"), if is_same { vec![0] } else { vec![] }, "{shell} {between}");
        assert_eq!(rounds("/w/a.rs"), [0], "an absolute path is the same everywhere");
    }
}

#[test]
fn a_part_of_a_file_is_not_held_by_one_that_was_read_after_its_lines_moved() {
    let (then, now) = (lines_from(10, 20, "then"), lines_from(10, 20, "now"));
    let part = || json!({ "path": "a.rs", "offset": 10, "limit": 20 });
    let edit = |old: &str, new: &str| json!({ "path": "a.rs", "oldText": old, "newText": new });
    for (between, keeps) in [
        (("edit", edit("b", "c")), true),
        (("edit", edit("b\nd", "c\ne")), true),
        (("edit", edit("b", "c\nd")), false),
        (("edit", edit("b\n", "")), false),
        (("edit", json!({ "path": "b.rs", "oldText": "b", "newText": "c\nd" })), true),
        (("edit", json!({ "path": "a.rs", "edits": [{ "oldText": "b", "newText": "c\nd" }] })), false),
        (("write", json!({ "path": "a.rs", "content": "x", "append": true })), false),
        (("exec", json!({ "command": "sed -i 3d a.rs" })), false),
        (("exec", json!({ "command": "cat b.rs" })), true),
    ] {
        let (name, arguments) = between;
        let rounds = |came_back: &str| {
            let rounds =
                [("read", part(), then.as_str()), (name, arguments.clone(), "done"), ("read", part(), came_back)];
            answers_that_may_go(&rounds)
        };
        assert_eq!(rounds(&now), if keeps { vec![0] } else { vec![] }, "{name} {arguments}");
        let whole = [
            ("read", part(), then.as_str()),
            (name, arguments.clone(), "done"),
            ("read", json!({ "path": "a.rs" }), "x"),
        ];
        assert_eq!(answers_that_may_go(&whole), [0], "the whole file is in sight, whatever moved");
        // Two lines moved away, and all that was read before is in sight.
        let moved = format!("{}{}", lines_from(8, 2, "new"), then);
        assert_eq!(rounds(&moved), [0], "{name} {arguments}: the text is the same");
    }
    let failed = [
        ("read", part(), then.as_str()),
        ("edit", edit("b", "c\nd"), "Error: timed out"),
        ("read", part(), now.as_str()),
    ];
    assert_eq!(answers_that_may_go(&failed), NONE, "an edit that failed may have been made in part");
}

#[test]
fn several_reads_hold_one_only_where_each_of_its_lines_came_back() {
    let whole = lines_from(1, 60, "then");
    let read = |first: usize, count: usize| json!({ "path": "a.rs", "offset": first, "limit": count });
    let parts = |parts: &[(usize, usize)]| {
        let texts: Vec<String> = parts.iter().map(|(first, count)| lines_from(*first, *count, "now")).collect();
        let parts =
            parts.iter().zip(&texts).map(|((first, count), text)| ("read", read(*first, *count), text.as_str()));
        let rounds: Vec<_> = [("read", read(1, 60), whole.as_str())].into_iter().chain(parts).collect();
        answers_that_may_go(&rounds)
    };
    assert_eq!(parts(&[(1, 30), (31, 30)]), [0]);
    assert_eq!(parts(&[(25, 60), (1, 30)]), [0]);
    assert_eq!(parts(&[(31, 30), (10, 21), (1, 9)]), [0]);
    assert_eq!(parts(&[(1, 30), (32, 29)]), NONE);
    assert_eq!(parts(&[(1, 30), (31, 29)]), NONE);
    let cut = format!("{}\n[20 more lines in file. Use offset=41 to continue]", lines_from(31, 10, "now"));
    let (first, second) = (lines_from(1, 30, "now"), lines_from(31, 30, "now"));
    let half = ("read", read(1, 30), first.as_str());
    let whole = ("read", read(1, 60), whole.as_str());
    assert_eq!(answers_that_may_go(&[whole.clone(), half.clone(), ("read", read(31, 30), &cut)]), NONE);
    let edit = ("edit", json!({ "path": "a.rs", "oldText": "b", "newText": "c\nd" }), "done");
    assert_eq!(answers_that_may_go(&[whole, half, edit, ("read", read(31, 30), &second)]), NONE);
}

#[test]
fn a_read_that_came_back_empty_or_failed_supersedes_nothing() {
    let then = lines_from(1, 9, "then");
    for empty in [
        "",
        "\n",
        "(no output)",
        "File does not exist.",
        "Error: ENOENT: no such file or directory, open 'a.rs'",
        r#"{"status": "error", "tool": "read", "error": "File not found"}"#,
        "Command timed out after 30 seconds",
        "Process exited with signal SIGKILL.",
        "[Old tool result content cleared]",
    ] {
        let read = || json!({ "path": "a.rs" });
        assert_eq!(answers_that_may_go(&[("read", read(), &then), ("read", read(), empty)]), NONE, "{empty:?}");
        let cat = json!({ "command": "cat a.rs" });
        assert_eq!(answers_that_may_go(&[("read", read(), &then), ("exec", cat, empty)]), NONE, "{empty:?}");
    }
    let tail = json!({ "path": "a.rs", "offset": -3 });
    assert_eq!(answers_that_may_go(&[("read", json!({ "path": "a.rs" }), &then), ("read", tail, "x")]), NONE);
}
