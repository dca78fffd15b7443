//! Parses a PostgreSQL address the way that libpq does, into the parameters of a connection.
//!
//! `sslrootcert` and the `sslmode`s that check certificates are removed first, because the client library rejects keys
//! that it does not know. No error repeats a part of the address: text that was not understood may be part of a
//! password.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt::Write as _;
use std::path::PathBuf;

use concertina_base::error::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

/// A parsed address.
pub(crate) struct Address {
    /// The connection parameters, for all hosts.
    pub(crate) config: Config,
    /// The certificate authorities that are trusted, exclusively.
    pub(crate) root: TrustedRoots,
}

/// A set of trusted certificate authorities.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TrustedRoots {
    /// The certificates of the operating system.
    System,
    /// The certificates of this file (PEM).
    File(PathBuf),
}

impl Address {
    /// Parses `postgresql://...` or `key=value ...`.
    ///
    /// `sslmode=verify-ca` and `verify-full` are `require`, since certificates and host names are checked whenever TLS
    /// is used.
    pub(crate) fn parse(address: &str) -> Result<Self> {
        let bad = |error: tokio_postgres::Error| Error::bad_argument("url", parse_error_detail(&error), EXPECTED);
        let address = escaped(address);
        let (rest, tls_parameters) = split_tls_parameters(&address);
        let mut config: Config = rest.parse().map_err(bad)?;
        let mut root = TrustedRoots::System;
        for (key, value) in tls_parameters {
            // The library decodes the escapes of both forms.
            let value: Config = value.parse().map_err(bad)?;
            match (key, value.get_application_name().unwrap_or_default()) {
                ("sslmode", _) => drop(config.ssl_mode(SslMode::Require)),
                (_, "" | "system") => root = TrustedRoots::System,
                (_, path) => root = TrustedRoots::File(path.into()),
            }
        }
        Ok(Self { config, root })
    }
}

/// The form of an address, for error messages.
const EXPECTED: &str = "postgresql://user:password@host:port/database?sslmode=require, \
where a name or a password has %40 for @, \
                        %3A for :, %2F for /, %3F for ?, %23 for # and %25 for %";

/// Returns the part of a parse error that may be shown: which of the library's own options has a bad value. Nothing in
/// it comes from the address.
fn parse_error_detail(error: &tokio_postgres::Error) -> String {
    let words = error.source().map(ToString::to_string).unwrap_or_default();
    let is_of_an_option = words.starts_with("invalid value for option");
    format!("an address that cannot be read{}", if is_of_an_option { format!(" ({words})") } else { String::new() })
}

const PREFIXES: [&str; 2] = ["postgres://", "postgresql://"];

fn is_url(address: &str) -> bool {
    PREFIXES.iter().any(|prefix| address.starts_with(prefix))
}

/// Escapes the user name and the password of a URL for the client library, which ends them at the first `@`. libpq ends
/// them at the last `@` before the query. Existing escapes stay.
fn escaped(address: &str) -> Cow<'_, str> {
    let Some(prefix) = PREFIXES.into_iter().find(|prefix| address.starts_with(prefix)) else { return address.into() };
    let rest = &address[prefix.len()..];
    let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is_query = |at: &usize| rest[at + 1..].split_once('=').is_some_and(|(key, _)| is_key(key));
    let query = rest.match_indices('?').map(|(at, _)| at).find(is_query).unwrap_or(rest.len());
    let (before, query) = rest.split_at(query);
    let query = query.replace('@', "%40");
    let Some((credentials, hosts)) = before.rsplit_once('@') else { return format!("{prefix}{before}{query}").into() };
    let credentials = match credentials.split_once(':') {
        Some((user, password)) => format!("{}:{}", percent_encoded(user), percent_encoded(password)),
        None => percent_encoded(credentials),
    };
    format!("{prefix}{credentials}@{hosts}{query}").into()
}

/// Percent-encodes a user name or a password, except for unreserved characters and existing escapes.
fn percent_encoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_escape =
        |at: usize| bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let mut encoded = String::with_capacity(text.len());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'%' if is_escape(at) => encoded.push('%'),
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => encoded.push(char::from(*byte)),
            byte => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

/// The parameters that an address may contain.
const PARAMETERS: &str = "\
    user, password, dbname, options, application_name, sslmode, sslrootcert, sslnegotiation, host, hostaddr, port, \
    connect_timeout, tcp_user_timeout, keepalives, keepalives_idle, keepalives_interval, keepalives_retries, \
    target_session_attrs, channel_binding, load_balance_hosts";

/// Further parameters that libpq knows and this store does not support.
const UNSUPPORTED_PARAMETERS: &str = "\
    service, servicefile, passfile, require_auth, client_encoding, fallback_application_name, keepalives_count, \
    replication, gssencmode, sslcompression, sslcert, sslkey, sslpassword, sslcertmode, sslcrl, sslcrldir, sslsni, \
    requirepeer, ssl_min_protocol_version, ssl_max_protocol_version, krbsrvname, gsslib, gssdelegation, authtype";

fn is_among(names: &str, name: &str) -> bool {
    names.split(", ").any(|one| one == name)
}

/// Returns an error that names the first unknown parameter of an address. Text after a password may be part of that
/// password, so a parameter there is named only if it is one of libpq's.
pub(crate) fn refuse_unknown(address: &str) -> Result<()> {
    let pairs = if is_url(address) {
        let behind_names = address.rfind('@').map_or(0, |at| at + 1);
        let query = address[behind_names..].split_once('?').map_or("", |(_, query)| query);
        query.split('&').filter_map(|pair| pair.split_once('=')).collect()
    } else {
        pairs(address).unwrap_or_default()
    };
    let is_name = |key: &str| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let mut is_behind_password = false;
    for (key, _) in pairs {
        let can_be_named = is_among(UNSUPPORTED_PARAMETERS, key) || !is_behind_password && is_name(key);
        if can_be_named && !is_among(PARAMETERS, key) {
            let expected = format!("one whose parameters are among {PARAMETERS}");
            return Err(Error::bad_argument("url", format!("an address with the unknown parameter {key}"), expected));
        }
        is_behind_password |= ["user", "password"].contains(&key);
    }
    Ok(())
}

/// Splits an address into what the library understands and the TLS parameters that it does not. Each TLS parameter is
/// returned as its key and an address that has the value as `application_name`, so that the library can decode it.
fn split_tls_parameters(address: &str) -> (String, Vec<(&str, String)>) {
    let is_url = is_url(address);
    // A `?` in a user name or a password is escaped.
    let query = address.find('?').filter(|_| is_url).map_or(address.len(), |at| at + 1);
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
    let tls_parameters = unknown.iter().map(|(key, value)| (*key, format!("{prefix}application_name={value}")));
    (format!("{before}{}", known.join(separator)), tls_parameters.collect())
}

/// Returns the pairs of `key=value key='value'` as they are written, or `None` if the text has another form.
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

/// Splits a configuration into one per host, so that a host that does not answer cannot use up the time of the next
/// one. If there are several hosts, only a writable one is accepted.
pub(crate) fn each_host(config: &Config) -> Vec<Config> {
    let (names, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    let is_of_all = |length: usize| length == 0 || length == count;
    if count < 2 || !is_of_all(names.len()) || !is_of_all(addresses.len()) || ports.len() > 1 && ports.len() != count {
        return vec![config.clone()];
    }
    let for_host = |at: usize| {
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
    (0..count).map(for_host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_unknown_to_the_client_library_are_understood_in_both_forms() {
        let file = |path: &str| TrustedRoots::File(path.into());
        for (address, expected) in [
            ("postgresql://me:secret@h/x?sslrootcert=/etc/ca%20one.pem", (SslMode::Prefer, file("/etc/ca one.pem"))),
            ("postgres://h/x?sslrootcert=a&sslmode=verify-full", (SslMode::Require, file("a"))),
            (
                "postgresql://me:sec?ret@h?sslmode=verify-ca&sslrootcert=system",
                (SslMode::Require, TrustedRoots::System),
            ),
            ("postgresql://me:a=b&c@h/x?sslmode=disable", (SslMode::Disable, TrustedRoots::System)),
            (
                r"host=h sslrootcert = '/it\'s one' password='sslmode=verify-ca \\'",
                (SslMode::Prefer, file("/it's one")),
            ),
            (r"password=a\ b sslrootcert=c\ d host=h sslmode='verify-full'", (SslMode::Require, file("c d"))),
            ("  host=h  ", (SslMode::Prefer, TrustedRoots::System)),
        ] {
            let read = Address::parse(address).unwrap();
            assert_eq!((read.config.get_ssl_mode(), read.root), expected, "{address}");
            assert_eq!(read.config.get_hosts().len(), 1, "{address}");
        }
        let read = Address::parse("host=h sslrootcert=x password='se cret' dbname=d").unwrap().config;
        assert_eq!((read.get_password(), read.get_dbname()), (Some(&b"se cret"[..]), Some("d")));
    }

    /// Unknown names, and all of libpq's that are not supported, in both forms of an address and at three positions.
    #[test]
    fn an_unknown_parameter_is_named_unless_it_may_be_part_of_a_password() {
        for key in ["nonsense", "sslmod", "ssl_mode", "pool_size"].into_iter().chain(UNSUPPORTED_PARAMETERS.split(", "))
        {
            let is_of_libpq = is_among(UNSUPPORTED_PARAMETERS, key);
            for (address, is_named) in [
                (format!("postgresql://me:hidden@h/x?{key}=hidden"), true),
                (format!("postgres://h?sslmode=require&{key}=hidden"), true),
                (format!("host=h {key}='hid den' password=hidden"), true),
                (format!("postgresql://h/x?password=a&{key}=hidden"), is_of_libpq),
                (format!("host=h password=hidden {key}=hidden"), is_of_libpq),
                (format!("postgresql://me:a?{key}=hidden@h/x"), false),
            ] {
                let parse_error_detail =
                    refuse_unknown(&address).err().map(|error| error.to_string()).unwrap_or_default();
                assert_eq!(
                    parse_error_detail.contains(&format!("the unknown parameter {key};")),
                    is_named,
                    "{address}: {parse_error_detail}"
                );
                assert!(!parse_error_detail.contains("hid"), "{parse_error_detail}");
            }
        }
        for key in PARAMETERS.split(", ") {
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
            "host=h password=a secret=x",
            "host=h password='a'secret' dbname=x",
            "host=h secret",
            "postgresql://h/x?user=me&password=a&secret",
            "postgresql://h/x?user=me&password=a&secret=x",
            "postgresql://me:secret",
            "postgresql://me:secret/x",
            "postgresql://me@h:secret/x",
            "postgresql:me:secret@h/x",
            "me:secret@h/x",
        ] {
            let error = Address::parse(address).map(drop).unwrap_err();
            assert!(matches!(error, Error::BadArgument { .. }) && !error.to_string().contains("secret"), "{error}");
        }
    }

    /// Every special character, and some ordinary ones, between two halves of a password, in six forms of an address,
    /// with and without a name, a database and parameters: 13 × 6 × 4 addresses. Each is parsed correctly, or refused
    /// without showing any of it.
    #[test]
    fn a_password_ends_at_the_last_at_sign_or_is_refused_without_being_shown() {
        let mut read = 0;
        for between in ["", "@", "/", "?", "#", ":", "%", "%40", "%4", " ", "&", "=", "@x/y?z=1#@"] {
            let password = format!("S3kr3t{between}S3kr3t");
            for (before, after) in [("", ""), ("", "/db"), ("", "?sslmode=disable"), ("", "/db?application_name=a@b")] {
                for form in [
                    format!("postgresql://me:{password}@127.0.0.1:1{before}{after}"),
                    format!("postgres://me:{password}@one.example,two.example:2{after}"),
                    format!("postgresql://:{password}@h{after}"),
                    format!("postgresql://me:{password}@{after}"),
                    format!("postgresql://{password}@h{after}"),
                    format!(
                        "postgresql://h{}{}password={password}",
                        after,
                        if after.contains('?') { "&" } else { "?" }
                    ),
                ] {
                    match Address::parse(&form) {
                        Err(error) => assert!(!error.to_string().contains("S3kr3t"), "{form}: {error}"),
                        Ok(Address { config, .. }) => {
                            read += 1;
                            let plain = password.replace("%40", "@");
                            let is_read = config.get_password() == Some(plain.as_bytes());
                            let is_name = config.get_user() == Some(&plain) || config.get_user() == Some("S3kr3t");
                            assert!(
                                is_read || is_name || form.contains("?password=") || form.contains("&password="),
                                "{form}: {config:?}"
                            );
                            for host in config.get_hosts() {
                                assert!(!format!("{host:?}").contains("S3kr3t"), "{form}: {host:?}");
                            }
                            assert!(!config.get_dbname().unwrap_or_default().contains("S3kr3t"), "{form}");
                        }
                    }
                }
            }
        }
        assert!(read > 200, "{read}");
        for (address, password, host) in [
            ("postgresql://me:pre@S3kr3t@h/db", "pre@S3kr3t", "h"),
            ("postgresql://me:a%40b@S3kr3t@h/d", "a@b@S3kr3t", "h"),
            ("postgresql://me:12345/S3kr3t@h:1/db", "12345/S3kr3t", "h"),
        ] {
            let config = Address::parse(address).unwrap().config;
            assert_eq!(config.get_password(), Some(password.as_bytes()));
            assert_eq!(config.get_hosts(), [tokio_postgres::config::Host::Tcp(host.to_owned())]);
        }
    }

    #[test]
    fn each_of_several_hosts_is_tried_separately_and_must_be_writable() {
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
