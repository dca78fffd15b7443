//! The fusion pipeline: independent stages that rewrite one block of text so that it costs fewer tokens.
//!
//! A stage proposes [`Edit`]s. The runner measures them in tokens, proves that the lossless ones can be restored, keeps
//! the original of everything else, and rejects edits that do not pay. Stages do not call each other and share no
//! state.
//!
//! Every rewrite can be undone in one of two ways:
//! - *lossless*: the edit is a [`fold`] that `concertina_format` restores from the output alone;
//! - *reversible*: the whole original is stored and the block ends with its `[[REWIND:sha256:…]]` marker. A note in
//!   place of the omitted part ([`elided`]) gives unit, count and range, so that the fetch tool can be asked for that
//!   part.
//!
//! A folded text is unfolded before it is compressed, so compressing twice gives the same result as compressing once.
//! Markers and notes in a text do not protect it from this.

mod caller_stages;
mod columns;
mod compress_messages;
mod contest;
mod draft;
mod earlier_blocks;
mod edit_filter;
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
mod phrases;
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

/// The author of a text. Text of users and of the system is never shortened.
pub use crate::transcript::Role;
