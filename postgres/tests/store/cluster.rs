//! A server of our own: a fresh cluster in a directory of its own, stopped and removed at the end of a test, also of one that panics.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use concertina_postgres::{Clock, PostgresOptions, PostgresStore};

/// A running server.
pub(crate) struct Cluster {
    programs: PathBuf,
    dir: tempfile::TempDir,
    pub(crate) port: u16,
}

/// Where PostgreSQL's programs are.
fn programs() -> Option<PathBuf> {
    let Some(dir) = std::env::var_os("CONCERTINA_POSTGRES").map(PathBuf::from) else {
        println!(
            "not run: CONCERTINA_POSTGRES names no folder with PostgreSQL's programs, such as /usr/lib/postgresql/15/bin"
        );
        return None;
    };
    let missing = ["initdb", "pg_ctl", "psql"].into_iter().find(|name| !dir.join(name).is_file());
    assert_eq!(missing, None, "CONCERTINA_POSTGRES is {}", dir.display());
    Some(dir)
}

/// The user that may run a server where we are root, who may not.
fn user() -> Option<(u32, u32)> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find(|line| line.starts_with("postgres:")).filter(|_| is_root)?;
    let mut numbers = line.split(':').skip(2).map(|number| number.parse().expect("a number of a user"));
    Some((numbers.next()?, numbers.next()?))
}

impl Cluster {
    /// A new server; `None`, with a line that says so, where there is no PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        let programs = programs()?;
        let dir = tempfile::tempdir().unwrap();
        if let Some((user, group)) = user() {
            chown(dir.path(), Some(user), Some(group)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let cluster = Self { programs, dir, port };
        let data = cluster.data();
        let encoding = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"];
        cluster.run("initdb", [OsStr::new("-D"), data.as_os_str()].into_iter().chain(encoding.map(OsStr::new)));
        cluster.up();
        Some(cluster)
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn run<'a>(&self, program: &str, args: impl IntoIterator<Item = &'a OsStr>) {
        assert!(self.command(program).args(args).status().unwrap().success(), "{program} failed");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((user, group)) = user() {
            command.uid(user).gid(group);
        }
        command
    }

    /// Starts the server, which is down.
    pub(crate) fn up(&self) {
        let settings =
            format!("-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=on", self.port);
        let (data, log) = (self.data(), self.dir.path().join("log"));
        let args = ["-w", "-t", "60", "-D"].map(OsStr::new);
        let rest = [data.as_os_str(), OsStr::new("-l"), log.as_os_str(), OsStr::new("-o"), OsStr::new(&settings)];
        self.run("pg_ctl", args.into_iter().chain(rest).chain([OsStr::new("start")]));
    }

    /// Ends the server as a crash does.
    pub(crate) fn kill(&self) {
        let data = self.data();
        self.run(
            "pg_ctl",
            ["-w", "-m", "immediate", "stop", "-D"].map(OsStr::new).into_iter().chain([data.as_os_str()]),
        );
    }

    /// Runs a script, as the owner of the cluster, with `name=value` variables.
    pub(crate) fn psql(&self, file: &Path, variables: &[&str]) {
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f"]).arg(file).arg(self.url());
        assert!(command.args(variables.iter().flat_map(|variable| ["-v", variable])).status().unwrap().success());
    }

    pub(crate) fn url(&self) -> String {
        self.url_of("postgres")
    }

    pub(crate) fn url_of(&self, user: &str) -> String {
        format!("postgresql://{user}:hidden@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    pub(crate) fn open(&self, namespace: &str) -> PostgresStore {
        PostgresStore::open(&self.url(), namespace, options()).unwrap()
    }

    /// A connection beside the store.
    pub(crate) fn sql(&self, statements: &str) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let messages = client.simple_query(statements).await.unwrap();
            let rows = messages.iter().filter_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            });
            rows.collect()
        })
    }
}

/// Those of the contract suite, at the caller's time.
pub(crate) fn options() -> PostgresOptions {
    PostgresOptions { store: crate::suite::options(), clock: Clock::Caller, ..PostgresOptions::default() }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        // It is down already where a test left it so.
        let stopped = self.command("pg_ctl").args(["-w", "-m", "immediate", "stop", "-D"]).arg(&data).status();
        drop(stopped);
    }
}
