//! Setups for compressing a text, and the check of a property for each.

use concertina::config::{Encoding, Preset};
use concertina::content::{Hints, detect};
use concertina::pipeline::{CompressOptions, FusionEngine, Role};
use concertina::reference::find_markers;

use super::properties::{Case, PROPERTIES};
use super::texts::Dice;

/// An engine with its options.
pub(super) struct Setup<'e> {
    pub(super) name: String,
    pub(super) engine: &'e FusionEngine,
    pub(super) options: CompressOptions,
}

impl Setup<'_> {
    /// Panics when the text breaks the target.
    pub(super) fn check(&self, target: &str, text: &str) {
        let case = Case { name: &self.name, engine: self.engine, options: &self.options, text };
        let compressed = case.compress(text);
        match PROPERTIES.iter().find(|(name, _)| *name == target) {
            Some((_, property)) => property(&case, &compressed),
            None => {
                let _ = case.engine.restore(text, &compressed.originals);
                let _ = detect(text, &Hints::default());
                let _ = find_markers(text).count();
                let _ = concertina::summarize::summarize(text, &Hints::default(), 1500, true);
            }
        }
    }
}

/// Returns a random setup.
pub(super) fn setup<'e>(engines: &'e [(String, FusionEngine)], dice: &mut Dice) -> Setup<'e> {
    let (name, engine) = &engines[if dice.one_in(2) { 0 } else { dice.roll(engines.len()) }];
    let preset = [Preset::Balanced, Preset::Balanced, Preset::Max, Preset::Lossless][dice.roll(4)];
    let role = [Role::Tool, Role::Tool, Role::Assistant, Role::System, Role::User][dice.roll(5)];
    let encoding = if dice.one_in(8) { Encoding::Cl100kBase } else { Encoding::O200kBase };
    let max_tokens = dice.one_in(6).then(|| 1 + dice.roll(2000));
    let name = format!("{name}, {}, {role:?}, {encoding:?}, at most {max_tokens:?}", preset.as_str());
    Setup {
        name,
        engine,
        options: CompressOptions { preset, role, encoding, max_tokens, ..CompressOptions::default() },
    }
}
