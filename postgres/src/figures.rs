//! Requests as rows, and what they come to.

use std::sync::LazyLock;

use concertina::store::figures::{
    FetchedOriginal, Figures, FiguresQuery, FoldedKind, KindTokens, KnownSession, Recent, Request, SessionEpoch, Stored,
};
use concertina::store::sums::{DAY_MS, Days, Rest, SUMS, SessionSums, Sums, SumsSql, WIDTH};
use concertina::store::{Millis, Scope};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::batch::where_it_counts;
use crate::failure::Outcome;
use crate::link::{Link, call};
use crate::read::{STORED_OF, timed};
use crate::row::{at, count, first, signed, text, text_or_null, texts};
use crate::session::{row_of, session};
use crate::text::key;

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

/// A request as a row has it.
macro_rules! request {
    () => {
        "at, is_measured, counted, weighed_told, weighed_counted, sent, without, dropped, overhead, fetched, sent_bill, without_bill, without_under,
         without_over, answered, answer_bill, usd"
    };
}

pub(crate) const REQUESTED: &str = concat!(
    "INSERT INTO requests (session, ",
    request!(),
    ") SELECT $1, ",
    request!(),
    " FROM unnest($2::bigint[], $3::boolean[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
       $10::bigint[], $11::bigint[], $12::double precision[], $13::double precision[], $14::double precision[],
       $15::double precision[], $16::bigint[], $17::double precision[], $18::double precision[]) WITH ORDINALITY
       AS given (",
    request!(),
    ", position) ORDER BY position"
);

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
pub(crate) static KEEP_SUMS: LazyLock<String> = LazyLock::new(|| {
    let SumsSql { selected, columns, added } = &*SUMS;
    format!(
        "INSERT INTO swept_requests (day, {columns}, fetches) SELECT day, {selected},
           (SELECT count(*) FROM fetches WHERE fetches.session = ANY($1::bigint[]) AND fetches.at / {DAY_MS} = day)
         FROM (SELECT *, at / {DAY_MS} AS day FROM requests WHERE session = ANY($1::bigint[])) AS days GROUP BY day
         ON CONFLICT (day) DO UPDATE SET {added}, fetches = swept_requests.fetches + excluded.fetches"
    )
});

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
    macro_rules! one {
        ($which:literal) => {
            concat!("SELECT ", request!(), " FROM requests WHERE session = ", session!(), " ", $which, " LIMIT 1")
        };
    }
    const FIRST: &str = one!("AND counted IS NOT NULL ORDER BY id");
    const BEGUN: &str = one!("AND counted IS NOT NULL ORDER BY id DESC");
    const LAST: &str = one!("AND sent > 0 ORDER BY id DESC");
    const LAST_WITHOUT: &str = one!("AND without > 0 ORDER BY id DESC");
    const ADMITTED: &str = of_scope!(
        "at, greatest(tokens_before - tokens_after, 0)",
        "receipts",
        "AND kind = 'admit' AND at >= $3 ORDER BY id"
    );
    const FETCHES: &str = of_scope!("at, tokens", "fetches", "AND at >= $3 ORDER BY id");
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let answers = link.read(vec![
        call!(FIRST, session, agent),
        call!(BEGUN, session, agent),
        call!(LAST, session, agent),
        call!(LAST_WITHOUT, session, agent),
        call!(ADMITTED, session, agent, since),
        call!(FETCHES, session, agent, since),
    ])?;
    Ok(Recent {
        first: answers[0].first().map(request).transpose()?,
        begun: answers[1].first().map(request).transpose()?,
        last: answers[2].first().map(request).transpose()?,
        last_without: answers[3].first().map(request).transpose()?,
        admitted: timed(&answers[4])?,
        fetched: timed(&answers[5])?,
    })
}

/// Tokens as a column has them.
fn unsigned(tokens: i64) -> u64 {
    tokens.max(0) as u64
}

fn request(row: &Row) -> Outcome<Request> {
    let tokens = |column: usize| at::<Option<i64>>(row, column).map(|tokens| tokens.map(unsigned));
    Ok(Request {
        at: at(row, 0)?,
        is_measured: at(row, 1)?,
        counted: tokens(2)?,
        weighed: tokens(3)?.zip(tokens(4)?),
        sent: count(row, 5)?,
        without: count(row, 6)?,
        dropped: at(row, 7)?,
        overhead: count(row, 8)?,
        fetched: count(row, 9)?,
        sent_bill: at(row, 10)?,
        without_bill: at(row, 11)?,
        without_under: at(row, 12)?,
        without_over: at(row, 13)?,
        answered: tokens(14)?,
        answer_bill: at(row, 15)?,
        usd: at(row, 16)?,
    })
}

/// The columns of a flight's requests, as [`REQUESTED`] takes them.
pub(crate) fn request_columns(requests: &[Request]) -> Vec<Box<dyn ToSql + Sync>> {
    macro_rules! column {
        ($of:expr) => {
            Box::new(requests.iter().map($of).collect::<Vec<_>>())
        };
    }
    vec![
        column!(|request| request.at),
        column!(|request| request.is_measured),
        column!(|request| request.counted.map(signed)),
        column!(|request| request.weighed.map(|(told, _)| signed(told))),
        column!(|request| request.weighed.map(|(_, counted)| signed(counted))),
        column!(|request| signed(request.sent)),
        column!(|request| signed(request.without)),
        column!(|request| request.dropped),
        column!(|request| signed(request.overhead)),
        column!(|request| signed(request.fetched)),
        column!(|request| request.sent_bill),
        column!(|request| request.without_bill),
        column!(|request| request.without_under),
        column!(|request| request.without_over),
        column!(|request| request.answered.map(signed)),
        column!(|request| request.answer_bill),
        column!(|request| request.usd),
    ]
}

/// Reads [`SUMS`], from a column on.
fn read_sums(row: &Row, from: usize) -> Outcome<Sums> {
    Sums::read(|column| count(row, from + column), |column| at(row, from + column))
}

/// The figures; `max_bytes` and `path` are the store's.
pub(crate) fn figures(link: &mut Link, query: &FiguresQuery, (max_bytes, path): (u64, String)) -> Outcome<Figures> {
    static BY_DAY: LazyLock<String> = LazyLock::new(|| {
        format!(
            of_session!("at / {day_ms}, {selected}", "requests", "GROUP BY 1"),
            day_ms = DAY_MS,
            selected = SUMS.selected
        )
    });
    const FETCHES: &str = of_session!("count(*)", "fetches", "");
    static SWEPT: LazyLock<String> = LazyLock::new(|| {
        let columns = &SUMS.columns;
        format!(
            "SELECT day, {columns}, fetches FROM swept_requests WHERE $1::bigint IS NULL AND day >= $2 AND day <= $3"
        )
    });
    static SESSIONS: LazyLock<String> = LazyLock::new(|| {
        format!(
            of_session!(
                "session_id, session_key, max(at), {selected}",
                "requests",
                "GROUP BY sessions.id
                 ORDER BY sum((without_bill - sent_bill) * CASE WHEN $4::boolean THEN usd ELSE 1 END) DESC NULLS LAST, max(at) DESC LIMIT 100"
            ),
            selected = SUMS.selected
        )
    });
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
    let ((since, until), (first_day, last_day)) = (query.range(), query.days());
    let answers = link.survey(vec![
        call!(BY_DAY.as_str(), session, since, until),
        call!(FETCHES, session, since, until),
        call!(SWEPT.as_str(), session, first_day, last_day),
        // In either unit: which one it is, the first answer says.
        call!(SESSIONS.as_str(), session, since, until, false),
        call!(SESSIONS.as_str(), session, since, until, true),
        call!(EPOCHS, session, since, until),
        call!(KINDS, session, first_day, last_day),
        call!(FETCHED, session, since, until),
        call!(STORED_OF, session),
        call!(LAST_FOLD, session, since, until),
    ])?;
    let mut days = Days::default();
    for row in &answers[0] {
        days.add(at(row, 0)?, read_sums(row, 1)?);
    }
    days.fetches = answers[1].first().map_or(Ok(0), |row| count(row, 0))?;
    for row in &answers[2] {
        days.add(at(row, 0)?, read_sums(row, 1)?);
        days.fetches += count(row, 1 + WIDTH)?;
    }
    let session_sums = |row: &Row| {
        let (session_id, session_key) = (text(row, 0)?, text_or_null(row, 1)?);
        Ok(SessionSums { session_id, session_key, last_at: at(row, 2)?, sums: read_sums(row, 3)? })
    };
    let sessions = answers[if days.is_in_usd() { 4 } else { 3 }].iter().map(session_sums).collect::<Outcome<_>>()?;
    let sums_of = |answer: usize, column: usize| answers[answer].first().map_or(Ok(0), |row| count(row, column));
    let rest = Rest {
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
    };
    Ok(days.figures(sessions, rest))
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
