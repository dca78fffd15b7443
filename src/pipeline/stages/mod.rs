//! The fourteen stages, one file each, and the one slice that registers them.

mod photon;
mod quantum_lock;
mod semantic_dedup;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[&quantum_lock::QuantumLock, &photon::Photon, &semantic_dedup::SemanticDedup];
