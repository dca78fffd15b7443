//! One connection, with the statements that are prepared on it.
//!
//! The statements of a pipeline are sent together and answered in order, so a pipeline costs one round trip. Every
//! pipeline has a deadline, so a server that is connected but silent cannot block the caller.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::{join_all, maybe_done};
use futures_util::poll;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, SimpleQueryMessage, Statement};

use crate::failure::{Failure, Outcome};
use crate::refusal::interpret_refusal;
use crate::server::{Server, is_on_socket};

/// A statement with its parameters.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    pub(crate) sql: &'static str,
    pub(crate) params: Vec<&'a (dyn ToSql + Sync)>,
}

/// A statement of a pipeline: `call!(SQL, parameter, ...)`.
macro_rules! call {
    ($sql:expr $(, $param:expr)* $(,)?) => {
        $crate::connection::Call { sql: $sql, params: vec![$(&$param),*] }
    };
}
pub(crate) use call;

const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const COMMIT: &str = "COMMIT";
/// Allows sequential scans, hash joins and merge joins in a transaction, and plans its statements for their parameters.
/// Statements that run at every turn must not use it.
pub(crate) const ALLOW_TABLE_SCANS: &str =
    "SELECT set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
      set_config('enable_mergejoin', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true)";

/// The server process that answers on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backend {
    /// The id of the process and its start time.
    pub(crate) process: [String; 2],
    /// The start of the server that the process belongs to. It differs after a crash and on another machine.
    /// Transaction ids are comparable within one start only: after a crash, or on a promoted replica, a lost id is
    /// assigned again.
    pub(crate) start: String,
    /// The cluster and the database.
    pub(crate) database: String,
}

/// Selects a [`Backend`]. A server that survives the crash of one of its processes keeps its start time but resets its
/// statistics, so the time of that reset is part of `start`.
const BACKEND: &str = "SELECT pid, extract(epoch FROM backend_start),
      extract(epoch FROM pg_postmaster_start_time()) || ' ' || coalesce((SELECT extract(epoch FROM stats_reset) FROM
        pg_stat_bgwriter), 0),
      (SELECT system_identifier FROM pg_control_system()) || ' ' || (SELECT oid FROM pg_database WHERE datname =
        current_database())
    FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// One connection. Dropping it closes it, and the server rolls back what was not committed.
pub(crate) struct Connection {
    pub(crate) backend: Backend,
    client: Client,
    statements: HashMap<&'static str, Statement>,
    deadline: Duration,
    is_silent: bool,
    // The connection is a task of this runtime, so it makes progress only while a call blocks on it.
    runtime: Runtime,
}

impl Connection {
    /// Connects to the first reachable host and runs the setup statements.
    pub(crate) fn open(server: &Server) -> Outcome<Self> {
        let hosts = server.hosts();
        let count = hosts.len();
        let (mut reasons, mut transient) = (Vec::new(), None);
        for (host, config) in hosts {
            match Self::open_at(server, config) {
                Ok(connection) => {
                    server.connected(host);
                    return Ok(connection);
                }
                Err(failure) if count == 1 => return Err(failure),
                Err(failure) => {
                    reasons.push(failure.to_string());
                    transient = transient.or(Some(failure).filter(Failure::is_transient));
                }
            }
        }
        Err(transient.unwrap_or_else(|| Failure::Unreachable(reasons.join("; "))))
    }

    fn open_at(server: &Server, config: &Config) -> Outcome<Self> {
        let system = |error: std::io::Error| Failure::Unreachable(error.to_string());
        let runtime = Builder::new_current_thread().enable_all().build().map_err(system)?;
        let time_limit = server.connect_timeout;
        let connecting = async {
            // An error of the connection is returned by the call that fails because of it.
            let client = if is_on_socket(config) {
                let (client, connection) = config.connect(NoTls).await?;
                drop(tokio::spawn(connection));
                client
            } else {
                let (client, connection) = config.connect(server.tls.clone()).await?;
                drop(tokio::spawn(connection));
                client
            };
            let answers = client.simple_query(&format!("{}; {BACKEND}", server.setup)).await?;
            Ok::<_, tokio_postgres::Error>((client, answers))
        };
        let (client, answers) = match runtime.block_on(async { timeout(time_limit, connecting).await }) {
            Ok(connected) => connected?,
            Err(_) => return Err(timeout_failure(time_limit)),
        };
        let backend = backend(&answers)
            .ok_or_else(|| Failure::Unreachable("it did not report its process and database".to_owned()))?;
        let deadline = server.statement_timeout + Duration::from_secs(1);
        Ok(Self { backend, client, statements: HashMap::new(), deadline, is_silent: false, runtime })
    }

    /// Returns true if the server did not answer in time.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Returns true if the connection can be used again.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_silent && !self.client.is_closed()
    }

    /// Runs a pipeline. Returns the rows of each statement, or the first failure.
    pub(crate) fn run(&mut self, calls: &[Call<'_>]) -> Outcome<Vec<Vec<Row>>> {
        let Self { client, statements, deadline, runtime, .. } = self;
        let pipeline = async {
            let mut missing: Vec<&'static str> =
                calls.iter().map(|call| call.sql).filter(|sql| !statements.contains_key(sql)).collect();
            missing.sort_unstable();
            missing.dedup();
            let prepared = join_all(missing.iter().map(|sql| client.prepare(sql))).await;
            for (sql, statement) in missing.into_iter().zip(prepared) {
                statements.insert(sql, statement?);
            }
            let mut answers = Vec::with_capacity(calls.len());
            for call in calls {
                let mut answer = Box::pin(maybe_done(client.query(&statements[call.sql], &call.params)));
                // Polling sends the statement. If one cannot be sent, none after it is sent, above all no COMMIT.
                if poll!(&mut answer).is_ready()
                    && let Some(Err(error)) = answer.as_mut().take_output()
                {
                    return Err(error);
                }
                answers.push(answer);
            }
            let mut rows = Vec::with_capacity(answers.len());
            for mut answer in answers {
                answer.as_mut().await;
                rows.push(answer.as_mut().take_output().expect("it is done")?);
            }
            Ok(rows)
        };
        match runtime.block_on(async { timeout(*deadline, pipeline).await }) {
            Ok(answers) => Ok(answers?),
            Err(_) => {
                self.is_silent = true;
                Err(timeout_failure(self.deadline))
            }
        }
    }

    /// Runs a pipeline of queries on one consistent snapshot.
    pub(crate) fn read(&mut self, calls: Vec<Call<'_>>) -> Outcome<Vec<Vec<Row>>> {
        self.read_after(vec![call!(BEGIN_READ)], calls)
    }

    /// Same as [`Connection::read`], for queries that read whole tables.
    pub(crate) fn read_with_scans(&mut self, calls: Vec<Call<'_>>) -> Outcome<Vec<Vec<Row>>> {
        self.read_after(vec![call!(BEGIN_READ), call!(ALLOW_TABLE_SCANS)], calls)
    }

    fn read_after(&mut self, opening: Vec<Call<'_>>, calls: Vec<Call<'_>>) -> Outcome<Vec<Vec<Row>>> {
        let count = opening.len();
        let mut pipeline = opening;
        pipeline.extend(calls);
        pipeline.push(call!(COMMIT));
        let mut answers = self.run(&pipeline)?;
        answers.pop();
        Ok(answers.split_off(count))
    }

    /// Runs statements without parameters.
    pub(crate) fn batch(&mut self, sql: &str) -> Outcome<()> {
        let Self { client, deadline, runtime, .. } = self;
        match runtime.block_on(async { timeout(*deadline, client.batch_execute(sql)).await }) {
            Ok(done) => Ok(done?),
            Err(_) => {
                self.is_silent = true;
                Err(timeout_failure(self.deadline))
            }
        }
    }

    /// Runs the last pipeline of a transaction and commits it. If no answer arrives, the outcome is unknown:
    /// [`Failure::CommitUnknown`].
    pub(crate) fn commit(&mut self, mut calls: Vec<Call<'_>>) -> Outcome<Vec<Vec<Row>>> {
        calls.push(call!(COMMIT));
        match self.run(&calls) {
            Err(Failure::Unreachable(reason)) => Err(Failure::CommitUnknown(reason)),
            Err(failure) if failure.is_lost() => Err(Failure::CommitUnknown(failure.to_string())),
            Err(failure) => Err(interpret_refusal(failure)),
            Ok(mut answers) => {
                answers.pop();
                Ok(answers)
            }
        }
    }
}

/// Reads the row of [`BACKEND`], which is the last row of `answers`.
fn backend(answers: &[SimpleQueryMessage]) -> Option<Backend> {
    let row = answers.iter().rev().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })?;
    let column = |at| row.try_get(at).ok().flatten().map(str::to_owned);
    Some(Backend { process: [column(0)?, column(1)?], start: column(2)?, database: column(3)? })
}

fn timeout_failure(time_limit: Duration) -> Failure {
    Failure::Unreachable(format!("it did not answer within {} ms", time_limit.as_millis()))
}
