//! What is fuzzed: a file for each target, whose first line says what it is about.

mod fetch;
mod grammars;
mod history;
mod images;
mod messages;
mod parse;
mod properties;
mod restore;
mod store;

use std::sync::Arc;

use concertina::assemble::Engine;
use concertina::config::Config;
use concertina::store::{SqliteStore, StoreOptions};
use tempfile::TempDir;

use super::corpus;
use super::texts::SIGNS;

/// A target.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Panics, or does what a sanitizer stops, where an input is a finding.
    pub(crate) run: fn(&[u8]),
    /// Inputs to begin with.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Strings that mean something.
    pub(crate) words: fn() -> Vec<String>,
}

macro_rules! targets {
    ($($name:ident),*) => {
        pub(crate) const TARGETS: &[Target] = &[
            $(Target { name: stringify!($name), run: $name::run, seeds: $name::seeds, words: $name::words }),*
        ];
    };
}

targets!(fetch, grammars, history, images, messages, parse, properties, restore, store);

/// No text to begin with is longer: what is short is tried more often.
const SEED_BYTES: usize = 1 << 10;

/// What stages and the runner look at.
fn signs() -> Vec<String> {
    SIGNS.map(str::to_owned).to_vec()
}

/// The first bytes of a text, as many as a seed may have.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEED_BYTES)]
}

/// A text behind bytes that say what is done with it.
fn seed(choice: &[u8], text: &str) -> Vec<u8> {
    [choice, cut(text).as_bytes()].concat()
}

/// What chooses, and the text behind it.
fn chosen<const N: usize>(data: &[u8]) -> Option<([u8; N], String)> {
    let (choice, text) = data.split_first_chunk()?;
    Some((*choice, String::from_utf8_lossy(text).into_owned()))
}

/// A directory of one input, in memory where the script finds some.
fn directory() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

fn open(dir: &TempDir) -> SqliteStore {
    SqliteStore::open(dir.path(), StoreOptions::default()).expect("a new directory opens")
}

/// An engine over a new store, and where that is.
fn engine(config: Config) -> (Engine, TempDir) {
    let dir = directory();
    (Engine::new(Arc::new(open(&dir)), config).expect("the options are good"), dir)
}
