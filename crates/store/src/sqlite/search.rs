//! Finds the originals of a session that may contain some words, by their signatures.

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::failure::{Failure, Outcome};
use super::row::count;
use super::session::find_session;
use crate::records::{Candidates, MAX_CANDIDATES, Scope, Searched};
use crate::signature::{Probes, Signature};
use crate::time::Millis;
use concertina_base::reference::ContentHash;

/// Returns the originals of a session that may contain the words, and those that have no signature yet.
pub(super) fn search(
    connection: &Connection,
    scope: &Scope,
    probes: &Probes,
    expired_before: Millis,
) -> Outcome<Searched> {
    let Some(session) = find_session(connection, scope)? else { return Ok(Searched::default()) };
    let (mut likely, mut unsigned) = (Vec::new(), Vec::new());
    let mut granted = connection.prepare_cached(
        "SELECT grants.original, bits FROM grants
         LEFT JOIN signatures ON signatures.session = grants.session AND signatures.original = grants.original
         WHERE grants.session = ?1 ORDER BY grants.original DESC",
    )?;
    let mut rows = granted.query((session,))?;
    while let Some(row) = rows.next()? {
        match row.get_ref(1)?.as_blob_or_null().map_err(|error| Failure::Damaged(format!("a signature: {error}")))? {
            None => unsigned.push(row.get(0)?),
            Some(bits) if probes.may_match(bits) => likely.push(row.get(0)?),
            Some(_) => {}
        }
    }
    let candidates = |originals: Vec<i64>| candidates(connection, session, &originals, expired_before);
    Ok(Searched { likely: candidates(likely)?, unsigned: candidates(unsigned)? })
}

/// Returns the newest of some originals that the session may still see, with their sizes.
fn candidates(connection: &Connection, session: i64, originals: &[i64], expired_before: Millis) -> Outcome<Candidates> {
    let mut visible = connection.prepare_cached(
        "SELECT hash, size FROM originals JOIN access ON access.original = originals.id
         WHERE access.session = ?1 AND originals.id = ?2 AND referred_at >= ?3",
    )?;
    let mut newest = Vec::new();
    for (at, original) in originals.iter().enumerate() {
        if newest.len() == MAX_CANDIDATES {
            return Ok(Candidates { newest, older: (originals.len() - at) as u64 });
        }
        let row = visible
            .query_row((session, original, expired_before), |row| Ok((ContentHash(row.get(0)?), count(row, 1)?)));
        newest.extend(row.optional()?);
    }
    Ok(Candidates { newest, older: 0 })
}

/// Stores signatures of originals that the session may see.
pub(super) fn sign(
    transaction: &Transaction<'_>,
    scope: &Scope,
    signatures: &[(ContentHash, Signature)],
) -> Outcome<()> {
    let Some(session) = find_session(transaction, scope)? else { return Ok(()) };
    let mut insert = transaction.prepare_cached(
        "INSERT INTO signatures (session, original, bits)
         SELECT session, original, ?3 FROM grants JOIN originals ON originals.id = grants.original
         WHERE session = ?1 AND hash = ?2 ON CONFLICT (session, original) DO NOTHING",
    )?;
    for (hash, signature) in signatures {
        insert.execute((session, hash.0, signature.as_bytes()))?;
    }
    Ok(())
}
