//! Decides what leaves the context, and why. Pure: it reads a transcript and a configuration and returns actions.
pub mod exempt;
