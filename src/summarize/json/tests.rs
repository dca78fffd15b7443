use super::*;

fn summary(text: &str, max_chars: usize) -> String {
    let mut sheet = Sheet::new(max_chars);
    assert!(summarize(text, &mut sheet), "not read as JSON");
    sheet.finish()
}

fn rows(count: usize, row: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..count).map(row).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn the_failed_row_is_quoted_by_value() {
    let text = rows(100, |i| match i {
        17 => {
            r#"{"id": 1017, "job": "sync-invoices", "status": "failed", "error": "lock timeout after 30s"}"#.to_owned()
        }
        _ => format!(r#"{{"id": {}, "job": "sync-{i}", "status": "ok", "error": null}}"#, 1000 + i),
    });
    assert_eq!(
        summary(&text, 300),
        "JSON array of 100 × {id, job, status, error}\n\
         1 not ok: [17] {id: 1017, status: \"failed\", error: \"lock timeout after 30s\", job: \"sync-invoices\"}\n\
         status \"failed\" only 1×, at [17] (id: 1017)\nid: 1000, 1001, 1002, 1003, 1004, 1005 …+94"
    );
}

#[test]
fn the_failed_member_of_an_object_of_objects_is_quoted_by_its_key() {
    let members = (0..45).map(|i| {
        format!(r#""svc-{i}": {{"status": "{}", "port": {}}}"#, if i == 44 { "failed" } else { "ok" }, 8000 + i)
    });
    let members = members.collect::<Vec<_>>().join(", ");
    assert_eq!(
        summary(&format!("{{{members}}}"), 300),
        "JSON object, 45 keys, each {status, port}\n\
         1 not ok: svc-44 {status: \"failed\", port: 8044}\n\
         status \"failed\" only 1×, at svc-44\n\
         keys: svc-0, svc-1, svc-2, svc-3, svc-4, svc-5, svc-6, svc-7 …+37\nranges: port 8000–8044"
    );
    let nested = summary(&format!("{{\"services\": {{{members}}}, \"total\": 45}}"), 400);
    assert!(nested.contains("\n1 not ok: services.svc-44 {status: \"failed\", port: 8044}\n"), "{nested}");
}

#[test]
fn an_outlier_is_told_with_the_range_of_the_others() {
    let text = rows(50, |i| {
        format!(
            r#"{{"name": "n{i}", "latency": {}, "tier": "{}"}}"#,
            if i == 31 { 98234 } else { 40 + i % 7 },
            if i == 5 { "gold" } else { "base" }
        )
    });
    let summary = summary(&text, 300);
    assert!(summary.contains("latency 98234 at [31] (name: \"n31\") (others 40–46)"), "{summary}");
    assert!(summary.contains("tier \"gold\" only 1×, at [5] (name: \"n5\")"), "{summary}");
}

#[test]
fn scalars_and_members_of_an_object_are_listed() {
    let text = r#"{"kind": "List", "total": 3, "ok": false, "note": null, "meta": {"cursor": "abc", "next": 2}, "items": [{"id": 1}, {"id": 2}, {"id": 3}], "tags": ["a"]}"#;
    assert_eq!(
        summary(text, 300),
        "JSON object, 7 keys\nnot ok: ok: false\nvalues: total: 3, kind: \"List\", note: null\nitems.id: 1, 2, 3\n\
         holds: meta{cursor, next}, items[3], tags[1]\nitems: 3 × {id}"
    );
}

#[test]
fn what_failed_is_explained_before_anything_else() {
    let refused = r#"{"request_id": "9f8a", "docs": "https://docs.example.com/409", "status": "failed", "code": 409, "message": "Order 88123 was already captured by another worker", "details": null, "cart": [1, 2]}"#;
    assert_eq!(
        summary(refused, 300),
        "JSON object, 7 keys\n\
         not ok: status: \"failed\", code: 409, message: \"Order 88123 was already captured by another worker\"\n\
         values: request_id: \"9f8a\", docs: \"https://docs.example.com/409\", details: null\nholds: cart[2]"
    );
    for (text, told) in [
        (
            r#"{"jsonrpc": "2.0", "id": 7, "result": {"ok": false, "message": "upstream timed out"}}"#,
            "\nnot ok: result.ok: false, result.message: \"upstream timed out\"\nvalues: id: 7, jsonrpc: \"2.0\"\n",
        ),
        (
            r#"{"error": {"type": "invalid", "param": "capture", "docs": "https://d", "hint": "x", "code": 409, "message": "Already captured"}}"#,
            "\nnot ok: error: {code: 409, message: \"Already captured\", type: \"invalid\", param: \"capture\"}\n",
        ),
        (
            r#"[{"state": "error", "message": "no route to 10.0.0.7", "hops": [1, 2, 3]}]"#,
            "\nnot ok: state: \"error\", message: \"no route to 10.0.0.7\"\nholds: hops[3]",
        ),
    ] {
        let summary = summary(text, 300);
        assert!(summary.contains(told), "{told}\n{summary}");
    }
}

#[test]
fn a_message_has_room_for_a_sentence() {
    let sentence =
        "The deployment was rolled back because three of five replicas never became ready within ten minutes";
    let text = format!(r#"{{"status": "failed", "note": "{sentence}", "message": "{sentence}"}}"#);
    let summary = summary(&text, 600);
    assert!(summary.contains(&format!("message: \"{sentence}\"\n")), "{summary}");
    assert!(summary.contains("note: \"The deployment was rolled back because three of five…\""), "{summary}");
}

#[test]
fn what_an_answer_wraps_is_told_as_its_own() {
    let text = r#"{"success": true, "data": {"currency": "EUR", "id": "ord_1", "status": "open", "message": null, "url": "https://shop/1", "next_page": 2, "lines": [1]}}"#;
    let summary = summary(text, 400);
    assert!(
        summary.contains(
            "\nvalues: data.id: \"ord_1\", data.status: \"open\", data.url: \"https://shop/1\", data.next_page: 2, \
             success: true, data.currency: \"EUR\", data.message: null\n"
        ),
        "{summary}"
    );
}

#[test]
fn lines_of_json_are_rows() {
    let text = (0..30)
        .map(|i| format!("{{\"seq\":{i},\"level\":\"{}\"}}\n", if i == 9 { "error" } else { "info" }))
        .collect::<String>();
    let summary = summary(&text, 300);
    assert!(
        summary.starts_with("30 lines of JSON, each {seq, level}\n1 not ok: [9] {level: \"error\", seq: 9}"),
        "{summary}"
    );
}

#[test]
fn a_cut_document_is_called_incomplete() {
    let text = rows(40, |i| format!(r#"{{"id": {i}}}"#));
    let summary = summary(&text[..text.len() - 9], 200);
    assert!(summary.starts_with("JSON array of 39 × {id}, incomplete"), "{summary}");
    let page = format!(
        "{{\n  \"status\": 200,\n  \"text\": \"{}\"\n}}[... 480 more characters truncated]",
        "words ".repeat(99)
    );
    let summary = self::summary(&page, 200);
    assert!(summary.starts_with("JSON object, 2 keys, incomplete\n"), "{summary}");
}

#[test]
fn rows_that_were_not_read_are_not_spoken_for() {
    let text = rows(150_000, |i| format!(r#"{{"id":{i}}}"#));
    let summary = summary(&text, 200);
    assert!(summary.starts_with("JSON array of 150000 × {id}; only the first "), "{summary}");
}

#[test]
fn prose_is_no_json() {
    assert!(!summarize("not json", &mut Sheet::new(100)));
    assert!(!summarize("12 monkeys went out and were never seen again", &mut Sheet::new(100)));
}
