//! Checks each claim of a line summary against the text: counts, levels, times and quotations.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the claims of a summary that the text does not prove. Only summaries of logs, messages and plain text are
/// checked.
pub(crate) fn unproved(summary: &str, text: &str) -> Vec<String> {
    let Some(headline) =
        summary.lines().next().filter(|line| ["log, ", "text, "].iter().any(|kind| line.starts_with(kind)))
    else {
        return Vec::new();
    };
    let text = &*concertina::content::escapes::readable(text);
    let page = Page { lines: text.lines().collect(), folded: folded(text) };
    let mut wrong: Vec<String> =
        headline.split(", ").skip(1).filter(|fact| !page.proves_fact(fact)).map(str::to_owned).collect();
    wrong.extend(summary.lines().skip(1).filter(|line| !page.proves_line(line)).map(str::to_owned));
    wrong
}

/// Replaces each run of white space by one blank and removes control characters, as summaries quote.
fn folded(text: &str) -> String {
    let printable: String = text.chars().filter(|&c| c.is_whitespace() || !c.is_control() && c != '\u{feff}').collect();
    let words: Vec<&str> = printable.split_whitespace().collect();
    let folded = words.join(" ");
    [("[REF_ID", "(REF_ID"), ("[[REWIND", "([REWIND"), ("[[FOLD", "([FOLD"), ("[[DEDUP_REF", "([DEDUP_REF")]
        .into_iter()
        .fold(folded, |text, (marker, defused)| text.replace(marker, defused))
}

struct Page<'t> {
    lines: Vec<&'t str>,
    folded: String,
}

impl Page<'_> {
    /// Returns true if the text proves a part of the headline: `12 lines`, `lines 3–9`, `FAILED ×2`, `error 3`. A
    /// truncated part claims nothing.
    fn proves_fact(&self, fact: &str) -> bool {
        static COUNT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+) lines$").unwrap());
        static RANGE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^lines (\d+)–(\d+)$").unwrap());
        static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\S.*) ×(\d+)$").unwrap());
        static LEVEL: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^(fatal|error|warn|notice|info|debug|trace) (\d+)$").unwrap());
        let number = |digits: &str| digits.parse::<usize>().expect("digits");
        if let Some(found) = COUNT.captures(fact) {
            return number(&found[1]) == self.lines.len();
        }
        if let Some(found) = RANGE.captures(fact) {
            let numbered = |number: &str| {
                self.lines.iter().any(|line| {
                    line.trim_start()
                        .strip_prefix(number)
                        .is_some_and(|rest| rest.trim_start_matches(' ').starts_with(['→', '\t', ':', '|', '│']))
                })
            };
            return numbered(&found[1])
                && numbered(&found[2])
                && !self.lines.iter().any(|line| line.contains("---+---"));
        }
        let lines_with = |words: &Regex| self.lines.iter().filter(|line| words.is_match(line)).count();
        if let Some(found) = WORD.captures(fact) {
            return number(&found[2])
                <= lines_with(&Regex::new(&format!(r"(^|\W){}(\W|$)", regex::escape(&found[1]))).unwrap());
        }
        if let Some(found) = LEVEL.captures(fact) {
            let words = match &found[1] {
                "fatal" => "fatal|crit|emerg|alert|panic|F",
                "error" => "severe|err|E",
                "warn" => "warn|W",
                "info" => "info|I",
                "debug" => "debug|D",
                "trace" => "trace|verbose|V",
                level => level,
            };
            return number(&found[2]) <= lines_with(&Regex::new(&format!("(?i)(?:{words})")).unwrap());
        }
        fact.ends_with('…') || fact == "one line" && self.lines.len() == 1
    }

    /// Returns true if the text proves a line below the headline: a quotation, or a claim about one.
    fn proves_line(&self, line: &str) -> bool {
        static LIKE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+) like: (.*)$").unwrap());
        if self.quotes(line) {
            return true;
        }
        if let Some(found) = LIKE.captures(line) {
            let words: Vec<&str> = words_of(found[2].trim_end_matches('…')).collect();
            let words = &words[..words.len().saturating_sub(1)];
            let is_like = |line: &&&str| {
                let mut own = words_of(line);
                words.iter().all(|word| own.any(|other| other == *word))
            };
            return self.quotes(&found[2]) && self.lines.iter().filter(is_like).count() >= found[1].parse().unwrap();
        }
        if let Some((first, last)) = line.strip_prefix("from ").and_then(|times| times.split_once(" to ")) {
            let at = |time: &str| self.lines.iter().position(|line| folded(line).contains(time));
            let is_clock = |time: &str| !Regex::new(r"\d\d:\d\d:\d\d:\d\d\b").unwrap().is_match(time);
            return at(first).is_some() && at(last).is_some() && is_clock(first) && is_clock(last);
        }
        let items = |list: &str| {
            let list = list.split(" …+").next().unwrap_or(list).trim_end_matches('…');
            list.split(", ").all(|item| self.quotes(item.trim()))
        };
        ["names: ", "error types: "].iter().find_map(|label| line.strip_prefix(label)).is_some_and(items)
            || line.strip_prefix("at ").is_some_and(|time| self.quotes(time))
    }

    fn quotes(&self, line: &str) -> bool {
        self.folded.contains(folded(line.trim_end_matches('…')).trim())
    }
}

fn words_of(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty() && !word.bytes().any(|byte| byte.is_ascii_digit()))
}
