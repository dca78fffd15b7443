//! Texts that claim to contain folds and markers, with originals that may belong to them.

use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{FusionEngine, fold, restore};
use concertina::reference::Original;

use super::{SEED_BYTES, chosen, signs};
use crate::properties::engines;
use crate::texts::{Dice, Texts};

/// The maximum number of bytes of an unfolded text, unless it was longer before.
const UNFOLDED_MAX_BYTES: usize = 16 << 20;

/// The text ends at the first NUL. Originals follow.
pub(super) fn run(data: &[u8]) {
    let Some(([], all)) = chosen(data) else { return };
    let mut parts = all.split('\0');
    let text = parts.next().unwrap_or_default();
    let originals: Vec<Original> = parts.map(|part| Original::text(part, "fuzz")).collect();
    // Seals prevent changed folds from being restored, so decoders are called directly.
    if let Some((fold, _)) = fold::parse(text)
        && let Some(undone) = concertina_format::unfold(&fold)
    {
        assert_eq!(restore(&fold.sealed(&undone).to_string(), &[]), restore(&undone, &[]));
    }
    assert!(restore(text, &originals).len() <= UNFOLDED_MAX_BYTES.max(all.len()));
    assert!(FusionEngine::default().restore(text, &[]).len() <= UNFOLDED_MAX_BYTES.max(text.len()));
    for original in &originals {
        let marked = format!("{text}\n[[REWIND:sha256:{}]] original: 1 lines", original.hash.to_ref_id(16));
        assert_eq!(restore(&marked, &originals).as_bytes(), original.bytes);
    }
}

/// Returns the lossless folds of each stage and of all together.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let (texts, mut dice, engines) = (Texts::load(), Dice::new(2, "seeds"), engines());
    let texts: Vec<String> = (0..40).map(|_| texts.next(&mut dice)).collect();
    let folded = engines.iter().flat_map(|(_, engine)| {
        let folded = texts.iter().map(|text| (text, engine.compress(text, &Default::default(), &|| 0.0).text));
        folded.filter(|(text, folded)| *text != folded && folded.len() <= 4 * SEED_BYTES).take(8)
    });
    folded.map(|(_, folded)| folded.into_bytes()).collect()
}

pub(super) fn words() -> Vec<String> {
    let names = STAGES.iter().map(|(_, stage)| stage.name()).chain(["quantumLock"]);
    let headers = names.flat_map(|name| [format!("[[FOLD:{name} 1]] "), name.to_owned()]);
    signs().into_iter().chain(headers).collect()
}
