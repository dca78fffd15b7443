//! A test server: a new cluster in its own directory, which is stopped and removed at the end of the test, even if the
//! test panics.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use concertina::store::StoreOptions;
use concertina_postgres::{Clock, PostgresOptions, PostgresStore};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// The programs that the tests need.
const PROGRAMS: [&str; 4] = ["initdb", "pg_ctl", "pg_basebackup", "psql"];
/// The variable with the folder of PostgreSQL's programs. If it is unset, installed versions are searched.
const FOLDER: &str = "CONCERTINA_POSTGRES";

/// A running server.
pub(crate) struct Cluster {
    programs: PathBuf,
    dir: tempfile::TempDir,
    pub(crate) port: u16,
}

/// Returns the folder of PostgreSQL's programs: the one that is configured, or the newest installed one.
fn programs() -> Option<PathBuf> {
    let has_all = |dir: &PathBuf| PROGRAMS.iter().all(|name| dir.join(name).is_file());
    if let Some(dir) = std::env::var_os(FOLDER).map(PathBuf::from) {
        assert!(has_all(&dir), "{FOLDER} is {}, which lacks some of {PROGRAMS:?}", dir.display());
        return Some(dir);
    }
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = installed
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    let told = Command::new("pg_config").arg("--bindir").output().ok().filter(|output| output.status.success());
    let told = told.and_then(|output| Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim())));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        (versions.into_iter().rev().map(|(_, dir)| dir)).chain(told).chain(std::env::split_paths(&path)).find(has_all);
    if found.is_none() {
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        println!("not run: {name}: no folder has {PROGRAMS:?}; {FOLDER} may name it");
    }
    found
}

/// Returns a free port. It is below the range that systems use for outgoing connections, so that nothing takes it while
/// the server is down for a moment.
fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Concurrent runs begin at different ports.
    let run = std::process::id().wrapping_mul(97);
    let mut ports = (0..COUNT).map(|_| {
        let port = FIRST + run.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        u16::try_from(port).expect("a port below 30,000")
    });
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}

/// Makes the server's user the owner of a file or a folder.
pub(crate) fn give_to_server(path: &Path) {
    if let Some((user, group)) = user() {
        chown(path, Some(user), Some(group)).unwrap();
    }
}

/// Returns the user and the group that run the server if the tests run as root, because root may not run it.
fn user() -> Option<(u32, u32)> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find(|line| line.starts_with("postgres:")).filter(|_| is_root)?;
    let mut numbers = line.split(':').skip(2).map(|number| number.parse().expect("a number of a user"));
    Some((numbers.next()?, numbers.next()?))
}

impl Cluster {
    /// Starts a new server. Prints a line and returns `None` if PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// Returns a server for tests that use their own namespaces, databases and roles and do not change the server: the
    /// one that another test is using, or a new one.
    pub(crate) fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = shared.upgrade() {
            return Some(cluster);
        }
        let cluster = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&cluster);
        Some(cluster)
    }

    /// Starts a new server with additional lines in its `postgresql.conf`.
    pub(crate) fn start_with(settings: &str) -> Option<Self> {
        let mut cluster = Self::make(&[])?;
        cluster.configure(settings);
        cluster.first_up();
        Some(cluster)
    }

    /// Creates a cluster, with additional arguments for `initdb`, without starting it.
    pub(crate) fn make(further: &[&str]) -> Option<Self> {
        let cluster = Self::place(programs()?);
        let data = cluster.data();
        let args = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N"];
        let args = args.iter().chain(further).map(OsStr::new);
        cluster.run("initdb", [OsStr::new("-D"), data.as_os_str()].into_iter().chain(args));
        // No test cuts the power, so what a server wrote is still there after its crash.
        cluster.configure("fsync = off");
        Some(cluster)
    }

    fn place(programs: PathBuf) -> Self {
        let dir = tempfile::tempdir().unwrap();
        give_to_server(dir.path());
        Self { programs, dir, port: 0 }
    }

    /// Starts a replica of this server.
    pub(crate) fn follower(&self) -> Self {
        let mut follower = Self::place(self.programs.clone());
        let (url, data) = (self.url(), follower.data());
        let args = ["-R", "-c", "fast", "-X", "stream", "-d", &url, "-D"].map(OsStr::new);
        follower.run("pg_basebackup", args.into_iter().chain([data.as_os_str()]));
        follower.first_up();
        follower
    }

    /// Promotes a replica.
    pub(crate) fn promote(&self) {
        let data = self.data();
        self.run("pg_ctl", ["-w", "-t", "60", "promote", "-D"].map(OsStr::new).into_iter().chain([data.as_os_str()]));
    }

    /// Adds lines to `postgresql.conf`, for the next start.
    pub(crate) fn configure(&self, settings: &str) {
        let mut file = OpenOptions::new().append(true).open(self.data().join("postgresql.conf")).unwrap();
        writeln!(file, "{settings}").unwrap();
    }

    /// Returns a path next to the server's data.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Starts the server on its own port. Retries, because other servers search for a port at the same time.
    pub(crate) fn first_up(&mut self) {
        for _ in 0..10 {
            self.port = free_port();
            if self.try_up() {
                return;
            }
            let log = self.log();
            assert!(log.contains("Address already in use"), "the server does not start: {log}");
        }
        panic!("ten ports were taken");
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn run<'a>(&self, program: &str, args: impl IntoIterator<Item = &'a OsStr>) {
        assert!(self.command(program).args(args).status().unwrap().success(), "{program} failed");
    }

    /// Returns a command that runs a program of this PostgreSQL version as the server's user.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.dir.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some((user, group)) = user() {
            command.uid(user).gid(group);
        }
        command
    }

    /// Starts the stopped server.
    pub(crate) fn up(&self) {
        assert!(self.try_up(), "the server does not start: {}", self.log());
    }

    /// Tries to start the server. Returns true on success.
    pub(crate) fn try_up(&self) -> bool {
        let sockets = self.dir.path().display();
        let settings = format!("-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={sockets}", self.port);
        let (data, log) = (self.data(), self.dir.path().join("log"));
        let mut command = self.command("pg_ctl");
        command.args(["-w", "-t", "60", "-D"]).arg(&data).arg("-l").arg(&log).args(["-o", &settings, "start"]);
        command.status().unwrap().success()
    }

    /// Returns the contents of the server's log.
    pub(crate) fn log(&self) -> String {
        let log = std::fs::read(self.dir.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Stops the server without a shutdown, as in a crash.
    pub(crate) fn kill(&self) {
        let data = self.data();
        self.run(
            "pg_ctl",
            ["-w", "-m", "immediate", "stop", "-D"].map(OsStr::new).into_iter().chain([data.as_os_str()]),
        );
    }

    /// Kills one of the server's processes, so that the server restarts all of them and recovers.
    pub(crate) fn kill_one(&self) {
        let process = self.sql("SELECT pg_backend_pid()").remove(0);
        let busy = self.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'concertina' LIMIT 1");
        let process = busy.first().unwrap_or(&process);
        // The process may have ended already.
        drop(Command::new("kill").args(["-KILL", process]).stderr(Stdio::null()).status());
        while !self.is_up() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Returns true if the server answers.
    pub(crate) fn is_up(&self) -> bool {
        self.command("psql").arg(self.url()).args(["-c", "SELECT 1"]).status().unwrap().success()
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

    /// Runs statements on a separate connection.
    pub(crate) fn sql(&self, statements: &str) -> Vec<String> {
        self.session().run(statements)
    }

    /// Opens a connection that does not belong to a store.
    pub(crate) fn session(&self) -> Session {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.url(), NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Session { client, runtime }
    }
}

/// A connection that does not belong to a store.
pub(crate) struct Session {
    client: Client,
    // The connection is a task of this runtime.
    runtime: Runtime,
}

impl Session {
    /// Runs statements and returns the first column of their rows.
    pub(crate) fn run(&self, statements: &str) -> Vec<String> {
        let messages = self.runtime.block_on(self.client.simple_query(statements)).unwrap();
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        rows.collect()
    }
}

/// Returns the options of the contract suite, with the caller's clock.
pub(crate) fn options() -> PostgresOptions {
    let store = StoreOptions { ttl_seconds: 600, ..StoreOptions::default() };
    PostgresOptions { store, clock: Clock::Caller, ..PostgresOptions::default() }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let data = self.data();
        // A test may have stopped it already.
        let stopped = self.command("pg_ctl").args(["-w", "-m", "immediate", "stop", "-D"]).arg(&data).status();
        drop(stopped);
    }
}
