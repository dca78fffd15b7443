//! The migration of one store into another.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use concertina::store::copy::copy;
use concertina::store::{Retention, StoreOptions};
use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

use crate::registry::{self, StorePlace};
use crate::work::blocking;

/// The result of a migration.
#[napi(object, object_from_js = false)]
pub struct Migrated {
    /// The number of copied rows, by table.
    #[napi(ts_type = "Record<string, number>")]
    pub rows: HashMap<String, f64>,
    /// Ids of originals that were already damaged in the source. They are copied as they are.
    pub damaged: Vec<String>,
}

/// A migration that reports its progress.
#[napi]
#[derive(Default)]
pub struct NativeMigration {
    copied: Arc<AtomicU64>,
}

#[napi]
impl NativeMigration {
    /// Creates a migration that has not begun.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of originals that were copied so far.
    #[napi(getter)]
    pub fn copied(&self) -> f64 {
        self.copied.load(Ordering::Relaxed) as f64
    }

    /// Copies everything into an empty store, reads it back and compares.
    #[napi]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        from: StorePlace,
        to: StorePlace,
    ) -> napi::Result<PromiseRaw<'env, Migrated>> {
        let copied = Arc::clone(&self.copied);
        blocking(env, move || {
            // The host that migrates its store still holds the sessions that it held in the source.
            let options = StoreOptions { retention: Retention::Held, ..StoreOptions::default() };
            let open = |place| registry::open(place, options.clone(), None);
            let ((from, _), (to, _)) = (open(from)?, open(to)?);
            let done = copy(&*from, &*to, |originals| copied.store(originals, Ordering::Relaxed))?;
            let rows = done.rows.into_iter().map(|(table, rows)| (table.to_owned(), rows as f64));
            Ok(Migrated { rows: rows.collect(), damaged: done.damaged })
        })
    }
}
