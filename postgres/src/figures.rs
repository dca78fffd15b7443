//! Requests as rows, and what they come to.

use std::collections::BTreeMap;

use concertina::store::figures::{
    Amount, Day, FetchedOriginal, Figures, FiguresQuery, FoldedKind, KindTokens, KnownSession, Recent, Request,
    SessionAmount, SessionEpoch, Stored, Total,
};
use concertina::store::sums::{DAY_MS, Sums, date};
use concertina::store::{Millis, Scope};
use tokio_postgres::Row;

use crate::batch::where_it_counts;
use crate::failure::Outcome;
use crate::link::{Link, call};
use crate::read::{STORED_OF, timed};
use crate::row::{at, count, first, signed, text, text_or_null, texts};
use crate::session::{row_of, session};
use crate::text::key;

/// The sums of requests, in this order; `swept_requests` has them as columns.
macro_rules! sums {
    () => {
        "count(*), count(*) FILTER (WHERE is_measured), sum(sent)::bigint, sum(without)::bigint, sum(overhead)::bigint,
         sum(fetched)::bigint, sum(sent_bill), sum(without_bill), coalesce(sum(sent_bill * usd), 0),
         coalesce(sum(without_bill * usd), 0), count(*) - count(usd)"
    };
}

/// Rows of the session `$1` (or of all, where it is NULL), from `$2` on and before `$3`.
macro_rules! of_session {
    ($columns:expr, $table:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " JOIN sessions ON sessions.id = ",
            $table,
            ".session
             WHERE ($1::bigint IS NULL OR sessions.id = $1) AND at >= $2 AND at < $3 ",
            $rest
        )
    };
}

pub(crate) const REQUESTED: &str =
    "INSERT INTO requests (session, at, is_measured, sent, without, overhead, fetched, sent_bill, without_bill, usd)
     SELECT $1, at, is_measured, sent, without, overhead, fetched, sent_bill, without_bill, usd
     FROM unnest($2::bigint[], $3::boolean[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::double precision[],
       $9::double precision[], $10::double precision[]) WITH ORDINALITY
       AS given (at, is_measured, sent, without, overhead, fetched, sent_bill, without_bill, usd, position) ORDER BY position";

/// What a session's model fetched. Where `$6`, it was sent before, and may be there.
pub(crate) const FETCHED: &str = concat!(
    "INSERT INTO fetches (session, at, ref_id, tokens)
     SELECT ",
    session!(),
    ", $3, ref_id, tokens FROM unnest($4::text[], $5::bigint[]) WITH ORDINALITY AS given (ref_id, tokens, position)
     WHERE NOT ($6 AND EXISTS (SELECT 1 FROM fetches WHERE session = ",
    session!(),
    " AND at = $3)) ORDER BY position"
);

pub(crate) const FOLDED: &str = concat!(
    "INSERT INTO folded (session, day, kind, tokens_before, tokens_after)
     SELECT ",
    session!(),
    ", $3, kind, sum(tokens_before), sum(tokens_after)
     FROM unnest($4::text[], $5::bigint[], $6::bigint[]) AS given (kind, tokens_before, tokens_after)",
    where_it_counts!(),
    "GROUP BY kind
     ON CONFLICT (session, day, kind) DO UPDATE SET tokens_before = folded.tokens_before + excluded.tokens_before,
       tokens_after = folded.tokens_after + excluded.tokens_after"
);

/// Adds the requests of sessions that are about to be forgotten to the totals.
pub(crate) const KEEP_SUMS: &str = concat!(
    "INSERT INTO swept_requests SELECT day, ",
    sums!(),
    ", (SELECT count(*) FROM fetches WHERE fetches.session = ANY($1::bigint[]) AND fetches.at / 86400000 = day)
     FROM (SELECT *, at / 86400000 AS day FROM requests WHERE session = ANY($1::bigint[])) AS days GROUP BY day
     ON CONFLICT (day) DO UPDATE SET
       requests = swept_requests.requests + excluded.requests, measured = swept_requests.measured + excluded.measured,
       sent = swept_requests.sent + excluded.sent, without = swept_requests.without + excluded.without,
       overhead = swept_requests.overhead + excluded.overhead, fetched = swept_requests.fetched + excluded.fetched,
       sent_bill = swept_requests.sent_bill + excluded.sent_bill,
       without_bill = swept_requests.without_bill + excluded.without_bill,
       sent_usd = swept_requests.sent_usd + excluded.sent_usd,
       without_usd = swept_requests.without_usd + excluded.without_usd,
       unpriced = swept_requests.unpriced + excluded.unpriced, fetches = swept_requests.fetches + excluded.fetches"
);

/// What was folded, as the columns of [`FOLDED`].
pub(crate) fn folded_rows(folded: &[(FoldedKind, u64, u64)]) -> (Vec<&'static str>, Vec<i64>, Vec<i64>) {
    let kinds = folded.iter().map(|(kind, ..)| kind.as_str()).collect();
    let before = folded.iter().map(|(_, before, _)| signed(*before)).collect();
    (kinds, before, folded.iter().map(|(.., after)| signed(*after)).collect())
}

/// What a session did since a moment, and how it stood before.
pub(crate) fn recent(link: &mut Link, scope: &Scope, since: Millis) -> Outcome<Recent> {
    macro_rules! of_scope {
        ($columns:literal, $table:literal, $rest:literal) => {
            concat!("SELECT ", $columns, " FROM ", $table, " WHERE session = ", session!(), " ", $rest)
        };
    }
    macro_rules! last {
        ($condition:literal) => {
            of_scope!(
                "at, is_measured, sent, without, overhead, fetched, sent_bill, without_bill, usd",
                "requests",
                $condition
            )
        };
    }
    const LAST: &str = last!("ORDER BY id DESC LIMIT 1");
    const LAST_WITHOUT: &str = last!("AND without > 0 ORDER BY id DESC LIMIT 1");
    const ADMITTED: &str = of_scope!(
        "at, greatest(tokens_before - tokens_after, 0)",
        "receipts",
        "AND kind = 'admit' AND at >= $3 ORDER BY id"
    );
    const FETCHES: &str = of_scope!("at, tokens", "fetches", "AND at >= $3 ORDER BY id");
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let answers = link.read(vec![
        call!(LAST, session, agent),
        call!(LAST_WITHOUT, session, agent),
        call!(ADMITTED, session, agent, since),
        call!(FETCHES, session, agent, since),
    ])?;
    Ok(Recent {
        last: answers[0].first().map(request).transpose()?,
        last_without: answers[1].first().map(request).transpose()?,
        admitted: timed(&answers[2])?,
        fetched: timed(&answers[3])?,
    })
}

fn request(row: &Row) -> Outcome<Request> {
    Ok(Request {
        at: at(row, 0)?,
        is_measured: at(row, 1)?,
        sent: count(row, 2)?,
        without: count(row, 3)?,
        overhead: count(row, 4)?,
        fetched: count(row, 5)?,
        sent_bill: at(row, 6)?,
        without_bill: at(row, 7)?,
        usd: at(row, 8)?,
    })
}

/// Reads [`sums`], from a column on.
fn read_sums(row: &Row, from: usize) -> Outcome<Sums> {
    let amount = Amount {
        requests: count(row, from)?,
        sent_tokens: count(row, from + 2)?,
        without_tokens: count(row, from + 3)?,
        sent_bill: at(row, from + 6)?,
        without_bill: at(row, from + 7)?,
    };
    Ok(Sums {
        amount,
        measured: count(row, from + 1)?,
        overhead: count(row, from + 4)?,
        fetched: count(row, from + 5)?,
        usd: (at(row, from + 8)?, at(row, from + 9)?),
        unpriced: count(row, from + 10)?,
    })
}

/// The figures; `max_bytes` and `path` are the store's.
pub(crate) fn figures(link: &mut Link, query: &FiguresQuery, (max_bytes, path): (u64, String)) -> Outcome<Figures> {
    const BY_DAY: &str = of_session!(concat!("at / 86400000, ", sums!()), "requests", "GROUP BY 1");
    const FETCHES: &str = of_session!("count(*)", "fetches", "");
    const SWEPT: &str =
        "SELECT day, requests, measured, sent, without, overhead, fetched, sent_bill, without_bill, sent_usd,
           without_usd, unpriced, fetches FROM swept_requests WHERE $1::bigint IS NULL AND day >= $2 AND day <= $3";
    const SESSIONS: &str = of_session!(
        concat!("session_id, session_key, max(at), ", sums!()),
        "requests",
        "GROUP BY sessions.id
         ORDER BY sum((without_bill - sent_bill) * CASE WHEN $4::boolean THEN usd ELSE 1 END) DESC NULLS LAST, max(at) DESC LIMIT 100"
    );
    const EPOCHS: &str = of_session!(
        "at, session_id, reason, blocks, tokens_freed, tokens_rebilled",
        "epochs",
        "ORDER BY epochs.id DESC LIMIT 200"
    );
    const KINDS: &str = "SELECT kind, sum(tokens_before)::bigint, sum(tokens_after)::bigint
         FROM folded JOIN sessions ON sessions.id = folded.session
         WHERE ($1::bigint IS NULL OR sessions.id = $1) AND day >= $2 AND day <= $3 GROUP BY kind ORDER BY 2 DESC";
    const FETCHED: &str =
        of_session!("at, ref_id, tokens, session_id", "fetches", "ORDER BY fetches.id DESC LIMIT 100");
    const LAST_FOLD: &str = of_session!("max(at)", "receipts", "AND kind IN ('admit', 'assemble')");
    let session = row_of(link, query.session.as_ref())?;
    let since = query.since.map_or(Millis::MIN, |at| at as Millis);
    let until = query.until.map_or(Millis::MAX, |at| at as Millis);
    let (first_day, last_day) = (since.div_euclid(DAY_MS), until.saturating_sub(1).div_euclid(DAY_MS));
    let answers = link.survey(vec![
        call!(BY_DAY, session, since, until),
        call!(FETCHES, session, since, until),
        call!(SWEPT, session, first_day, last_day),
        // In either unit: which one it is, the first answer says.
        call!(SESSIONS, session, since, until, false),
        call!(SESSIONS, session, since, until, true),
        call!(EPOCHS, session, since, until),
        call!(KINDS, session, first_day, last_day),
        call!(FETCHED, session, since, until),
        call!(STORED_OF, session),
        call!(LAST_FOLD, session, since, until),
    ])?;
    let mut by_day: BTreeMap<i64, Sums> =
        answers[0].iter().map(|row| Ok((at(row, 0)?, read_sums(row, 1)?))).collect::<Outcome<_>>()?;
    let mut fetches = answers[1].first().map_or(Ok(0), |row| count(row, 0))?;
    for row in &answers[2] {
        let of_day = by_day.entry(at(row, 0)?).or_default();
        *of_day = of_day.plus(read_sums(row, 1)?);
        fetches += count(row, 12)?;
    }
    let all = by_day.values().fold(Sums::default(), |all, sums| all.plus(*sums));
    let in_usd = all.amount.requests > 0 && all.unpriced == 0;
    let session_amount = |row: &Row| {
        Ok(SessionAmount {
            session_id: text(row, 0)?,
            session_key: text_or_null(row, 1)?,
            last_at: at(row, 2)?,
            amount: read_sums(row, 3)?.amount(in_usd),
        })
    };
    let sums_of = |answer: usize, column: usize| answers[answer].first().map_or(Ok(0), |row| count(row, column));
    Ok(Figures {
        unit: if in_usd { "usd" } else { "input tokens" },
        total: Total {
            amount: all.amount(in_usd),
            measured: all.measured,
            fetches,
            fetch_tokens: all.fetched,
            overhead_tokens: all.overhead,
        },
        days: by_day.into_iter().map(|(day, sums)| Day { day: date(day), amount: sums.amount(in_usd) }).collect(),
        sessions: answers[if in_usd { 4 } else { 3 }].iter().map(session_amount).collect::<Outcome<_>>()?,
        epochs: answers[5].iter().map(epoch).collect::<Outcome<_>>()?,
        kinds: answers[6]
            .iter()
            .map(|row| Ok(KindTokens { kind: text(row, 0)?, before: count(row, 1)?, after: count(row, 2)? }))
            .collect::<Outcome<_>>()?,
        fetched: answers[7].iter().map(fetched).collect::<Outcome<_>>()?,
        store: Stored {
            originals: sums_of(8, 0)?,
            original_bytes: sums_of(8, 1)?,
            stored_bytes: sums_of(8, 2)?,
            max_bytes,
            path,
        },
        last_fold_at: first::<Option<Millis>>(&answers[9])?.flatten(),
    })
}

fn epoch(row: &Row) -> Outcome<SessionEpoch> {
    Ok(SessionEpoch {
        at: at(row, 0)?,
        session_id: text(row, 1)?,
        reason: text(row, 2)?,
        blocks: count(row, 3)?,
        tokens_freed: count(row, 4)?,
        tokens_rebilled: count(row, 5)?,
    })
}

fn fetched(row: &Row) -> Outcome<FetchedOriginal> {
    Ok(FetchedOriginal {
        at: at(row, 0)?,
        ref_id: text(row, 1)?,
        tokens: count(row, 2)?,
        session_id: text_or_null(row, 3)?,
    })
}

/// All sessions, the last seen first, with whether the host `$1` has them and which others do.
pub(crate) const KNOWN: &str = "SELECT agent_id, session_id, session_key, last_seen, is_off,
       EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id AND host = $1),
       ARRAY(SELECT host FROM homes WHERE homes.session = sessions.id AND host <> $1 ORDER BY host)
     FROM sessions ORDER BY last_seen DESC, id DESC";

/// A row of [`KNOWN`].
pub(crate) fn known(row: &Row) -> Outcome<KnownSession> {
    Ok(KnownSession {
        agent_id: text(row, 0)?,
        session_id: text(row, 1)?,
        session_key: text_or_null(row, 2)?,
        last_seen: at(row, 3)?,
        is_off: at(row, 4)?,
        is_here: at(row, 5)?,
        elsewhere: texts(row, 6)?,
    })
}
