//! The stores that this copy of the addon has open. A host evaluates the plugin's module several times in one process.
//! All openers of a place with equal options share one store, its connections and its memory: each further opener of a
//! directory takes 30 KB instead of 400 KB.
//!
//! Sharing only saves work. An opener with other options, and another copy of the addon, has its own store at the same
//! place.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use concertina::error::{Error, Result};
use concertina::store::{Scope, SqliteStore, Store, StoreOptions};
use concertina_postgres::{PostgresOptions, PostgresStore};
use dashmap::DashMap;
use napi_derive::napi;

/// The place of a store: a directory, or a database.
#[napi(object)]
pub struct StorePlace {
    /// The directory.
    pub dir: Option<String>,
    /// The URL of a PostgreSQL database.
    pub url: Option<String>,
    /// The tenant in that database; `concertina` by default.
    pub namespace: Option<String>,
    /// The name of this host among those that hold sessions in the store.
    pub host: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum StoreKey {
    Directory(PathBuf),
    Database { url: String, namespace: String },
}

type SharedStore = Arc<Mutex<Weak<dyn Store>>>;

static OPEN_STORES: LazyLock<DashMap<(StoreKey, StoreOptions), SharedStore>> = LazyLock::new(DashMap::new);

impl TryFrom<StorePlace> for StoreKey {
    type Error = Error;

    fn try_from(given: StorePlace) -> Result<Self> {
        match given {
            StorePlace { dir: Some(dir), url: None, namespace: None, .. } => std::path::absolute(Path::new(&dir))
                .map(Self::Directory)
                .map_err(|error| Error::StoreUnavailable { path: dir, reason: error.to_string() }),
            StorePlace { dir: None, url: Some(url), namespace, .. } => {
                Ok(Self::Database { url, namespace: namespace.unwrap_or_else(|| "concertina".into()) })
            }
            // The URL is not repeated because it may contain a password.
            _ => Err(Error::bad_argument(
                "dir",
                "absent or combined with url",
                "the only location; with url, only namespace may be given",
            )),
        }
    }
}

/// Opens the store of a place, or returns the one that is open. With `today` a damaged file is set aside under a name
/// with that date; the returned line reports it.
pub(crate) fn open(
    key: StorePlace,
    options: StoreOptions,
    today: Option<&str>,
) -> Result<(Arc<dyn Store>, Option<String>)> {
    let options = StoreOptions { host: key.host.clone().unwrap_or_default(), ..options };
    let key = StoreKey::try_from(key)?;
    OPEN_STORES.retain(|_, shared| Arc::strong_count(shared) > 1 || lock(shared).strong_count() > 0);
    let empty = || Arc::new(Mutex::new(Weak::<SqliteStore>::new() as Weak<dyn Store>));
    let shared = Arc::clone(&OPEN_STORES.entry((key.clone(), options.clone())).or_insert_with(empty));
    // Opening is slow, and an opener of another place must not wait for it.
    let mut shared = lock(&shared);
    if let Some(store) = shared.upgrade().filter(|store| is_readable(&**store)) {
        return Ok((store, None));
    }
    let (store, notice): (Arc<dyn Store>, _) = match (key, today) {
        (StoreKey::Directory(dir), Some(today)) => {
            let (store, notice) = SqliteStore::open_or_set_aside(&dir, options, today)?;
            (Arc::new(store), notice)
        }
        (StoreKey::Directory(dir), None) => (Arc::new(SqliteStore::open(&dir, options)?), None),
        (StoreKey::Database { url, namespace }, _) => {
            let options = PostgresOptions { store: options, ..PostgresOptions::default() };
            (Arc::new(PostgresStore::open(&url, &namespace, options)?), None)
        }
    };
    *shared = Arc::downgrade(&store);
    Ok((store, notice))
}

fn lock(shared: &SharedStore) -> std::sync::MutexGuard<'_, Weak<dyn Store>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if a store can still be read. A store whose file was damaged while open must not keep a new opener
/// from setting the file aside.
fn is_readable(store: &dyn Store) -> bool {
    store.ledger(&Scope { agent_id: String::new(), session_id: String::new() }).is_ok()
}
