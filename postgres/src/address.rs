//! An address as libpq reads it -> how to connect.
//!
//! The client library refuses keys that it does not know, among them `sslrootcert`, and the modes that check certificates: they are
//! taken out before it looks. An error never repeats the address, which may hold a password.

use std::path::PathBuf;

use concertina::error::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

/// What an address says.
pub(crate) struct Address {
    /// All hosts.
    pub(crate) config: Config,
    /// Whose certificates are trusted, and no others.
    pub(crate) root: Root,
}

/// Which certificates are trusted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// The system's.
    System,
    /// Those of this file.
    File(PathBuf),
}

impl Address {
    /// Reads `postgresql://...` or `key=value ...`.
    ///
    /// `sslmode=verify-ca` and `verify-full` are `require`, since certificates and host names are checked whenever TLS is used.
    pub(crate) fn parse(address: &str) -> Result<Self> {
        let bad = |error: tokio_postgres::Error| {
            Error::bad_argument("url", error, "postgresql://user:password@host:port/database?sslmode=require")
        };
        let (rest, taken) = take_out(address);
        let mut config: Config = rest.parse().map_err(bad)?;
        let mut root = Root::System;
        for (key, value) in taken {
            // The library undoes the escapes of either form.
            let value: Config = value.parse().map_err(bad)?;
            match (key, value.get_application_name().unwrap_or_default()) {
                ("sslmode", _) => drop(config.ssl_mode(SslMode::Require)),
                (_, "" | "system") => root = Root::System,
                (_, path) => root = Root::File(path.into()),
            }
        }
        Ok(Self { config, root })
    }
}

/// The parameters that an address may have.
const PARAMETERS: [&str; 20] = [
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "sslmode",
    "sslrootcert",
    "sslnegotiation",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

/// Those that libpq knows beside them.
const OF_LIBPQ: [&str; 24] = [
    "service",
    "servicefile",
    "passfile",
    "require_auth",
    "client_encoding",
    "fallback_application_name",
    "keepalives_count",
    "replication",
    "gssencmode",
    "sslcompression",
    "sslcert",
    "sslkey",
    "sslpassword",
    "sslcertmode",
    "sslcrl",
    "sslcrldir",
    "sslsni",
    "requirepeer",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "krbsrvname",
    "gsslib",
    "gssdelegation",
    "authtype",
];

/// Names a parameter of an address that is none. What stands behind a password may be part of it, and is named only where it is a name of
/// libpq's.
pub(crate) fn refuse_unknown(address: &str) -> Result<()> {
    let is_url = ["postgres://", "postgresql://"].iter().any(|prefix| address.starts_with(prefix));
    let pairs = if is_url {
        let behind_names = address.rfind('@').map_or(0, |at| at + 1);
        let query = address[behind_names..].split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|pair| pair.split_once('=')).collect()
    } else {
        pairs(address).unwrap_or_default()
    };
    let is_name = |key: &str| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let mut is_behind_password = false;
    for (key, _) in pairs {
        let is_told = OF_LIBPQ.contains(&key) || !is_behind_password && is_name(key);
        if is_told && !PARAMETERS.contains(&key) {
            let expected = format!("one whose parameters are among {}", PARAMETERS.join(", "));
            return Err(Error::bad_argument("url", format!("an address with the unknown parameter {key}"), expected));
        }
        is_behind_password |= ["user", "password"].contains(&key);
    }
    Ok(())
}

/// An address without what the library does not know, and that: the key, and an address that has the value as `application_name`.
fn take_out(address: &str) -> (String, Vec<(&str, String)>) {
    let is_url = ["postgres://", "postgresql://"].iter().any(|prefix| address.starts_with(prefix));
    // A name and a password end at the first @.
    let from = address.find('@').filter(|_| is_url).unwrap_or(0);
    let query = address[from..].find('?').filter(|_| is_url).map_or(address.len(), |at| from + at + 1);
    let (before, separator, prefix) = if is_url { (&address[..query], "&", "postgresql:///?") } else { ("", " ", "") };
    let pairs =
        if is_url { address[query..].split('&').map(|pair| pair.split_once('=')).collect() } else { pairs(address) };
    let Some(pairs): Option<Vec<(&str, &str)>> = pairs else { return (address.to_owned(), Vec::new()) };
    let is_unknown = |(key, value): &(&str, &str)| match *key {
        "sslrootcert" => true,
        "sslmode" => ["verify-ca", "verify-full"].contains(&value.trim_matches('\'')),
        _ => false,
    };
    let (unknown, known): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_unknown);
    if unknown.is_empty() {
        return (address.to_owned(), Vec::new());
    }
    let known: Vec<String> = known.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let taken = unknown.iter().map(|(key, value)| (*key, format!("{prefix}application_name={value}")));
    (format!("{before}{}", known.join(separator)), taken.collect())
}

/// The pairs of `key=value key='value'`, as they are written; `None` where there is something else.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quotes = usize::from(after.starts_with('\''));
        let mut is_escaped = false;
        let end = after.char_indices().skip(quotes).find(|(_, character)| {
            if std::mem::take(&mut is_escaped) {
                return false;
            }
            is_escaped = *character == '\\';
            if quotes == 1 { *character == '\'' } else { character.is_whitespace() }
        });
        let (value, further) = after.split_at(end.map_or(after.len(), |(at, _)| at + quotes));
        pairs.push((key.trim_end(), value));
        rest = further.trim_start();
    }
    Some(pairs)
}

/// How to connect to each host alone: one that is silent must not use up the time of the next one. Of several the one counts that can
/// be written.
pub(crate) fn each_host(config: &Config) -> Vec<Config> {
    let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    let is_of_all = |length: usize| length == 0 || length == count;
    if count < 2 || !is_of_all(names.len()) || !is_of_all(addresses.len()) || ports.len() > 1 && ports.len() != count {
        return vec![config.clone()];
    }
    let alone = |at: usize| {
        let mut one = Config::new();
        match names.get(at) {
            Some(tokio_postgres::config::Host::Tcp(name)) => drop(one.host(name)),
            #[cfg(unix)]
            Some(tokio_postgres::config::Host::Unix(path)) => drop(one.host_path(path)),
            None => {}
        }
        if let Some(address) = addresses.get(at) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(at).or(ports.first()) {
            one.port(*port);
        }
        if let Some(user) = config.get_user() {
            one.user(user);
        }
        if let Some(password) = config.get_password() {
            one.password(password);
        }
        if let Some(database) = config.get_dbname() {
            one.dbname(database);
        }
        if let Some(options) = config.get_options() {
            one.options(options);
        }
        if let Some(name) = config.get_application_name() {
            one.application_name(name);
        }
        if let Some(timeout) = config.get_connect_timeout() {
            one.connect_timeout(*timeout);
        }
        if let Some(timeout) = config.get_tcp_user_timeout() {
            one.tcp_user_timeout(*timeout);
        }
        if let Some(interval) = config.get_keepalives_interval() {
            one.keepalives_interval(interval);
        }
        if let Some(retries) = config.get_keepalives_retries() {
            one.keepalives_retries(retries);
        }
        let asked = config.get_target_session_attrs();
        one.target_session_attrs(if asked == TargetSessionAttrs::Any { TargetSessionAttrs::ReadWrite } else { asked });
        one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
        one.channel_binding(config.get_channel_binding());
        one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
        one
    };
    (0..count).map(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_library_does_not_know_is_understood_in_either_form() {
        let file = |path: &str| Root::File(path.into());
        for (address, expected) in [
            ("postgresql://me:secret@h/x?sslrootcert=/etc/ca%20one.pem", (SslMode::Prefer, file("/etc/ca one.pem"))),
            ("postgres://h/x?sslrootcert=a&sslmode=verify-full", (SslMode::Require, file("a"))),
            ("postgresql://me:sec?ret@h?sslmode=verify-ca&sslrootcert=system", (SslMode::Require, Root::System)),
            ("postgresql://me:a=b&c@h/x?sslmode=disable", (SslMode::Disable, Root::System)),
            (
                r"host=h sslrootcert = '/it\'s one' password='sslmode=verify-ca \\'",
                (SslMode::Prefer, file("/it's one")),
            ),
            (r"password=a\ b sslrootcert=c\ d host=h sslmode='verify-full'", (SslMode::Require, file("c d"))),
            ("  host=h  ", (SslMode::Prefer, Root::System)),
        ] {
            let read = Address::parse(address).unwrap();
            assert_eq!((read.config.get_ssl_mode(), read.root), expected, "{address}");
            assert_eq!(read.config.get_hosts().len(), 1, "{address}");
        }
        let read = Address::parse("host=h sslrootcert=x password='se cret' dbname=d").unwrap().config;
        assert_eq!((read.get_password(), read.get_dbname()), (Some(&b"se cret"[..]), Some("d")));
    }

    /// Names that are none, and all of libpq's that are not understood, in both forms of an address and at three places.
    #[test]
    fn an_unknown_parameter_is_named_and_what_may_be_of_a_password_is_not() {
        for key in ["nonsense", "sslmod", "ssl_mode", "pool_size"].into_iter().chain(OF_LIBPQ) {
            let is_of_libpq = OF_LIBPQ.contains(&key);
            for (address, is_named) in [
                (format!("postgresql://me:hidden@h/x?{key}=hidden"), true),
                (format!("postgres://h?sslmode=require&{key}=hidden"), true),
                (format!("host=h {key}='hid den' password=hidden"), true),
                (format!("postgresql://h/x?password=a&{key}=hidden"), is_of_libpq),
                (format!("host=h password=hidden {key}=hidden"), is_of_libpq),
                (format!("postgresql://me:a?{key}=hidden@h/x"), false),
            ] {
                let told = refuse_unknown(&address).err().map(|error| error.to_string()).unwrap_or_default();
                assert_eq!(told.contains(&format!("the unknown parameter {key};")), is_named, "{address}: {told}");
                assert!(!told.contains("hid"), "{told}");
            }
        }
        for key in PARAMETERS {
            refuse_unknown(&format!("postgresql://h/x?{key}=1")).unwrap();
            refuse_unknown(&format!("host=h {key}=1")).unwrap();
        }
    }

    #[test]
    fn a_bad_address_is_not_repeated() {
        for address in [
            "postgresql://me:secret@h/x?sslmode=verify-everything",
            "postgresql://me:secret@h/x?sslmode=verify-ca&nonsense=secret",
            "postgresql://me:secret@h/x?sslrootcert",
            "host=h password=secret sslmode",
            "host=h password='secret sslmode=verify-ca",
        ] {
            let error = Address::parse(address).map(drop).unwrap_err();
            assert!(matches!(error, Error::BadArgument { .. }) && !error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn of_several_hosts_each_is_tried_alone_and_must_be_writable() {
        let address = "postgresql://me:secret@one:1,two:2/x?sslmode=require&connect_timeout=7&application_name=me";
        let config = Address::parse(address).unwrap().config;
        let each = each_host(&config);
        let expected = ["one:1", "two:2"].map(|host| {
            let address = address.replace("one:1,two:2", host) + "&target_session_attrs=read-write";
            Address::parse(&address).unwrap().config
        });
        assert_eq!(each, expected);
        let one = Address::parse("host=h").unwrap().config;
        assert_eq!(each_host(&one), [one]);
    }
}
