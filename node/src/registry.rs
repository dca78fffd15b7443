//! The stores that this copy of the addon has open. A host evaluates the plugin's module several times in one process: whoever opens a
//! directory with equal options shares the store there, its connections and its memory. A further opener takes 30 KB so, not 400.
//!
//! That is only ever saved work. An opener with other options, and another copy of the addon, has a store of its own on the same file.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use concertina::error::Result;
use concertina::store::{Scope, SqliteStore, Store, StoreOptions};
use dashmap::DashMap;

type Place = Arc<Mutex<Weak<SqliteStore>>>;

static OPEN: LazyLock<DashMap<(PathBuf, StoreOptions), Place>> = LazyLock::new(DashMap::new);

/// The store of a directory. With `today` a damaged file is set aside under that date; a line says so.
pub(crate) fn open(
    dir: PathBuf,
    options: StoreOptions,
    today: Option<&str>,
) -> Result<(Arc<SqliteStore>, Option<String>)> {
    OPEN.retain(|_, place| Arc::strong_count(place) > 1 || held(place).strong_count() > 0);
    let place = Arc::clone(&OPEN.entry((dir.clone(), options.clone())).or_default());
    // Opening takes a while: whoever opens another directory does not wait for it.
    let mut held = held(&place);
    if let Some(store) = held.upgrade().filter(|store| reads(store)) {
        return Ok((store, None));
    }
    let (store, aside) = match today {
        Some(today) => SqliteStore::open_or_set_aside(&dir, options, today)?,
        None => (SqliteStore::open(&dir, options)?, None),
    };
    let store = Arc::new(store);
    *held = Arc::downgrade(&store);
    Ok((store, aside))
}

fn held(place: &Place) -> std::sync::MutexGuard<'_, Weak<SqliteStore>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a store still reads its file. One that was damaged under it must not keep a new opener from setting it aside.
fn reads(store: &SqliteStore) -> bool {
    store.ledger(&Scope { agent_id: String::new(), session_id: String::new() }).is_ok()
}
