//! What is held in memory after reading, for every backend: originals, no more than so many and no more than 64 MB of them; and by session
//! the rows of its projection, no more than 32 MB of them.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::{Projection, Scope};
use concertina_base::reference::Original;

/// Bytes of originals held in memory.
pub const MEMORY_BYTES: u64 = 64 << 20;

/// Bytes of rows held in memory.
const ROWS_BYTES: u64 = 32 << 20;

/// What a row takes beside its replacement.
const ROW_BYTES: u64 = 150;

/// What was read.
pub struct Memory<K> {
    /// The originals, by what a backend finds them by.
    pub originals: Cache<K, Arc<Original>, Weight>,
    /// The rows, by session.
    rows: Cache<Scope, Held, Weight>,
}

/// What was read of the rows of one session, in the order in which they were written.
///
/// A row is never changed, and a new one has a higher id. So these still are all rows up to the newest of them while the store counts as many.
#[derive(Clone, Default)]
pub struct Held {
    /// Which store they were read from.
    pub generation: u64,
    /// The id of the newest; 0 where there is none.
    pub version: i64,
    /// The rows.
    pub projections: Arc<Vec<Projection>>,
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

impl Weighter<Scope, Held> for Weight {
    fn weight(&self, _: &Scope, held: &Held) -> u64 {
        held.projections.iter().map(|row| row.replacement.len() as u64 + ROW_BYTES).sum::<u64>().max(self.least)
    }
}

impl<K: Eq + Hash> Memory<K> {
    /// An empty memory for `max_entries` originals, at least one.
    pub fn new(max_entries: u64) -> Self {
        let max_entries = max_entries.max(1);
        Self { originals: cache(max_entries, MEMORY_BYTES), rows: cache(ROWS_BYTES / ROW_BYTES, ROWS_BYTES) }
    }

    /// Takes what is held of a session's rows. Who has asked whether it [is complete](Held::is_complete) gives it back with
    /// [`Memory::keep`].
    pub fn take(&self, scope: &Scope) -> Held {
        self.rows.remove(scope).map(|(_, held)| held).unwrap_or_default()
    }

    /// Holds a session's rows.
    pub fn keep(&self, scope: &Scope, held: Held) {
        self.rows.insert(scope.clone(), held);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.originals.clear();
        self.rows.clear();
    }
}

impl Held {
    /// Whether these are all rows up to the newest of them, of which the store of that generation has so many.
    pub fn is_complete(&self, generation: u64, count: u64) -> bool {
        self.version == 0 || (self.generation, self.projections.len() as u64) == (generation, count)
    }

    /// Adds newer rows of the store of that generation, with their ids.
    #[must_use]
    pub fn with(mut self, generation: u64, newer: Vec<(i64, Projection)>) -> Self {
        self.generation = generation;
        self.version = newer.last().map_or(self.version, |(id, _)| *id);
        Arc::make_mut(&mut self.projections).extend(newer.into_iter().map(|(_, row)| row));
        self
    }
}

fn cache<K: Eq + Hash, V: Clone>(max_entries: u64, max_bytes: u64) -> Cache<K, V, Weight>
where
    Weight: Weighter<K, V>,
{
    let options = OptionsBuilder::new()
        // One shard, because what is larger than its shard is never held.
        .shards(1)
        .estimated_items_capacity(usize::try_from(max_entries).unwrap_or(usize::MAX).min(1 << 16))
        .weight_capacity(max_bytes)
        .build()
        .expect("both capacities are set");
    let weight = Weight { least: max_bytes.div_ceil(max_entries) };
    Cache::with_options(options, weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
