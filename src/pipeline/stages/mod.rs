//! The fourteen stages, one file or folder each, and the one slice that registers them. The fourteenth, Cortex, is
//! [`crate::content`]: the runner asks it before every pass.

mod abbrev;
mod diff_crunch;
pub mod ionizer;
mod log_crunch;
mod neurosyntax;
mod nexus;
mod photon;
mod prose_edits;
mod quantum_lock;
mod rle;
mod search_crunch;
mod semantic_dedup;
mod structural_collapse;
mod token_opt;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[
    &quantum_lock::QuantumLock,
    &photon::Photon,
    &rle::Rle,
    &semantic_dedup::SemanticDedup,
    &ionizer::Ionizer,
    &log_crunch::LogCrunch,
    &search_crunch::SearchCrunch,
    &diff_crunch::DiffCrunch,
    &structural_collapse::StructuralCollapse,
    &neurosyntax::Neurosyntax,
    &nexus::Nexus::with_defaults(),
    &token_opt::TokenOpt,
    &abbrev::Abbrev::with_defaults(),
];
