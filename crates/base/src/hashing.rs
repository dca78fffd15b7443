//! Hash maps for many small keys, with a hasher that is faster than the standard one and has no random seed.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A map whose keys come from one text.
pub type FastMap<K, V> = HashMap<K, V, FastState>;

/// A set whose keys come from one text.
pub type FastSet<K> = HashSet<K, FastState>;

/// The hasher state of [`FastMap`] and [`FastSet`].
pub type FastState = BuildHasherDefault<FastHasher>;

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

/// A hasher that mixes whole integers and hashes text with XXH3.
#[derive(Debug, Default, Clone)]
pub struct FastHasher(u64);

impl FastHasher {
    fn mix(&mut self, number: u64) {
        // The odd constant of Fibonacci hashing: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        // The table uses the low bits, but the product's best bits are the high ones.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }
}
