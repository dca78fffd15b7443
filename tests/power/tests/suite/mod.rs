//! The originals that the tests of this crate put into a store, and their checks.

#![allow(dead_code, reason = "not every test binary uses every part")]

use std::fmt::Display;
use std::path::Path;

use concertina::error::Result;
use concertina::reference::Original;
use concertina::store::{Batch, BlockKey, Millis, Projection, Scope, SqliteStore, Store, StoreOptions};
use concertina_power_test::Dice;
use rusqlite::Connection;

pub(crate) const START: Millis = 1_700_000_000_000;

pub(crate) fn scope(session: &str) -> Scope {
    Scope { agent_id: "main".into(), session_id: session.into() }
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions { ttl_seconds: 600, ..StoreOptions::default() }
}

pub(crate) fn open(home: &Path) -> Result<SqliteStore> {
    SqliteStore::open(home, options())
}

/// Returns an original that hardly compresses.
pub(crate) fn original(dice: &mut Dice, length: u64) -> Original {
    let text: String = (0..length).map(|_| char::from(b' ' + dice.below(95) as u8)).collect();
    Original::text(&text, "test")
}

pub(crate) fn projection(original: &Original) -> Projection {
    let block = BlockKey { hash: original.hash, place: 7 };
    Projection { block, replacement: "\"folded\"".into(), original: original.hash, reason: "stale".into() }
}

pub(crate) fn commit(store: &dyn Store, session: &str, originals: &[Original], now: Millis) -> Result<()> {
    let ids = store.ref_ids(&originals.iter().map(|original| original.hash).collect::<Vec<_>>())?;
    let projections = originals.iter().map(projection).collect();
    let originals = ids.into_iter().zip(originals.iter().cloned()).collect();
    store.commit(&scope(session), &Batch { originals, projections, ..Batch::default() }, now).map(drop)
}

/// Returns an error unless a store holds these originals byte for byte and shows them as before.
pub(crate) fn check(store: &SqliteStore, acknowledged: &[Original]) -> std::result::Result<(), String> {
    let words = |error: &dyn Display| error.to_string();
    let connection = Connection::open(store.path()).map_err(|error| words(&error))?;
    let found = connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0));
    match found.map_err(|error| words(&error))?.as_str() {
        "ok" => {}
        damage => return Err(damage.to_owned()),
    }
    let shown = store.ledger(&scope("session")).map_err(|error| words(&error))?.projections;
    for original in acknowledged {
        let id = original.hash.to_ref_id(16);
        match store.get(&id, "main", START).map_err(|error| words(&error))? {
            Some((_, found)) if found == *original => {}
            _ => return Err(format!("{id} of {} bytes is lost", original.bytes.len())),
        }
        if !shown.contains(&projection(original)) {
            return Err(format!("the projection of {id} is lost"));
        }
    }
    Ok(())
}
