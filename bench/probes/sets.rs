//! The facts of a text, by its class. This code is independent of the engine's parsers.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::shell;
use crate::sight::has_words;

/// The maximum number of facts of one sort that are checked, spread evenly.
const ASKED: usize = 60;

/// A fact that a reader may need.
#[derive(Debug)]
pub(crate) enum Fact {
    /// This line, without the blanks around it.
    Line(String),
    /// These words.
    Words(String),
    /// Both of these are in one line.
    Together([String; 2]),
    /// At least this many words of negation.
    Negations(usize),
    /// A changed line of a file.
    Change { file: String, line: String },
    /// The value at a JSON pointer, and the record that contains it with its number, if it is in a list of records.
    Json { pointer: String, value: Value, record: Option<(usize, Value)> },
    /// The number of records in the list at a JSON pointer.
    Count { pointer: String, count: usize },
    /// A row: its line, its number, and its cells.
    Row { line: String, number: usize, cells: Vec<String> },
}

impl Fact {
    /// Returns true if a text contains the fact.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Line(line) => text.contains(line.as_str()) && text.lines().any(|other| other.trim() == line),
            Self::Words(words) => has_words(text, words),
            Self::Together([name, value]) => text.lines().any(|line| has_words(line, name) && has_words(line, value)),
            Self::Negations(count) => NEGATION.find_iter(text).count() >= *count,
            Self::Change { file, line } => changes(text).contains(&(file.clone(), line.clone())),
            Self::Json { pointer, value, record } => {
                let is_there = |document: &Value| document.pointer(pointer) == Some(value);
                document(text).is_some_and(|document| is_there(&document))
                    || record
                        .as_ref()
                        .is_some_and(|(number, record)| sampled(text).contains(&(*number, record.clone())))
            }
            Self::Count { pointer, count } => {
                let is_there = |document: &Value| {
                    document.pointer(pointer).and_then(Value::as_array).map(Vec::len) == Some(*count)
                };
                document(text).is_some_and(|document| is_there(&document)) || has_words(text, &format!("[{count} rows"))
            }
            Self::Row { line, number, cells } => {
                let has_cells = |record: &Value| {
                    let values: HashSet<String> =
                        record.as_object().into_iter().flatten().map(|(_, value)| plain(value)).collect();
                    cells.iter().all(|cell| cell.is_empty() || values.contains(cell))
                };
                text.contains(line.as_str()) && text.lines().any(|other| other.trim_end() == line)
                    || sampled(text).iter().any(|(shown, record)| shown == number && has_cells(record))
            }
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Compiles a valid pattern.
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

static NEGATION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:not|never|no|none|without|cannot|n['’]t)\b|n['’]t\b"));

fn document(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| {
        let lines: Option<Vec<Value>> =
            text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).ok()).collect();
        lines.filter(|lines| !lines.is_empty()).map(Value::Array)
    })
}

/// Parses the numbered records of a text that shows only some of them: `12: {…}`.
pub(crate) fn sampled(text: &str) -> Vec<(usize, Value)> {
    let record = |line: &str| {
        let (number, record) = line.trim().split_once(": ")?;
        Some((number.parse().ok()?, serde_json::from_str(record).ok().filter(Value::is_object)?))
    };
    text.lines().filter_map(record).collect()
}

/// Returns the changed lines of a diff, each with its file.
pub(crate) fn changes(text: &str) -> HashSet<(String, String)> {
    let (mut file, mut found) = (String::new(), HashSet::new());
    // The numbers of remaining lines in the hunk, of the old file and of the new one.
    let mut left = (0_usize, 0_usize);
    for line in text.lines() {
        if left == (0, 0) {
            if let Some(path) =
                line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")).filter(|path| *path != "/dev/null")
            {
                file = path
                    .split('\t')
                    .next()
                    .unwrap_or(path)
                    .trim_start_matches("a/")
                    .trim_start_matches("b/")
                    .to_owned();
            } else if let Some(hunk) = HUNK.captures(line) {
                let count = |group: usize| hunk.get(group).map_or(1, |count| count.as_str().parse().unwrap_or(0));
                left = (count(1), count(2));
            }
            continue;
        }
        let (old, new) = match line.bytes().next() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            Some(b' ') | None => (1, 1),
            // The counts state more lines than there are.
            _ => {
                left = (0, 0);
                continue;
            }
        };
        left = (left.0.saturating_sub(old), left.1.saturating_sub(new));
        if old != new {
            found.insert((file.clone(), line.to_owned()));
        }
    }
    found
}

static HUNK: LazyLock<Regex> = LazyLock::new(|| regex(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@"));

/// Returns the class of a file by its folder and name, or by its suffix.
pub(crate) fn class_of(name: &str, text: &str) -> &'static str {
    let path = format!("/{name}");
    let has = |part: &str| path.contains(part);
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    match () {
        () if has("/code/") || ends(&[".py", ".rs", ".js", ".ts", ".go", ".java"]) => "code",
        () if has("/diffs/") && !has("stat") || ends(&[".diff", ".patch"]) => "diffs",
        () if has("/html/") || ends(&[".html"]) => "html",
        () if has("/json/") || ends(&[".json"]) => "json",
        () if has("/logs/") || ends(&[".log"]) => "logs",
        () if has("/tables/") || ends(&[".csv", ".tsv"]) => "tables",
        () if (has("/search/") || ends(&[".rg"])) && text.lines().filter(|line| HIT.is_match(line)).count() > 2 => {
            "search"
        }
        () => "prose",
    }
}

static HIT: LazyLock<Regex> = LazyLock::new(|| regex(r"^([^\s:]+):(\d+)[:-](.*)$"));

/// Returns the facts to check of a text.
pub(crate) fn facts(class: &str, text: &str) -> Vec<Fact> {
    match class {
        "logs" => log(&shell::on_screen(text)),
        "json" => json(text),
        "diffs" => diff(text),
        "search" => search(text),
        "code" => code(text),
        "tables" => table(text),
        "html" => prose(&visible(text)),
        "shell" => shell::facts(text),
        _ => prose(text),
    }
}

fn spread<T>(facts: Vec<T>) -> Vec<T> {
    at_most(ASKED, facts)
}

/// Returns at most `limit` of the facts, spread evenly.
pub(crate) fn at_most<T>(limit: usize, facts: Vec<T>) -> Vec<T> {
    let step = facts.len().div_ceil(limit).max(1);
    facts.into_iter().step_by(step).collect()
}

fn log(text: &str) -> Vec<Fact> {
    let alarm = regex(r"\b(?:ERROR|WARN|WARNING|FATAL|CRITICAL|Traceback|[A-Za-z.]*(?:Exception|Error):)");
    let number = regex(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*");
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut shapes: HashMap<String, Vec<&str>> = HashMap::new();
    for line in &lines {
        shapes.entry(number.replace_all(line, "0").into_owned()).or_default().push(line);
    }
    let mut rare: Vec<&str> = shapes.values().filter(|lines| lines.len() <= 2).map(|lines| lines[0]).collect();
    rare.sort_unstable();
    let alarms = lines.iter().copied().filter(|line| alarm.is_match(line)).collect();
    let asked = spread(alarms).into_iter().chain(spread(rare)).chain(lines.last().copied());
    asked.map(|line| Fact::Line(line.to_owned())).collect()
}

fn diff(text: &str) -> Vec<Fact> {
    let mut changes: Vec<(String, String)> = changes(text).into_iter().collect();
    changes.sort_unstable();
    changes.into_iter().map(|(file, line)| Fact::Change { file, line }).collect()
}

fn search(text: &str) -> Vec<Fact> {
    let definition = regex(r"\b(?:fn|func|def|class|interface|struct|function|type)\s+\w");
    let hits: Vec<(&str, regex::Captures)> =
        text.lines().filter_map(|line| Some((line, HIT.captures(line)?))).collect();
    let mut files: Vec<&str> = hits.iter().map(|(_, hit)| hit.get(1).expect("a group").as_str()).collect();
    files.dedup();
    let definitions: Vec<&str> =
        hits.iter().filter(|(_, hit)| definition.is_match(&hit[3])).map(|(line, _)| line.trim()).collect();
    let lines: Vec<&str> = hits.iter().map(|(line, _)| line.trim()).collect();
    let files =
        spread(files).into_iter().map(|file| Fact::Words(file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned()));
    files.chain(spread(definitions).into_iter().chain(spread(lines)).map(|line| Fact::Line(line.to_owned()))).collect()
}

fn code(text: &str) -> Vec<Fact> {
    let line = regex(
        r"^\s*(?:(?:pub|export|public|private|protected|static|async|abstract|final|default|override|internal|open)\s+)*(?:def|fn|func|fun|function|class|struct|enum|trait|interface|impl|type|import|from|use|using|require|include|package|#include|CREATE\s+\w+)\b.*",
    );
    // A line inside a comment, or a text that looks like one, may be removed.
    let opens = |line: &str| {
        ["*", "//", "#", "--", "\"\"\"", "'''"].iter().any(|mark| line.trim_start().starts_with(mark))
            && !line.starts_with("#include")
    };
    let mut in_docs = false;
    let mut found = Vec::new();
    for code in text.lines() {
        let quotes = code.matches("\"\"\"").count()
            + code.matches("'''").count()
            + code.matches("/*").count()
            + code.matches("*/").count();
        if !in_docs
            && quotes == 0
            && !opens(code)
            && line.is_match(code)
            && (code.contains(['(', '{', ':', ';', '"', '\'', '<'])
                || code.starts_with("import ")
                || code.starts_with("from ")
                || code.starts_with("use "))
        {
            found.push(code.trim());
        }
        in_docs ^= quotes % 2 == 1;
    }
    // Text after code on the same line may be a comment.
    let bare = |line: &str| {
        line.split("  #").next().and_then(|line| line.split(" //").next()).unwrap_or(line).trim().to_owned()
    };
    spread(found).into_iter().map(|line| Fact::Words(bare(line))).collect()
}

fn table(text: &str) -> Vec<Fact> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let Some(head) = lines.first() else { return Vec::new() };
    let mut facts: Vec<Fact> = Vec::new();
    let mark = [',', '\t', ';', '|'].into_iter().find(|mark| head.contains(*mark));
    let cells = |line: &str| -> Vec<String> {
        match mark {
            Some(mark) if !line.contains('"') => line.split(mark).map(|cell| cell.trim().to_owned()).collect(),
            _ => Vec::new(),
        }
    };
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    for name in &rows[0] {
        facts.push(Fact::Words(name.clone()));
    }
    let mut asked: Vec<usize> = spread((1..lines.len()).collect());
    for column in 0..rows[0].len() {
        let number = |row: &usize| rows[*row].get(column)?.parse::<f64>().ok();
        let known: Vec<usize> = (1..rows.len()).filter(|row| number(row).is_some()).collect();
        if known.len() * 2 > rows.len() {
            let value = |row: &usize| number(row).expect("a number");
            asked.extend(known.iter().copied().max_by(|a, b| value(a).total_cmp(&value(b)).then(b.cmp(a))));
            asked.extend(known.iter().copied().min_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b))));
        }
    }
    asked.sort_unstable();
    asked.dedup();
    facts.retain(|fact| !matches!(fact, Fact::Words(name) if name.is_empty()));
    facts.extend(asked.into_iter().map(|row| Fact::Row {
        line: lines[row].to_owned(),
        number: row,
        cells: rows[row].clone(),
    }));
    facts
}

fn json(text: &str) -> Vec<Fact> {
    let Some(document) = document(text) else { return prose(text) };
    let mut seen = Walk::default();
    seen.value(&document, &mut String::new(), None);
    let Walk { values, lists, columns } = seen;
    let asked = |all: &[usize]| spread(all.to_vec());
    let mut chosen: Vec<usize> = asked(&(0..values.len()).collect::<Vec<_>>());
    let nulls: Vec<usize> = (0..values.len()).filter(|index| values[*index].1.is_null()).collect();
    chosen.extend(asked(&nulls).into_iter().take(10));
    let mut columns: Vec<_> = columns.into_iter().collect();
    columns.sort_unstable();
    for (_, cells) in columns.iter().filter(|(_, cells)| cells.len() > 10) {
        let number = |index: &usize| values[*index].1.as_f64();
        let known: Vec<usize> = cells.iter().copied().filter(|index| number(index).is_some()).collect();
        let value = |index: &usize| number(index).expect("a number");
        chosen.extend(known.iter().copied().max_by(|a, b| value(a).total_cmp(&value(b)).then(b.cmp(a))));
        chosen.extend(known.iter().copied().min_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b))));
        let mut texts: HashMap<&str, Vec<usize>> = HashMap::new();
        for index in cells {
            if let Some(text) = values[*index].1.as_str() {
                texts.entry(text).or_default().push(*index);
            }
        }
        // Rare values of a category.
        if texts.len() <= 8 {
            chosen.extend(texts.values().filter(|cells| cells.len() == 1).map(|cells| cells[0]));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    let spread_out = if chosen.len() > 4 * ASKED {
        chosen.iter().copied().step_by(chosen.len() / (4 * ASKED) + 1).collect()
    } else {
        chosen
    };
    let facts = spread_out.into_iter().map(|index| {
        let (pointer, value, record) = &values[index];
        Fact::Json {
            pointer: pointer.clone(),
            value: (*value).clone(),
            record: record.map(|(number, record)| (number, record.clone())),
        }
    });
    facts.chain(spread(lists).into_iter().map(|(pointer, count)| Fact::Count { pointer, count })).collect()
}

/// A JSON pointer, its value, and the record around it with its number.
type Scalar<'v> = (String, &'v Value, Option<(usize, &'v Value)>);

/// The scalars of a document.
#[derive(Default)]
struct Walk<'v> {
    /// The scalars, each with its pointer and the record around it.
    values: Vec<Scalar<'v>>,
    /// The lists of more than 20 records.
    lists: Vec<(String, usize)>,
    /// The indices of the values of records, by list and key.
    columns: HashMap<String, Vec<usize>>,
}

impl<'v> Walk<'v> {
    fn value(&mut self, value: &'v Value, pointer: &mut String, record: Option<(usize, &'v Value)>) {
        let length = pointer.len();
        match value {
            Value::Array(items) => {
                let is_list = items.len() > 20 && items.iter().all(Value::is_object);
                if is_list {
                    self.lists.push((pointer.clone(), items.len()));
                }
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.value(item, pointer, if is_list { Some((index + 1, item)) } else { record });
                    pointer.truncate(length);
                }
            }
            Value::Object(fields) => {
                for (key, item) in fields {
                    pointer.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1")));
                    if !item.is_array() && !item.is_object() {
                        let list = pointer.rsplitn(3, '/').nth(2).unwrap_or_default();
                        self.columns.entry(format!("{list}/*/{key}")).or_default().push(self.values.len());
                    }
                    self.value(item, pointer, record);
                    pointer.truncate(length);
                }
            }
            _ => self.values.push((pointer.clone(), value, record)),
        }
    }
}

fn prose(text: &str) -> Vec<Fact> {
    let find = |pattern: &str| -> Vec<String> {
        let pattern = regex(pattern);
        let mut found: Vec<String> = pattern.find_iter(text).map(|found| found.as_str().to_owned()).collect();
        found.sort_unstable();
        found.dedup();
        spread(found)
    };
    let mut facts: Vec<Fact> = Vec::new();
    facts.extend(find(r"\b\d[\d.,:]*\d\b").into_iter().map(Fact::Words));
    facts.extend(find(r#"https?://[^\s<>"')\]]+[\w/]"#).into_iter().map(Fact::Words));
    facts.extend(find(r"`[^`\n]+`").into_iter().map(Fact::Words));
    facts.extend(find(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)+\b").into_iter().map(Fact::Words));
    let negations = NEGATION.find_iter(text).count();
    facts.extend((negations > 0).then_some(Fact::Negations(negations)));
    facts
}

/// Returns a Markdown text without the marks of links, code and emphasis.
pub(crate) fn unmarked(text: &str) -> String {
    let text = text.replace("](", " ").replace(['`', '*', '[', ']'], "");
    regex(r"[ \t\n]+").replace_all(&text, " ").into_owned()
}

/// Returns the text that a browser shows of a page, and the targets of its links.
pub(crate) fn visible(html: &str) -> String {
    let without = |text: &str, pattern: &str, by: &str| regex(pattern).replace_all(text, by).into_owned();
    let hidden = r"(?is)<(?:script|style|head|noscript|template|svg)\b.*?</(?:script|style|head|noscript|template|svg)>|<!--.*?-->";
    let styled = r"(?i)</?(?:b|i|em|strong|code|span|a|tt|small|sup|sub|kbd|samp|var|u|cite|abbr)\b[^>]*>";
    let mut text = without(html, hidden, " ");
    text = without(&text, r"\s+", " ");
    text = without(&text, r#"(?i)<a\b[^>]*href="(https?://[^"]+)"[^>]*>"#, " $1 ");
    text = without(&text, styled, "");
    text = without(&text, r"<[^>]*>", "\n");
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#8217;", "’"),
        ("&nbsp;", " "),
        ("&para;", "¶"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    text.lines().map(unmarked).collect::<Vec<_>>().join("\n")
}
