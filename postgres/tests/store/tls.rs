//! Tests of TLS connections.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use concertina::error::Error;
use concertina::store::Store;
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, give_to_server, options};

/// Runs the `openssl` program. The arguments must not contain spaces. Returns true if it is installed.
fn openssl(dir: &Path, arguments: &str) -> bool {
    let mut command = Command::new("openssl");
    command
        .args(arguments.split(' '))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match command.status() {
        Ok(status) => {
            assert!(status.success(), "openssl {arguments}");
            true
        }
        Err(_) => {
            println!("not run: there is no program openssl, which makes the certificates");
            false
        }
    }
}

/// Creates two certificate authorities, and certificates of the first one for a server at 127.0.0.1 and for another
/// host.
fn certificates() -> Option<tempfile::TempDir> {
    const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let dir = tempfile::tempdir().unwrap();
    for authority in ["ours", "other"] {
        let made =
            format!("req -x509 {KEY} -keyout {authority}.key -out {authority}.crt -subj /CN={authority} -days 30");
        openssl(dir.path(), &made).then_some(())?;
    }
    for (server, name) in [("here", "IP:127.0.0.1"), ("elsewhere", "DNS:elsewhere.example")] {
        std::fs::write(dir.path().join("names"), format!("subjectAltName={name}\nbasicConstraints=CA:FALSE\n"))
            .unwrap();
        openssl(dir.path(), &format!("req {KEY} -keyout {server}.key -out {server}.csr -subj /CN={server}"));
        let signed = "-CA ours.crt -CAkey ours.key -CAcreateserial -extfile names -days 30";
        openssl(dir.path(), &format!("x509 -req -in {server}.csr {signed} -out {server}.crt"));
    }
    Some(dir)
}

/// Starts a server with TLS and the certificate of `name`.
fn server(certificates: &Path, name: &str) -> Option<Cluster> {
    let mut cluster = Cluster::make(&[])?;
    for suffix in ["key", "crt"] {
        let file = cluster.file(&format!("server.{suffix}"));
        std::fs::copy(certificates.join(format!("{name}.{suffix}")), &file).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        give_to_server(&file);
    }
    let [certificate, key] = ["crt", "key"].map(|suffix| cluster.file(&format!("server.{suffix}")));
    let files = format!("ssl_cert_file='{}'\nssl_key_file='{}'", certificate.display(), key.display());
    cluster.configure(&format!("ssl=on\n{files}"));
    cluster.first_up();
    Some(cluster)
}

fn refused(url: &str, options: PostgresOptions) -> String {
    let error = PostgresStore::open(url, "tls", options).map(drop).unwrap_err();
    assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
    let error = error.to_string();
    assert!(!error.contains("hidden"), "{error}");
    error
}

#[test]
fn a_certificate_is_checked_against_the_authority_that_the_address_names() {
    let Some(certificates) = certificates() else { return };
    let Some(cluster) = server(certificates.path(), "here") else { return };
    let [ours, other, missing, empty] =
        ["ours.crt", "other.crt", "missing.crt", "names"].map(|name| certificates.path().join(name));
    let trusting =
        |root: &Path, mode: &str| format!("{}&sslrootcert={}", cluster.url().replace("disable", mode), root.display());
    for mode in ["require", "verify-ca", "verify-full", "prefer"] {
        let store = PostgresStore::open(&trusting(&ours, mode), "tls", options()).unwrap();
        store.stats(None).unwrap();
        assert_eq!(
            cluster.sql(
                "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'concertina'"
            ),
            ["t"]
        );
    }
    let words = format!(
        "host=127.0.0.1 port={} user=postgres password=hidden dbname=postgres sslmode=verify-full sslrootcert='{}'",
        cluster.port,
        ours.display()
    );
    PostgresStore::open(&words, "tls", options()).unwrap();
    let further = |path: PathBuf| PostgresOptions { root_certificates: Some(path), ..options() };
    PostgresStore::open(&cluster.url().replace("disable", "require"), "tls", further(ours.clone())).unwrap();

    assert!(refused(&trusting(&other, "require"), options()).contains("UnknownIssuer"));
    // The system does not trust our authority.
    assert!(refused(&cluster.url().replace("disable", "require"), options()).contains("UnknownIssuer"));
    assert!(refused(&trusting(&missing, "require"), options()).contains("missing.crt: "));
    assert!(refused(&trusting(&empty, "require"), options()).contains("it holds no certificate"));
}

#[test]
fn a_server_with_the_name_of_another_host_is_refused() {
    let Some(certificates) = certificates() else { return };
    let Some(cluster) = server(certificates.path(), "elsewhere") else { return };
    let root = certificates.path().join("ours.crt");
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("{}&sslrootcert={}", cluster.url().replace("disable", mode), root.display());
        let error = refused(&url, options());
        assert!(error.contains("not valid for name") && error.contains("elsewhere.example"), "{error}");
    }
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_required() {
    let Some(cluster) = Cluster::start() else { return };
    for mode in ["require", "verify-full"] {
        let error = refused(&cluster.url().replace("disable", mode), options());
        assert!(error.contains("server does not support TLS"), "{error}");
    }
    PostgresStore::open(&cluster.url().replace("disable", "prefer"), "tls", options()).unwrap();
}
