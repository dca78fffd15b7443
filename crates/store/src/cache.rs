//! The read cache of a backend: originals, bounded by bytes and number, and the projections of sessions, bounded by
//! bytes.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::records::{Projection, Scope};
use concertina_base::reference::Original;

/// The maximum size of the cached originals, in bytes.
pub const ORIGINALS_BYTES: u64 = 64 << 20;

/// The maximum size of the cached projections, in bytes.
const PROJECTIONS_BYTES: u64 = 32 << 20;

/// The size of a projection without its replacement, in bytes.
const PROJECTION_BYTES: u64 = 150;

/// The read cache.
pub struct ReadCache<K> {
    /// The originals, by the key of the backend.
    pub originals: Cache<K, Arc<Original>, Weight>,
    projections: Cache<Scope, CachedProjections, Weight>,
    /// The file or database from which the cache was filled.
    generation: AtomicU64,
}

/// The cached projections of one session, in the order in which they were written.
///
/// A projection never changes, and a new one has a higher id. The cache is therefore complete up to its newest row as
/// long as the store counts the same number of rows.
#[derive(Debug, Clone, Default)]
pub struct CachedProjections {
    /// The file or database from which they were read.
    generation: u64,
    /// The id of the newest projection; 0 if there is none.
    pub version: i64,
    /// The projections.
    pub rows: Arc<Vec<Projection>>,
}

/// The weight of an entry: its bytes, but at least so many that no more than the allowed number of entries fit.
#[derive(Debug, Clone)]
pub struct Weight {
    min_weight: u64,
}

impl<K> Weighter<K, Arc<Original>> for Weight {
    fn weight(&self, _: &K, original: &Arc<Original>) -> u64 {
        (original.bytes.len() as u64).max(self.min_weight)
    }
}

impl Weighter<Scope, CachedProjections> for Weight {
    fn weight(&self, _: &Scope, cached: &CachedProjections) -> u64 {
        cached.rows.iter().map(|row| row.replacement.len() as u64 + PROJECTION_BYTES).sum::<u64>().max(self.min_weight)
    }
}

impl<K: Eq + Hash> ReadCache<K> {
    /// Creates an empty cache for `max_entries` originals, at least one.
    pub fn new(max_entries: u64) -> Self {
        let projections = cache(PROJECTIONS_BYTES / PROJECTION_BYTES, PROJECTIONS_BYTES);
        Self { originals: cache(max_entries.max(1), ORIGINALS_BYTES), projections, generation: AtomicU64::new(0) }
    }

    /// Removes and returns a session's projections. If [`CachedProjections::is_complete`] holds for them, the caller
    /// puts them back with [`ReadCache::insert`].
    pub fn remove(&self, scope: &Scope) -> CachedProjections {
        self.projections.remove(scope).map(|(_, cached)| cached).unwrap_or_default()
    }

    /// Stores a session's projections.
    pub fn insert(&self, scope: &Scope, cached: CachedProjections) {
        self.projections.insert(scope.clone(), cached);
    }

    /// Removes everything that was read from another file or database.
    pub fn keep_only(&self, generation: u64) {
        if self.generation.swap(generation, Ordering::Relaxed) != generation {
            self.clear();
        }
    }

    /// Removes everything.
    pub fn clear(&self) {
        self.originals.clear();
        self.projections.clear();
    }
}

impl CachedProjections {
    /// Returns true if these are all projections up to the newest of them. `count` is their number in the store of that
    /// generation.
    pub fn is_complete(&self, generation: u64, count: u64) -> bool {
        self.version == 0 || (self.generation, self.rows.len() as u64) == (generation, count)
    }

    /// Appends newer rows of the store of that generation, with their ids.
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
        // There is one shard, because an entry larger than its shard is never kept.
        .shards(1)
        .estimated_items_capacity(usize::try_from(max_entries).unwrap_or(usize::MAX).min(1 << 16))
        .weight_capacity(max_bytes)
        .build()
        .expect("both capacities are set");
    let weight = Weight { min_weight: max_bytes.div_ceil(max_entries) };
    Cache::with_options(options, weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
