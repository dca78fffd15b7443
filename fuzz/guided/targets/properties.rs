//! Checks every property of `tests/properties` on texts, compressed with the options that the first two bytes select.

use std::sync::LazyLock;

use concertina::pipeline::FusionEngine;

use super::{chosen, cut, seed, signs};
use crate::properties::{PROPERTIES, engines};
use crate::setup::setup;
use crate::texts::{Dice, Texts};

/// The number of seeds.
const SEEDS: u16 = 100;

static ENGINES: LazyLock<Vec<(String, FusionEngine)>> = LazyLock::new(engines);

pub(super) fn run(data: &[u8]) {
    let Some((choice, text)) = chosen(data) else { return };
    let setup = setup(&ENGINES, &mut Dice::new(u16::from_le_bytes(choice).into(), ""));
    for target in PROPERTIES.iter().map(|(name, _)| *name).chain(["no_panic"]) {
        setup.check(target, &text);
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let (texts, mut dice) = (Texts::load(), Dice::new(1, "seeds"));
    (0..SEEDS).map(|choice| seed(&choice.to_le_bytes(), cut(&texts.next(&mut dice)))).collect()
}

pub(super) fn words() -> Vec<String> {
    signs()
}
