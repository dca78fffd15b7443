//! When a session's last model call was made, where its messages do not say: those of Anthropic and OpenAI have no times.
//!
//! A time that is too early would make a warm cache look cold, and so cost an epoch: in doubt it is the latest one that is possible.

use quick_cache::sync::Cache;

use crate::store::{Ledger, Millis, Scope};
use crate::transcript::{Message, Transcript};

/// Sessions remembered.
const MOST: usize = 1000;

/// An assembly, which a call follows.
#[derive(Clone, Copy)]
struct Assembly {
    at: Millis,
    /// How many calls its history held.
    calls: usize,
}

/// The last assembly of each session that this process has assembled.
pub(super) struct Assemblies(Cache<Scope, Assembly>);

impl Default for Assemblies {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl Assemblies {
    pub(super) fn keep(&self, scope: &Scope, transcript: &Transcript, at: Millis) {
        self.0.insert(scope.clone(), Assembly { at, calls: calls(transcript) });
    }

    /// The latest moment at which the last call of a history can have been made; `None` for a session of which nothing is known.
    /// `touch_interval` is how old the ledger's time of a session may be.
    pub(super) fn last_call(
        &self,
        scope: &Scope,
        transcript: &Transcript,
        ledger: &Ledger,
        touch_interval: Millis,
    ) -> Option<Millis> {
        let seen = ledger.standing.as_ref().map(|standing| standing.last_seen);
        let recorded = ledger.last_request;
        // A host may call more than once with what it was handed over; only a record of the turn then says when.
        let is_followed = |last: &Assembly| calls(transcript) <= last.calls + 1 || recorded >= Some(last.at);
        let known = self.0.get(scope).filter(is_followed).map(|last| last.at);
        let latest = known.or(seen.map(|seen| seen.saturating_add(touch_interval)));
        latest.max(recorded).max(seen)
    }
}

fn calls(transcript: &Transcript) -> usize {
    transcript.messages.iter().filter(|message: &&Message| message.is_call()).count()
}
