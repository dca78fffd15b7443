//! Prints the savings of each transform of rule files on the given files, alone and by level, in characters and in real
//! tokens: `cargo run --example rules_worth -- FILE...`

use concertina::config::Encoding;
use concertina::rules::{Objective, RulesLevel, RulesOptions, Transform, apply_alone, preprocess};
use concertina::tokens;

fn main() {
    let read = |file: String| std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let texts: Vec<String> = std::env::args().skip(1).map(read).collect();
    let size = |texts: &[String]| {
        let chars: usize = texts.iter().map(|text| text.encode_utf16().count()).sum();
        let tokens: usize = texts.iter().map(|text| tokens::count(text, Encoding::O200kBase)).sum();
        (chars as f64, tokens as f64)
    };
    let (chars, tokens) = size(&texts);
    println!("{} files, {chars} characters, {tokens} o200k tokens", texts.len());
    println!("{:34} {:>12} {:>10}", "", "characters", "tokens");
    let row = |name: &str, shortened: Vec<String>| {
        let (short, cheap) = size(&shortened);
        println!("{name:34} {:10.1} % {:8.1} %", 100.0 * (1.0 - short / chars), 100.0 * (1.0 - cheap / tokens));
    };
    for transform in Transform::ALL {
        let name = format!("{transform:?} alone, whatever it costs");
        row(&name, texts.iter().map(|text| apply_alone(text, transform)).collect());
    }
    for level in RulesLevel::ALL.into_iter().skip(1) {
        for (objective, max_chars) in [(Objective::Tokens, None), (Objective::Chars, None), (Objective::Chars, Some(0))]
        {
            let options = RulesOptions { level, objective, max_chars, ..RulesOptions::default() };
            let fit = if max_chars.is_some() { ", as far as tokens allow" } else { "" };
            let name = format!("{}, {}{fit}", level.as_str(), objective.as_str());
            row(&name, texts.iter().map(|text| preprocess(text, &options)).collect());
        }
    }
}
