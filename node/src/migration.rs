//! One store copied into another.

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

/// What was copied.
#[napi(object, object_from_js = false)]
pub struct Migrated {
    /// How many rows, by table.
    #[napi(ts_type = "Record<string, number>")]
    pub rows: HashMap<String, f64>,
    /// Ids of originals that were damaged in the source already: they are as damaged now.
    pub damaged: Vec<String>,
}

/// A copy that says how far it is.
#[napi]
#[derive(Default)]
pub struct NativeMigration {
    copied: Arc<AtomicU64>,
}

#[napi]
impl NativeMigration {
    /// A copy that has not begun.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many originals were copied so far.
    #[napi(getter)]
    pub fn copied(&self) -> f64 {
        self.copied.load(Ordering::Relaxed) as f64
    }

    /// Copies everything into an empty store, reads it back, and compares.
    #[napi]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        from: StorePlace,
        to: StorePlace,
    ) -> napi::Result<PromiseRaw<'env, Migrated>> {
        let copied = Arc::clone(&self.copied);
        blocking(env, move || {
            // What is held in the source stays held, by the host that moves it.
            let options = StoreOptions { retention: Retention::Held, ..StoreOptions::default() };
            let open = |place| registry::open(place, options.clone(), None);
            let ((from, _), (to, _)) = (open(from)?, open(to)?);
            let done = copy(&*from, &*to, |originals| copied.store(originals, Ordering::Relaxed))?;
            let rows = done.rows.into_iter().map(|(table, rows)| (table.to_owned(), rows as f64));
            Ok(Migrated { rows: rows.collect(), damaged: done.damaged })
        })
    }
}
