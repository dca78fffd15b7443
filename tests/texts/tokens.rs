//! Compares counting in pieces with counting at once, on all real texts.

use concertina::config::Encoding;
use concertina::tokens::count;

use crate::corpus;

#[test]
fn counting_in_pieces_is_within_a_hundredth_of_a_percent() {
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        let whole = tiktoken::get_encoding(encoding.as_str()).expect("a published vocabulary");
        for kind in ["code", "diffs", "html", "json", "logs", "prose", "search", "sessions", "tables"] {
            let (mut tokens, mut wrong, mut worst) = (0, 0, (0.0, String::new()));
            for input in corpus::inputs(kind) {
                let Some(text) = input.text() else { continue };
                let exact = whole.count(text);
                let error = exact.abs_diff(count(text, encoding));
                tokens += exact;
                wrong += error;
                let share = 100.0 * error as f64 / exact.max(1) as f64;
                if share > worst.0 {
                    worst = (share, input.name);
                }
            }
            println!(
                "{} {kind}: {tokens} tokens, {wrong} wrong, worst {:.4} % {}",
                encoding.as_str(),
                worst.0,
                worst.1
            );
            assert!(wrong as f64 <= tokens as f64 * 1e-4, "{kind}: {wrong} of {tokens}");
        }
    }
}
