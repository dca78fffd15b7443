//! Finds the originals of a session that may contain some words, by their signatures.

use std::sync::LazyLock;

use concertina_base::reference::ContentHash;
use concertina_store::signature::{MAX_PROBES, Probes, Signature};
use concertina_store::{Candidates, MAX_CANDIDATES, MAX_UNSIGNED, Millis, Scope, Searched, StoreOptions};
use tokio_postgres::Row;

use crate::connection::{Connection, call};
use crate::failure::{Failure, Outcome};
use crate::pool::{IDENTITY_QUERY, Pool, WriteTransaction};
use crate::row::{at, count, first, hash, hashes};
use crate::scope::session;
use crate::text::key;

/// Selects the number of a session's signatures and, newest first, the originals whose signatures have the bits `$3`:
/// none, or [`MAX_PROBES`].
static SIGNED: LazyLock<String> = LazyLock::new(|| {
    let are_set = (1..=MAX_PROBES).map(|probe| format!("get_bit(bits, ($3::int[])[{probe}] & mask) = 1"));
    format!(
        "SELECT count(*), array_agg(original ORDER BY original DESC) FILTER (WHERE cardinality($3::int[]) = 0 OR {})
         FROM (SELECT original, bits, length(bits) * 8 - 1 AS mask FROM signatures WHERE session = {} OFFSET 0)
           AS signed",
        are_set.collect::<Vec<_>>().join(" AND "),
        session!()
    )
});

const GRANTED: &str = concat!("SELECT count(*) FROM grants WHERE session = ", session!());

const UNSIGNED: &str = concat!(
    "SELECT array_agg(original ORDER BY original DESC) FROM grants WHERE session = ",
    session!(),
    " AND NOT EXISTS (SELECT 1 FROM signatures
       WHERE signatures.session = grants.session AND signatures.original = grants.original OFFSET 0)"
);

/// Selects the hashes and sizes of originals that the session may still see, in the order given. Without `OFFSET`, a
/// plan from old statistics could read all grants of the session for each of them; so could those of [`SIGN`] and
/// [`UNSIGNED`].
const VISIBLE: &str = concat!(
    "SELECT hash, size FROM unnest($3::bigint[]) WITH ORDINALITY AS given (original, position)
     CROSS JOIN LATERAL (
       SELECT FROM access WHERE session = ",
    session!(),
    " AND original = given.original AND referred_at >= $4 OFFSET 0) AS visible
     CROSS JOIN LATERAL (SELECT hash, size FROM originals WHERE id = given.original OFFSET 0) AS stored
     ORDER BY position"
);

const SIGN: &str = concat!(
    "INSERT INTO signatures (session, original, bits)
     SELECT session, id, bits FROM unnest($3::bytea[], $4::bytea[]) AS given (hash, bits)
     CROSS JOIN LATERAL (SELECT id FROM originals WHERE originals.hash = given.hash OFFSET 0) AS stored
     CROSS JOIN LATERAL (
       SELECT session FROM grants WHERE session = ",
    session!(),
    " AND original = id OFFSET 0) AS granted
     ORDER BY id ON CONFLICT (session, original) DO NOTHING"
);

/// Returns the originals of a session that may contain the words, and those that have no signature yet.
pub(crate) fn search(
    pool: &Pool,
    connection: &mut Connection,
    options: &StoreOptions,
    (scope, probes): (&Scope, &Probes),
    now: Millis,
) -> Outcome<Searched> {
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let caller_time = pool.caller_time(now);
    let bits: Vec<i32> = probes.bits().iter().copied().map(i32::from).cycle().take(MAX_PROBES).collect();
    let answers = connection.read(vec![
        call!(IDENTITY_QUERY, caller_time),
        call!(SIGNED.as_str(), session, agent, bits),
        call!(GRANTED, session, agent),
    ])?;
    let (_, now) = pool.read_identity(connection, &answers[0])?;
    let signed: i64 = first(&answers[1])?.unwrap_or(0);
    let likely = originals(&answers[1], 1)?;
    // Every signature is that of a grant.
    let unsigned = match first::<i64>(&answers[2])? {
        Some(granted) if granted != signed => originals(&connection.run(&[call!(UNSIGNED, session, agent)])?[0], 0)?,
        _ => Vec::new(),
    };
    let before = options.expired_before(now);
    let mut candidates = |originals: Vec<i64>, most: usize| {
        let (mut newest, mut seen) = (Vec::new(), 0);
        while newest.len() < most && seen < originals.len() {
            let some = &originals[seen..originals.len().min(seen + most - newest.len())];
            let rows = connection.run(&[call!(VISIBLE, session, agent, some, before)])?.remove(0);
            for row in &rows {
                newest.push((hash(row, 0)?, count(row, 1)?));
            }
            seen += some.len();
        }
        Ok::<_, Failure>(Candidates { newest, older: (originals.len() - seen) as u64 })
    };
    Ok(Searched { likely: candidates(likely, MAX_CANDIDATES)?, unsigned: candidates(unsigned, MAX_UNSIGNED)? })
}

/// Reads a column with an array of row ids, which is NULL if there are none.
fn originals(rows: &[Row], column: usize) -> Outcome<Vec<i64>> {
    rows.first().map_or(Ok(None), |row| at(row, column)).map(Option::unwrap_or_default)
}

/// Stores signatures of originals that the session may see.
pub(crate) fn sign(
    transaction: &mut WriteTransaction<'_>,
    scope: &Scope,
    signatures: &[(ContentHash, Signature)],
) -> Outcome<()> {
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let originals = hashes(signatures.iter().map(|(hash, _)| hash));
    let bits: Vec<&[u8]> = signatures.iter().map(|(_, signature)| signature.as_bytes()).collect();
    transaction.run(&[call!(SIGN, session, agent, originals, bits)]).map(drop)
}
