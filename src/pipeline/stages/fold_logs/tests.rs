//! Properties of every folded log.

use super::*;
use crate::pipeline::{CompressOptions, FusionEngine};

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
            "vault rotated signing key k7 to k8",
            "loader module abi 12 replaced by 11",
            "2025-03-17T09:00:00Z ERROR db connection reset by peer",
            "98765",
        ] {
            assert!(text.contains(needle), "{needle} in {text}");
        }
        assert_eq!(text.matches("2025-03-17T09:00:00Z ERROR db connection").count(), 10);
    }
    // The lossless form keeps all rows. The row itself, or one shortly before it, states the counter from which the
    // path follows.
    let (before, _) = lossless[0].text.split_once(" 302\n").expect("what is unusual of the row");
    let is_near = |line: &str| line.contains(" 41") || line.contains(" 40");
    assert!(before.lines().rev().take(10).any(is_near), "{before}");
    let (fold, _) = crate::pipeline::fold::parse(&lossless[0].text).expect("a fold");
    assert!(concertina_format::unfold(&fold).is_some_and(|text| text.contains("GET /api/items/417 302 ")));
    assert!(limited[0].text.contains("417 302"), "{}", limited[0].text);
    assert!(limited[0].text.len() < lossless[0].text.len());
    assert!(limited[0].text.contains("[… 89 lines 4-92]"), "{}", limited[0].text);
    assert!(limited[0].text.contains(" like: 2025-03-17T09:"), "{}", limited[0].text);
}

#[test]
fn a_limit_is_met_with_the_marker_line() {
    let log = server_log();
    let cost = |limit: usize| {
        let options = CompressOptions { max_tokens: Some(limit), ..CompressOptions::default() };
        FusionEngine::default().compress(&log, &options, &|| 0.0).tokens_after
    };
    for limit in (435..720).step_by(5) {
        assert!(cost(limit) <= limit, "{limit}: {}", cost(limit));
    }
}

#[test]
fn no_line_is_omitted_if_the_fold_fits_the_limit() {
    assert!(crunch(&server_log(), &[], Some(1_000_000))[0].lossless);
}

#[test]
fn sealed_lines_are_left_alone_and_the_rest_is_folded() {
    let log = server_log();
    let at = log.find("vault").expect("there");
    let edits = crunch(&log, std::slice::from_ref(&(at..at + 5)), None);
    let (start, end) = (log[..at].rfind('\n').expect("a line"), at + log[at..].find('\n').expect("a line"));
    assert_eq!(edits.len(), 2);
    assert!(edits[0].range.end <= start && edits[1].range.start > end, "{edits:?}");
}

#[test]
fn a_fold_comes_back() {
    for text in [server_log(), server_log().replace('\n', "\r\n")] {
        let edits = crunch(&text, &[], None);
        assert!(!edits.is_empty());
        for edit in edits {
            let (fold, len) = crate::pipeline::fold::parse(&edit.text).expect("a fold");
            assert_eq!(len, edit.text.len());
            assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(&text[edit.range.clone()]));
        }
    }
}

#[test]
fn a_log_without_alarms_is_left_to_the_general_stage() {
    let calm: String =
        server_log().lines().filter(|line| !line.contains("ERROR")).map(|line| format!("{line}\n")).collect();
    assert_eq!(crunch(&calm, &[], None), []);
}

#[test]
fn rare_errors_stay_as_they_are_and_many_become_rows() {
    let line = |n: usize| format!("2025-03-17T09:00:{:02}Z ERROR db{n} connection reset by peer\n", n % 60);
    let folded = |log: &str| {
        let options = CompressOptions { preset: Preset::Lossless, ..CompressOptions::default() };
        FusionEngine::default().compress(log, &options, &|| 0.0).text
    };
    let is_there = |text: &str| (0..5).all(|n| text.contains(&line(n)));
    let steady = server_log();
    let rare: String = (0..5).map(line).collect();
    assert!(is_there(&folded(&format!("{steady}{rare}{steady}"))));
    let many: String = (0..900).map(line).collect();
    assert!(!is_there(&folded(&format!("{many}{steady}"))));
}
