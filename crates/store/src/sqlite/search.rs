//! Finds the originals of a session that may contain some words, by their signatures.

use rusqlite::{Connection, Transaction};

use super::failure::{Failure, Outcome};
use super::row::{all, count, execute, first};
use super::session::find_session;
use crate::records::{Candidates, MAX_CANDIDATES, MAX_UNSIGNED, Scope, Searched};
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
    let granted = "SELECT original FROM grants WHERE session = ?1 ORDER BY original DESC";
    let granted: Vec<i64> = all(connection, granted, (session,), |row| row.get(0))?;
    let mut signed =
        connection.prepare_cached("SELECT original, bits FROM signatures WHERE session = ?1 ORDER BY original DESC")?;
    // A join would search each signature, which takes several times as long as reading all in order.
    let (mut likely, mut unsigned, mut granted) = (Vec::new(), Vec::new(), granted.into_iter());
    let mut rows = signed.query((session,))?;
    while let Some(row) = rows.next()? {
        let original: i64 = row.get(0)?;
        // Every signature is that of a grant.
        unsigned.extend(granted.by_ref().take_while(|granted| *granted != original));
        let bits = row.get_ref(1)?.as_blob().map_err(|error| Failure::Damaged(format!("a signature: {error}")))?;
        if probes.may_match(bits) {
            likely.push(original);
        }
    }
    unsigned.extend(granted);
    let candidates = |originals, most| candidates(connection, session, originals, most, expired_before);
    Ok(Searched { likely: candidates(&likely, MAX_CANDIDATES)?, unsigned: candidates(&unsigned, MAX_UNSIGNED)? })
}

/// Returns the newest of some originals that the session may still see, with their sizes.
fn candidates(
    connection: &Connection,
    session: i64,
    originals: &[i64],
    most: usize,
    expired_before: Millis,
) -> Outcome<Candidates> {
    let visible = "SELECT hash, size FROM originals JOIN access ON access.original = originals.id
       WHERE access.session = ?1 AND originals.id = ?2 AND referred_at >= ?3";
    let mut newest = Vec::new();
    for (at, original) in originals.iter().enumerate() {
        if newest.len() == most {
            return Ok(Candidates { newest, older: (originals.len() - at) as u64 });
        }
        let params = (session, original, expired_before);
        newest.extend(first(connection, visible, params, |row| Ok((ContentHash(row.get(0)?), count(row, 1)?)))?);
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
    let insert = "INSERT INTO signatures (session, original, bits)
       SELECT session, original, ?3 FROM grants JOIN originals ON originals.id = grants.original
       WHERE session = ?1 AND hash = ?2 ON CONFLICT (session, original) DO NOTHING";
    for (hash, signature) in signatures {
        execute(transaction, insert, (session, hash.0, signature.as_bytes()))?;
    }
    Ok(())
}
