//! The fourteen stages, one file each, and the one slice that registers them.

mod neurosyntax;
mod structural_collapse;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[&neurosyntax::Neurosyntax, &structural_collapse::StructuralCollapse];
