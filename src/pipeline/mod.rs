//! The fusion pipeline: independent stages that rewrite one block of text so that it costs fewer tokens.
//!
//! A stage proposes [`Edit`]s; the runner measures them with real tokens, proves the lossless ones by restoring them,
//! keeps the original of everything else, and rejects what does not pay. Stages never call each other and share
//! nothing.
//!
//! Two ways back, and every rewrite takes one of them:
//! - *lossless*: the edit is a [`fold`] that `concertina_format` undoes from the output alone;
//! - *reversible*: the whole original is handed to the store and the block ends with its `[[REWIND:sha256:…]]` marker; what was
//!   left out is said in place ([`elided`]), with unit, count and range, so that the fetch tool can be asked for just that.
//!
//! What one would get wrong: a text that comes in folded is unfolded first, so compressing twice is compressing once,
//! and no marker or note that stands in a text protects it.

mod caller_stages;
mod columns;
mod compress_messages;
mod draft;
mod earlier_blocks;
mod edits;
mod engine;
mod fold_prefixes;
pub mod images;
mod line_counter;
mod lines;
mod map_segments;
mod measure;
mod move_volatile_lines;
mod options;
mod pass;
mod prefixed_lines;
mod remembered_folds;
mod repeats;
mod report;
mod restore_messages;
mod stage;
pub mod stages;
mod steps;
mod syntax;

pub use caller_stages::{Caller, Gone, Question};
pub use compress_messages::{BlockReport, CompressedMessages, compress_messages};
pub use concertina_format::fold;
pub use concertina_format::{Prior, restore, restore_whole};
pub use earlier_blocks::BlockAction;
pub use edits::check as check_edits;
pub use engine::FusionEngine;
pub use fold_prefixes::unnumbered;
pub use options::{CompressOptions, MessagesOptions, StageOption, StageOptions};
pub use remembered_folds::RememberedFolds;
pub use report::{Compressed, StageReport};
pub use restore_messages::{ChangedBlock, restore_messages};
pub use stage::{Edit, FusionContext, Stage, elided};
pub use steps::{FusionPipeline, StageInfo};
#[doc(hidden)]
pub use syntax::comments;

/// Who said the text. Words of users and of the system are never shortened.
pub use crate::transcript::Role;
