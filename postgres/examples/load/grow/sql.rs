//! A connection that does not belong to a store.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// A connection with the namespace as its search path.
pub(crate) struct Sql {
    client: Client,
    // The connection is a task of this runtime.
    runtime: Runtime,
}

impl Sql {
    pub(crate) fn connect(url: &str, namespace: &str) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            // An error of the connection is returned by the statement that fails because of it.
            drop(tokio::spawn(connection));
            Ok::<_, tokio_postgres::Error>(client)
        });
        let client =
            client.map_err(|error| format!("filling needs a connection without TLS (sslmode=disable): {error}"))?;
        let sql = Self { client, runtime };
        sql.run(&format!("SET search_path TO \"{namespace}\""))?;
        Ok(sql)
    }

    /// Runs statements and returns their rows as text.
    pub(crate) fn run(&self, statements: &str) -> Result<Vec<Vec<String>>, String> {
        let answer = self.runtime.block_on(self.client.simple_query(statements));
        let said = |error: tokio_postgres::Error| {
            let of_server = error.as_db_error().map(ToString::to_string);
            of_server.unwrap_or_else(|| error.to_string())
        };
        let rows = answer.map_err(said)?.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).unwrap_or_default().to_owned()).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }
}
