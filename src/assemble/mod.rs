//! The jobs, and the only place where effects happen: plan -> propose -> put -> patch.
//!
//! The order is the invariant. Nothing is shown that is not durable: proposals become patches only after the store's
//! commit has returned. When the store fails, the new proposals are dropped, the text goes out unchanged, and the reply
//! carries a warning; the agent's turn never fails.
//!
//! ```text
//! birth      a fresh tool result       ─► Engine::admit, propose_fresh, show_fresh
//! assembly   a history before a call   ─► Engine::assemble     replay, fold_choice, fold_proposal, fold_commit
//! fetch      ids that a model asks for ─► Engine::fetch        fetch_request, fetch_page, numbered_lines
//! search     words instead of ids      ─► Engine::search       line_matcher
//! unfold     messages with our texts   ─► Engine::unfold       unfold_thinking
//! turn       a finished turn           ─► Engine::commit_turn  assembly_log
//! marks      what a person pins        ─► Engine::restore, pin_last, unpin, fold_all; applied by the assembly
//! ```
//!
//! The other files are shared by these jobs: `blocks` and `prefix` define the key of a block, `decisions` holds earlier
//! decisions, `replacement` and `placeholder` define what is shown in its place, `labels` and `markers` read and write
//! the notes in our own texts.

mod asked_again;
mod assembly;
mod assembly_log;
mod birth;
mod blocks;
mod content_cache;
mod decisions;
mod engine;
mod fetch;
mod fetch_answers;
mod fetch_page;
mod fetch_request;
mod fold_choice;
mod fold_commit;
mod fold_proposal;
mod host_options;
mod labels;
mod line_matcher;
mod markers;
mod marks;
mod numbered_lines;
mod placeholder;
mod prefix;
mod redaction;
mod replacement;
mod replay;
mod report;
mod search;
mod secret_policy;
mod thinking_gap;
mod turn;
mod unfold;
mod unfold_thinking;

pub use crate::reference::FETCH_TOOL;
pub use assembly::AssembleOptions;
pub use birth::{FreshResult, HostCuts};
pub use engine::Engine;
pub use fetch_request::{Fetch, Fetched, FetchedBlock};
pub use host_options::over_defaults;
pub use marks::MarkedIds;
pub use redaction::{Question, RedactorAnswer, RedactorMode};
pub use report::{Action, Reply, Report, Warning};
pub use search::{Found, FoundOriginal, SEARCH_CHARS};
pub use turn::FinishedTurn;
pub use unfold::Unfolded;
