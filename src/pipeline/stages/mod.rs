//! The fourteen stages, one file each, and the one slice that registers them.

mod diff_crunch;
mod search_crunch;

use super::Stage;

/// Every built-in stage. The runner sorts them by [`Stage::order`].
pub const STAGES: &[&dyn Stage] = &[&search_crunch::SearchCrunch, &diff_crunch::DiffCrunch];
