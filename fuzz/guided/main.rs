//! Inputs that libFuzzer makes, led by the code that they reach: `npm run fuzz:guided -- TARGET [SECONDS]`.
//!
//! One program for all targets, because linking takes longest: `CONCERTINA_TARGET` names one of them, a file in `targets/`. Into the directory that
//! `CONCERTINA_SEEDS` names go its first inputs, into the file of `CONCERTINA_WORDS` its dictionary, before libFuzzer reads either.

#![no_main]

#[path = "../../tests/corpus/mod.rs"]
mod corpus;
#[path = "../../tests/properties/mod.rs"]
mod properties;
#[path = "../setup.rs"]
mod setup;
mod targets;
#[path = "../texts.rs"]
#[allow(dead_code, reason = "what is made by dice is mutated by libFuzzer here")]
mod texts;

use std::env::{var, var_os};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use targets::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = var("CONCERTINA_TARGET").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("there is no target {name:?}"))
});

/// A word as libFuzzer reads it.
fn entry(word: &str) -> String {
    word.bytes().fold(String::from("\""), |mut entry, byte| {
        let _ = write!(entry, "\\x{byte:02x}");
        entry
    }) + "\"\n"
}

fn prepare() {
    if let Some(dir) = var_os("CONCERTINA_SEEDS") {
        for (number, seed) in (TARGET.seeds)().iter().enumerate() {
            fs::write(Path::new(&dir).join(number.to_string()), seed).expect("a directory for seeds");
        }
    }
    if let Some(file) = var_os("CONCERTINA_WORDS") {
        fs::write(file, (TARGET.words)().iter().map(|word| entry(word)).collect::<String>()).expect("a file for words");
    }
}

libfuzzer_sys::fuzz_target!(init: prepare(), |data: &[u8]| (TARGET.run)(data));
