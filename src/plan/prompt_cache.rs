//! A model of one prompt cache: what a request reads from it, given the requests before.
//!
//! The planner asks it what a change costs, and the replay (`bench/replay`) bills by it. `bench/replay/receipts.mjs`
//! compares it with what providers reported. Positions are numbers of blocks from the beginning of the messages.

use super::provider::{CacheEntries, CacheRules};

/// The entries of the cache of one model and list of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptCache {
    rules: CacheRules,
    /// In ascending order.
    entries: Vec<Entry>,
}

/// A prefix that the cache holds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    /// The number of blocks in it.
    end: usize,
    /// The time of the last request that wrote or read it, in milliseconds; `None` if unknown.
    used_at: Option<i64>,
}

/// A request as the cache sees it.
#[derive(Debug, Clone, Copy)]
pub struct CachedRequest {
    /// The number of its blocks.
    pub blocks: usize,
    /// The number of its tokens.
    pub tokens: u64,
    /// The number of leading blocks that equal those of the request before.
    pub unchanged: usize,
    /// Its time in milliseconds. Without one, all entries are alive.
    pub at: Option<i64>,
}

impl PromptCache {
    /// Returns an empty cache.
    pub fn new(rules: CacheRules) -> Self {
        Self { rules, entries: Vec::new() }
    }

    /// Records a request, and returns the number of blocks that it reads from the cache.
    pub fn send(&mut self, request: CachedRequest) -> usize {
        let CachedRequest { blocks, tokens, unchanged, at } = request;
        let latest = match self.rules.entries {
            CacheEntries::Breakpoints { latest, .. } => {
                self.entries.retain(|entry| entry.end <= unchanged);
                latest
            }
            // Any part of a prefix can be read, so the last request stands for all.
            CacheEntries::Prefixes { .. } => {
                self.entries.iter_mut().for_each(|entry| entry.end = entry.end.min(unchanged));
                1
            }
        };
        let read = self.found(&[blocks], at).last().unwrap_or(0);
        self.entries.iter_mut().filter(|entry| entry.end == read).for_each(|entry| entry.used_at = at);
        if tokens >= self.rules.min_tokens {
            self.entries.retain(|entry| entry.end < blocks);
            self.entries.push(Entry { end: blocks, used_at: at });
        }
        let excess = self.entries.len().saturating_sub(latest);
        self.entries.drain(..excess);
        read
    }

    /// Returns the ends of the entries that a request with these breakpoints finds, in ascending order.
    pub fn found(&self, breakpoints: &[usize], now: Option<i64>) -> impl Iterator<Item = usize> {
        let is_reached = move |end: usize| match self.rules.entries {
            CacheEntries::Breakpoints { lookback: Some(lookback), .. } => {
                breakpoints.iter().any(|point| (end..=end + lookback).contains(point))
            }
            _ => true,
        };
        let ends = self.entries.iter().filter(move |entry| self.is_entry_alive(entry, now)).map(|entry| entry.end);
        ends.filter(move |end| is_reached(*end))
    }

    /// Returns the end of the longest entry that is alive.
    pub fn longest(&self, now: i64) -> Option<usize> {
        self.entries.iter().rev().find(|entry| self.is_entry_alive(entry, Some(now))).map(|entry| entry.end)
    }

    /// Returns true if any prefix of an entry can be read, too.
    pub fn reads_any_prefix(&self) -> bool {
        matches!(self.rules.entries, CacheEntries::Prefixes { .. })
    }

    fn is_entry_alive(&self, entry: &Entry, now: Option<i64>) -> bool {
        now.zip(entry.used_at).is_none_or(|(now, used)| now.saturating_sub(used) <= self.rules.life_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::model_name::ModelName;
    use crate::plan::provider::Provider;

    const MINUTE: i64 = 60_000;

    /// Sends requests of `(blocks, unchanged, minute)` and returns what each reads.
    fn reads(model: &str, requests: &[(usize, usize, i64)]) -> Vec<usize> {
        let mut cache = PromptCache::new(Provider::of(&ModelName::of(Some(model))).cache);
        let send = |&(blocks, unchanged, minute): &(usize, usize, i64)| {
            cache.send(CachedRequest { blocks, tokens: 5000, unchanged, at: Some(minute * MINUTE) })
        };
        requests.iter().map(send).collect()
    }

    #[test]
    fn claude_reads_entries_at_most_twenty_blocks_back_and_reading_renews_them() {
        let claude = "claude-opus-4-6";
        assert_eq!(reads(claude, &[(10, 0, 0), (30, 10, 1), (51, 30, 2), (52, 51, 3)]), [0, 10, 0, 51]);
        assert_eq!(reads(claude, &[(10, 0, 0), (12, 10, 5), (14, 12, 10), (16, 14, 16)]), [0, 10, 12, 0]);
        // A change at block 11: the entry at 10 was renewed at minute 4, that at 12 is gone.
        assert_eq!(reads(claude, &[(10, 0, 0), (12, 10, 4), (14, 11, 8), (16, 14, 9)]), [0, 10, 10, 14]);
        assert_eq!(reads(claude, &[(10, 0, 0), (12, 10, 4), (14, 9, 8)]), [0, 10, 0]);
    }

    #[test]
    fn openai_reads_entries_however_far_back_and_others_any_prefix() {
        let rewritten = [(10, 0, 0), (80, 10, 10), (90, 40, 20), (95, 90, 49), (99, 95, 80)];
        assert_eq!(reads("gpt-6.2-sol", &rewritten), [0, 10, 10, 90, 0]);
        assert_eq!(reads("gpt-5.5", &rewritten), [0, 10, 40, 90, 0]);
        assert_eq!(reads("gemini-4-neon", &rewritten), [0, 10, 40, 90, 95]);
        let many: Vec<(usize, usize, i64)> = (1..=100).map(|at| (10 * at, 10 * at - 10, 0)).collect();
        let last = |unchanged| *reads("gpt-6.2-sol", &[&many[..], &[(1010, unchanged, 1)]].concat()).last().unwrap();
        assert_eq!((last(215), last(205)), (210, 0), "the latest 80 entries end at 210 and later");
    }

    #[test]
    fn a_short_prefix_is_not_cached() {
        let mut cache = PromptCache::new(Provider::of(&ModelName::of(Some("gpt-5.5"))).cache);
        let mut send = |blocks, tokens, unchanged| cache.send(CachedRequest { blocks, tokens, unchanged, at: None });
        assert_eq!([send(2, 1023, 0), send(4, 1024, 2), send(6, 9000, 4)], [0, 0, 4]);
    }
}
