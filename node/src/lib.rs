//! The Node addon: the only crate that uses napi.
//!
//! It is a thin layer over the core. Messages arrive as light JSON with their long strings lifted out ([`handover`]),
//! work runs on libuv workers and on our own threads ([`work`]), and a patch list goes back. Every exported function
//! runs under one guard ([`guard`]): a panic becomes a JavaScript error and does not end the process.
//!
//! `node/lib` wraps these functions and is their only caller. The records here are the public types: `npm run generate`
//! writes `node/lib/binding/addon.ts` from these declarations and their comments.

#![expect(clippy::needless_pass_by_value, reason = "napi hands strings over by value")]

pub mod concertina;
pub mod fusion;
mod guard;
pub mod handover;
pub mod migration;
pub mod options;
pub mod prose;
pub mod provider;
pub mod pure;
mod registry;
pub mod report;
pub mod work;
