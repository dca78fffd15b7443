//! Hash maps for many small keys: the same order of magnitude faster than the standard hasher, and without its random seed.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A map for keys from one text.
pub type FastMap<K, V> = HashMap<K, V, FastState>;

/// A set of such keys.
pub type FastSet<K> = HashSet<K, FastState>;

/// What such maps hash with.
pub type FastState = BuildHasherDefault<FastHasher>;

/// What a map has for the first key with a hash that `is_it` says is the same; what `add` gives where there is none. For keys that
/// are dear to make: the map has only their hashes, and those that are equal by chance move on to the next.
pub fn first_like<T: Copy>(
    known: &mut FastMap<u64, T>,
    mut hash: u64,
    is_it: impl Fn(T) -> bool,
    add: impl FnOnce() -> T,
) -> T {
    loop {
        match known.entry(hash) {
            Entry::Occupied(entry) if is_it(*entry.get()) => return *entry.get(),
            Entry::Occupied(_) => hash = hash.wrapping_add(1),
            Entry::Vacant(entry) => return *entry.insert(add()),
        }
    }
}

/// Mixes whole integers, and hashes text with XXH3.
#[derive(Debug, Default, Clone)]
pub struct FastHasher(u64);

impl FastHasher {
    fn mix(&mut self, number: u64) {
        // The odd constant is that of Fibonacci hashing: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        // The table takes its position from the low bits, the product has its best ones on top.
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
