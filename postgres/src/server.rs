//! The address of the database, and how to connect to it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use concertina_base::error::{Error, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, TrustedRoots, each_host, refuse_unknown};
use crate::options::PostgresOptions;

/// A server with a database, and the setup of every session on it.
pub(crate) struct Server {
    /// The connection parameters of each host.
    hosts: Vec<Config>,
    /// The index of the host that was last connected to.
    last: AtomicUsize,
    pub(crate) tls: MakeRustlsConnect,
    /// `host:port/database`, for messages. It contains no user, which may be a token.
    pub(crate) name: String,
    /// The schema.
    pub(crate) namespace: String,
    /// Statements that begin a session.
    pub(crate) setup: String,
    pub(crate) connect_timeout: Duration,
    pub(crate) statement_timeout: Duration,
}

impl Server {
    /// # Errors
    /// [`Error::BadArgument`] if the address or the namespace is invalid; [`Error::StoreUnavailable`] if certificates
    /// cannot be read.
    pub(crate) fn new(url: &str, namespace: &str, options: &PostgresOptions) -> Result<Self> {
        // An address that was read from a file may end with a line end.
        let url = url.trim();
        refuse_unknown(url)?;
        let Address { mut config, root } = Address::parse(url)?;
        if !is_namespace(namespace) {
            let expected = "1 to 63 of a-z, 0-9 and _, beginning with a letter and not with pg_";
            let got: String = namespace.chars().take(80).collect();
            return Err(Error::bad_argument("namespace", format!("{got:?}"), expected));
        }
        if config.get_application_name().is_none() {
            config.application_name("concertina");
        }
        config.connect_timeout(options.connect_timeout);
        config.tcp_user_timeout(options.statement_timeout);
        config.keepalives_idle(Duration::from_secs(30));
        let name = name(&config);
        let tls = tls(&config, &root, options, &name)?;
        let statement_ms = options.statement_timeout.as_millis().clamp(1, 2_147_483_647);
        // A client stops waiting for a pipeline at this time, so no live client leaves a transaction idle for longer.
        let idle_ms = statement_ms.saturating_add(1000).min(2_147_483_647);
        let lock_ms = options.store.busy_timeout_ms.clamp(1, 2_147_483_647);
        // Acknowledged data is on disk, whatever the server's default is. A role's own time limits that are shorter
        // than a pipeline are overridden, but idle sessions may end, because connections are replaced. Statements of
        // every turn use an index, even on a table that has grown since the server last gathered statistics;
        // `connection::ALLOW_TABLE_SCANS` allows the others to read whole tables.
        let setup = format!(
            "SET statement_timeout = {statement_ms}; SET search_path TO \"{namespace}\", pg_temp; \
             SET lock_timeout = {lock_ms}; \
             SET idle_in_transaction_session_timeout = {idle_ms}; SET client_min_messages = warning; SET jit = off; \
             SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
             SET plan_cache_mode = force_generic_plan; \
             SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'; \
             SELECT set_config(name, CASE name WHEN 'transaction_timeout' THEN '0' ELSE '1s' END, false) \
             FROM pg_settings \
             WHERE name = 'transaction_timeout' AND setting <> '0' OR name = 'idle_session_timeout' AND
               setting::integer BETWEEN 1 AND 999"
        );
        Ok(Self {
            hosts: each_host(&config).into_iter().map(without_tls_on_socket).collect(),
            last: AtomicUsize::new(0),
            tls,
            name,
            namespace: namespace.to_owned(),
            setup,
            connect_timeout: options.connect_timeout,
            statement_timeout: options.statement_timeout,
        })
    }

    /// The hosts, the one that was last connected to first.
    pub(crate) fn hosts(&self) -> impl ExactSizeIterator<Item = (usize, &Config)> {
        let last = self.last.load(Ordering::Relaxed);
        let mut order: Vec<usize> = (0..self.hosts.len()).collect();
        order.sort_by_key(|at| *at != last);
        order.into_iter().map(|at| (at, &self.hosts[at]))
    }

    /// Notes which of [`Server::hosts`] was connected to.
    pub(crate) fn connected(&self, host: usize) {
        self.last.store(host, Ordering::Relaxed);
    }
}

/// Returns true if all hosts are Unix sockets.
pub(crate) fn is_on_socket(config: &Config) -> bool {
    #[cfg(unix)]
    return !config.get_hosts().is_empty() && config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    #[cfg(not(unix))]
    return false;
}

/// Disables TLS for a Unix socket whatever `sslmode` says, as libpq does: there is no network and no host name to
/// check.
fn without_tls_on_socket(mut config: Config) -> Config {
    if is_on_socket(&config) {
        config.ssl_mode(SslMode::Disable);
    }
    config
}

/// Returns true if a name needs no quoting in SQL and is not reserved by PostgreSQL.
fn is_namespace(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.starts_with("pg_")
        && !["public", "information_schema"].contains(&name)
}

fn name(config: &Config) -> String {
    let port = |at: usize| config.get_ports().get(at).or(config.get_ports().first()).copied().unwrap_or(5432);
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| match host {
        Host::Tcp(host) => format!("{}:{}", displayable(host), port(at)),
        #[cfg(unix)]
        Host::Unix(path) => format!("{}:{}", path.display(), port(at)),
    });
    let hosts: Vec<String> = hosts.collect();
    format!("{}/{}", hosts.join(","), displayable(config.get_dbname().unwrap_or_default()))
}

/// Returns the name, or `***` if it contains unusual characters: in a malformed address it may be part of a password.
fn displayable(name: &str) -> &str {
    let is_usual_character = |character: char| character.is_alphanumeric() || "._-:%$[]".contains(character);
    if name.chars().all(is_usual_character) { name } else { "***" }
}

fn tls(config: &Config, root: &TrustedRoots, options: &PostgresOptions, name: &str) -> Result<MakeRustlsConnect> {
    let unavailable = |reason: String| Error::StoreUnavailable { path: name.to_owned(), reason };
    let mut roots = RootCertStore::empty();
    match root {
        TrustedRoots::File(path) => add_file(&mut roots, path).map_err(unavailable)?,
        // System certificates that cannot be read are skipped. The check of a server certificate fails if it needs one
        // of them.
        TrustedRoots::System if config.get_ssl_mode() != SslMode::Disable => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        TrustedRoots::System => {}
    }
    if let Some(path) = &options.root_certificates {
        add_file(&mut roots, path).map_err(unavailable)?;
    }
    let client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unavailable(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(client))
}

/// Trusts the certificates of a file.
fn add_file(roots: &mut RootCertStore, path: &Path) -> std::result::Result<(), String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let before = roots.len();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    if roots.len() == before {
        return Err(unreadable(&"it holds no certificate (PEM)"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str, namespace: &str) -> Result<Server> {
        Server::new(url, namespace, &PostgresOptions::default())
    }

    #[test]
    fn a_server_is_named_without_its_password() {
        let server = server("postgresql://me:secret@db.example:6000/store?sslmode=disable", "tenant_1").unwrap();
        assert_eq!(server.name, "db.example:6000/store");
        assert!(!server.setup.contains("secret"));
        for url in ["postgresql://secret@h:6000", "postgresql://h:6000/x#secret", "postgresql://h:6000/my secret"] {
            let server = Server::new(url, "tenant_1", &PostgresOptions::default()).unwrap();
            assert!(server.name.starts_with("h:6000/") && !server.name.contains("secret"), "{}", server.name);
        }
    }

    #[test]
    fn a_bad_address_is_refused_and_not_repeated() {
        for url in ["postgresql://me:secret@host:port/x", "postgresql://me:secret@host/x?nonsense=secret", "secret"] {
            let error = server(url, "tenant").map(drop).unwrap_err();
            assert!(matches!(error, Error::BadArgument { .. }));
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn only_plain_names_are_namespaces() {
        let url = "postgresql://localhost/x?sslmode=disable";
        for good in ["a", "tenant_17", "select", &"x".repeat(63)] {
            assert!(server(url, good).is_ok(), "{good}");
        }
        for bad in ["", "A", "1a", "a-b", "a\"; DROP SCHEMA x", "pg_x", "public", "ä", &"x".repeat(64)] {
            assert!(server(url, bad).is_err(), "{bad}");
        }
    }
}
