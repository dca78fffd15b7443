//! The Node addon: the only crate that names napi.
//!
//! It is a thin face over the core. Messages arrive as light JSON with their long strings lifted out ([`handover`]), work runs
//! on libuv workers and threads of ours ([`work`]), and what goes back is a patch list. Every body runs under one
//! guard ([`guard`]): a panic becomes a
//! JavaScript error instead of the end of the process.
//!
//! The JavaScript face in `node/lib` wraps these functions; nobody else calls them. The records here are the public types:
//! `npm run generate` writes `node/lib/binding/addon.ts` from what is declared here, comments included.

#![expect(clippy::needless_pass_by_value, reason = "napi hands strings over by value")]

pub mod concertina;
pub mod fusion;
mod guard;
pub mod handover;
pub mod migration;
pub mod options;
pub mod prose;
pub mod pure;
mod registry;
pub mod report;
pub mod work;
