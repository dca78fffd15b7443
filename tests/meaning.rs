//! Sentences whose meaning must not turn, one a row in `tests/meaning/*.tsv`: the text (`\n` for a line end), a tab, and the words
//! that must still stand there, in order, separated by `¦`. Every row holds at every intensity and for both objectives, and at every
//! level of shortening rule files.

use std::path::Path;

use concertina::prose::{Intensity, Objective, compress_prose, expand_listed};
use concertina::rules::{Dictionary, RulesLevel, RulesOptions, preprocess};

struct Row {
    place: String,
    input: String,
    words: Vec<String>,
}

fn rows() -> Vec<Row> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meaning");
    let entries = std::fs::read_dir(dir).expect("the rows are there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let unescaped = |text: &str| text.replace(r"\n", "\n").replace(r"\\", r"\");
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        for (index, line) in text.lines().enumerate() {
            let place = format!("{}:{}", file.file_name().expect("a name").display(), index + 1);
            let (input, words) = line.split_once('\t').unwrap_or_else(|| panic!("{place}: a row has a tab"));
            rows.push(Row { place, input: unescaped(input), words: words.split('¦').map(unescaped).collect() });
        }
    }
    rows
}

/// The first of the words that is not there, in order, whatever its capitals.
fn missing<'a>(row: &'a Row, text: &str) -> Option<&'a str> {
    let text = text.to_lowercase();
    let mut at = 0;
    row.words.iter().map(String::as_str).find(|words| match text[at..].find(&words.to_lowercase()) {
        Some(found) => {
            at += found + words.to_lowercase().len();
            false
        }
        None => true,
    })
}

#[test]
fn no_sentence_turns_its_meaning() {
    let rows = rows();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        assert_eq!(missing(row, &row.input), None, "{}: the input has the words", row.place);
        for intensity in Intensity::ALL {
            for objective in Objective::ALL {
                let (shorter, receipt) = compress_prose(&row.input, intensity, objective);
                // Short forms are no loss.
                let read = expand_listed(&shorter, &receipt.substitutions);
                if let Some(words) = missing(row, &read) {
                    let case = format!("{} {} {}", row.place, intensity.as_str(), objective.as_str());
                    wrong.push(format!("{case}: {:?} -> {shorter:?} lacks {words:?}", row.input));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len() * 6, wrong.join("\n"));
}

/// A text without vowels, articles and the marks of Markdown, its short forms written out: what a reader of shortened rules reads.
fn read_aloud(text: &str) -> String {
    let lists = include_str!("../src/rules/lexicon/dictionary.txt").lines().filter_map(|line| line.split_once(" | "));
    let long_of: std::collections::HashMap<&str, &str> = lists.map(|(long, short)| (short, long)).collect();
    let lower = text.to_lowercase();
    let spoken: String = lower
        .split_inclusive(|c: char| !c.is_alphanumeric())
        .map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            long_of.get(word).map_or_else(|| piece.to_owned(), |long| format!("{long}{}", &piece[word.len()..]))
        })
        .collect();
    let words = spoken
        .split(|c: char| c.is_whitespace() || "*#[]|;:`.,!?".contains(c))
        .filter(|word| !word.is_empty() && *word != "the");
    words.map(|word| word.chars().filter(|c| !"aeiou".contains(*c)).collect::<String>() + " ").collect()
}

#[test]
fn no_rule_turns_its_meaning_at_any_level() {
    let mut wrong = Vec::new();
    for row in &rows() {
        // A table's cells move apart; each must still be there.
        let cells = row.words.iter().flat_map(|words| words.split('|'));
        let words = cells.map(|words| read_aloud(words).trim().to_owned()).collect();
        let read = Row { words, place: row.place.clone(), input: String::new() };
        for level in RulesLevel::ALL {
            for objective in Objective::ALL {
                for max_chars in [None, Some(0)] {
                    let options = RulesOptions { level, objective, max_chars, dictionary: Dictionary::default() };
                    let shorter = preprocess(&row.input, &options);
                    if let Some(words) = missing(&read, &read_aloud(&shorter)) {
                        let case = format!("{} {} {} {max_chars:?}", row.place, level.as_str(), objective.as_str());
                        wrong.push(format!("{case}: {:?} -> {shorter:?} lacks {words:?}", row.input));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
