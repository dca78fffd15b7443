//! Prints the confusion matrices of detection on the corpus without hints: of types, then of languages of code.
//!
//! `cargo run --example confusion` uses the corpus and fixtures. With arguments it prints the detection of those files.

#[path = "../tests/detection/labels.rs"]
mod labels;

#[path = "../tests/corpus/mod.rs"]
mod corpus;

use std::collections::BTreeMap;
use std::fmt::Display;

use concertina::content::{Hints, Language, detect};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if !files.is_empty() {
        files.iter().for_each(|file| print_detection(file));
        return;
    }
    let (mut types, mut languages) = (BTreeMap::new(), BTreeMap::new());
    for labelled in labels::all() {
        let found = detect(&labelled.text, &Hints::default());
        *types.entry((labelled.content_type.as_str(), found.content_type.as_str())).or_insert(0) += 1;
        if (found.content_type, found.language) != (labelled.content_type, labelled.language) {
            println!("missed: {}", labelled.name);
        }
        if let Some(expected) = labelled.language {
            *languages.entry((expected.as_str(), found.language.map_or("-", Language::as_str))).or_insert(0) += 1;
        }
    }
    print_matrix("type", &types);
    print_matrix("language", &languages);
}

fn print_detection(file: &str) {
    let text = String::from_utf8_lossy(&std::fs::read(file).expect("a readable file")).into_owned();
    let found = detect(&text, &Hints::default());
    println!("{file}: {} {}", found.content_type.as_str(), found.language.map_or("-", Language::as_str));
    for part in found.segments {
        let line = text[..part.range.start].matches('\n').count() + 1;
        println!(
            "  line {line}: {} bytes {} {}",
            part.range.len(),
            part.content_type.as_str(),
            part.language.map_or("-", Language::as_str)
        );
    }
}

/// Prints a matrix with labels as rows and results as columns. Blank cells are zero.
fn print_matrix(what: &str, counts: &BTreeMap<(&str, &str), usize>) {
    let mut columns: Vec<&str> = counts.keys().map(|(_, found)| *found).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut rows: Vec<&str> = counts.keys().map(|(label, _)| *label).collect();
    rows.dedup();
    print_row(what, &columns, "right");
    for row in rows {
        let count = |column: &&str| counts.get(&(row, *column)).map_or(String::new(), ToString::to_string);
        let total: usize = counts.iter().filter(|((label, _), _)| *label == row).map(|(_, count)| count).sum();
        let right = counts.get(&(row, row)).copied().unwrap_or(0);
        print_row(row, &columns.iter().map(count).collect::<Vec<_>>(), &format!("{right}/{total}"));
    }
    let total: usize = counts.values().sum();
    let right: usize = counts.iter().filter(|((label, found), _)| label == found).map(|(_, count)| count).sum();
    println!("{right} of {total} right, {:.1} %\n", 100.0 * right as f64 / total as f64);
}

fn print_row<T: Display>(head: &str, cells: &[T], tail: &str) {
    print!("{head:<12}");
    for cell in cells {
        print!("{cell:>11}");
    }
    println!("{tail:>9}");
}
