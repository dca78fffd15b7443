//! A naive reader reads the folds of real outputs (`concertina_format::naive`).

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine};

use crate::corpus;
use crate::sight::reading::readings;

/// The least share of cells that are read right, in percent. Rows of lines state counters every tenth row only.
const SHARES: [(&str, usize); 6] =
    [("json", 98), ("logs", 85), ("tables", 98), ("search", 95), ("diffs", 98), ("outputs", 85)];

#[test]
fn a_naive_reader_reads_most_cells_right() {
    let engine = FusionEngine::default();
    for preset in [Preset::Balanced, Preset::Lossless] {
        let options = CompressOptions { preset, ..CompressOptions::default() };
        for (kind, share) in SHARES {
            let (mut cells, mut wrong) = (0, 0);
            for input in corpus::inputs(kind) {
                let Some(text) = input.text() else { continue };
                for reading in readings(&engine.compress(text, &options, &|| 0.0).text) {
                    cells += reading.cells;
                    wrong += reading.wrong;
                }
            }
            println!("{kind}, {}: {wrong} of {cells} cells are not read", preset.as_str());
            assert!(wrong * 100 <= cells * (100 - share), "{kind}, {}: {wrong} of {cells}", preset.as_str());
        }
    }
}
