//! Counting in pieces against counting at once, on all real texts.

mod corpus;

use concertina::config::Encoding;
use concertina::tokens::count;

#[test]
fn counting_in_pieces_is_within_a_hundredth_of_a_percent() {
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        let whole = tiktoken::get_encoding(encoding.as_str()).expect("a published vocabulary");
        for kind in ["code", "diffs", "html", "json", "logs", "prose", "search", "sessions", "tables"] {
            let (mut at_once, mut error, mut worst) = (0, 0, (0.0, String::new()));
            for input in corpus::inputs(kind) {
                let Some(text) = input.text() else { continue };
                let (exact, pieced) = (whole.count(text), count(text, encoding));
                at_once += exact;
                error += exact.abs_diff(pieced);
                let share = exact.abs_diff(pieced) as f64 / exact.max(1) as f64;
                if share > worst.0 {
                    worst = (share, input.name);
                }
            }
            println!(
                "{} {kind}: {at_once} tokens, {error} wrong, worst file {:.4} %",
                encoding.as_str(),
                100.0 * worst
            );
            assert!(error as f64 <= at_once as f64 * 1e-4, "{kind}: {error} of {at_once}");
        }
    }
}
