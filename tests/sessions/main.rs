//! Tests of conversations: what an engine with a store shows, keeps and restores.

mod asked_again;
mod births;
mod calls;
#[path = "../corpus/mod.rs"]
mod corpus;
mod engine;
#[path = "../engines/mod.rs"]
mod engines;
mod fetch;
mod histories;
mod images;
mod look_alikes;
mod pins;
mod planner;
mod reads;
mod squeeze;
mod thinking;
mod unfold;
