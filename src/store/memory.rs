//! Originals held in memory after reading: no more than so many, and no more than 64 MB of them. For every backend.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use crate::reference::Original;

/// Bytes of originals held in memory.
pub const MEMORY_BYTES: u64 = 64 << 20;

/// The originals, by what a backend finds them by.
pub type Memory<K> = Cache<K, Arc<Original>, Weight>;

/// Weighs an original by its bytes, and at least so much that never more than the allowed number fit in.
#[derive(Debug, Clone)]
pub struct Weight {
    least: u64,
}

impl<K> Weighter<K, Arc<Original>> for Weight {
    fn weight(&self, _: &K, original: &Arc<Original>) -> u64 {
        (original.bytes.len() as u64).max(self.least)
    }
}

/// An empty memory for `max_entries` originals, at least one.
pub fn memory<K: Eq + Hash>(max_entries: u64) -> Memory<K> {
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
