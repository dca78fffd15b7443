//! Originals held in memory after reading: no more than so many, and no more than 64 MB of them.

use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use crate::reference::{ContentHash, Original};

/// Bytes of originals held in memory.
pub(super) const MEMORY_BYTES: u64 = 64 << 20;

/// The originals, by hash.
pub(super) type Memory = Cache<ContentHash, Arc<Original>, Weight>;

/// Weighs an original by its bytes, and at least so much that never more than the allowed number fit in.
#[derive(Debug, Clone)]
pub(super) struct Weight {
    least: u64,
}

impl Weighter<ContentHash, Arc<Original>> for Weight {
    fn weight(&self, _: &ContentHash, original: &Arc<Original>) -> u64 {
        (original.bytes.len() as u64).max(self.least)
    }
}

/// An empty memory.
pub(super) fn memory(max_entries: u64) -> Memory {
    let max_entries = max_entries.max(1);
    let options = OptionsBuilder::new()
        // One shard, because an original larger than its shard is never held.
        .shards(1)
        .estimated_items_capacity(usize::try_from(max_entries).unwrap_or(usize::MAX).min(1 << 16))
        .weight_capacity(MEMORY_BYTES)
        .build()
        .expect("both capacities are set");
    let weight = Weight { least: MEMORY_BYTES.div_ceil(max_entries) };
    Cache::with_options(options, weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
