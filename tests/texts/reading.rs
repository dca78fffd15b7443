//! A naive reader reads the folds of real outputs (`concertina_format::naive`).

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine};

use crate::corpus;
use crate::sight::reading::readings;

/// The least share of cells that are read right, in percent.
const SHARE: usize = 98;

#[test]
fn a_naive_reader_reads_most_cells_right() {
    let engine = FusionEngine::default();
    let mut too_few = Vec::new();
    for preset in [Preset::Balanced, Preset::Lossless] {
        let options = CompressOptions { preset, ..CompressOptions::default() };
        for kind in ["json", "logs", "tables", "search", "diffs", "outputs"] {
            let (mut cells, mut wrong) = (0, 0);
            for input in corpus::inputs(kind) {
                let Some(text) = input.text() else { continue };
                for reading in readings(&engine.compress(text, &options, &|| 0.0).text) {
                    cells += reading.cells;
                    wrong += reading.wrong;
                }
            }
            let found = format!("{kind}, {}: {wrong} of {cells} cells are not read", preset.as_str());
            println!("{found}");
            if wrong * 100 > cells * (100 - SHARE) {
                too_few.push(found);
            }
        }
    }
    assert!(too_few.is_empty(), "{too_few:?}");
}
