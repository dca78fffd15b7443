//! Web results -> results of low rank reduced to title and address; repeated texts only once.
//!
//! The original is needed to restore the texts, and each note names their lines. Any report may list addresses, so
//! results are recognised by the tool's name or by their form. A text that mentions an error is kept regardless of its
//! rank.

use std::collections::HashSet;
use std::ops::Range;

use crate::config::Preset;
use crate::content::is_url_line;
use crate::content::severity::{Severity, severity};
use crate::pipeline::{Edit, elided};

/// The minimum number of results in a list.
const MIN_RESULTS: usize = 3;

/// The number of results that later ones are compared with.
const MAX_COMPARED: usize = 32;

/// The minimum number of words of a text that is compared.
const MIN_WORDS: usize = 8;

/// The share of common words of texts that count as equal, in percent.
const SHARED_PERCENT: usize = 90;

/// The minimum size of a text that is replaced. A note for a shorter one saves almost nothing. Short texts are also
/// more likely a program's report about addresses, which has no ranks.
const MIN_TEXT: usize = 200;

/// Parts of the names of tools that search the web.
const WEB: [&str; 7] = ["web", "internet", "brave", "tavily", "google", "bing", "duckduckgo"];

/// Returns true if a tool's name says that it searches the web.
pub(super) fn is_web_search(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    tool.contains("search") && WEB.iter().any(|word| tool.contains(word))
}

/// Returns notes that replace texts. The segment `text` begins at byte `start` and line `first_line` of the whole text.
/// If `is_web` is false, only results in the typical form are recognised.
pub(super) fn edits(text: &str, start: usize, first_line: usize, preset: Preset, is_web: bool) -> Vec<Edit> {
    // The number of results that keep their text.
    let kept = if preset == Preset::Max { 3 } else { 5 };
    let mut earlier: Vec<HashSet<&str>> = Vec::new();
    let mut edits = Vec::new();
    for (index, (line, range)) in results(text, is_web).into_iter().enumerate() {
        let found = &text[range.clone()];
        let words: HashSet<&str> = found.split_whitespace().collect();
        let like = earlier.iter().position(|other| are_alike(&words, other));
        if earlier.len() < MAX_COMPARED {
            earlier.push(words);
        }
        if found.len() < MIN_TEXT || found.contains("[… ") || found.lines().any(|line| severity(line) > Severity::None)
        {
            continue;
        }
        let count = found.split('\n').count();
        let note = elided(count, "lines", Some((first_line + line, first_line + line + count - 1)));
        let range = start + range.start..start + range.end;
        match like {
            Some(other) => edits.push(Edit::note(range, format!("{note} much like result {}", other + 1))),
            None if index >= kept => edits.push(Edit::note(range, note)),
            None => {}
        }
    }
    edits
}

fn are_alike(words: &HashSet<&str>, other: &HashSet<&str>) -> bool {
    let shared = words.intersection(other).count();
    shared >= MIN_WORDS && shared * 100 >= words.union(other).count() * SHARED_PERCENT
}

/// Returns the text of each result: the index of its first line, and its bytes without the last line end. Empty for a
/// result without a text.
fn results(text: &str, is_web: bool) -> Vec<(usize, Range<usize>)> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for line in text.split('\n') {
        let start = lines.last().map_or(0, |last| last.end + 1);
        lines.push(start..start + line.len());
    }
    let line = |index: usize| &text[lines[index].clone()];
    // The title and the address of each result.
    let mut heads: Vec<(usize, usize)> = Vec::new();
    for index in 0..lines.len() {
        let is_free = |title: usize| heads.last().is_none_or(|&(_, address)| address < title);
        if is_link(line(index)) {
            heads.push((index, index));
        } else if is_url_line(line(index).trim())
            && index > 0
            && !line(index - 1).trim().is_empty()
            && is_free(index - 1)
            && (is_web || is_title(line(index - 1)))
        {
            heads.push((index - 1, index));
        }
    }
    if heads.len() < MIN_RESULTS {
        return Vec::new();
    }
    let ends = heads.iter().skip(1).map(|&(title, _)| Some(title)).chain([None]);
    heads
        .iter()
        .zip(ends)
        .map(|(&(_, address), next)| {
            // The end of the last result is not marked. Only its first paragraph certainly belongs to it.
            let end = next.unwrap_or_else(|| {
                (address + 1..lines.len()).find(|&index| line(index).trim().is_empty()).unwrap_or(lines.len())
            });
            let first = address + 1;
            let last = (first..end).rev().find(|&index| !line(index).trim().is_empty());
            match last {
                Some(last) => (first, lines[first].start..lines[last].end),
                None => (first, lines[address].end..lines[address].end),
            }
        })
        .collect()
}

/// Returns true for a line that can only be a title: `3. Words`, `[3] Words`, `## Words`, `**Words**`, `Title: Words`.
fn is_title(line: &str) -> bool {
    let trimmed = line.trim();
    let number = trimmed.trim_start_matches(['[', '#', '*', ' ']);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < number.len() && rest.starts_with(['.', ')', ']', ':']);
    is_numbered || ["#", "**", "Title: ", "title: "].iter().any(|start| trimmed.starts_with(start))
}

/// Returns true for `3. [Title](https://…)`.
fn is_link(line: &str) -> bool {
    let trimmed = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "-*#. ".contains(c));
    trimmed.starts_with('[') && trimmed.contains("](http") && trimmed.trim_end_matches('*').ends_with(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, preset: Preset) -> String {
        let mut out = text.to_owned();
        for edit in edits(text, 0, 1, preset, true).iter().rev() {
            out.replace_range(edit.range.clone(), &edit.text);
        }
        out
    }

    fn page(count: usize) -> String {
        let more = "Words of a summary that goes on for a while. ".repeat(5);
        (1..=count)
            .map(|n| {
                format!("{n}. Title {n}\nURL: https://x.y/{n}\nSnippet {n} first. {more}\nSecond line of {n}.\n\n")
            })
            .collect()
    }

    #[test]
    fn a_report_on_some_addresses_keeps_its_figures() {
        let text: String = (1..=9)
            .map(|n| format!("[WARN] Test {n}\n   URL: https://x.y/{n}\n   Status: 404 | Time: {}ms\n\n", n * 37))
            .collect();
        assert!(edits(&text, 0, 1, Preset::Max, true).is_empty());
    }

    #[test]
    fn results_of_low_rank_keep_title_and_address() {
        let text = page(7);
        let out = shown(&text, Preset::Balanced);
        assert!(out.contains("\nSecond line of 5."), "{out}");
        assert!(out.contains("6. Title 6\nURL: https://x.y/6\n[… 2 lines 28-29]\n\n7. Title 7"), "{out}");
        assert!(text.lines().nth(27).unwrap().starts_with("Snippet 6 first."));
        assert!(edits(&out, 0, 1, Preset::Balanced, true).is_empty());
        assert_eq!(edits(&text, 0, 1, Preset::Balanced, false), edits(&text, 0, 1, Preset::Balanced, true));
        assert!(shown(&text, Preset::Max).len() < out.len());
    }

    #[test]
    fn a_text_that_came_before_is_named_not_repeated() {
        let words = "one two three four five six seven eight nine ten ".repeat(5);
        let text = format!("A\nhttps://a\n{words}\n\nB\nhttps://b\nother words\n\nC\nhttps://c\n{words}\n\nthe end\n");
        let out = shown(&text, Preset::Balanced);
        assert!(out.ends_with("C\nhttps://c\n[… 1 lines 11-11] much like result 1\n\nthe end\n"), "{out}");
    }

    #[test]
    fn links_in_one_line_are_results_and_prose_is_none() {
        let text =
            "1. [A](https://a)\nsnip a\n2. [B](https://b)\nsnip b\n3. [C](https://c)\n4. [D](https://d)\nsnip d long\n";
        let lines: Vec<usize> = results(text, false).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 5, 6]);
        assert!(results("see\nhttps://a\nand more words\n", true).is_empty());
    }

    #[test]
    fn addresses_in_a_report_have_no_rank_and_errors_stay() {
        let state = "all probes passed in the last five minutes from Frankfurt, Virginia and Singapore. ".repeat(3);
        let report: String = (1..=9).map(|n| format!("Site {n}: shop\nhttps://x.y/{n}\n{n} {state}\n\n")).collect();
        assert!(edits(&report, 0, 1, Preset::Balanced, false).is_empty());
        let failed = report.replace("\n9 all", "\nERROR all");
        assert!(shown(&failed, Preset::Balanced).contains("\nERROR all probes"));
        assert!(!shown(&failed, Preset::Balanced).contains("\n8 all probes"));
        assert!(is_web_search("web_search") && is_web_search("tavilySearch") && !is_web_search("search_files"));
    }
}
