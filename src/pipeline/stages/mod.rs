//! The fourteen stages, a file or folder each, and the one slice that registers them. The fourteenth, Cortex, is
//! [`crate::content`]: the runner asks it before every pass.

mod bars;
mod diff_crunch;
pub mod ionizer;
mod log_crunch;
mod neurosyntax;
mod photon;
mod quantum_lock;
mod rle;
mod search_crunch;
mod semantic_dedup;
mod shortening;
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
    &shortening::NEXUS,
    &token_opt::TokenOpt,
    &shortening::ABBREV,
];

/// The stage that folds listings by themselves.
pub(super) const LISTINGS: &dyn Stage = &structural_collapse::StructuralCollapse;
