//! The fourteen stages, one file each, and the one slice that registers them.

mod quantum_lock;
mod semantic_dedup;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[&quantum_lock::QuantumLock, &semantic_dedup::SemanticDedup];
