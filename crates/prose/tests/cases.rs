//! Tests each line of the files in `cases/`. A file is named for the function that is applied to its texts.
//!
//! A line is a test: `text ⇒ expected`, or only a text that must not change; `⏎` and `␉` are line ends and tabs.
//! Shortening is repeated, and the second time must change nothing. In `spans.txt` and `protected.txt` each protected
//! span is written as `⟨kind:span⟩`. A line that begins with `# ` is a comment.

use std::ops::Range;
use std::path::Path;

use concertina_prose::rules::{
    Dictionary, RuleFile, RulesLevel, RulesOptions, Transform, apply_alone, compress_rules, preprocess, protected_spans,
};
use concertina_prose::{
    Intensity, Kind, Objective, approx_tokens, compress_prose, expand, expand_listed, redact_private, tokenize,
};

/// Returns the result for a text of the file `what`.
fn done(what: &str, text: &str) -> String {
    if let Some(intensity) = Intensity::parse(what) {
        return compress_prose(text, intensity, objective(intensity)).0;
    }
    if let Some(level) = RulesLevel::parse(what) {
        return preprocess(text, &RulesOptions { level, ..RulesOptions::default() });
    }
    match what {
        "approx" => approx_tokens(text).to_string(),
        "expand" => expand(text),
        "expand_listed" => {
            let (short, receipt) = compress_prose(text, Intensity::Ultra, Objective::Chars);
            expand_listed(&short, &receipt.substitutions)
        }
        "redact" => redact_private(text),
        "spans" => {
            let spans = tokenize(text).into_iter().filter(|token| token.kind != Kind::Prose);
            marked(text, spans.map(|token| (token.kind.as_str(), token.range)))
        }
        "protected" => marked(text, protected_spans(text).into_iter().map(|span| (span.category, span.range))),
        "dictionary" => dictionary(text),
        "files" => files(text),
        transform => {
            let named = |known: &Transform| format!("{known:?}").to_lowercase() == transform;
            apply_alone(text, Transform::ALL.into_iter().find(named).expect("a case file is named for what is done"))
        }
    }
}

/// Returns the objective of a case file: `ultra` shows abbreviations, which are for characters.
fn objective(intensity: Intensity) -> Objective {
    if intensity == Intensity::Ultra { Objective::Chars } else { Objective::Tokens }
}

fn marked(text: &str, spans: impl Iterator<Item = (&'static str, Range<usize>)>) -> String {
    let (mut marked, mut at) = (String::new(), 0);
    for (kind, range) in spans {
        marked += &format!("{}⟨{kind}:{}⟩", &text[at..range.start], &text[range.clone()]);
        at = range.end;
    }
    marked + &text[at..]
}

/// Returns the text of a line without the marks of its spans.
fn unmarked(line: &str) -> String {
    let mut parts = line.split('⟨');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(':').expect("a kind").1).replace('⟩', "")
}

/// `{"entries": …} ¦ text` -> the text shortened with these entries, or the error message.
fn dictionary(line: &str) -> String {
    let (json, text) = line.split_once(" ¦ ").unwrap_or((line, ""));
    match Dictionary::merged(&serde_json::from_str(json).expect("JSON")) {
        Ok(dictionary) => preprocess(text, &RulesOptions { dictionary, ..RulesOptions::default() }),
        Err(error) => error.to_string(),
    }
}

/// `max_chars ¦ name = text ¦ name = text` -> the files that fit, as one text.
fn files(line: &str) -> String {
    let mut fields = line.split(" ¦ ");
    let max_chars = Some(fields.next().and_then(|max| max.parse().ok()).expect("the most characters"));
    let files = fields.map(|file| file.split_once(" = ").expect("a name and a text"));
    let files: Vec<RuleFile> =
        files.map(|(name, text)| RuleFile { name: name.to_owned(), text: text.to_owned() }).collect();
    compress_rules(&files, &RulesOptions { max_chars, ..RulesOptions::default() }).text
}

#[test]
fn each_case_has_the_expected_result() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the cases") {
        let path = entry.expect("a file").path();
        let what = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let is_marked = matches!(what, "spans" | "protected");
        let shortens = Intensity::parse(what).is_some() || RulesLevel::parse(what).is_some();
        let file = std::fs::read_to_string(&path).expect("a text");
        let lines: Vec<&str> = file.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
        assert!(!lines.is_empty(), "{what} has no cases");
        for line in lines {
            let line = line.replace('⏎', "\n").replace('␉', "\t");
            let (text, expected) = match line.split_once(" ⇒ ") {
                Some((text, expected)) => (text.to_owned(), expected),
                None if is_marked => (unmarked(&line), &*line),
                None => (line.clone(), &*line),
            };
            let once = done(what, &text);
            if once != expected {
                wrong.push(format!("{what}: {text:?}\n  became   {once:?}\n  not      {expected:?}"));
            } else if shortens && done(what, &once) != once {
                wrong.push(format!("{what}: {text:?} becomes another text the second time"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_quotation_may_be_long() {
    let long = format!("\"{}\"", "the word ".repeat(100).trim_end());
    let tokens = tokenize(&long);
    assert_eq!((tokens.len(), tokens[0].kind, tokens[0].range.clone()), (1, Kind::Quoted, 0..long.len()));
}

#[test]
fn one_of_two_hedges_stays_at_every_level() {
    let choices = |first| ["possibly", "potentially", "perhaps"].map(move |second| (first, second));
    for (first, second) in ["may", "might", "could"].into_iter().flat_map(choices) {
        for rest in ["be slow when it starts", "fail when it starts", "delete it when it starts"] {
            for (level, objective) in
                Intensity::ALL.into_iter().flat_map(|level| Objective::ALL.map(|objective| (level, objective)))
            {
                let text = format!("The job {first} {second} {rest}.");
                let (shorter, receipt) = compress_prose(&text, level, objective);
                let read = expand_listed(&shorter, &receipt.substitutions);
                let both = format!("job {first} {second} {rest}.");
                assert!(read.ends_with(&both) || read.ends_with(&format!("job might {rest}.")), "{text} -> {shorter}");
            }
        }
    }
}

#[test]
fn the_receipt_adds_up_and_lists_the_substitutions() {
    let text =
        "In order to read the configuration, we really need the database. They set the environment when asynchronous.";
    let (shorter, receipt) = compress_prose(text, Intensity::Full, Objective::Chars);
    assert_eq!(receipt.saved_tokens, receipt.tokens_before as i64 - receipt.tokens_after as i64);
    assert!(receipt.saved_ratio > 0.2 && receipt.saved_ratio < 0.7, "{receipt:?}");
    let long = expand_listed(&shorter, &receipt.substitutions);
    let added = receipt.substitutions.iter().map(|one| one.count * (one.long.len() - one.short.len()));
    assert_eq!(long.len(), shorter.len() + added.sum::<usize>(), "{receipt:?}");
}

#[test]
fn edits_that_cost_tokens_are_used_only_if_a_rule_file_does_not_fit() {
    let text = "Please read the authorization handbook thoroughly, the understanding of the responsibilities is \
                really helpful.";
    let at = |max_chars| {
        preprocess(text, &RulesOptions { level: RulesLevel::Aggressive, max_chars, ..RulesOptions::default() })
    };
    let (fits, tight) = (at(None), at(Some(60)));
    assert!(fits.contains("authorization") && fits.contains("responsibilities"), "{fits}");
    assert!(tight.len() < fits.len(), "{tight}");
}
