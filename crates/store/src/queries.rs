//! The queries of a store, in the SQL that every backend understands, and the conversion of their rows.
//!
//! All read policies (limits, order, units) are decided here. A backend only runs the statements of one call on one
//! consistent state and returns the rows of each.

use std::collections::BTreeMap;

use concertina_base::reference::ContentHash;

use super::cache::CachedProjections;
use super::figures::{
    Day, FetchedOriginal, Figures, FiguresQuery, KindTokens, KnownSession, Outcome, Prompt, Recent, Request,
    SessionAmount, SessionEpoch, Stored,
};
use super::records::{
    BlockKey, Epoch, FAILED, FoldedOriginal, Ledger, Mark, MarkKind, PrintedKind, PrintedText, Projection, RESTORED,
    Receipt, Removed, Scope, SessionState, Stats,
};
use super::row::{BadColumn, Cell, Query, Row};
use super::sums::{SUM_COLUMNS, SUMS, Sums, SumsSql};
use super::time::{DAY_MS, Millis, date};

/// The maximum number of sessions, fetches and receipts that a query returns.
const MAX_LISTED: usize = 100;

/// The maximum number of epochs among the figures.
const MAX_FIGURE_EPOCHS: usize = 200;

/// The maximum number of prompts among the figures of a session.
const MAX_PROMPTS: usize = 1000;

/// The maximum number of folded originals among the figures of a session.
const MAX_FOLDED: usize = 1000;

/// The maximum number of sessions that are compared, the latest ones.
const MAX_COMPARED: usize = 20_000;

/// The SQL for whether a session is left untouched.
const IS_HELD_OUT: &str = "EXISTS (SELECT 1 FROM marks WHERE marks.session = sessions.id AND kind = 'held out')";

/// The columns for the tokens by which a result was shortened before it was first sent.
const ADMITTED: &str = "at, CASE WHEN tokens_before > tokens_after THEN tokens_before - tokens_after ELSE 0 END";

/// The columns that [`projection`] reads.
pub const PROJECTION: &str = "projections.id, block, place, replacement, hash, reason";

/// The columns that [`logged_epoch`] reads.
const EPOCH: &str = "at, reason, tokens_freed, tokens_rebilled, blocks";

/// The SQL dialect of a backend.
#[derive(Debug)]
pub struct Dialect {
    /// The character before the number of a parameter.
    pub parameter: char,
    /// The columns of `sessions` that identify a session and its agent.
    pub session: [&'static str; 2],
    /// Converts a name into the value of these columns.
    pub key: fn(&str) -> Cell,
}

/// The statements of a backend.
#[derive(Debug)]
pub struct Queries {
    dialect: Dialect,
    /// The statements for figures: of all sessions, and of one.
    figures: [[String; 13]; 2],
    stats: [[String; 6]; 2],
    recent: [String; 6],
    ledger: [String; 9],
    sessions: String,
    purgeable: String,
    insert_request: String,
}

impl Queries {
    /// Builds the statements in a dialect.
    pub fn new(dialect: Dialect) -> Self {
        let d = &dialect;
        Self {
            figures: [false, true].map(|is_one| figures_sql(d, is_one)),
            stats: [false, true].map(|is_one| stats_sql(d, is_one)),
            recent: recent_sql(d),
            ledger: ledger_sql(d),
            sessions: format!(
                "SELECT sessions.id, agent_id, session_id, session_key, last_seen, is_off, host, {IS_HELD_OUT}
                 FROM sessions LEFT JOIN session_hosts ON session_hosts.session = sessions.id
                 ORDER BY last_seen DESC, sessions.id DESC"
            ),
            purgeable: purgeable_sql(d),
            insert_request: d.sql(&format!(
                "INSERT INTO requests (session, {REQUEST}) VALUES ({})",
                (1..=REQUEST.split(',').count() + 1).map(|at| format!("?{at}")).collect::<Vec<_>>().join(", ")
            )),
            dialect,
        }
    }

    /// Returns the parameters that name a session, after other parameters.
    fn params<const N: usize>(&self, first: [i64; N], scope: Option<&Scope>) -> Vec<Cell> {
        let names = scope.into_iter().flat_map(|scope| [&scope.session_id, &scope.agent_id]);
        first.into_iter().map(Cell::Integer).chain(names.map(|name| (self.dialect.key)(name))).collect()
    }

    /// Reads the figures; `max_bytes` and `path` are those of the store.
    ///
    /// # Errors
    /// Those of `run`, and [`BadColumn`].
    pub fn figures<E: From<BadColumn>>(
        &'static self,
        query: &FiguresQuery,
        (max_bytes, path): (u64, String),
        run: impl FnOnce(Vec<Query>) -> Result<Vec<Vec<Row>>, E>,
    ) -> Result<Figures, E> {
        let scope = query.session.as_ref();
        let ((since, until), (first_day, last_day)) = (query.range(), query.days());
        let range = || self.params([since, until], scope);
        let days = |scope| self.params([first_day, last_day], scope);
        let params = [
            range(),
            range(),
            days(None),
            range(),
            range(),
            range(),
            days(scope),
            range(),
            self.params([], scope),
            range(),
            self.params([], scope),
            range(),
            self.params([since, until], None),
        ];
        let answers = run(queries(&self.figures[usize::from(scope.is_some())], params))?;
        let [
            by_day,
            fetches,
            swept,
            by_tokens,
            by_usd,
            epochs,
            kinds,
            fetched,
            stored,
            last_fold,
            folded_now,
            prompts,
            outcomes,
        ] = rows(&answers)?;

        let mut days = BTreeMap::<i64, Sums>::new();
        for row in by_day.iter().chain(swept) {
            *days.entry(row.get(0)?).or_default() += Sums::read(row, 1)?;
        }
        let mut all = Sums::default();
        days.values().for_each(|sums| all += *sums);
        // Dollars are shown only if every request has a price.
        let in_usd = all.is_priced();
        let mut fetched_count: u64 = only_row(fetches)?.get(0)?;
        for row in swept {
            fetched_count += row.get::<u64>(1 + SUM_COLUMNS)?;
        }
        let session = |row: &Row| {
            Ok::<_, BadColumn>(SessionAmount {
                session_id: row.get(0)?,
                session_key: row.get(1)?,
                last_at: row.get(2)?,
                is_held_out: row.get(3)?,
                amount: Sums::read(row, 4)?.amount(in_usd),
            })
        };
        let [originals, original_bytes, stored_bytes] = counts(stored)?;
        Ok(Figures {
            unit: if in_usd { "usd" } else { "input tokens" },
            total: all.total(in_usd, fetched_count),
            days: days.into_iter().map(|(day, sums)| Day { day: date(day), amount: sums.amount(in_usd) }).collect(),
            sessions: read_rows(if in_usd { by_usd } else { by_tokens }, session)?,
            epochs: read_rows(epochs, session_epoch)?,
            kinds: read_rows(kinds, |row| {
                Ok(KindTokens { kind: row.get(0)?, before: row.get(1)?, after: row.get(2)? })
            })?,
            fetched: read_rows(fetched, |row| {
                let (at, ref_id, tokens, session_id) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(FetchedOriginal { at, ref_id, tokens, session_id, tool: row.get(4)?, is_rerun: row.get(5)? })
            })?,
            store: Stored { originals, original_bytes, stored_bytes, max_bytes, path },
            last_fold_at: only_row(last_fold)?.get(0)?,
            folded_now: folded_now
                .iter()
                .filter_map(|row| folded_original(row).transpose())
                .collect::<Result<_, _>>()?,
            prompts: read_rows(prompts, |row| {
                Ok(Prompt { at: row.get(0)?, sent_tokens: row.get(1)?, without_tokens: row.get(2)? })
            })?,
            outcomes: read_rows(outcomes, |row| {
                let (is_held_out, turns, failures) = (row.get(0)?, row.get(1)?, row.get(3)?);
                let total = Sums::read(row, 4)?.total(in_usd, row.get(2)?);
                Ok(Outcome { is_held_out, turns, failures, total })
            })?,
        })
    }

    /// Returns the requests of a session since a moment, and its state before it; empty for an unknown session.
    ///
    /// # Errors
    /// Those of `run`, and [`BadColumn`].
    pub fn recent<E: From<BadColumn>>(
        &'static self,
        scope: &Scope,
        since: Millis,
        run: impl FnOnce(Vec<Query>) -> Result<Vec<Vec<Row>>, E>,
    ) -> Result<Recent, E> {
        let (session, timed) = (|| self.params([], Some(scope)), || self.params([since], Some(scope)));
        let answers = run(queries(&self.recent, [session(), session(), session(), session(), timed(), timed()]))?;
        let [first_assembled, last_assembled, last, last_without, admitted, fetched] = rows(&answers)?;
        let [first_assembled, last_assembled, last, last_without] =
            [first_assembled, last_assembled, last, last_without].map(|rows| rows.first().map(request).transpose());
        Ok(Recent {
            first_assembled: first_assembled?,
            last_assembled: last_assembled?,
            last: last?,
            last_without: last_without?,
            admitted: read_rows(admitted, timed_count)?,
            fetched: read_rows(fetched, timed_count)?,
        })
    }

    /// Returns the totals of a session, or of the whole store.
    ///
    /// # Errors
    /// Those of `run`, and [`BadColumn`].
    pub fn stats<E: From<BadColumn>>(
        &'static self,
        scope: Option<&Scope>,
        run: impl FnOnce(Vec<Query>) -> Result<Vec<Vec<Row>>, E>,
    ) -> Result<Stats, E> {
        let session = || self.params([], scope);
        let params = [session(), session(), session(), Vec::new(), session(), session()];
        let answers = run(queries(&self.stats[usize::from(scope.is_some())], params))?;
        let [sessions, stored, received, swept, receipts, epochs] = rows(&answers)?;
        let [originals, original_bytes, stored_bytes] = counts(stored)?;
        let [tokens_before, tokens_after] = counts(received)?;
        let [sessions, turns] = counts(sessions)?;
        // Only the whole store includes the totals of forgotten sessions.
        let [swept_turns, swept_before, swept_after] = if swept.is_empty() { [0; 3] } else { counts(swept)? };
        Ok(Stats {
            sessions,
            originals,
            original_bytes,
            stored_bytes,
            turns: turns + swept_turns,
            receipts: read_rows(receipts, receipt)?,
            tokens_before: tokens_before + swept_before,
            tokens_after: tokens_after + swept_after,
            epochs: read_rows(epochs, logged_epoch)?,
        })
    }

    /// Returns the ledger of a session, in the order in which it was written. `holder` is the host for which this
    /// opener holds sessions, if any.
    ///
    /// # Errors
    /// Those of `run`, and [`BadColumn`].
    pub fn ledger<E: From<BadColumn>>(
        &'static self,
        scope: &Scope,
        holder: Option<&str>,
        run: impl FnOnce(Vec<Query>) -> Result<LedgerRows, E>,
    ) -> Result<Ledger, E> {
        let session = || self.params([], Some(scope));
        let held = [session(), vec![Cell::from(holder)]].concat();
        let params = [session(), session(), session(), session(), session(), session(), session(), session(), held];
        let LedgerRows { projections, generation, read_at, answers } = run(queries(&self.ledger, params))?;
        let [printed, admitted, epochs, asked_again, last_request, in_context, session, marks, is_held] =
            rows(&answers)?;
        let Some(session) = session.first() else { return Ok(Ledger { generation, ..Ledger::default() }) };
        let has_ended: bool = session.get(3)?;
        let is_kept = !has_ended && (holder.is_none() || !is_held.is_empty());
        let in_context = in_context.iter().map(|row| row.get::<ContentHash>(0)).collect::<Result<_, _>>()?;
        let state = SessionState { in_context, last_seen: session.get(2)?, read_at };
        Ok(Ledger {
            version: projections.version,
            projections: projections.rows,
            printed: read_rows(printed, printed_text)?,
            marks: marks.iter().filter_map(|row| mark(row).transpose()).collect::<Result<_, _>>()?,
            admitted: read_rows(admitted, timed_count)?,
            epochs: read_rows(epochs, logged_epoch)?,
            asked_again: asked_again.iter().map(|row| Ok((row.get(0)?, row.get(1)?))).collect::<Result<_, _>>()?,
            tools: session.get(0)?,
            is_off: session.get(1)?,
            last_request: last_request.first().map(|row| row.get(0)).transpose()?,
            generation,
            state: is_kept.then_some(state),
        })
    }

    /// Returns all sessions, the last seen first, with the hosts that have them.
    ///
    /// # Errors
    /// Those of `run`, and [`BadColumn`].
    pub fn sessions<E: From<BadColumn>>(
        &'static self,
        host: &str,
        run: impl FnOnce(Vec<Query>) -> Result<Vec<Vec<Row>>, E>,
    ) -> Result<Vec<KnownSession>, E> {
        let answers = run(vec![Query { sql: &self.sessions, params: Vec::new() }])?;
        let [rows] = rows(&answers)?;
        let mut sessions: Vec<(i64, KnownSession)> = Vec::new();
        for row in rows {
            let id = row.get(0)?;
            if sessions.last().is_none_or(|(last, _)| *last != id) {
                let known = KnownSession {
                    agent_id: row.get(1)?,
                    session_id: row.get(2)?,
                    session_key: row.get(3)?,
                    last_seen: row.get(4)?,
                    is_off: row.get(5)?,
                    is_held_out: row.get(7)?,
                    is_here: false,
                    elsewhere: Vec::new(),
                };
                sessions.push((id, known));
            }
            let (Some((_, session)), Some(other)) = (sessions.last_mut(), row.get::<Option<String>>(6)?) else {
                continue;
            };
            if other == host {
                session.is_here = true;
            } else {
                session.elsewhere.push(other);
                session.elsewhere.sort();
            }
        }
        Ok(sessions.into_iter().map(|(_, session)| session).collect())
    }

    /// Returns what [`super::store::Store::purge`] would remove.
    ///
    /// # Errors
    /// Those of `run`, and [`BadColumn`].
    pub fn purgeable<E: From<BadColumn>>(
        &'static self,
        scope: &Scope,
        run: impl FnOnce(Vec<Query>) -> Result<Vec<Vec<Row>>, E>,
    ) -> Result<Removed, E> {
        let answers = run(vec![Query { sql: &self.purgeable, params: self.params([], Some(scope)) }])?;
        let [found] = rows(&answers)?;
        let [sessions, originals, bytes] = counts(found)?;
        Ok(Removed { originals, bytes, sessions })
    }

    /// Returns the statement that writes a request of the session with this row.
    pub fn insert_request(&'static self, session: i64, request: &Request) -> Query {
        let cells = std::iter::once(Cell::Integer(session)).chain(request_cells(request));
        Query { sql: &self.insert_request, params: cells.collect() }
    }
}

/// The rows from which a ledger is built.
#[derive(Debug)]
pub struct LedgerRows {
    /// The session's projections.
    pub projections: CachedProjections,
    /// The file or database from which they were read.
    pub generation: u64,
    /// The time of the read, if the store has a clock.
    pub read_at: Option<Millis>,
    /// The answers to the statements.
    pub answers: Vec<Vec<Row>>,
}

impl Dialect {
    /// Returns a statement that was written with `?` before parameter numbers, in the dialect of the backend.
    fn sql(&self, statement: &str) -> String {
        statement.replace('?', &self.parameter.to_string())
    }

    /// Returns the SQL for the row of the session that two parameters name, from the given number on.
    fn session(&self, first: usize) -> String {
        let [session, agent] = self.session;
        format!("(SELECT id FROM sessions WHERE {session} = ?{first} AND {agent} = ?{})", first + 1)
    }
}

fn figures_sql(dialect: &Dialect, is_one: bool) -> [String; 13] {
    let SumsSql { selected, columns, .. } = &*SUMS;
    let condition = if is_one { format!("sessions.id = {}", dialect.session(3)) } else { "TRUE".to_owned() };
    let of = |table: &str| format!("FROM {table} JOIN sessions ON sessions.id = {table}.session WHERE {condition}");
    let of_range = |table: &str| format!("{} AND at >= ?1 AND at < ?2", of(table));
    let by_session = |price: &str| {
        format!(
            "SELECT session_id, session_key, max(at), {IS_HELD_OUT}, {selected} {} GROUP BY sessions.id
             ORDER BY sum((without_bill - sent_bill) * {price}) DESC NULLS LAST, max(at) DESC LIMIT {MAX_LISTED}",
            of_range("requests")
        )
    };
    [
        format!("SELECT at / {DAY_MS}, {selected} {} GROUP BY 1", of_range("requests")),
        format!("SELECT count(*) {}", of_range("fetches")),
        // The totals of forgotten sessions belong to no session.
        format!(
            "SELECT day, {columns}, fetches FROM swept_requests WHERE {} AND day >= ?1 AND day <= ?2",
            if is_one { "FALSE" } else { "TRUE" }
        ),
        by_session("1"),
        by_session("usd"),
        format!(
            "SELECT at, session_id, reason, blocks, tokens_freed, tokens_rebilled {}
             ORDER BY epochs.id DESC LIMIT {MAX_FIGURE_EPOCHS}",
            of_range("epochs")
        ),
        format!(
            "SELECT kind, CAST(sum(tokens_before) AS bigint), CAST(sum(tokens_after) AS bigint) {}
             AND day >= ?1 AND day <= ?2 GROUP BY kind ORDER BY 2 DESC",
            of("folded")
        ),
        format!(
            "SELECT at, ref_id, tokens, session_id, tool, is_rerun {} ORDER BY fetches.id DESC LIMIT {MAX_LISTED}",
            of_range("fetches")
        ),
        stored_sql(dialect, is_one),
        format!("SELECT max(at) {} AND kind IN ('admit', 'assemble')", of_range("receipts")),
        folded_sql(dialect, is_one),
        prompts_sql(&of_range("requests"), is_one),
        outcomes_sql(is_one),
    ]
    .map(|statement| dialect.sql(&statement))
}

/// Returns the SQL for the latest prompts of a session, oldest first. It has no rows for all sessions.
fn prompts_sql(of_range: &str, is_one: bool) -> String {
    let condition = if is_one { "sent > 0" } else { "FALSE" };
    format!(
        "SELECT at, sent, without FROM (
           SELECT requests.id AS number, at, sent, without {of_range} AND {condition}
           ORDER BY requests.id DESC LIMIT {MAX_PROMPTS}
         ) AS latest ORDER BY number"
    )
}

/// Returns the SQL for the requests of each session, the latest first. It has no rows if no session was left untouched.
fn outcomes_sql(is_one: bool) -> String {
    let SumsSql { selected, .. } = &*SUMS;
    let condition = if is_one { "FALSE" } else { "EXISTS (SELECT 1 FROM marks WHERE kind = 'held out')" };
    let number_of = |table: &str, which: &str| {
        format!(
            "(SELECT count(*) FROM {table} WHERE {table}.session = sessions.id AND {table}.at >= ?1
               AND {table}.at < ?2{which})"
        )
    };
    format!(
        "SELECT {IS_HELD_OUT}, {}, {}, {}, {selected} FROM requests JOIN sessions ON sessions.id = requests.session
         WHERE {condition} AND at >= ?1 AND at < ?2 GROUP BY sessions.id ORDER BY max(at) DESC LIMIT {MAX_COMPARED}",
        number_of("turns", ""),
        number_of("fetches", ""),
        number_of("receipts", &format!(" AND kind = '{FAILED}'"))
    )
}

/// Returns the SQL for the number of originals, their size, and their size as stored.
fn stored_sql(dialect: &Dialect, is_one: bool) -> String {
    let granted = format!("id IN (SELECT original FROM grants WHERE session = {})", dialect.session(1));
    let granted = if is_one { &granted } else { "TRUE" };
    format!(
        "SELECT count(*), CAST(coalesce(sum(size), 0) AS bigint), CAST(coalesce(sum(length(payload)), 0) AS bigint)
         FROM originals WHERE {granted}"
    )
}

fn purgeable_sql(dialect: &Dialect) -> String {
    let session = dialect.session(1);
    dialect.sql(&format!(
        "SELECT (SELECT count(*) FROM sessions WHERE id = {session}), count(*),
           CAST(coalesce(sum(length(payload)), 0) AS bigint)
         FROM originals WHERE id IN (SELECT original FROM grants WHERE session = {session})
           AND NOT EXISTS (SELECT 1 FROM grants WHERE original = originals.id AND session <> {session})"
    ))
}

fn stats_sql(dialect: &Dialect, is_one: bool) -> [String; 6] {
    let condition = if is_one { format!("sessions.id = {}", dialect.session(1)) } else { "TRUE".to_owned() };
    let of = |table: &str| format!("FROM {table} JOIN sessions ON sessions.id = {table}.session WHERE {condition}");
    [
        format!("SELECT count(*), (SELECT count(*) {}) FROM sessions WHERE {condition}", of("turns")),
        stored_sql(dialect, is_one),
        format!(
            "SELECT CAST(coalesce(sum(tokens_before), 0) AS bigint), CAST(coalesce(sum(tokens_after), 0) AS bigint) {}",
            of("receipts")
        ),
        format!("SELECT turns, tokens_before, tokens_after FROM swept WHERE {}", if is_one { "FALSE" } else { "TRUE" }),
        format!(
            "SELECT at, kind, tokens_before, tokens_after, detail {} ORDER BY receipts.id DESC LIMIT {MAX_LISTED}",
            of("receipts")
        ),
        format!("SELECT {EPOCH} {} ORDER BY epochs.id DESC LIMIT {MAX_LISTED}", of("epochs")),
    ]
    .map(|statement| dialect.sql(&statement))
}

fn recent_sql(dialect: &Dialect) -> [String; 6] {
    let first_request = |which: &str| {
        format!("SELECT {REQUEST} FROM requests WHERE session = {} AND {which} LIMIT 1", dialect.session(1))
    };
    let since = |columns: &str, table: &str, which: &str| {
        let session = dialect.session(2);
        format!("SELECT {columns} FROM {table} WHERE session = {session} AND at >= ?1{which} ORDER BY id")
    };
    [
        first_request("counted IS NOT NULL ORDER BY id"),
        first_request("counted IS NOT NULL ORDER BY id DESC"),
        first_request("sent > 0 ORDER BY id DESC"),
        first_request("without > 0 ORDER BY id DESC"),
        since(ADMITTED, "receipts", " AND kind = 'admit'"),
        since("at, tokens", "fetches", ""),
    ]
    .map(|statement| dialect.sql(&statement))
}

fn ledger_sql(dialect: &Dialect) -> [String; 9] {
    let session = dialect.session(1);
    let with_originals = |table: &str| {
        format!("FROM {table} JOIN originals ON originals.id = {table}.original WHERE session = {session}")
    };
    [
        format!("SELECT text, is_answer, hash, saved {} ORDER BY text", with_originals("printed")),
        format!("SELECT {ADMITTED} FROM receipts WHERE session = {session} AND kind = 'admit' ORDER BY id"),
        format!("SELECT {EPOCH} FROM epochs WHERE session = {session} ORDER BY id"),
        format!("SELECT tool, count(*) FROM fetches WHERE session = {session} GROUP BY tool"),
        format!("SELECT at FROM requests WHERE session = {session} ORDER BY id DESC LIMIT 1"),
        format!("SELECT hash {} AND left_at IS NULL", with_originals("grants")),
        format!("SELECT tools, is_off, last_seen, ended_at IS NOT NULL FROM sessions WHERE id = {session}"),
        format!("SELECT kind, content, at FROM marks WHERE session = {session} ORDER BY kind, content"),
        format!("SELECT 1 FROM session_hosts WHERE session = {session} AND host = ?3"),
    ]
    .map(|statement| dialect.sql(&statement))
}

/// Returns the SQL for the originals in a session's context, with the reason of the last projection and the form that
/// they got at birth: 0 for a placeholder, 1 for a shorter copy. It has no rows for all sessions.
fn folded_sql(dialect: &Dialect, is_one: bool) -> String {
    let condition = if is_one { format!("session = {}", dialect.session(1)) } else { "FALSE".to_owned() };
    let of_grant = |table: &str| {
        format!("FROM {table} WHERE {table}.session = grants.session AND {table}.original = grants.original")
    };
    format!(
        "SELECT ref_id, label, size, granted_at, mime,
           (SELECT reason {} ORDER BY projections.id DESC LIMIT 1),
           (SELECT CAST(min(CASE WHEN is_answer THEN 1 ELSE 0 END) AS bigint) {} AND saved > 0)
         FROM grants JOIN originals ON originals.id = grants.original
         WHERE {condition} AND left_at IS NULL ORDER BY granted_at DESC, originals.id DESC LIMIT {MAX_FOLDED}",
        of_grant("projections"),
        of_grant("printed")
    )
}

/// Returns statements with their parameters.
fn queries<const N: usize>(statements: &'static [String; N], params: [Vec<Cell>; N]) -> Vec<Query> {
    statements.iter().zip(params).map(|(sql, params)| Query { sql, params }).collect()
}

/// Returns the rows of each answer.
fn rows<const N: usize>(answers: &[Vec<Row>]) -> Result<[&Vec<Row>; N], BadColumn> {
    let answers: Result<[&Vec<Row>; N], _> = answers.iter().collect::<Vec<_>>().try_into();
    answers.map_err(|answers| BadColumn(format!("{} answers instead of {N}", answers.len())))
}

fn read_rows<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T, BadColumn>) -> Result<Vec<T>, BadColumn> {
    rows.iter().map(read).collect()
}

/// Returns the only row.
fn only_row(rows: &[Row]) -> Result<&Row, BadColumn> {
    rows.first().ok_or_else(|| BadColumn("there is no row".to_owned()))
}

/// Returns the counts in the only row.
fn counts<const N: usize>(rows: &[Row]) -> Result<[u64; N], BadColumn> {
    let (row, mut counts) = (only_row(rows)?, [0; N]);
    for (column, count) in counts.iter_mut().enumerate() {
        *count = row.get(column)?;
    }
    Ok(counts)
}

/// Converts a row of [`PROJECTION`] into its id and the projection.
///
/// # Errors
/// [`BadColumn`] for a row of another form.
pub fn projection(row: &Row) -> Result<(i64, Projection), BadColumn> {
    let projection = Projection {
        block: BlockKey { hash: row.get(1)?, place: row.get(2)? },
        replacement: row.get(3)?,
        original: row.get(4)?,
        reason: row.get(5)?,
    };
    Ok((row.get(0)?, projection))
}

fn printed_text(row: &Row) -> Result<PrintedText, BadColumn> {
    let kind = if row.get(1)? { PrintedKind::Copy } else { PrintedKind::Placeholder };
    Ok(PrintedText { text: row.get(0)?, kind, original: row.get(2)?, saved: row.get(3)? })
}

/// Returns a mark with its time; `None` for a kind that another version wrote.
fn mark(row: &Row) -> Result<Option<(Mark, Millis)>, BadColumn> {
    let (word, content, at): (String, ContentHash, Millis) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let kind = MarkKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    Ok(kind.map(|kind| (Mark { kind, content }, at)))
}

/// Returns a folded original; `None` for one that is only known, fetched or restored.
fn folded_original(row: &Row) -> Result<Option<FoldedOriginal>, BadColumn> {
    let (mime, reason, copied): (Option<String>, Option<String>, Option<i64>) = (row.get(4)?, row.get(5)?, row.get(6)?);
    let at_birth = || {
        Some(match (copied?, mime) {
            (0, _) => "large",
            (_, None) => "shortened",
            (_, Some(_)) => "shrunk",
        })
    };
    let reason = reason.or_else(|| at_birth().map(str::to_owned)).filter(|reason| reason != RESTORED);
    let Some(reason) = reason else { return Ok(None) };
    Ok(Some(FoldedOriginal { ref_id: row.get(0)?, label: row.get(1)?, bytes: row.get(2)?, at: row.get(3)?, reason }))
}

fn timed_count(row: &Row) -> Result<(Millis, u64), BadColumn> {
    Ok((row.get(0)?, row.get(1)?))
}

fn receipt(row: &Row) -> Result<(Millis, Receipt), BadColumn> {
    let (kind, tokens_before, tokens_after, detail) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
    Ok((row.get(0)?, Receipt { kind, tokens_before, tokens_after, detail }))
}

fn logged_epoch(row: &Row) -> Result<(Millis, Epoch), BadColumn> {
    let (reason, tokens_freed, tokens_rebilled, blocks) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
    Ok((row.get(0)?, Epoch { reason, tokens_freed, tokens_rebilled, blocks }))
}

fn session_epoch(row: &Row) -> Result<SessionEpoch, BadColumn> {
    Ok(SessionEpoch {
        at: row.get(0)?,
        session_id: row.get(1)?,
        reason: row.get(2)?,
        blocks: row.get(3)?,
        tokens_freed: row.get(4)?,
        tokens_rebilled: row.get(5)?,
    })
}

/// Declares the columns of a request, named like its fields; those of `growth` come last.
macro_rules! request_columns {
    ($($field:ident),+) => {
        const REQUEST: &str = concat!($(stringify!($field), ", ",)+ "growth_reported, growth_counted");

        /// Reads a request from the columns of [`REQUEST`].
        fn request(row: &Row) -> Result<Request, BadColumn> {
            let mut column = 0;
            $(
                let $field = row.get(column)?;
                column += 1;
            )+
            let growth = row.get::<Option<u64>>(column)?.zip(row.get(column + 1)?);
            Ok(Request { $($field,)+ growth })
        }

        /// Returns the columns of [`REQUEST`] for a request.
        fn request_cells(request: &Request) -> impl Iterator<Item = Cell> {
            let (reported, counted) = request.growth.unzip();
            [$(request.$field.into(),)+ reported.into(), counted.into()].into_iter()
        }
    };
}

request_columns! {
    at, is_measured, counted, sent, without, dropped, overhead, fetched, protected, sent_bill, without_bill, without_under,
    without_over, answered, answer_bill, usd
}
