//! A naive reader reads the folds of real outputs (`concertina_format::naive`).

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine};

use crate::corpus;
use crate::sight::reading::readings;

#[test]
fn of_a_hundred_cells_a_naive_reader_reads_98_right() {
    let engine = FusionEngine::default();
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
            println!("{kind}, {}: {wrong} of {cells} cells are not read", preset.as_str());
            assert!(wrong * 100 <= cells * 2, "{kind}, {}: {wrong} of {cells}", preset.as_str());
        }
    }
}
