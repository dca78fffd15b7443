//! What holds for every folded log.

use proptest::prelude::*;

use super::*;
use crate::config::Encoding;

fn crunch(text: &str, sealed: &[Range<usize>], max_tokens: Option<usize>) -> Vec<Edit> {
    let segments = [Segment::whole(text, ContentType::Log, None)];
    let context = FusionContext { sealed, max_tokens, ..FusionContext::of(text, &segments) };
    LogCrunch.apply(&context)
}

/// A steady web server with three events that no keyword announces.
fn server_log() -> String {
    let mut log = String::new();
    for n in 0..900 {
        let (second, status) = (n % 60, if n == 417 { 302 } else { 200 });
        let took = if n == 631 { 98_765 } else { 11 + n % 7 };
        log += &format!("2025-03-17T09:{:02}:{second:02}Z INFO gateway GET /api/items/{n} {status} {took}ms\n", n / 60);
        match n {
            300 => log += "2025-03-17T09:05:00Z INFO vault rotated signing key k7 to k8\n",
            500 => log += "2025-03-17T09:08:20Z INFO loader module abi 12 replaced by 11\n",
            _ if n % 90 == 0 => log += "2025-03-17T09:00:00Z ERROR db connection reset by peer\n",
            _ => {}
        }
    }
    log
}

#[test]
fn needles_and_errors_stay_in_sight_even_under_a_limit() {
    let log = server_log();
    let lossless = crunch(&log, &[], None);
    let limited = crunch(&log, &[], Some(1));
    assert!(lossless[0].lossless && !limited[0].lossless);
    for edits in [&lossless, &limited] {
        let text = &edits[0].text;
        for needle in [
            "INFO vault rotated signing key k7 to k8",
            "INFO loader module abi 12 replaced by 11",
            "417 302 ",
            "2025-03-17T09:00:00Z ERROR db connection reset by peer",
            "98765",
        ] {
            assert!(text.contains(needle), "{needle} in {text}");
        }
        // The row of a kind whose other lines went is a row again.
        assert!(edits == &limited || text.contains("INFO gateway GET /api/items/417 302 "));
        assert_eq!(text.matches("2025-03-17T09:00:00Z ERROR db connection").count(), 10);
    }
    assert!(limited[0].text.len() < lossless[0].text.len());
    assert!(limited[0].text.contains("[… 89 lines 4-92]"), "{}", limited[0].text);
    assert!(limited[0].text.contains(" like: INFO gateway GET /api/items/<"), "{}", limited[0].text);
}

#[test]
fn a_limit_that_folding_meets_leaves_nothing_out() {
    assert!(crunch(&server_log(), &[], Some(1_000_000))[0].lossless);
}

#[test]
fn sealed_lines_are_left_alone_and_the_rest_is_folded() {
    let log = server_log();
    let at = log.find("vault").expect("there");
    let edits = crunch(&log, std::slice::from_ref(&(at..at + 5)), None);
    let (start, end) = (log[..at].rfind('\n').expect("a line"), at + log[at..].find('\n').expect("a line"));
    assert_eq!(edits.len(), 2);
    assert_eq!((edits[0].range.end, edits[1].range.start, edits[1].range.end), (start, end + 1, log.len() - 1));
}

#[test]
fn a_folded_log_is_left_alone() {
    let folded = crunch(&server_log(), &[], None).remove(0).text;
    assert_eq!(crunch(&folded, std::slice::from_ref(&(0..folded.len())), None), []);
    assert_eq!(round_trip(&folded).map(|fold| fold.to_string().contains("\n[[FOLD:")), Some(false));
}

fn round_trip(text: &str) -> Option<Fold> {
    for errors_may_fold in [false, true] {
        let fold = encode::fold(text, Encoding::O200kBase, errors_may_fold)?;
        assert_eq!(encode::fold(text, Encoding::O200kBase, errors_may_fold).as_ref(), Some(&fold));
        assert_eq!(LogCrunch.unfold(&fold).as_deref(), Some(text), "{fold}");
        let (parsed, _) = crate::pipeline::fold::parse(&format!("{fold}\nmore")).expect("a fold");
        assert_eq!(parsed, fold);
    }
    encode::fold(text, Encoding::O200kBase, false)
}

fn stamp() -> impl Strategy<Value = String> {
    let parts = (0..3_u32, 0..60_u32, 0..60_u32, 0..1000_u32, 1..29_u32);
    (0..8_usize, parts).prop_map(|(layout, (h, m, s, ms, d))| match layout {
        0..=3 => format!("2025-03-{d:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z "),
        4 => format!("Feb {d:2} {h:02}:{m:02}:{s:02} "),
        5 => format!("[{h:02}:{m:02}:{s:02}] "),
        6 => format!("- {} ", 1_700_000_000 + d * 1000 + s),
        _ => String::new(),
    })
}

fn text() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        (0..2000_u32).prop_map(|n| format!("{n:04}")),
        (0..9_u32).prop_map(|n| n.to_string()),
        Just("00".to_owned()),
        Just("99999999999999999999999".to_owned()),
    ];
    let word = prop_oneof![
        prop::sample::select(vec![
            ".",
            "..",
            ".2",
            "$1",
            "$1=x",
            "\\",
            "\"\"",
            "+",
            "<+>",
            "<a>",
            "{b}",
            "«",
            "é",
            "\u{2028}",
            "\u{0}",
            "",
            "a,+1",
            "=1",
            "ok",
            "日本語",
            "12ms",
            "a/b/c9",
            "a/b/d8",
            "\r",
        ])
        .prop_map(str::to_owned),
        "[a-z0-9:/._-]{1,12}",
    ];
    prop_oneof![
        8 => (number.clone(), word.clone(), number).prop_map(|(a, b, c)| format!("INFO worker {a} sent {b} to {c}")),
        4 => word.clone().prop_map(|word| format!("DEBUG path={word} user=(x)")),
        2 => Just("INFO heartbeat from the same old place".to_owned()),
        1 => word.prop_map(|word| format!("ERROR {word} broke at line 7 of many")),
        1 => prop::sample::select(vec![
            "", " ", "a", "b1", "a: x <1>", "5: x", "-5: y", " 1", "2*3", "*4", "\\a", "[[FOLD:logCrunch 2]] x", "[[FOLD:rle 0]]",
            "[… 3 lines 1-3]", "trailing  ", "\r", "a . $1",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,40}",
    ]
}

fn log() -> impl Strategy<Value = String> {
    let line = (stamp(), text()).prop_map(|(stamp, text)| stamp + &text);
    (prop::collection::vec(line, 1..40), 1..4_usize, prop::sample::select(vec!["\n", "\r\n"])).prop_map(
        |(lines, times, end)| {
            let mut log = vec![lines.join(end); times].join(end);
            if end == "\r\n" {
                log.push('\r');
            }
            log
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_log_comes_back(log in log()) {
        let fold = round_trip(&log).expect("a fold");
        let body = fold.body.expect("a body");
        for line in log.lines().filter(|line| line.contains("ERROR")) {
            prop_assert!(body.contains(line.trim_end_matches('\r')), "{line}");
        }
    }

    #[test]
    fn a_foreign_fold_is_read_or_refused(body in "([a-c]?-?[0-9]{0,2}(: )?[ <>.$*=,a-c0-9]{0,12}\n){0,6}x", legend in prop::sample::select(vec![
        "", "`a: x <v>` = ", "from `12:00:00 `; `a5: x <v>` = ", "CRLF; `a: x {v}` = ",
    ])) {
        let fold = Fold::new(NAME, legend, Some(body));
        if let Some(text) = LogCrunch.unfold(&fold) {
            // Too short to be folded: whoever asks whether it folds into the same again learns that it is data.
            prop_assert!(text.len() > 400 || crunch(&text, &[], None).is_empty());
        }
    }
}

#[test]
fn hostile_logs_come_back() {
    let many = |line: &str, times: usize| vec![line; times].join("\n");
    for log in [
        "x".repeat(1_000_000),
        many("", 40_000),
        " ".repeat(300_000),
        many("a b c d e f g h i j k l m n o p", 3_000),
        (0..2_000).map(|n| format!("{n} {}\n", "w ".repeat(n % 97))).collect(),
        (0..2_000).map(|n| format!("k{} v{}=w{n}\n", "ab".repeat(n % 50), n * 7919)).collect(),
        (0..1_000).map(|n| format!("{}\n", "(1,2)".repeat(n % 70))).collect(),
        "[[FOLD:logCrunch 1]]\n".repeat(3_000),
        "2*3\n".repeat(3_000),
    ] {
        round_trip(&log);
    }
}

#[test]
fn a_fold_that_claims_too_much_is_not_ours() {
    for body in ["x\n*9999999999999", "x\ny\n2*99999999", "*5", "x\n*1\n4*1"] {
        let fold = Fold::new(NAME, "`a: x <v>` = ", Some(body.into()));
        assert_eq!(LogCrunch.unfold(&fold), None, "{body}");
    }
}
