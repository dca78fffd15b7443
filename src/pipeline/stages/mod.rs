//! The fourteen stages, one file each, and the one slice that registers them.

pub mod ionizer;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[&ionizer::Ionizer];
