//! Models the compaction of a host without the plugin, for conversations that outgrow the model's window.
//!
//! The numbers are the defaults of OpenClaw 2026.9. Tool results together get half of the window, at four characters
//! per token. Before a turn, if the last request left less than a reserve free, the host sends the whole conversation
//! with a request to note what matters. Then it has the model summarize everything except the newest messages, and
//! continues with the summary and these. Within a turn it does so only when the provider refuses a request, and without
//! notes.

/// Tokens that the host keeps free, if the window has room.
const RESERVE_TOKENS: u64 = 20_000;

/// The divisor that limits the reserve to a share of the window.
const RESERVE_DIVISOR: u64 = 4;

/// Tokens of the newest messages that the host keeps, by its own estimate.
const KEPT_TOKENS: u64 = 20_000;

/// The divisor that gives the share of the window for tool results.
const RESULT_DIVISOR: u64 = 2;

/// Characters per token, by the host's estimate.
pub const CHARS_PER_TOKEN: u64 = 4;

/// Tokens per image, by the host's estimate.
pub const IMAGE_TOKENS: u64 = 2000;

/// The number of characters of a tool result that the host passes to the summary.
const SUMMARIZED_CHARS: u64 = 2000;

/// The divisor that limits the share of system prompt and tools in the window: more leaves no conversation.
const FIXED_DIVISOR: u64 = 2;

/// Tokens of a summary. The host cuts it at 16,000 characters; most are shorter. Chosen by judgement.
const SUMMARY_TOKENS: u64 = 1000;

/// The relation of a provider's token counts to ours: its vocabulary differs, and it is sent more than the messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenScale {
    /// The provider's tokens per token of ours.
    pub ratio: f64,
    /// Tokens before the messages: the system prompt and the tools.
    pub fixed: u64,
}

impl TokenScale {
    /// The scale of our own counts.
    pub const IDENTITY: Self = Self { ratio: 1.0, fixed: 0 };

    /// Converts a number of our tokens to the provider's.
    pub fn of(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.ratio).round() as u64
    }

    /// Computes the scale of a session from the summed token differences between its requests, and from its first
    /// request. Both pairs are the provider's count, then our count of the messages.
    pub fn fit((reported, counted): (u64, u64), first: (u64, u64)) -> Self {
        let ratio = (reported + PRIOR_TOKENS) as f64 / (counted + PRIOR_TOKENS) as f64;
        Self { ratio, fixed: first.0.saturating_sub((first.1 as f64 * ratio) as u64) }
    }
}

/// The number of tokens that are assumed to count alike before anything is measured, so that the first short requests
/// of a session do not determine the ratio. Chosen by judgement.
const PRIOR_TOKENS: u64 = 2000;

/// The maximum factor between the provider's count and ours, in halves: more than any vocabulary explains. Chosen by
/// judgement.
const LARGEST_RATIO_HALVES: u64 = 5;

/// Adds the token difference of two requests to the sums: the provider's counts, and our counts of the messages. A pair
/// whose ratio no vocabulary explains (for instance with images) is ignored.
pub fn add_growth(growth: (u64, u64), before: (u64, u64), after: (u64, u64)) -> (u64, u64) {
    let (reported, counted) = (after.0.abs_diff(before.0), after.1.abs_diff(before.1));
    let is_same_direction = (after.0 > before.0) == (after.1 > before.1);
    let is_plausible = is_same_direction
        && reported * LARGEST_RATIO_HALVES > counted * 2
        && reported * 2 < counted * LARGEST_RATIO_HALVES;
    if is_plausible { (growth.0 + reported, growth.1 + counted) } else { growth }
}

/// The position at which a compacting host cuts a history, which is read from its end. Counts are in our tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactionCut {
    /// Tokens of the newest messages, which are kept.
    pub kept: u64,
    /// Tokens read since the last possible cut: as they are, and as passed to the summary.
    pending: (u64, u64),
    estimated: u64,
    has_enough: bool,
}

impl CompactionCut {
    /// Adds a part of a message.
    pub fn add(&mut self, chars: u64, tokens: u64, is_result: bool) {
        self.estimated += chars / CHARS_PER_TOKEN;
        let max_chars = if is_result { SUMMARIZED_CHARS } else { chars };
        self.pending.0 += tokens;
        self.pending.1 += if chars > max_chars { tokens * max_chars / chars } else { tokens };
    }

    /// Ends a message. The history can be cut before a message that is no tool result.
    pub fn end_message(&mut self, can_cut_before: bool) {
        if can_cut_before && !self.has_enough {
            self.kept += std::mem::take(&mut self.pending).0;
        }
        self.has_enough |= self.estimated >= KEPT_TOKENS;
    }

    /// Returns the tokens that are summarized.
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
    /// Tokens of the newest messages, which are kept.
    pub kept: u64,
    /// Tokens of the older messages, as passed to the summary.
    pub summarized: u64,
}

impl HostCompaction {
    /// Returns the maximum number of characters of tool results in a prompt.
    pub fn result_chars(window: u64) -> u64 {
        window * CHARS_PER_TOKEN / RESULT_DIVISOR
    }

    /// Returns the window that leaves this many tokens for the messages.
    pub fn window_for(budget: u64, fixed: u64) -> u64 {
        let limit = budget + fixed;
        limit + RESERVE_TOKENS.min(limit / (RESERVE_DIVISOR - 1))
    }

    /// Returns the largest request after which a turn begins without compaction.
    pub fn limit(&self) -> u64 {
        self.window - RESERVE_TOKENS.min(self.window / RESERVE_DIVISOR)
    }

    /// Returns the tokens of a prompt before the kept messages.
    fn head_tokens(&self) -> u64 {
        self.fixed.min(self.window / FIXED_DIVISOR) + SUMMARY_TOKENS
    }

    /// Returns the tokens of a prompt after compaction, given its tokens before.
    pub fn compacted(&self, tokens: u64) -> u64 {
        (self.head_tokens() + self.kept).min(self.limit()).min(tokens)
    }

    /// Returns the tokens that are passed to the summary, including newest messages for which the window has no room.
    pub fn to_summarize(&self) -> u64 {
        let room = self.limit().saturating_sub(self.head_tokens());
        (self.summarized + self.kept.saturating_sub(room)).min(self.window)
    }

    /// Returns the tokens by which a prompt may be smaller (without the newest messages) or larger (compacted only to
    /// what fits).
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
        // From the end: characters, and whether it is a tool result; then the kept part of 100 tokens each.
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
        let growth = add_growth((0, 0), (10_000, 0), (24_000, 20_000));
        assert_eq!(growth, (14_000, 20_000));
        // An image of which the provider counts every byte, and a request that grew while its messages shrank.
        assert_eq!(add_growth(growth, (24_000, 20_000), (120_000, 20_100)), growth);
        assert_eq!(add_growth(growth, (24_000, 20_000), (25_000, 10_000)), growth);
        let scale = TokenScale::fit(growth, (11_000, 1000));
        assert!((scale.ratio - 0.727).abs() < 0.001 && scale.fixed == 10_273, "{scale:?}");
        assert_eq!(TokenScale::fit((0, 0), (10_000, 0)), TokenScale { ratio: 1.0, fixed: 10_000 });
    }
}
