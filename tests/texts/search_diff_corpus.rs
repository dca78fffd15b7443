//! Tests of SearchCrunch and DiffCrunch on real search results and diffs: the savings in real tokens, and that every
//! hit, changed line, sign and position stays visible, according to separate parsers in this file.
//!
//! `cargo test --test search_diff_corpus -- --nocapture` prints the tables.

use std::collections::BTreeSet;

use concertina::config::Preset;
use concertina::pipeline::Stage;

use crate::corpus;
use crate::search_diff::{crunched, diff_changes, folded, tokens};
use crate::stages::stage;

/// Prints the table of one kind of file. Returns the tokens before and after.
fn table(stage: &dyn Stage, inputs: &[(String, String)], preset: Preset) -> (usize, usize) {
    let mut total = (0, 0);
    println!("\n{} {}\n{:>8} {:>8} {:>7}", stage.name(), preset.as_str(), "before", "after", "saved");
    let row = |name: &str, (before, after): (usize, usize)| {
        println!("{before:>8} {after:>8} {:>6.1}%  {name}", 100.0 * (1.0 - after as f64 / before as f64));
    };
    for (name, text) in inputs {
        let (before, after) = (tokens(text), tokens(&crunched(stage, text, preset)).min(tokens(text)));
        total = (total.0 + before, total.1 + after);
        row(name, (before, after));
    }
    row("TOTAL", total);
    total
}

fn inputs(kind: &str) -> Vec<(String, String)> {
    let texts = corpus::inputs(kind).into_iter();
    texts.filter_map(|input| Some((input.name.clone(), input.text()?.to_owned()))).collect()
}

fn saved((before, after): (usize, usize)) -> f64 {
    100.0 * (1.0 - after as f64 / before as f64)
}

/// Returns one of the fusion reference's own inputs, next to the corpus.
fn peer(name: &str) -> Option<Vec<(String, String)>> {
    Some(vec![(name.to_owned(), corpus::peer(name)?)])
}

/// Parses the hits of grep's output: path, number, text.
fn grep_hits(text: &str) -> BTreeSet<(String, String, String)> {
    let line = regex::Regex::new(r"^([^:\s]+?):([1-9][0-9]*):(.*)$").unwrap();
    let hits = text.lines().filter_map(|text| line.captures(text));
    hits.map(|hit| (hit[1].to_owned(), hit[2].to_owned(), hit[3].to_owned())).collect()
}

/// Parses the hits of the folded form.
fn shown_hits(text: &str) -> BTreeSet<(String, String, String)> {
    let legend = text.lines().find(|line| line.starts_with("[[FOLD:")).unwrap_or_default();
    let quoted = |words: &str| {
        let rest = legend.split_once(words)?.1;
        serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()
    };
    let (start, end) = (quoted("; …x is "), quoted("; x… is "));
    let has_context = legend.contains("context");
    let mut directories: Vec<String> = Vec::new();
    let mut path = String::new();
    let mut hits = BTreeSet::new();
    for line in text.lines() {
        let bare = line.trim_start_matches('~');
        if bare.starts_with(|c: char| c.is_ascii_digit()) {
            let Some((places, text)) = bare.split_once(if has_context { ':' } else { ' ' }) else { continue };
            let mut text = text.to_owned();
            if let Some(end) = end.as_ref().filter(|_| text.ends_with('…')) {
                text = format!("{}{end}", text.trim_end_matches('…'));
            }
            if let Some(start) = start.as_ref().filter(|_| text.starts_with('…')) {
                text = format!("{start}{}", text.trim_start_matches('…'));
            }
            for part in places.split(',') {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let column = first.split_once(':');
                let number = |text: &str| text.split(':').next().and_then(|text| text.parse::<u64>().ok());
                let (Some(first), Some(last)) = (number(first), number(last)) else { continue };
                for number in first..=last {
                    let text = column.map_or(text.clone(), |(_, column)| format!("{column}:{text}"));
                    hits.insert((path.clone(), number.to_string(), text));
                }
            }
        } else if !bare.starts_with(['\t', '\\', ':', '(', '[']) && line != "--" {
            let depth = line.len() - line.trim_start_matches(' ').len();
            directories.truncate(depth);
            let full = format!("{}{}", directories.last().map_or("", String::as_str), &line[depth..]);
            if full.ends_with('/') { directories.push(full) } else { path = full }
        }
    }
    hits
}

#[test]
fn search_results_shrink_and_every_hit_is_in_sight() {
    let stage = stage("searchCrunch");
    let is_grep = |name: &str| name.contains("grep-") || name.contains("tool-search");
    let (grep, rest): (Vec<_>, Vec<_>) = inputs("search").into_iter().partition(|(name, _)| is_grep(name));
    let total = table(stage, &grep, Preset::Balanced);
    table(stage, &rest, Preset::Balanced);
    let peer = peer("tc6_search.rg");
    if !grep.is_empty() {
        assert!(saved(total) >= 60.0, "grep: {:.1} %", saved(total));
    }
    if let Some(peer) = &peer {
        assert!(saved(table(stage, peer, Preset::Balanced)) >= 60.0);
    }
    for (name, text) in grep.iter().chain(peer.iter().flatten()) {
        let (hits, lossless) = (grep_hits(text), folded(stage, text));
        if lossless == *text {
            continue;
        }
        let shown = shown_hits(&lossless);
        let missing: Vec<_> = hits.difference(&shown).collect();
        assert!(missing.is_empty(), "{name}: {:?}", &missing[..missing.len().min(3)]);
        let places = |hits: &BTreeSet<(String, String, String)>| -> BTreeSet<(String, String)> {
            hits.iter().map(|(path, number, _)| (path.clone(), number.clone())).collect()
        };
        let short = shown_hits(&crunched(stage, text, Preset::Max));
        assert!(places(&hits).is_subset(&places(&short)), "{name}: a hit is out of sight");
    }
}

#[test]
fn diffs_shrink_and_every_changed_line_keeps_sign_and_place() {
    let stage = stage("diffCrunch");
    let all = inputs("diffs");
    let peer = peer("tc5_git.diff");
    for (preset, all_at_least, peer_at_least) in
        [(Preset::Lossless, 6.8, 5.0), (Preset::Balanced, 10.0, 12.0), (Preset::Max, 20.0, 15.2)]
    {
        let total = table(stage, &all, preset);
        if !all.is_empty() {
            assert!(saved(total) >= all_at_least, "diffs, {}: {:.1} %", preset.as_str(), saved(total));
        }
        if let Some(peer) = &peer {
            assert!(saved(table(stage, peer, preset)) >= peer_at_least, "{}", preset.as_str());
        }
        for (name, text) in all.iter().chain(peer.iter().flatten()) {
            let out = crunched(stage, text, preset);
            let (before, after) = (diff_changes(text), diff_changes(&out));
            let first = before.iter().zip(&after).find(|(a, b)| a != b);
            assert!(before == after, "{name}: {} changed lines, then {}: {first:?}", before.len(), after.len());
            let words = ["\\ No newline", "Binary files", "rename ", "old mode ", "similarity index "];
            // Only a diffstat has no context lines that look like messages.
            let is_message = |line: &str| name.contains("log-stat") && line.starts_with("    ");
            let is_kept = |line: &&str| is_message(line) || words.iter().any(|word| line.starts_with(word));
            for line in text.lines().filter(is_kept) {
                assert!(out.contains(line), "{name}: {line}");
            }
        }
    }
}

#[test]
fn every_real_text_comes_back() {
    for name in ["searchCrunch", "diffCrunch"] {
        let stage = stage(name);
        for kind in ["search", "diffs", "logs", "prose"] {
            for (_, text) in inputs(kind) {
                folded(stage, &text);
            }
        }
        for (_, messages) in corpus::sessions() {
            for text in messages.iter().flat_map(corpus::strings).filter(|text| text.len() > 200) {
                folded(stage, text);
            }
        }
    }
}
