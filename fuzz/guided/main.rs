//! Fuzzes with libFuzzer, guided by coverage: `npm run fuzz:guided -- TARGET [SECONDS]`.
//!
//! One program contains all targets, because linking takes longest: `CONCERTINA_TARGET` names one of them, a file in
//! `targets/`. Before libFuzzer starts, the target's seeds are written to the directory `CONCERTINA_SEEDS` and its
//! dictionary to the file `CONCERTINA_WORDS`.

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

/// Returns a word in the format of libFuzzer's dictionaries.
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
