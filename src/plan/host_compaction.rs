//! What a host without us would have done with a conversation that outgrows the model's window.
//!
//! The numbers are those of OpenClaw 2026.9 where nothing else is configured. Tool results together get half of the
//! window, at four characters to a token. Before a turn, when the last request left less than a reserve free, the host
//! sends the whole conversation with the request to note what matters. Then it has the model summarize the conversation
//! but for the newest messages, and goes on with summary and newest messages. Within a turn it does so only when the
//! provider refuses a request, and without notes.

/// Tokens that the host keeps free, where the window has room.
const RESERVE_TOKENS: u64 = 20_000;

/// The reserve is at most one part in so many of the window.
const RESERVE_PARTS: u64 = 4;

/// Tokens of the newest messages that the host keeps, as it estimates them.
const KEPT_TOKENS: u64 = 20_000;

/// Tool results together get one part in so many of the window.
const RESULT_PARTS: u64 = 2;

/// Characters to a token, as the host estimates them.
pub const CHARS_PER_TOKEN: u64 = 4;

/// Tokens that the host takes an image for.
pub const IMAGE_TOKENS: u64 = 2000;

/// Characters of a tool result that the host has summarized.
const SUMMARIZED_CHARS: u64 = 2000;

/// System prompt and tools are taken for at most one part in so many of the window: more leaves no conversation.
const FIXED_PARTS: u64 = 2;

/// Tokens of a summary: the host cuts one at 16,000 characters, and most are shorter (chosen by judgement).
const SUMMARY_TOKENS: u64 = 1000;

/// How a provider counts, which has another vocabulary and is sent more than the messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenScale {
    /// Tokens that it counts for one of ours.
    pub ratio: f64,
    /// Tokens that stand before the messages: the system prompt and the tools.
    pub fixed: u64,
}

impl TokenScale {
    /// Ours.
    pub const OWN: Self = Self { ratio: 1.0, fixed: 0 };

    /// What so many of our tokens are to the provider.
    pub fn of(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.ratio).round() as u64
    }
}

/// Tokens that are taken to count alike here and with the provider before anything is measured: chosen by judgement, so
/// that the first short requests of a session do not decide.
const PRIOR_TOKENS: u64 = 2000;

/// The provider's count and ours differ by at most this factor, in halves: more than any vocabulary explains. Chosen by
/// judgement.
const LARGEST_RATIO_HALVES: u64 = 5;

impl TokenScale {
    /// The scale of a session, by how many tokens its requests differed and by its first one, of whose messages we
    /// counted only these: always the provider's count before ours.
    pub fn weighed((reported, counted): (u64, u64), first: (u64, u64)) -> Self {
        let ratio = (reported + PRIOR_TOKENS) as f64 / (counted + PRIOR_TOKENS) as f64;
        Self { ratio, fixed: first.0.saturating_sub((first.1 as f64 * ratio) as u64) }
    }
}

/// Adds by how many tokens two requests differ: what the provider counted of each, and we of its messages. Where the
/// two differ by more than any vocabulary explains, as with images they may, that tells nothing of texts.
pub fn weigh(weighed: (u64, u64), before: (u64, u64), after: (u64, u64)) -> (u64, u64) {
    let (reported, counted) = (after.0.abs_diff(before.0), after.1.abs_diff(before.1));
    let is_same_way = (after.0 > before.0) == (after.1 > before.1);
    let is_likely =
        is_same_way && reported * LARGEST_RATIO_HALVES > counted * 2 && reported * 2 < counted * LARGEST_RATIO_HALVES;
    if is_likely { (weighed.0 + reported, weighed.1 + counted) } else { weighed }
}

/// Where a host that compacts cuts a history, which is read from its end on. Counts are in our tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactionCut {
    /// The newest messages, which are kept.
    pub kept: u64,
    /// Read behind the last place for a cut: as it is, and as it would be summarized.
    pending: (u64, u64),
    estimated: u64,
    is_enough: bool,
}

impl CompactionCut {
    /// Adds a part of a message.
    pub fn add(&mut self, chars: u64, tokens: u64, is_result: bool) {
        self.estimated += chars / CHARS_PER_TOKEN;
        let most = if is_result { SUMMARIZED_CHARS } else { chars };
        self.pending.0 += tokens;
        self.pending.1 += if chars > most { tokens * most / chars } else { tokens };
    }

    /// Ends a message; the history can be cut before one that is no tool result.
    pub fn end_message(&mut self, may_begin: bool) {
        if may_begin && !self.is_enough {
            self.kept += std::mem::take(&mut self.pending).0;
        }
        self.is_enough |= self.estimated >= KEPT_TOKENS;
    }

    /// What is summarized.
    pub fn summarized(&self) -> u64 {
        self.pending.1
    }
}

/// The host's compaction for a model and a session. Counts are in the provider's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCompaction {
    /// The model's window.
    pub window: u64,
    /// [`TokenScale::fixed`].
    pub fixed: u64,
    /// The newest messages that are kept.
    pub kept: u64,
    /// What is older than these, as the model is given it to summarize.
    pub summarized: u64,
}

impl HostCompaction {
    /// How many characters of tool results a prompt holds.
    pub fn result_chars(window: u64) -> u64 {
        window * CHARS_PER_TOKEN / RESULT_PARTS
    }

    /// The window that leaves so many tokens for the messages.
    pub fn window_for(budget: u64, fixed: u64) -> u64 {
        let limit = budget + fixed;
        limit + RESERVE_TOKENS.min(limit / (RESERVE_PARTS - 1))
    }

    /// The largest request behind which a turn begins without compaction.
    pub fn limit(&self) -> u64 {
        self.window - RESERVE_TOKENS.min(self.window / RESERVE_PARTS)
    }

    /// Tokens of a prompt before the messages that are kept.
    fn head(&self) -> u64 {
        self.fixed.min(self.window / FIXED_PARTS) + SUMMARY_TOKENS
    }

    /// Tokens of a prompt of so many after compaction.
    pub fn compacted(&self, tokens: u64) -> u64 {
        (self.head() + self.kept).min(self.limit()).min(tokens)
    }

    /// Tokens that the model is given to summarize: also newest messages for which the window has no room.
    pub fn to_summarize(&self) -> u64 {
        let room = self.limit().saturating_sub(self.head());
        (self.summarized + self.kept.saturating_sub(room)).min(self.window)
    }

    /// How many tokens fewer and more a prompt may have had: without the newest messages, and without compaction but
    /// for what does not fit.
    pub fn margins(&self, tokens: u64, whole: u64) -> (u64, u64) {
        let least = self.kept.min(tokens.saturating_sub(self.fixed));
        (least, whole.min(self.limit()).saturating_sub(tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_newest_messages_from_one_on_that_is_no_result() {
        // From the end on: characters, and whether it is a tool result; what is kept of 100 tokens each.
        for (messages, kept) in [
            (&[(4, false); 5][..], 500),
            (&[(40_000, false), (40_000, false), (4, false)], 200),
            (&[(4, false), (90_000, true), (4, false)], 100),
            (&[(90_000, true), (4, false), (4, false)], 0),
            (&[(40_000, true), (30_000, false), (30_000, true), (4, false)], 200),
        ] {
            let mut cut = CompactionCut::default();
            for &(chars, is_result) in messages {
                cut.add(chars, 100, is_result);
                cut.end_message(!is_result);
            }
            assert_eq!(cut.kept, kept, "{messages:?}");
            assert!(cut.summarized() <= 100 * messages.len() as u64 - kept, "{messages:?}");
        }
    }

    #[test]
    fn a_scale_is_weighed_on_texts_alone() {
        let weighed = weigh((0, 0), (10_000, 0), (24_000, 20_000));
        assert_eq!(weighed, (14_000, 20_000));
        // An image of which the provider counts every byte, and a request that grew while its messages shrank.
        assert_eq!(weigh(weighed, (24_000, 20_000), (120_000, 20_100)), weighed);
        assert_eq!(weigh(weighed, (24_000, 20_000), (25_000, 10_000)), weighed);
        let scale = TokenScale::weighed(weighed, (11_000, 1000));
        assert!((scale.ratio - 0.727).abs() < 0.001 && scale.fixed == 10_273, "{scale:?}");
        assert_eq!(TokenScale::weighed((0, 0), (10_000, 0)), TokenScale { ratio: 1.0, fixed: 10_000 });
    }
}
