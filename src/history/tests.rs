use serde_json::{Value, json};

use super::*;
use crate::config::Config;
use crate::transcript::Transcript;
use concertina_cases::{check, json_lines};

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

/// Returns message, reason, calls and turns of the blocks that may go, in order.
fn ripe(messages: &[Value]) -> Vec<(usize, Reason, u64, u64)> {
    ripe_with(messages, &json!({}))
}

fn ripe_with(messages: &[Value], options: &Value) -> Vec<(usize, Reason, u64, u64)> {
    let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
    let fates = fates(&Transcript::read(messages), &config).by_message;
    let blocks =
        fates.iter().enumerate().flat_map(|(at, blocks)| blocks.iter().map(move |fate| (at, fate.permission())));
    blocks.filter_map(|(at, may)| may.map(|may| (at, may.reason, may.calls, may.turns))).collect()
}

fn long(what: &str) -> String {
    format!("a line of {what} of some length\n").repeat(20)
}

/// Builds one call and its long result in the oldest turn, then `turns - 1` turns of talk.
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
    let permission = |transcript: &Transcript| fates(transcript, &config).by_message[2][0].permission();
    for turns in 1..=6 {
        let before = aged(turns);
        let after = aged(turns + 1);
        let [ahead, begun] = [Transcript::before_turn(&before), Transcript::read(&after)].map(|read| permission(&read));
        assert_eq!(ahead, begun, "{turns} turns");
        assert_eq!(ahead.is_some(), turns >= 4);
    }
}

#[test]
fn turns_whose_answers_failed_age_nothing() {
    let failed = json!({ "role": "assistant", "stopReason": "error", "usage": { "input": 0 }, "content": "[failed]" });
    let mut messages = aged(1);
    for turn in 1..=9 {
        messages.extend([user("poll"), user("and"), failed.clone(), failed.clone()]);
        assert!(ripe(&messages).is_empty(), "{turn} turns");
    }
    // The turn that is answered at last is one.
    messages.extend([user("poll"), assistant()]);
    assert!(ripe(&messages).is_empty());
    messages.extend((0..3).flat_map(|_| [user("and"), assistant()]));
    assert!(ripe(&messages).iter().any(|row| row.0 == 2));
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

/// Neighbours: each kind of call of the Responses API that has a command, its command in words, as one text and as
/// several.
#[test]
fn protected_commands_are_known_in_every_kind_of_call() {
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
            assert_eq!(outputs(json!({ "protect": ["command:vault *"] })), 0, "{kind} {output} {given}");
        }
    }
}

/// Neighbours: the four shapes, and windows that drop the user's message alone or the oldest calls with it.
#[test]
fn without_a_user_message_calls_tell_the_age() {
    let texts: Vec<String> = (0..30).map(|index| format!("{index} {}", long("output"))).collect();
    let rounds: Vec<_> = texts.iter().map(|text| ("exec", json!({ "command": "ls" }), text.as_str())).collect();
    for (at, messages) in in_all_shapes(&rounds).into_iter().enumerate() {
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

/// Builds calls with their answers, after a person's word, in each of the four shapes. The call of a round has an odd
/// index, its answer follows.
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

/// Returns the rounds whose answers may go; asserts that they are the same in every shape.
fn answers_that_may_go(rounds: &[(&str, Value, &str)]) -> Vec<usize> {
    let found = in_all_shapes(rounds).map(|messages| -> Vec<usize> {
        ripe(&messages).into_iter().filter(|row| row.0 % 2 == 0).map(|row| row.0 / 2 - 1).collect()
    });
    assert!(found.iter().all(|other| *other == found[0]), "{found:?} of {rounds:?}");
    found[0].clone()
}

#[test]
fn what_may_go_and_since_when() {
    check!("history", |input, options| {
        let options = if options.is_empty() { json!({}) } else { serde_json::from_str(options).unwrap() };
        let row = |(message, reason, calls, turns): (usize, Reason, u64, u64)| {
            format!("message {message}: {}, for {calls} calls and {turns} turns\n", reason.as_str())
        };
        ripe_with(&json_lines(input), &options).into_iter().map(row).collect()
    });
}

/// Each line of an input is a call with its answer: the tool, its arguments, the text.
#[test]
fn a_later_use_of_a_file_supersedes_what_it_holds() {
    check!("file_uses", |input, _| {
        let lines = json_lines(input);
        let rounds: Vec<(&str, Value, &str)> =
            lines.iter().map(|line| (line[0].as_str().unwrap(), line[1].clone(), line[2].as_str().unwrap())).collect();
        format!("answers that may go: {:?}", answers_that_may_go(&rounds))
    });
}
