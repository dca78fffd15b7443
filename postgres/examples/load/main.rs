//! Puts a store under the load of several machines: gateways as processes, each with many sessions that replay
//! recordings through the engine concurrently. `load --help` describes the usage.
//!
//! It measures whole jobs of the engine and the store's share of each. It checks the promises of a store: nothing that
//! was acknowledged is lost, fetched bytes are the original's, and a session is shown identically wherever it is
//! assembled.

mod args;
mod check;
mod figures;
mod gateway;
mod grow;
mod messages;
mod place;
mod process;
mod progress;
mod recorded;
mod report;
mod run;
mod seat;
mod session;
mod timed;
mod turns;
mod zipf;

#[expect(dead_code, reason = "tests do more with a server than start it")]
#[path = "../../tests/store/cluster.rs"]
mod cluster;

use std::process::ExitCode;

use args::{Args, Asked};
use cluster::Cluster;
use place::Place;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let done = if words.first().is_some_and(|word| word == process::GATEWAY) {
        gateway::run().map(|()| true)
    } else {
        match args::read(words) {
            Err(help) if help == args::HELP => {
                println!("{help}");
                return ExitCode::SUCCESS;
            }
            Err(wrong) => Err(wrong),
            Ok(args) => measure(&args),
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(2)
        }
    }
}

/// Runs the load. Returns true if all checks passed.
fn measure(args: &Args) -> Result<bool, String> {
    // Inputs are checked before a server is started.
    let inputs = if args.grow.is_none() { recorded::find(&args.inputs)? } else { Vec::new() };
    let server = match args.store {
        Asked::Server => Some(Cluster::start().ok_or("there is no server to measure")?),
        Asked::Place(_) => None,
    };
    let place = match (&args.store, &server) {
        (Asked::Place(place), _) => place.clone(),
        (Asked::Server, Some(server)) => Place::Postgres { url: server.url(), namespace: args.namespace.clone() },
        (Asked::Server, None) => return Err("there is no server to measure".to_owned()),
    };
    if let Some(most) = args.grow {
        return grow::grow(&place, most, server.as_ref()).map(|()| true);
    }
    let transcripts = tempfile::tempdir().map_err(|error| format!("no place for transcripts: {error}"))?;
    let counted = || server.as_ref().map(report::server_counts).transpose();
    let before = counted()?;
    let outcome = run::run(&args.load, &place, transcripts.path(), inputs)?;
    let after = counted()?;
    report::print(&args.load, &place, &outcome, before.zip(after));
    if let Some(server) = &server {
        report::print_rows(server, &args.namespace)?;
    }
    Ok(outcome.wrong.is_empty())
}
