//! What a backend keeps in memory after reading it: originals by bytes and number, and the projections of sessions by
//! bytes.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::records::{Projection, Scope};
use concertina_base::reference::Original;

/// Bytes of originals that are kept in memory.
pub const ORIGINALS_BYTES: u64 = 64 << 20;

/// Bytes of projections that are kept in memory.
const PROJECTIONS_BYTES: u64 = 32 << 20;

/// Bytes that a projection takes beside its replacement.
const PROJECTION_BYTES: u64 = 150;

/// What was read.
pub struct ReadCache<K> {
    /// The originals, by what a backend finds them by.
    pub originals: Cache<K, Arc<Original>, Weight>,
    projections: Cache<Scope, CachedProjections, Weight>,
}

/// The projections of one session that were read, in the order in which they were written.
///
/// A projection never changes, and a new one has a higher id. So these still are all up to the newest of them while the
/// store counts as many.
#[derive(Debug, Clone, Default)]
pub struct CachedProjections {
    /// Which file or database they were read from.
    generation: u64,
    /// The id of the newest; 0 where there is none.
    pub version: i64,
    /// The projections.
    pub rows: Arc<Vec<Projection>>,
}

/// Weighs by bytes; an original at least so much that never more than the allowed number fit in.
#[derive(Debug, Clone)]
pub struct Weight {
    least: u64,
}

impl<K> Weighter<K, Arc<Original>> for Weight {
    fn weight(&self, _: &K, original: &Arc<Original>) -> u64 {
        (original.bytes.len() as u64).max(self.least)
    }
}

impl Weighter<Scope, CachedProjections> for Weight {
    fn weight(&self, _: &Scope, cached: &CachedProjections) -> u64 {
        cached.rows.iter().map(|row| row.replacement.len() as u64 + PROJECTION_BYTES).sum::<u64>().max(self.least)
    }
}

impl<K: Eq + Hash> ReadCache<K> {
    /// Returns an empty cache for `max_entries` originals, at least one.
    pub fn new(max_entries: u64) -> Self {
        let projections = cache(PROJECTIONS_BYTES / PROJECTION_BYTES, PROJECTIONS_BYTES);
        Self { originals: cache(max_entries.max(1), ORIGINALS_BYTES), projections }
    }

    /// Takes a session's projections out. Once [`CachedProjections::is_complete`] holds, [`ReadCache::keep`] puts them
    /// back.
    pub fn take(&self, scope: &Scope) -> CachedProjections {
        self.projections.remove(scope).map(|(_, cached)| cached).unwrap_or_default()
    }

    /// Keeps a session's projections.
    pub fn keep(&self, scope: &Scope, cached: CachedProjections) {
        self.projections.insert(scope.clone(), cached);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.originals.clear();
        self.projections.clear();
    }
}

impl CachedProjections {
    /// Returns true if these are all up to the newest of them, of which the store of that generation has `count`.
    pub fn is_complete(&self, generation: u64, count: u64) -> bool {
        self.version == 0 || (self.generation, self.rows.len() as u64) == (generation, count)
    }

    /// Adds newer rows of the store of that generation, with their ids.
    #[must_use]
    pub fn with(mut self, generation: u64, newer: Vec<(i64, Projection)>) -> Self {
        self.generation = generation;
        self.version = newer.last().map_or(self.version, |(id, _)| *id);
        Arc::make_mut(&mut self.rows).extend(newer.into_iter().map(|(_, row)| row));
        self
    }
}

fn cache<K: Eq + Hash, V: Clone>(max_entries: u64, max_bytes: u64) -> Cache<K, V, Weight>
where
    Weight: Weighter<K, V>,
{
    let options = OptionsBuilder::new()
        // One shard, because what is larger than its shard is never kept.
        .shards(1)
        .estimated_items_capacity(usize::try_from(max_entries).unwrap_or(usize::MAX).min(1 << 16))
        .weight_capacity(max_bytes)
        .build()
        .expect("both capacities are set");
    let weight = Weight { least: max_bytes.div_ceil(max_entries) };
    Cache::with_options(options, weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
