//! The fuzz targets: one file each, whose first line describes it.

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

/// A fuzz target.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// The function under test. An input is a finding if it panics or a sanitizer stops it.
    pub(crate) run: fn(&[u8]),
    /// Returns the initial inputs.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Returns strings that are significant for the target.
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

/// The maximum number of bytes of an initial text. Short inputs are tried more often.
const SEED_BYTES: usize = 1 << 10;

/// Returns strings that stages and the runner examine.
fn signs() -> Vec<String> {
    SIGNS.map(str::to_owned).to_vec()
}

/// Returns the first bytes of a text, at most [`SEED_BYTES`].
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SEED_BYTES)]
}

/// Returns a text after bytes that select what is done with it.
fn seed(choice: &[u8], text: &str) -> Vec<u8> {
    [choice, cut(text).as_bytes()].concat()
}

/// Splits an input into the selecting bytes and the text after them.
fn chosen<const N: usize>(data: &[u8]) -> Option<([u8; N], String)> {
    let (choice, text) = data.split_first_chunk()?;
    Some((*choice, String::from_utf8_lossy(text).into_owned()))
}

/// Creates a directory for one input, in memory if the script finds a suitable file system.
fn directory() -> TempDir {
    TempDir::new().expect("a temporary directory")
}

fn open(dir: &TempDir) -> SqliteStore {
    SqliteStore::open(dir.path(), StoreOptions::default()).expect("a new directory opens")
}

/// Creates an engine with a new store, and returns it with the store's directory.
fn engine(config: Config) -> (Engine, TempDir) {
    let dir = directory();
    (Engine::new(Arc::new(open(&dir)), config).expect("the options are good"), dir)
}
