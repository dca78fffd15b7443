//! Checks each claim of a summary against its text. A claim is either a quotation, which must be in the text, or a
//! count, which must equal a simple count made here. A claim that cannot be parsed as one of these is reported.
//!
//! No code is shared with the summaries: every form is parsed from the printed words.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// Returns the lists that do not have as many items as the headline states.
fn miscounted_lists(summary: &str) -> Vec<String> {
    static COUNT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b([0-9]+) (files|paths|objects)\b").unwrap());
    static LIST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(files|paths|objects)\b[^:]*: (.*)$").unwrap());
    static MORE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(.*) …\+([0-9]+)$").unwrap());
    let is_headline = |line: &&str| line.contains(", ") && COUNT.is_match(line) && !LIST.is_match(line);
    let Some(headline) = summary.lines().find(is_headline) else { return Vec::new() };
    let mut wrong = Vec::new();
    for line in summary.lines() {
        let Some(list) = LIST.captures(line).filter(|_| !line.ends_with('…')) else { continue };
        let (items, more) = match MORE.captures(&list[2]) {
            Some(found) => (found[1].to_owned(), number(&found[2])),
            None => (list[2].to_owned(), 0),
        };
        let said = COUNT.captures_iter(headline).find(|found| found[2] == list[1]).map(|found| number(&found[1]));
        // A list that does not state the number of further items may be cut.
        let least = items.split(", ").count() + more;
        // A list that states no rest may be cut.
        let is_cut = |said: usize| more == 0 && least < said;
        if said.is_some_and(|said| said != least && !is_cut(said) && !items.contains('"')) {
            wrong.push(format!("{line}: {least} items"));
        }
    }
    wrong
}

fn number(digits: &str) -> usize {
    digits.parse().expect("digits")
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

/// A text in the forms in which summaries quote it.
pub(crate) struct Page {
    text: String,
    /// The lines as a screen shows them.
    lines: Vec<String>,
    /// The text with single blanks, and further variants: without the quotes of JSON keys, without tags, without
    /// printed line numbers, without `**`.
    quoted: [OnceCell<String>; 5],
    documents: Vec<Value>,
    /// The added and removed lines of each file of a diff.
    changes: BTreeMap<String, (usize, usize)>,
    /// The hits by file, in each of the forms in which searches print them.
    hits: OnceCell<Vec<BTreeMap<String, usize>>>,
    /// The number of lines that each pattern matches.
    counts: RefCell<BTreeMap<String, usize>>,
}

/// A function that returns true if the text proves a claim, given the claim's groups.
type Proof = fn(&Page, &Captures<'_>) -> bool;

const CLAIMS: &[(&str, Proof)] = &[
    (r"^one line$", |page, _| page.lines.len() == 1),
    (r"^([0-9]+) lines$", |page, found| page.has_count(number(&found[1]), page.lines.len())),
    // A kind, or the name of a format or a language.
    (r"^([A-Za-z][A-Za-z+#. -]{1,24}), (one line|[0-9]+ lines|lines [0-9]+–[0-9]+)$", |page, found| {
        page.is_of_kind(&found[1]) && page.is_claim(&found[2])
    }),
    (r"^lines ([0-9]+)–([0-9]+)$", |page, found| {
        page.has_number(&found[1])
            && page.has_number(&found[2])
            && !page.lines.iter().any(|line| line.contains("---+---"))
    }),
    (r"^(fatal|error|warn|notice|info|debug|trace) ([0-9]+)$", |page, found| {
        let words = match &found[1] {
            "fatal" => "fatal|ftl|crit(?:ical)?|emerg|alert|panic|f|60|<[0-9]+>",
            "error" => "error|severe|err|e|50|<[0-9]+>",
            "warn" => "warn(?:ing)?|wrn|w|40|<[0-9]+>",
            "notice" => "notice|<[0-9]+>",
            "info" => "info(?:rmation)?|inf|i|30|<[0-9]+>",
            "debug" => "debug|dbu?g|fine|d|20|<[0-9]+>",
            _ => "trace|trce?|verbose|finest|v|10",
        };
        number(&found[2]) <= page.lines_with(&format!("(?i)(?:^|[^a-z0-9_])(?:{words})(?:[^a-z_]|$)"))
    }),
    (r"^(?:search, )?([0-9]+) (?:matches|places) in ([0-9]+) files(?: under (.*))?$", |page, found| {
        let hits = page.hits();
        let is_under = found.get(3).is_none_or(|directory| page.quotes(directory.as_str()));
        is_under
            && hits.iter().any(|files| {
                let counts = (files.values().sum::<usize>(), files.len());
                counts == (number(&found[1]), number(&found[2]))
            })
    }),
    (r"^([0-9]+) paths(?: under (.*))?$", |page, found| {
        found.get(2).is_none_or(|directory| page.quotes(directory.as_str()))
            && page.has_rows(number(&found[1]), r"[\w*.]")
    }),
    (r"^messages(?:, (.*?))?(?: in ([0-9]+) files(?: under (.*))?)?$", |page, found| {
        let counts = found.get(1).map_or("", |counts| counts.as_str());
        found.get(3).is_none_or(|directory| page.quotes(directory.as_str()))
            && counts.split(", ").filter(|count| !count.is_empty()).all(|count| page.proves_messages(count))
    }),
    (r"^diff, ([0-9]+) files(?:, \+([0-9]+) -([0-9]+))?$", |page, found| {
        let sum = page.changes.values().fold((0, 0), |sum, (added, removed)| (sum.0 + added, sum.1 + removed));
        page.changes.len() == number(&found[1])
            && found.get(2).is_none_or(|added| sum == (number(added.as_str()), number(&found[3])))
    }),
    (r"^([0-9]+) commits$", |page, found| page.lines_with("^commit [0-9a-f]{7,}") == number(&found[1])),
    (r"^diff stat, ([0-9]+) rows$", |page, found| page.lines_with(r"^ .* \| +(?:[0-9]+|Bin)\b") == number(&found[1])),
    (r"^table(?:, ([0-9]+) rows)?(?:(?:,| ×) ([0-9]+) columns)?$", |page, found| {
        // A row without a first cell may continue the row above it.
        const BEGINS: &str = r"^[|│┃║]?\s*[^\s|│┃║+-][^|│┃║]*[|│┃║]";
        found
            .get(1)
            .is_none_or(|rows| [r"[\w-]", BEGINS].iter().any(|begins| page.has_rows(number(rows.as_str()), begins)))
            && found.get(2).is_none_or(|columns| page.has_columns(number(columns.as_str())))
    }),
    (r"^YAML, (?:[0-9]+ lines|lines [0-9–]+), ([0-9]+) objects$", |page, found| {
        [r"^- apiVersion:", "^apiVersion:"].iter().any(|key| page.lines_with(key) == number(&found[1]))
    }),
    (r"^(?:HTML page|page snapshot|messages|search|log|output|text)$", |_, _| true),
    (r"^(?:title|url): (.*)$", |page, found| page.quotes(&found[1])),
    (r"^JSON array of ([0-9]+)(?: × \{(.*)\}| \w+)?(, incomplete)?$", |page, found| {
        let is_whole = matches!(page.documents.as_slice(), [Value::Array(items)] if items.len() == number(&found[1]));
        (is_whole || page.documents.is_empty())
            && page.has_keys(number(&found[1]), found.get(2).map(|keys| keys.as_str()))
    }),
    (r"^JSON object, ([0-9]+) keys(?:, each \{(.*)\})?(, incomplete)?$", |page, found| {
        let is_whole =
            matches!(page.documents.as_slice(), [Value::Object(fields)] if fields.len() == number(&found[1]));
        (is_whole || page.documents.is_empty())
            && page.has_keys(number(&found[1]), found.get(2).map(|keys| keys.as_str()))
    }),
    (r"^([0-9]+) lines of JSON(?:, each \{(.*)\})?(?:, incomplete)?$", |page, found| {
        page.has_rows(number(&found[1]), r"^\s*[\[{]")
            && page.has_keys(number(&found[1]), found.get(2).map(|keys| keys.as_str()))
    }),
    (r"^JSON(?: (?:string|number|boolean|null|value))?$", |_, _| true),
    (r"^(.+): ([0-9]+) × \{(.*)\}$", |page, found| {
        page.has_length(&found[1], number(&found[2])) && page.has_keys(number(&found[2]), Some(&found[3]))
    }),
    (r"^([0-9]+) like: (.*)$", |page, found| {
        // The location of a message may differ between similar messages.
        static PLACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\S*?[:(][0-9]+[:,][0-9]+[:\])]*").unwrap());
        let words: Vec<&str> = words_of(&found[2][PLACE.find(&found[2]).map_or(0, |place| place.end())..]).collect();
        let words = &words[..words.len().saturating_sub(1).min(LIKE_WORDS)];
        let is_like = |line: &&String| {
            let mut own = words_of(line);
            words.iter().all(|word| own.any(|other| other == *word))
        };
        page.proves(&found[2]) && page.lines.iter().filter(is_like).count() >= number(&found[1])
    }),
    (r"^from (.*) to (.*)$", |page, found| {
        let is_clock = |time: &str| !Regex::new(r"[0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{2}\b").unwrap().is_match(time);
        [&found[1], &found[2]].iter().all(|time| page.quotes(time) && is_clock(time))
    }),
    (r"^at (.*)$", |page, found| page.quotes(&found[1])),
    (r"^first at (.*), last at (.*)$", |page, found| {
        let line_with = |time: &str| page.lines.iter().position(|line| folded(line).contains(time));
        line_with(&found[1]).is_some_and(|first| line_with(&found[2]).is_some_and(|last| first < last))
    }),
    (r"^([0-9]+) naming a failure: (.*)$", |page, found| {
        let items = page.arrays().iter().map(Vec::len).max().unwrap_or(0);
        let fields = page.values().into_iter().filter_map(Value::as_object).map(serde_json::Map::len).max();
        let rows = if page.documents.is_empty() { page.lines.len() } else { items.max(fields.unwrap_or(0)) };
        number(&found[1]) <= rows && page.proves(&found[2])
    }),
    (r"^first row: (.*)$", |page, found| page.quotes(&found[1])),
    // A row of JSON: its place and its members.
    (r"^(.*?)(?:\[([0-9]+)\])? \{(.*?)\}?…?$", |page, found| {
        let is_place = page.quotes(found[1].rsplit('.').next().unwrap_or_default());
        let is_there = found.get(2).is_none_or(|index| {
            let (index, members) = (number(index.as_str()), found[3].trim_end_matches('…'));
            page.documents.is_empty()
                || page.arrays().iter().any(|items| items.get(index).is_some_and(|row| holds(row, members)))
        });
        is_place && is_there && page.has_items(&found[3])
    }),
    // The reason, the count and the names of failed rows.
    (r#"^(\S+): "?(.*?)"? ([0-9]+)×:(.*)$"#, |page, found| {
        let said = found[2].trim_end_matches('…');
        let is_same =
            |value: &&Value| value.get(&found[1]).is_some_and(|value| folded(&value.to_string()).contains(said.trim()));
        page.has_items(found[4].trim())
            && (page.documents.is_empty() || page.values().into_iter().filter(is_same).count() >= number(&found[3]))
    }),
    // A match of a search: the name of its file, its line and its words.
    (r"^([^\s:]+(?: [^\s:]+)*):([0-9]*) (.*)$", |page, found| {
        let text = folded(found[3].trim_end_matches('…'));
        page.quotes(&found[1])
            && page.lines.iter().any(|line| folded(line).contains(text.trim()) && line.contains(&found[2]))
    }),
    // A message below the name of its file.
    (r"^([^\s:]\S*?):([0-9]+:[0-9]+ .*)$", |page, found| page.quotes(&found[1]) && page.quotes(&found[2])),
    (r"^([0-9a-f]{7,10}) (.*)$", |page, found| page.quotes(&found[1]) && page.quotes(&found[2])),
    (r"^[0-9]+ (?:fields|buttons|links): (.*)$", |page, found| page.has_items(&found[1])),
    (r"^(.+?):(?: (.*))?$", |page, found| {
        let is_own = OWN_LABELS.contains(&&found[1]) || found[1].starts_with("files under ");
        let is_path = || page.quotes(found[1].rsplit('.').next().unwrap_or_default().trim_end_matches("keys"));
        (is_own || page.quotes(&found[1]) || is_path())
            && page.has_items(found.get(2).map_or("", |items| items.as_str()))
    }),
    // A failed element of XML: its name and its message, which both may contain the separator.
    (r"^(.+: .+)$", |page, found| {
        let is_split = |(at, _): (usize, &str)| page.quotes(&found[1][..at]) && page.quotes(&found[1][at + 2..]);
        found[1].match_indices(": ").any(is_split)
    }),
    (r"^(.*(?:×| to ).*)$", |page, found| page.has_items(&found[1])),
    // The extremes or the words of a column, cut at the length limit.
    (r"^(\S+) (\S+)(?: \(([^)]*)\)?)?(?: to?)?$", |page, found| {
        (1..=3).all(|group| found.get(group).is_none_or(|words| page.quotes(words.as_str())))
    }),
    (r"^(.*×[0-9]+) \S+$", |page, found| page.has_items(&found[1])),
    (r"^in (.*)$", |page, found| page.has_items(&found[1])),
];

/// The labels of summaries that are not words of the text.
const OWN_LABELS: &[&str] = &[
    "names",
    "error types",
    "columns",
    "headings",
    "outline",
    "imports",
    "defines",
    "in",
    "paths",
    "files",
    "directories",
    "objects",
    "images",
    "sections",
    "keys",
    "values",
    "holds",
    "ranges",
    "naming a failure",
    "unrated",
    "least covered",
];

/// The forms of a list item that is more than a quotation, with their proofs.
const ITEMS: &[(&str, Proof)] = &[
    // `src/a.rs ×3 from 12`, `load:41`: a line that contains the name, and the number of lines that contain it.
    (r"^(.+?)(?: ×([0-9]+) from |:)([0-9]+)$", |page, found| {
        let name = &found[1];
        let (kind, last) = name.rsplit_once(' ').unwrap_or(("", name));
        let at = number(&found[3]);
        let is_line = page
            .lines
            .get(at.wrapping_sub(1))
            .is_some_and(|line| folded(line).contains(last) || !kind.is_empty() && line.contains(kind));
        let is_hit = || page.lines_with(&format!(r"{}['\x22]?[:(]{at}\b", regex::escape(last))) > 0;
        let is_near = || page.has_number(&found[3]);
        page.quotes(last)
            && (is_line || is_hit() || is_near())
            && found.get(2).is_none_or(|count| page.has_hits(last, number(count.as_str())))
    }),
    (r"^(.+?) ×([0-9]+)$", |page, found| page.quotes(&found[1]) && page.has_hits(&found[1], number(&found[2]))),
    // The place of a row without a name.
    (r"^\S*?\[([0-9]+)\]$", |page, found| page.arrays().iter().any(|items| items.len() > number(&found[1]))),
    // A file of a diff.
    (r"^(.+?)(?: (?:new|deleted|renamed|binary))?(?: \+([0-9]+))?(?: -([0-9]+))?$", |page, found| {
        let count = |group: usize| found.get(group).map_or(0, |count| number(count.as_str()));
        let path = found[1].trim_end_matches('…');
        page.changes.iter().any(|(name, changes)| {
            name.ends_with(path) && (*changes == (count(2), count(3)) || (count(2), count(3)) == (0, 0))
        })
    }),
    // A row of `--stat`.
    (r"^(.+) ([0-9]+|Bin.*)$", |page, found| {
        page.lines_with(&format!(r"{} +\| +{}", regex::escape(&found[1]), regex::escape(&found[2]))) > 0
    }),
    // A name below its directory.
    (r"^(.*)[/\\]([^/\\]+)$", |page, found| page.quotes(&found[1]) && page.quotes(&found[2])),
    // A directory of a list of paths.
    (r"^(.*)/ ([0-9]+)$", |page, found| {
        let directory = if &found[1] == "." { String::new() } else { format!("{}[/\\\\]", regex::escape(&found[1])) };
        page.lines_with(&format!(r"(?:^|[/\\]){directory}[^/\\]*$")) >= number(&found[2])
    }),
    (r"^h[1-6] (.*)$", |page, found| page.quotes(&found[1])),
    (r"^#+ (.*)$", |page, found| page.quotes(&found[1]) || words_of(&found[1]).all(|word| page.quotes(word))),
    (r"^(.+)\[([0-9]+)\]$", |page, found| page.has_length(&found[1], number(&found[2]))),
    (r"^(.+)\{(.*)\}$", |page, found| page.quotes(&found[1]) && page.has_items(&found[2])),
    (r"^(.+) (\S+)–(\S+)$", |page, found| [&found[2], &found[3]].iter().all(|end| page.quotes(end))),
    // The extremes of a column.
    (r"^(.+?) (\S+)(?: \((.*)\))? to (\S+)(?: \((.*)\))?$", |page, found| {
        [(2, 3), (4, 5)].iter().all(|&(cell, row)| {
            let row = found.get(row).map_or("", |row| row.as_str().trim_end_matches('…'));
            let is_row = |line: &String| {
                line.contains(&found[cell]) && (row.starts_with("row ") || folded(line).contains(&folded(row)))
            };
            page.lines.iter().any(is_row)
        })
    }),
    // The words of a column with their counts.
    (r"^.+ ×[0-9]+$", |page, found| {
        static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^| )(\S[^×]*?) ×([0-9]+)").unwrap());
        // The matched words may begin with the name of the column, which does not precede the values in the text.
        WORD.captures_iter(&found[0]).all(|word| {
            let last = word[1].rsplit(' ').next().unwrap_or_default();
            let is_phrase = page.quotes(&word[1]) && !word[1].split(' ').all(|word| word == last);
            let value = if is_phrase { &word[1] } else { last };
            page.text.matches(value).count() >= number(&word[2])
        })
    }),
    // An element of a page, with the reference that calls use.
    (r#"^(?:(\w+) )?(?:"(.*)" )?(\w+)((?: \[[^\]]*\])*)(?:: (.*))?$"#, |page, found| {
        let name = found.get(2).map_or("", |name| name.as_str().trim_end_matches('…'));
        let (old, new) = (format!("[ref={}]", &found[3]), format!("\"ref\": \"{}\"", &found[3]));
        let is_element = |at: usize| {
            let around = &page.lines[at..page.lines.len().min(at + 6)];
            page.lines[at].contains(&old) && folded(&page.lines[at]).contains(name)
                || page.lines[at].contains(&new) && around.iter().any(|line| folded(line).contains(name))
        };
        (0..page.lines.len()).any(is_element)
    }),
    // A row of a report with its details.
    (r"^(.+?) \((.*)\)$", |page, found| {
        page.quotes(&found[1]) && found[2].split(" without ").all(|more| page.has_items(more))
    }),
    (r"^(\S+) ((?:reason|phase): .*)$", |page, found| page.quotes(&found[1]) && page.quotes(&found[2])),
    // A member of an answer's wrapper.
    (r"^[^\s:]+\.([^\s:.]+: .*)$", |page, found| page.quotes(&found[1])),
    (r"^(.+?: )?[\[{](.*?)[\]}]?$", |page, found| page.has_items(&found[2])),
];

/// The minimum number of first words that similar lines share.
const LIKE_WORDS: usize = 3;

/// The maximum number of facts in a headline.
const MOST_FACTS: usize = 20;

fn is_proved(claims: &[(Regex, Proof)], page: &Page, words: &str) -> bool {
    claims.iter().any(|(pattern, proof)| pattern.captures(words).is_some_and(|found| proof(page, &found)))
}

fn compiled(patterns: &'static [(&'static str, Proof)]) -> Vec<(Regex, Proof)> {
    patterns.iter().map(|(pattern, proof)| (Regex::new(pattern).unwrap(), *proof)).collect()
}

impl Page {
    /// Returns the claims of a summary that the text does not prove.
    pub(crate) fn unproved(&self, summary: &str) -> Vec<String> {
        if self.quotes(summary) {
            return Vec::new();
        }
        let mut wrong: Vec<String> = summary.lines().filter(|line| !self.proves(line)).map(str::to_owned).collect();
        wrong.extend(miscounted_lists(summary));
        wrong
    }

    /// Reads a text.
    pub(crate) fn of(text: &str) -> Self {
        let text = concertina::content::escapes::readable(text).into_owned();
        let documents = match serde_json::from_str(&text) {
            Ok(value) => vec![value],
            Err(_) => text.lines().map_while(|line| serde_json::from_str(line).ok()).collect::<Vec<Value>>(),
        };
        Self {
            lines: text.lines().map(str::to_owned).collect(),
            quoted: [const { OnceCell::new() }; 5],
            documents,
            changes: changes(&text),
            hits: OnceCell::new(),
            counts: RefCell::default(),
            text,
        }
    }

    /// Returns the text in a form in which it is quoted.
    fn form(&self, form: usize) -> &str {
        static KEY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)"\s*:\s*"#).unwrap());
        static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"<[^<>]*>").unwrap());
        static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\s*[0-9]+(?:→|\t|: |[|:-])").unwrap());
        const ENTITIES: [(&str, &str); 6] =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
        let text = &*self.text;
        self.quoted[form].get_or_init(|| {
            folded(&match form {
                0 => Cow::Borrowed(text),
                1 => KEY.replace_all(text, "$1: "),
                2 => {
                    let untagged = TAG.replace_all(text, "").into_owned();
                    Cow::Owned(ENTITIES.iter().fold(untagged, |text, (entity, sign)| text.replace(entity, sign)))
                }
                3 => NUMBER.replace_all(text, ""),
                _ => Cow::Owned(text.replace("**", "")),
            })
        })
    }

    fn whole(&self) -> &str {
        self.form(0)
    }

    /// Returns true if the text proves a line, or each of the facts that it consists of.
    fn proves(&self, line: &str) -> bool {
        static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| Regex::new("[;,] ").unwrap());
        let line = line.strip_prefix("of the part shown: ").unwrap_or(line);
        if self.is_claim(line) {
            return true;
        }
        let facts: Vec<(usize, usize)> = SEPARATOR.find_iter(line).map(|found| (found.start(), found.end())).collect();
        let ends = facts.iter().map(|(end, _)| *end).chain([line.len()]);
        // The starts of facts up to which everything is proved.
        let mut starts = vec![0];
        for (at, end) in ends.enumerate().filter(|_| facts.len() < MOST_FACTS) {
            if starts.iter().any(|start| self.is_claim(&line[*start..end])) {
                starts.push(facts.get(at).map_or(line.len() + 1, |(_, next)| *next));
            }
        }
        starts.contains(&(line.len() + 1))
    }

    /// Returns true if a fact is quoted, is proved by its form, or is a cut fact that claims no number.
    fn is_claim(&self, fact: &str) -> bool {
        static COMPILED: LazyLock<Vec<(Regex, Proof)>> = LazyLock::new(|| compiled(CLAIMS));
        if self.quotes(fact) || is_proved(&COMPILED, self, fact) {
            return true;
        }
        if let Some(cut) = fact.strip_suffix('…') {
            let is_known = |word: &str| {
                KINDS.contains(&word) || OWN_LABELS.iter().any(|label| label.contains(word)) || self.quotes(word)
            };
            let is_cut_behind =
                |end: usize| self.proves(cut[..end].trim_end_matches(',')) && words_of(&cut[end..]).all(is_known);
            return words_of(cut).all(is_known) || cut.rmatch_indices(' ').any(|(end, _)| is_cut_behind(end));
        }
        is_kind(fact) && self.is_of_kind(fact)
    }

    fn is_of_kind(&self, kind: &str) -> bool {
        kind != "Markdown" || self.lines_with(r"^\s*(?:not )?ok [0-9]|^TAP version") == 0
    }

    fn quotes(&self, line: &str) -> bool {
        let words = folded(line.strip_suffix("…\"").unwrap_or(line).trim_end_matches('…'));
        (0..self.quoted.len()).any(|form| self.form(form).contains(words.trim()))
    }

    /// Returns true if each item of a list is quoted, or is proved by its form. An item may contain the separator.
    fn has_items(&self, list: &str) -> bool {
        static COMPILED: LazyLock<Vec<(Regex, Proof)>> = LazyLock::new(|| compiled(ITEMS));
        static MORE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|,? )…(?:\+[0-9]+)?$").unwrap());
        let list = MORE.replace(list, "");
        let pieces: Vec<&str> = list.split(", ").collect();
        let mut from = 0;
        while from < pieces.len() {
            let is_item = |to: &usize| {
                let item = pieces[from..*to].join(", ");
                self.quotes(&item) || is_proved(&COMPILED, self, &item)
            };
            let Some(to) = (from + 1..=pieces.len().min(from + 12)).find(is_item) else { return false };
            from = to;
        }
        true
    }

    /// Returns true if a summary may state this count of lines. Notes that the text was cut are not counted.
    fn has_count(&self, said: usize, counted: usize) -> bool {
        said == counted
            || said < counted && said + 6 >= counted && self.lines_with("(?i)truncated|showing|omitted|more|output") > 0
    }

    fn lines_with(&self, pattern: &str) -> usize {
        let mut counts = self.counts.borrow_mut();
        *counts.entry(pattern.to_owned()).or_insert_with(|| {
            let pattern = Regex::new(pattern).unwrap();
            self.lines.iter().filter(|line| pattern.is_match(line)).count()
        })
    }

    /// Returns true if a line begins with this number.
    fn has_number(&self, digits: &str) -> bool {
        self.lines_with(&format!(r"^\s*0*{digits} *(?:→|\t|[:|│-])")) > 0
    }

    /// Returns true if the text has this number of rows, besides a header, rules and what is around them.
    fn has_rows(&self, said: usize, pattern: &str) -> bool {
        let headings = self.lines_with(r"^[^ ]+:$");
        let rows = self.lines_with(pattern) - if said + headings <= self.lines_with(pattern) { headings } else { 0 };
        let blocks: usize = self.lines.split(|line| line.trim().is_empty()).map(<[String]>::len).max().unwrap_or(0);
        said <= rows && (rows - said <= 6 || said <= blocks && blocks - said <= 4)
            || self.whole().contains(&format!("({said} rows)"))
    }

    /// Returns true if one of the first lines may have this number of cells.
    fn has_columns(&self, said: usize) -> bool {
        self.lines.iter().take(12).any(|line| {
            let cells = line.trim().split("  ").filter(|cell| !cell.is_empty()).count();
            let is_separated = |separator| line.matches(separator).count() + 1 >= said && line.contains(separator);
            (cells..=line.split_whitespace().count()).contains(&said)
                || [',', ';', '\t', '|', '│', '║'].into_iter().any(is_separated)
        })
    }

    fn hits(&self) -> &[BTreeMap<String, usize>] {
        self.hits.get_or_init(|| self.hits_by_form())
    }

    fn hits_by_form(&self) -> Vec<BTreeMap<String, usize>> {
        const FORMS: [&str; 5] = [
            r"^((?:[A-Za-z]:)?[^:]+?):[0-9]+:",
            r"^((?:[A-Za-z]:)?[^:(]+?)[:(][0-9]+",
            r"^((?:[A-Za-z]:)?[^\s:]+\.\w+):",
            r"^((?:[A-Za-z]:)?[^:]+):[^/:]",
            r"^((?:[A-Za-z]:)?[^:\t]+?)[:\t]",
        ];
        let by_prefix = |form: &str| {
            let form = Regex::new(form).unwrap();
            let mut files: BTreeMap<String, usize> = BTreeMap::new();
            for found in self.lines.iter().filter_map(|line| form.captures(line)) {
                *files.entry(found[1].to_owned()).or_default() += 1;
            }
            files
        };
        FORMS.iter().map(|form| by_prefix(form)).chain([self.headed_hits()]).collect()
    }

    /// Returns the hits below the names of their files.
    fn headed_hits(&self) -> BTreeMap<String, usize> {
        let (mut files, mut heading) = (BTreeMap::new(), None);
        for line in &self.lines {
            let bare = line.trim_start();
            let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
            let bare = bare.strip_prefix("Line ").unwrap_or(&bare[digits..]);
            if digits > 0 && bare.starts_with(':') || line.trim_start().starts_with("Line ") {
                if let Some(heading) = &heading {
                    *files.entry(String::clone(heading)).or_default() += 1;
                }
            } else if digits == 0 && !line.trim().is_empty() {
                heading = Some(line.trim_end_matches(':').to_owned());
            }
        }
        files
    }

    /// Returns true if a file has this number of hits or messages, or a word stands on as many lines.
    fn has_hits(&self, name: &str, said: usize) -> bool {
        let is_file =
            |files: &BTreeMap<String, usize>| files.iter().any(|(path, count)| path.ends_with(name) && *count == said);
        let named = self.lines.iter().filter(|line| line.contains(name)).count();
        let below = || {
            self.lines.split(|line| line.trim().is_empty()).any(|lines| lines[0].contains(name) && lines.len() > said)
        };
        self.hits().iter().any(is_file) || said <= named || below()
    }

    /// Returns true if the text has this number of messages of a severity: `3 errors`.
    fn proves_messages(&self, count: &str) -> bool {
        let (digits, word) = count.split_once(' ').unwrap_or((count, ""));
        let words = match word {
            "errors" => r"(?i)\berror\b|\b[EF][0-9]{3,4}\b|: [EF]:",
            "warnings" => r"(?i)\bwarning\b|\bW[0-9]{3,4}\b|: W:",
            "notes" => {
                r"(?i)\b(?:note|info\w*|hint|help|remark|style|performance|portability)\b|\b[CRI][0-9]{4}\b|: [CRI]:"
            }
            _ => r"[:(][0-9]+|^\s*[0-9]+",
        };
        digits.parse().is_ok_and(|said: usize| said <= self.lines_with(words))
    }

    /// Returns true if all the keys of `id, tags[], owner{}?` are in the text, and those without `?` in each row of a
    /// list of this length.
    fn has_keys(&self, said: usize, keys: Option<&str>) -> bool {
        static MORE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" ?…(?:\+[0-9]+)?$").unwrap());
        let keys = MORE.replace(keys.unwrap_or_default(), "");
        let bare = |key: &str| key.trim_end_matches("[]").trim_end_matches("{}").to_owned();
        let (optional, required): (Vec<&str>, Vec<&str>) = keys.split(", ").partition(|key| key.ends_with('?'));
        let required: Vec<String> = required.into_iter().map(bare).collect();
        let has_all = |row: &Value| required.iter().all(|key| key.contains(['\\', '…']) || row.get(key).is_some());
        // An object may be a list of its members.
        let is_list = |value: &Value| match value {
            Value::Array(rows) => rows.len() == said && rows.iter().all(has_all),
            Value::Object(rows) => rows.len() == said && rows.values().all(has_all),
            _ => false,
        };
        let is_lines = || self.documents.len() == said && self.documents.iter().all(has_all);
        let is_known = self.documents.is_empty() || required.iter().all(String::is_empty);
        let optional = optional.iter().map(|key| bare(key.trim_end_matches('?')));
        required.iter().cloned().chain(optional).all(|key| self.quotes(&key))
            && (is_known || is_lines() || self.values().into_iter().any(is_list))
    }

    fn values(&self) -> Vec<&Value> {
        fn walk<'v>(value: &'v Value, found: &mut Vec<&'v Value>) {
            found.push(value);
            match value {
                Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
                Value::Object(fields) => fields.values().for_each(|field| walk(field, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        self.documents.iter().for_each(|document| walk(document, &mut found));
        found
    }

    fn arrays(&self) -> Vec<Vec<Value>> {
        let inner = self.values().into_iter().filter_map(Value::as_array).cloned();
        inner.chain([self.documents.clone()]).collect()
    }

    /// Returns true if a member of this name, or path, has this number of items.
    fn has_length(&self, path: &str, said: usize) -> bool {
        let key = path.rsplit('.').next().unwrap_or(path).split('[').next().unwrap_or_default();
        let length = |value: &Value| match value {
            Value::Array(items) => Some(items.len()),
            Value::Object(fields) => Some(fields.len()),
            _ => None,
        };
        let lengths: BTreeSet<usize> = self.values().into_iter().filter_map(|value| length(value.get(key)?)).collect();
        let is_nested = || self.arrays().iter().any(|items| items.len() == said);
        self.documents.is_empty() || lengths.contains(&said) || is_nested()
    }
}

/// The words of headlines that name a kind of text.
const KINDS: &[&str] = &[
    "log", "text", "Markdown", "code", "page", "JSON", "array", "object", "lines", "keys", "each", "table", "rows",
    "search", "matches", "diff", "messages", "report", "changes", "plan", "audit", "coverage", "of", "snapshot",
    "title", "url", "under", "error", "warn", "info", "debug", "trace",
];

/// Returns true for a kind of text.
fn is_kind(words: &str) -> bool {
    KINDS.contains(&words) || ["plan of changes", "audit report", "page snapshot", "HTML page"].contains(&words)
}

/// Returns true if the values of some members, such as `id: 3, name: "x"`, are in a row. A cut member is skipped.
fn holds(row: &Value, members: &str) -> bool {
    let row = folded(&row.to_string());
    members
        .split(", ")
        .filter_map(|member| member.split_once(": "))
        .take(1)
        .all(|(_, value)| row.contains(value.trim_end_matches(['…', '}', '"']).trim_matches(['{', '"', '['])))
}

/// Returns the changes of each file of a diff. Inside a hunk the counts of its header decide.
fn changes(text: &str) -> BTreeMap<String, (usize, usize)> {
    static HUNK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(@@+) -[0-9]+(?:,([0-9]+))? .*?\+[0-9]+(?:,([0-9]+))? @@").unwrap());
    let mut files: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let bare = |path: &str| {
        let path = path.split('\t').next().unwrap_or(path).trim().trim_matches('"');
        path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path).to_owned()
    };
    let (mut path, mut old, mut left, mut parents) = (String::new(), String::new(), (0usize, 0usize), 1);
    for line in text.lines() {
        if left != (0, 0) {
            let signs = &line[..line.floor_char_boundary(parents)];
            let (is_new, is_old) = (signs.contains('+'), signs.contains('-'));
            let counts = files.entry(path.clone()).or_default();
            counts.0 += usize::from(is_new);
            counts.1 += usize::from(is_old);
            if line.starts_with("diff --git ") || line.starts_with("@@") {
                left = (0, 0);
            } else if parents > 1 {
                left.1 -= usize::from(!is_old).min(left.1);
                left.0 = 0;
                continue;
            } else {
                left.0 -= usize::from(!is_new && !line.starts_with('\\')).min(left.0);
                left.1 -= usize::from(!is_old && !line.starts_with('\\')).min(left.1);
                continue;
            }
        }
        if let Some(hunk) = HUNK.captures(line).filter(|_| !path.is_empty()) {
            let count = |group: usize| hunk.get(group).map_or(1, |count| number(count.as_str()));
            parents = hunk[1].len() - 1;
            left = (count(2), count(3));
        } else if let Some(pair) = line.strip_prefix("diff --git ") {
            let half = pair.len() / 2;
            path = bare(if pair.is_char_boundary(half) && pair[half..].starts_with(' ') {
                &pair[half + 1..]
            } else {
                pair.rsplit(' ').next().unwrap_or(pair)
            });
            files.entry(path.clone()).or_default();
        } else if let Some(one) = line.strip_prefix("diff --cc ").or_else(|| line.strip_prefix("diff --combined ")) {
            path = bare(one);
            files.entry(path.clone()).or_default();
        } else if let Some(one) = line.strip_prefix("--- ") {
            old = bare(one);
        } else if let Some(one) = line.strip_prefix("+++ ") {
            let new = if bare(one) == "/dev/null" { old.clone() } else { bare(one) };
            path = new;
            files.entry(path.clone()).or_default();
        }
    }
    files
}

fn words_of(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty() && !word.bytes().any(|byte| byte.is_ascii_digit()))
}
