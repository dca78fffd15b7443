//! Prints how many cells of the outputs a naive reader reads right, and the folds that are hardest to read.

use std::path::{Path, PathBuf};

use concertina::pipeline::{CompressOptions, FusionEngine};

use crate::files;
use crate::sight::reading::{Reading, readings};

/// The number of folds that are printed.
const WORST: usize = 10;

/// Prints a line for each directory and the worst folds of all. Returns the number of cells that are not read.
pub(crate) fn print(dirs: &[String], options: &CompressOptions) -> usize {
    let engine = FusionEngine::default();
    let mut all: Vec<(String, Reading)> = Vec::new();
    println!("directory                 files    saved   folds    cells  read right");
    for dir in dirs {
        let mut paths: Vec<PathBuf> = Vec::new();
        files(Path::new(dir), &mut paths);
        let (mut before, mut after, mut found) = (0, 0, Vec::new());
        for path in &paths {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let compressed = engine.compress(&text, options, &|| 0.0);
            before += compressed.tokens_before;
            after += compressed.tokens_after;
            found.extend(readings(&compressed.text).into_iter().map(|reading| (path.display().to_string(), reading)));
        }
        let cells: usize = found.iter().map(|(_, reading)| reading.cells).sum();
        let wrong: usize = found.iter().map(|(_, reading)| reading.wrong).sum();
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "{:24} {:6} {:6.2} % {:7} {cells:8} {:8.2} %",
            dir.rsplit('/').next().unwrap_or(dir),
            paths.len(),
            percent(before - after, before),
            found.len(),
            percent(cells - wrong, cells),
        );
        all.extend(found);
    }
    all.sort_by_key(|(_, reading)| std::cmp::Reverse(reading.cost() * reading.cells.min(100)));
    println!("worst folds: cost, cells, not read, file, header, first line that is not read");
    for (name, reading) in all.iter().take(WORST) {
        let header: String = reading.header.chars().take(110).collect();
        println!("{:5} {:6} {:6} {name}", reading.cost(), reading.cells, reading.wrong);
        println!("      {header}\n      {}", reading.sample);
    }
    all.iter().map(|(_, reading)| reading.wrong).sum()
}
