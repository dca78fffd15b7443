//! Tests of the ionizer on real JSON and tables: everything can be restored, and the totals are as expected.
//! `--nocapture` prints the table.

use concertina::config::{Encoding, Preset};
use concertina::content::{ContentType, Segment};
use concertina::pipeline::stages::ionizer::Ionizer;
use concertina::pipeline::{FusionContext, Stage, fold};
use concertina::tokens;

use crate::corpus;
use crate::stages::edited;

/// Folds a text as one segment, checks the fold, and returns the new text.
fn folded(name: &str, text: &str, content_type: ContentType) -> String {
    let segments = [Segment::whole(text, content_type, None)];
    let context = FusionContext { preset: Preset::Lossless, ..FusionContext::of(text, &segments) };
    let edits = Ionizer.apply(&context);
    assert_eq!(edits, Ionizer.apply(&context), "{name}: the same text folds the same way");
    for edit in &edits {
        assert!(edit.lossless, "{name}");
        let (fold, length) = fold::parse(&edit.text).expect("an edit is a whole fold");
        assert_eq!(length, edit.text.len(), "{name}");
        assert!(
            concertina_format::unfold(&fold).as_deref() == Some(&text[edit.range.clone()]),
            "{name} does not come back"
        );
    }
    edited(text, &edits)
}

/// Prints the savings of each file of a kind. Returns the percentage of tokens saved in all of them.
fn saved(kind: &str, content_type: ContentType) -> f64 {
    let mut total = (0, 0);
    for input in corpus::inputs(kind) {
        let Some(text) = input.text() else { continue };
        let before = tokens::count(text, Encoding::O200kBase);
        let after = tokens::count(&folded(&input.name, text, content_type), Encoding::O200kBase);
        let percent = 100.0 - 100.0 * after as f64 / before.max(1) as f64;
        println!("{:60} {before:>8} {after:>8} {percent:>6.1} %", input.name);
        assert!(after <= before, "{} grew", input.name);
        total = (total.0 + before, total.1 + after);
    }
    let percent = 100.0 - 100.0 * total.1 as f64 / f64::from(u32::try_from(total.0.max(1)).expect("a small corpus"));
    println!("{kind}: {} -> {}, {percent:.1} % saved", total.0, total.1);
    percent
}

#[test]
fn json_comes_back_and_saves_more_than_half() {
    let percent = saved("json", ContentType::Json);
    assert!(corpus::root().is_none() || percent >= 56.0, "{percent:.2} %");
}

#[test]
fn tables_come_back_and_save_a_quarter() {
    let percent = saved("tables", ContentType::Table);
    assert!(corpus::root().is_none() || percent >= 29.5, "{percent:.2} %");
}

#[test]
fn tool_results_come_back_whatever_they_are() {
    for (name, messages) in corpus::sessions() {
        let texts = messages.iter().flat_map(corpus::strings);
        for text in texts.filter(|text| text.len() > 200 && text.contains(['{', '['])) {
            folded(&name, text, ContentType::Json);
            folded(&name, text, ContentType::Text);
            folded(&name, text, ContentType::Table);
        }
    }
}
