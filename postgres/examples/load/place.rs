//! The location of a store, and how to open it.

use std::path::PathBuf;
use std::sync::Arc;

use concertina::config::Config;
use concertina::error::Result;
use concertina::store::{SqliteStore, Store, StoreOptions};
use concertina_postgres::{PostgresOptions, PostgresStore};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The location of a store, which any process can open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Place {
    /// A namespace of a database.
    Postgres { url: String, namespace: String },
    /// A directory.
    Sqlite { dir: PathBuf },
}

impl Place {
    pub(crate) fn open(&self) -> Result<Arc<dyn Store>> {
        match self {
            Self::Postgres { url, namespace } => {
                let options = PostgresOptions { store: options(), ..PostgresOptions::default() };
                Ok(Arc::new(PostgresStore::open(url, namespace, options)?))
            }
            Self::Sqlite { dir } => Ok(Arc::new(SqliteStore::open(dir, options())?)),
        }
    }
}

/// Returns the options of a gateway's store. Limits are high enough not to matter: tests cover a full store.
pub(crate) fn options() -> StoreOptions {
    StoreOptions { max_bytes: 1 << 40, busy_timeout_ms: 10_000, ..StoreOptions::default() }
}

/// Returns the engine configuration of the plugin (`node/lib/library/host-defaults.ts`).
pub(crate) fn config() -> Config {
    let host = json!({ "schedule": "cache-aware", "sccsCompressThreshold": 10_000, "thrift": "normal" });
    let (config, wrong) = Config::default().overlay(host.as_object().expect("written as an object"));
    assert_eq!(wrong, Vec::<String>::new(), "the host's defaults are options");
    config
}
