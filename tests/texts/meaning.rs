//! Tests with sentences whose meaning must not change, one per row in `tests/meaning/*.tsv`: the text (`\n` for a line
//! end), a tab, and the words that must stay, in order, separated by `¦`. Every row must hold at every intensity and
//! for both objectives, and at every level of rule-file shortening.

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

/// Returns the first of the words that is missing, in order, ignoring case.
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
fn no_sentence_changes_its_meaning() {
    let rows = rows();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in &rows {
        assert_eq!(missing(row, &row.input), None, "{}: the input has the words", row.place);
        for intensity in Intensity::ALL {
            for objective in Objective::ALL {
                let (shorter, receipt) = compress_prose(&row.input, intensity, objective);
                // Short forms do not count as a loss.
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

/// Returns a text without vowels, articles and Markdown marks, with its short forms expanded: what a reader of
/// shortened rules reads.
fn read_aloud(text: &str) -> String {
    let lists =
        include_str!("../../crates/prose/src/lexicon/dictionary.txt").lines().filter_map(|line| line.split_once(" | "));
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

/// Returns every word of the lexicons that is not an article. Phrases of several words are excluded: without quotes no
/// reader can tell where such a name ends.
fn phrases() -> Vec<&'static str> {
    let is_word = |phrase: &&str| !phrase.contains(' ') && !["a", "an", "the"].contains(phrase);
    dropped().into_iter().chain(abbreviated()).filter(is_word).collect()
}

/// Returns the words and phrases that shortening drops.
fn dropped() -> Vec<&'static str> {
    second_fields(&[
        include_str!("../../crates/prose/src/lexicon/fillers.txt"),
        include_str!("../../crates/prose/src/lexicon/hedges.txt"),
        include_str!("../../crates/prose/src/lexicon/pleasantries.txt"),
        include_str!("../../crates/prose/src/lexicon/phrases.txt"),
        include_str!("../../crates/prose/src/lexicon/rule_fillers.txt"),
    ])
}

/// Returns the phrases that have a short form.
fn abbreviated() -> impl Iterator<Item = &'static str> {
    let dictionary = include_str!("../../crates/prose/src/lexicon/dictionary.txt").lines();
    let long = dictionary.filter(|line| !line.starts_with('#')).filter_map(|line| Some(line.split_once(" | ")?.0));
    second_fields(&[include_str!("../../crates/prose/src/lexicon/abbreviations.txt")]).into_iter().chain(long)
}

fn second_fields(lists: &[&'static str]) -> Vec<&'static str> {
    let lines = lists.iter().copied().flat_map(str::lines);
    let lines = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.filter_map(|line| line.split(" | ").nth(1)).map(str::trim).collect()
}

/// Covers more than a hundred words in each of these frames, at every intensity, level and objective.
#[test]
fn named_words_stay_unchanged() {
    let frames = [
        "Never use the word {}.",
        "The term {} is what they want here.",
        "Never use the words zebra, {} or quagga.",
        "Avoid phrases such as {} in the text.",
        "You should always say {} before you begin.",
        "Write {}, not quagga, in the report.",
        "Replace {} by quagga in the files.",
        "Replace quagga with {} in the files.",
        "It is their rule to write {} instead of quagga.",
        "Never use really, {} or please in the text.",
        "The reply is: {}, we wait for them.",
        "Their answer to this: We, {}, wait.",
    ];
    // These frames may also list things by their names, which a short form names as well.
    let open_lists = ["Avoid phrases such as {} in the text.", "Never use really, {} or please in the text."];
    let abbreviated: Vec<&str> = abbreviated().collect();
    let phrases = phrases();
    assert!(phrases.len() > 100, "{} phrases", phrases.len());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (phrase, frame) in phrases.iter().flat_map(|phrase| frames.iter().map(move |frame| (phrase, frame))) {
        if open_lists.contains(frame) && abbreviated.contains(phrase) {
            continue;
        }
        let text = frame.replace("{}", phrase);
        let expected = phrase.to_lowercase();
        let mut check = |how: String, shorter: &str| {
            checked += 1;
            if !shorter.to_lowercase().contains(&expected) {
                wrong.push(format!("{how}: {text:?} -> {shorter:?} lacks {phrase:?}"));
            }
        };
        for objective in Objective::ALL {
            for intensity in Intensity::ALL {
                let (shorter, _) = compress_prose(&text, intensity, objective);
                check(format!("{} {}", intensity.as_str(), objective.as_str()), &shorter);
                let (again, _) = compress_prose(&shorter, intensity, objective);
                check(format!("{} {} twice", intensity.as_str(), objective.as_str()), &again);
            }
            // The strongest levels create short forms for what an open list names.
            for level in RulesLevel::ALL.into_iter().filter(|_| !open_lists.contains(frame)) {
                let options = RulesOptions { level, objective, max_chars: Some(0), dictionary: Dictionary::default() };
                check(format!("{} {}", level.as_str(), objective.as_str()), &preprocess(&text, &options));
            }
        }
    }
    wrong.dedup();
    let shown = wrong.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {checked}:\n{shown}", wrong.len());
}

/// Covers words of every list inside formulas and paths, in every form that fits on one line.
#[test]
fn formulas_and_paths_of_windows_keep_their_words() {
    let frames = [
        "They show that ${}$ holds for them.",
        "They show that $x_{in the {} case}$ holds for them.",
        "They show that $$ x = \\text{ {} } $$ holds for them.",
        r"They show that \( y = \text{the {} case} \) holds for them.",
        r"They show that \[ y = {} + 1 \] holds for them.",
        r"They show that \begin{align} y = {} \end{align} holds for them.",
        r"You should open C:\Program Files\the {} one\file.txt for them.",
        r"You should open C:\{} folder\the file.txt for them.",
        r"You should open \\server\share\the {} one\file.txt, then go on.",
        r"You should open ..\the {} one\file.txt when they ask.",
        r"You should open %APPDATA%\the {} one\a file.txt when they ask.",
        r"You should open D:/The {} Data/the {} file.csv when they ask.",
        r"The folder which they use is C:\data\the {} one.",
    ];
    let mut wrong = Vec::new();
    for (phrase, frame) in ["just", "really", "very", "in order to", "a", "the", "please", "of the", "I think"]
        .iter()
        .flat_map(|phrase| frames.iter().map(move |frame| (phrase, frame)))
    {
        let text = frame.replace("{}", phrase);
        let start = text.find(['$', '\\', '/', '%']).expect("a formula or a path");
        let start = if text[..start].ends_with(':') || text[..start].ends_with("..") { start - 2 } else { start };
        let ends = ["$$ ", r"\) ", r"\] ", r"\end{align}", ".txt", ".csv", "$ ", "one."];
        let end = ends.iter().find_map(|end| Some(text.rfind(end)? + end.len())).expect("an end");
        let expected = text[start..end].trim_end_matches([' ', '.']);
        for objective in Objective::ALL {
            for intensity in Intensity::ALL {
                let (shorter, _) = compress_prose(&text, intensity, objective);
                if !shorter.contains(expected) {
                    wrong.push(format!("{text:?} -> {shorter:?} lacks {expected:?}"));
                }
            }
            for level in RulesLevel::ALL {
                let options = RulesOptions { level, objective, max_chars: Some(0), dictionary: Dictionary::default() };
                let shorter = preprocess(&text, &options);
                if !shorter.contains(expected) {
                    wrong.push(format!("{} {text:?} -> {shorter:?} lacks {expected:?}", level.as_str()));
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_rule_changes_its_meaning_at_any_level() {
    let mut wrong = Vec::new();
    for row in &rows() {
        // A table's cells may be separated, but each must still be there.
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
