//! Hash maps for many small keys, with a hasher that is faster than the standard one and has no random seed.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

pub use rustc_hash::{FxBuildHasher as FastState, FxHasher as FastHasher};

/// A map whose keys come from one text.
pub type FastMap<K, V> = HashMap<K, V, FastState>;

/// A set whose keys come from one text.
pub type FastSet<K> = HashSet<K, FastState>;

/// Returns the value of the first key that has this hash and that `is_match` accepts; if there is none, inserts and
/// returns the value of `insert`. This is for keys that are expensive to build: the map stores only their hashes, and a
/// collision moves on to the next hash.
pub fn find_or_insert<T: Copy>(
    known: &mut FastMap<u64, T>,
    mut hash: u64,
    is_match: impl Fn(T) -> bool,
    insert: impl FnOnce() -> T,
) -> T {
    loop {
        match known.entry(hash) {
            Entry::Occupied(entry) if is_match(*entry.get()) => return *entry.get(),
            Entry::Occupied(_) => hash = hash.wrapping_add(1),
            Entry::Vacant(entry) => return *entry.insert(insert()),
        }
    }
}
