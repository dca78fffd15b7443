//! An engine over a store in a directory, and the one session that most tests need.

#![allow(dead_code, reason = "not every test binary uses every part")]

use std::sync::Arc;

use concertina::assemble::{Engine, Fetch, FetchedBlock};
use concertina::config::Config;
use concertina::store::{Scope, SqliteStore, StoreOptions};
use tempfile::TempDir;

/// Returns the session that all tests use.
pub(crate) fn scope() -> Scope {
    Scope { agent_id: "main".into(), session_id: "s".into() }
}

/// Creates a directory for a store, in memory if the system has such a file system. For tests of anything but the disk.
pub(crate) fn directory() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.expect("a directory can be made")
}

/// Opens an engine.
pub(crate) fn open(dir: &TempDir, config: Config) -> Engine {
    open_with(dir, config, StoreOptions::default())
}

/// Opens an engine over a store with the given options.
pub(crate) fn open_with(dir: &TempDir, config: Config, options: StoreOptions) -> Engine {
    let store = SqliteStore::open(dir.path(), options).expect("a directory of ours opens");
    Engine::new(Arc::new(store), config).expect("the options are good")
}

/// Fetches the whole original of an id.
pub(crate) fn fetch(engine: &Engine, id: &str) -> FetchedBlock {
    let asked = Fetch { ref_ids: vec![id.to_owned()], max_chars: usize::MAX, ..Fetch::default() };
    engine.fetch(&scope(), &asked, 0).expect("a fetch").blocks.remove(0)
}
