//! Checks the result after the load: every gateway shows every session identically, and every acknowledged original can
//! be fetched.

use std::path::Path;

use concertina::assemble::{Engine, Fetch};
use concertina::store::Scope;

use crate::gateway::{options, tell};
use crate::messages::{Event, Issued};
use crate::session::{AGENT, Session, hashes};

/// The maximum number of assemblies of a session when another gateway keeps opening an epoch of it.
const ATTEMPTS: usize = 10;

/// Checks sessions, concurrently with other gateways, and originals.
pub(crate) fn check(
    engine: &Engine,
    transcripts: &Path,
    originals: &[Issued],
    sessions: &[String],
) -> Result<(), String> {
    for name in sessions {
        let Some(session) = Session::read(transcripts, name)? else { continue };
        if let Err(wrong) = show(engine, &session) {
            tell(&Event::Wrong(format!("{name}: {wrong}")));
        }
    }
    // Without a session, these fetches are not recorded.
    let nobody = Scope { agent_id: AGENT.to_owned(), session_id: String::new() };
    for issued in originals {
        let asked = Fetch { ref_ids: vec![issued.id.clone()], max_chars: usize::MAX, ..Fetch::default() };
        match engine.fetch(&nobody, &asked, 0).map(|answer| answer.blocks) {
            Ok(blocks) if issued.is(&blocks) => tell(&Event::Kept),
            Ok(_) => tell(&Event::Wrong(format!("{} was acknowledged and leads to other bytes", issued.id))),
            Err(error) => tell(&Event::Wrong(format!("{} was acknowledged: {error}", issued.id))),
        }
    }
    Ok(())
}

/// Reports how a session is shown, with its number of epochs.
fn show(engine: &Engine, session: &Session) -> Result<(), String> {
    let Some(mark) = &session.shown else { return Ok(()) };
    let epochs = || engine.store().ledger(&session.scope).map(|ledger| ledger.epochs.len());
    for _ in 0..ATTEMPTS {
        let before = epochs().map_err(|error| error.to_string())?;
        let reply = engine.assemble(&session.scope, &session.history, &options(), mark.now);
        if let Some(warning) = reply.report.warning {
            return Err(format!("{} {}", warning.code, warning.message));
        }
        let after = epochs().map_err(|error| error.to_string())?;
        // If another gateway opened an epoch in the meantime, it is unknown under which one this is shown.
        if after == before + usize::from(reply.report.epoch.is_some()) {
            let (_, hash) = hashes(&session.history, &reply.rewrite, usize::MAX);
            tell(&Event::Shown { session: format!("{} with {after} epochs", session.scope.session_id), hash });
            return Ok(());
        }
    }
    Err(format!("its epochs did not come to rest in {ATTEMPTS} assemblies"))
}
