//! Folds `fixtures/format/1/NAME.text` into `NAME.fold` if that does not exist yet: `cargo run --example golden_folds`.
//!
//! The first part of a name is the stage that folds the text, or `all`. An existing fold is never overwritten, because
//! folds of a format version must remain readable.

use std::path::Path;
use std::{error, fs};

use concertina::config::Preset;
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{CompressOptions, FusionEngine, FusionPipeline, Role, StageOption, StageOptions};

fn main() -> Result<(), Box<dyn error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format/1");
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let fold = path.with_extension("fold");
        if path.extension().is_none_or(|extension| extension != "text") || fold.exists() {
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let stage = name.split('-').next().unwrap_or_default();
        let text = fs::read_to_string(&path)?;
        let role = if stage == "quantumLock" { Role::System } else { Role::Tool };
        // This stage folds listings of code, but only with a preset that permits it.
        let preset = if stage == "neurosyntax" { Preset::Balanced } else { Preset::Lossless };
        let options = CompressOptions { preset, role, ..CompressOptions::default() };
        let folded = engine(stage)?.compress(&text, &options, &|| 0.0);
        if folded.text == text || !folded.lossless {
            println!("{name}: {stage} does not fold it without loss");
        } else {
            fs::write(fold, folded.text)?;
        }
    }
    Ok(())
}

/// Returns an engine with one stage, or with all.
fn engine(stage: &str) -> Result<FusionEngine, Box<dyn error::Error>> {
    let names = STAGES.iter().map(|(_, stage)| stage.name());
    let others = names.filter(|other| stage != "all" && *other != stage);
    let off = |name: &str| (name.to_owned(), StageOption { enabled: false, ..StageOption::default() });
    let options = StageOptions { stages: others.map(off).collect(), custom: Vec::new() };
    Ok(FusionEngine::new(FusionPipeline::build(&options)?))
}
