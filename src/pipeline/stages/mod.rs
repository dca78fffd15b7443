//! The fourteen stages, one file each, and the one slice that registers them.

mod abbrev;
mod nexus;
mod prose_edits;
mod quantum_lock;
mod semantic_dedup;
mod token_opt;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[
    &quantum_lock::QuantumLock,
    &semantic_dedup::SemanticDedup,
    &nexus::Nexus::with_defaults(),
    &token_opt::TokenOpt,
    &abbrev::Abbrev::with_defaults(),
];
