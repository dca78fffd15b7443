//! `rules, date, rules` -> `rules, rules, [[changes: 2]], date`: moves lines that change with each call to the end of a
//! system message.
//!
//! This saves no tokens. It keeps the bytes before the volatile lines equal from call to call, so that they stay a
//! cache hit. Only whole lines that consist of a known label and a date, time or id are moved, and every line stays
//! readable.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::fold::Fold;

/// The published name of this step.
pub(super) const QUANTUM_LOCK: &str = "quantumLock";

/// Matches a line that consists of a label for a volatile value and that value: `- **Current date:** 2026-11-21`,
/// `Today is Friday, 21 November 2026.`, `<session_id>7f9c…</session_id>`.
///
/// The label alone is not enough: the value must look like a date, time, number or id.
static VOLATILE: LazyLock<Regex> = LazyLock::new(|| {
    let label = r"(?:(?:current|today'?s|local|system|server|utc|now)[ _-]?(?:date|time|datetime|day|timestamp)(?:(?: ?(?:and|&|/) ?| )time)?|date(?: ?(?:and|&|/) ?)?(?:time)?|time|timestamp|now|generated(?: at| on)?|last[ _-](?:updated|modified|seen)|(?:session|conversation|request|run|trace|message|thread|turn|correlation|invocation|chat)[ _-]?(?:id|key|uuid|number)|nonce|uptime)";
    let value = r"[^<>\n]*?(?:[0-9]{1,4}[-/.:][0-9]{1,2}|[0-9a-fA-F]{8}|[0-9]{4}|[0-9a-zA-Z_-]{12,}|[0-9]+ ?(?:s|ms|min|h|d|seconds|minutes|hours|days)\b)[^<>\n]*?";
    Regex::new(&format!(
        r"(?i)^ {{0,3}}(?:[-*•] +|<)?(?:\*\*|__)?(?:the )?{label}(?: \([a-z ]+\))?(?:\*\*|__)?(?: ?[:=>](?:\*\*|__)?| is(?: now)?)[ \t]*{value}(?:</[a-z_-]+>)?[ \t\r]*$|^ {{0,3}}today is [^<>\n]*[0-9][^<>\n]*$"
    ))
    .expect("the pattern of volatile lines is valid")
});

/// Returns a system prompt with its volatile lines at the end; `None` if no stable line follows a volatile one.
pub(super) fn volatile_last(prompt: &str) -> Option<String> {
    let start = volatile_lines(prompt).first()?.start;
    let end = prompt.strip_suffix('\n').map_or(prompt.len(), str::len);
    let moved = prompt.get(start..end)?;
    // A checksum in the header would change the prefix that has to stay equal, so it stands below.
    let fold = Fold { is_sealed_below: true, ..fold(moved)?.sealed(moved) };
    Some([&prompt[..start], &fold.to_string(), &prompt[end..]].concat())
}

/// The maximum length of a volatile line. Longer lines are prose.
const MAX_LINE_BYTES: usize = 200;

/// Returns the ranges of the volatile lines outside code fences, without their line ends.
fn volatile_lines(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start, mut in_fence) = (Vec::new(), 0, false);
    for line in text.split('\n') {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence && line.len() <= MAX_LINE_BYTES && VOLATILE.is_match(line) {
            found.push(start..start + line.len());
        }
        start += line.len() + 1;
    }
    found
}

/// Folds a text that starts with a volatile line. Returns `None` if no stable line follows.
fn fold(text: &str) -> Option<Fold> {
    let volatile = volatile_lines(text);
    if volatile.first()?.start != 0 {
        return None;
    }
    let (mut stable, mut moved, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let (mut start, mut next) = (0, volatile.iter().peekable());
    for (index, line) in text.split('\n').enumerate() {
        if next.next_if(|volatile| volatile.start == start).is_some() {
            moved.push(line);
            places.push((index + 1).to_string());
        } else {
            stable.push(line);
        }
        start += line.len() + 1;
    }
    if stable.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    let boundary = format!("[[changes with each call: {}]]", places.join(","));
    let body = [stable.join("\n"), boundary, moved.join("\n")].join("\n");
    Some(Fold::new(QUANTUM_LOCK, "", Some(body)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{CompressOptions, Compressed, FusionEngine, Role};

    const PROMPT: &str = "You are an agent.\nSession ID: 7f9c2ba4e88f827d\nBe brief.\n\n## Time\nCurrent date: 2026-11-21 10:00 UTC\n\
        Time zone: Europe/Berlin\n\nRead /srv/2026-11-21/session_id/7f9c2ba4e88f827d first.\n";

    fn lock(text: &str) -> Compressed {
        let options = CompressOptions { role: Role::System, ..CompressOptions::default() };
        FusionEngine::default().compress(text, &options, &|| 0.0)
    }

    #[test]
    fn volatile_lines_go_last_and_come_back() {
        let locked = lock(PROMPT);
        assert_eq!(
            locked.text,
            "You are an agent.\n[[FOLD:quantumLock 10 below]]\nBe brief.\n\n## Time\nTime zone: Europe/Berlin\n\nRead \
             /srv/2026-11-21/session_id/7f9c2ba4e88f827d first.\n[[changes with each call: 1,5]]\nSession ID: \
             7f9c2ba4e88f827d\nCurrent date: 2026-11-21 10:00 UTC\n\
             auzbmz\n"
        );
        assert!(locked.lossless);
        assert_eq!(crate::pipeline::restore(&locked.text, &[]), PROMPT);
        let row = locked.stages.iter().find(|row| row.name == "quantumLock").unwrap();
        assert!(row.fired);
        assert_eq!(lock(&locked.text).text, locked.text);
    }

    #[test]
    fn the_prefix_is_the_same_when_only_volatile_values_changed() {
        let later = PROMPT
            .replace("ID: 7f9c2ba4e88f827d", "ID: 00aa11bb22cc33dd")
            .replace("2026-11-21 10:00 UTC", "2027-01-02 9:59 CET");
        let (one, two) = (lock(PROMPT).text, lock(&later).text);
        let stable = one.find("7f9c2ba4e88f827d\n").unwrap();
        assert_eq!(one[..stable], two[..stable]);
        assert_ne!(one, two);
    }

    #[test]
    fn only_whole_lines_known_to_change_move() {
        concertina_cases::check!("volatile_lines", |text, _| {
            volatile_lines(text).into_iter().map(|range| format!("{}\n", &text[range])).collect()
        });
    }

    #[test]
    fn words_of_others_and_prompts_that_end_in_their_changes_stay() {
        let last = "Be brief.\nCurrent date: 2026-11-21\n";
        assert_eq!(lock(last).text, last);
        let tool = FusionEngine::default().compress(PROMPT, &CompressOptions::default(), &|| 0.0);
        assert!(!tool.text.contains("quantumLock"));
    }
}
