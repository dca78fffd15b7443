//! The fourteen stages, one file each, and the one slice that registers them.

mod log_crunch;
mod rle;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[&rle::Rle, &log_crunch::LogCrunch];
