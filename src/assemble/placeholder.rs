//! The placeholder of a folded block. Its words never change once sent, and depend on nothing but the block, the
//! session and the options.

use serde_json::Value;

use super::blocks::KeyedBlock;
use super::labels::cut_note_of;
use super::numbered_lines::NumberedLines;
use super::replacement::Replacement;
use super::secret_policy::SecretPolicy;
use super::thinking_gap::ThinkingGap;
use crate::config::{Config, NameScorer, Schedule};
use crate::content::Hints;
use crate::content::cut_note::cut_text;
use crate::history::Meter;
use crate::plan::arguments;
use crate::reference::{ContentHash, Marker, Original, RefId};
use crate::store::{Ledger, PrintedKind, PrintedText};
use crate::summarize::{Around, describe, salient_identifiers, summarize};
use crate::transcript::{BlockKind, Call, ToolResult};

/// The minimum number of characters of a failed result's summary. Chosen by judgement.
const MIN_FAILED_SUMMARY_CHARS: u64 = 120;

/// Returns the number of summary characters that an old result keeps.
pub(super) fn preview_chars(has_failed: bool, config: &Config) -> u64 {
    if has_failed { config.keep_preview_chars.max(MIN_FAILED_SUMMARY_CHARS) } else { config.keep_preview_chars }
}

/// The explanation of placeholders, printed once, in the first placeholder of a session.
const EXPLANATION: &str = " Where the summary is enough, go on. fetch_original_data gives back all of it or lines (L41 before a name is \
its line: ask for id:41-80): before an edit, for exact indentation or more than about thirty lines, not only to confirm that something \
exists. Never copy a placeholder into a file or command.";

/// The tokens from which on an output has room for the explanation, which costs about 80. Chosen by judgement.
const MIN_EXPLAINED_TOKENS: u64 = 500;

/// Returns the number of original tokens per kept name, and the expected tokens per name. The learned scorer omits
/// names that are not worth keeping, so it is allowed more of them and uses fewer tokens each.
fn name_budget_of(config: &Config) -> (u64, u64) {
    match config.name_scorer {
        NameScorer::Learned => (8, 3),
        NameScorer::Rule => (12, 5),
    }
}

/// The multiple of names that a result keeps that was just returned: the next calls need most of them. Chosen on the
/// sessions of six projects that are not in the development corpus.
const FRESH_NAMES_FACTOR: u64 = 2;

/// The maximum number of line numbers among the names of one placeholder. Chosen by judgement.
const MAX_LINE_NUMBERS: usize = 8;
/// The minimum number of lines between two line numbers among the names. Chosen by judgement.
const MIN_LINES_BETWEEN_NUMBERS: usize = 30;

/// The maximum number of characters of summary and names together, whatever the options say. It keeps an output's
/// placeholder below 6,000 characters with marker and size. Chosen by judgement.
const MAX_TEXT_CHARS: usize = 5600;

/// A placeholder before its id is known.
#[derive(Debug)]
pub(super) enum Placeholder<'a> {
    /// A tool output: its summary and its size.
    Output { summary: String, characters: usize, lines: usize, cut: Option<String> },
    /// An image: the tokens it costs, and the fields that leave with it and with each image of the same key.
    Image { frames: Vec<Value>, tokens: u64 },
    /// Tool-call arguments, whose own shape shows what is missing.
    Arguments(Call<'a>),
    /// Nothing: the part is removed from its message.
    Nothing(ThinkingGap),
}

impl Placeholder<'_> {
    /// Creates a placeholder for a text, without names.
    pub(super) fn output(original: &Original, text: &str, summary: &str) -> Self {
        let (characters, lines) = (text.chars().count(), text.lines().count());
        let summary: String = summary.chars().take(MAX_TEXT_CHARS).collect();
        let notes = cut_text(text).notes.into_iter().filter(|note| !summary.contains(note));
        let cut: Vec<&str> = cut_note_of(original).into_iter().chain(notes).collect();
        let cut = (!cut.is_empty()).then(|| cut.join("; "));
        Self::Output { summary, characters, lines, cut }
    }

    /// Adds the names of an output of `tokens` tokens that are not in context yet, with the cache-aware schedule. The
    /// names of the summary and the added ones then count as in context.
    pub(super) fn add_names(&mut self, original: &Original, tokens: u64, config: &Config, visible: &mut Around) {
        let Self::Output { summary, .. } = self else { return };
        let Some(text) = original.read_text() else { return };
        let factor = if visible.is_fresh() { FRESH_NAMES_FACTOR } else { 1 };
        let limit = usize::try_from(max_names(tokens, config, factor)).unwrap_or(usize::MAX);
        visible.add(summary);
        let mut left = MAX_TEXT_CHARS.saturating_sub(summary.chars().count() + "\nnames:".len());
        let fits = |name: &&&str| {
            left = left.saturating_sub(name.chars().count() + 1);
            left > 0
        };
        let names = salient_identifiers(&text, limit, visible, config.name_scorer);
        let names: Vec<&str> = names.iter().take_while(fits).copied().collect();
        if !names.is_empty() {
            visible.add(&names.join(" "));
            summary.push_str("\nnames:");
            summary.push_str(&with_lines(&text, names));
        }
    }

    /// Returns true if the placeholder of a block of this many tokens has room for the explanation of placeholders.
    pub(super) fn can_explain(&self, tokens: u64) -> bool {
        matches!(self, Self::Output { .. }) && tokens >= MIN_EXPLAINED_TOKENS
    }

    /// Renders the replacement of the block. Returns `None` for arguments that have nothing to shorten.
    pub(super) fn render(
        &self,
        id: &RefId,
        config: &Config,
        meter: &Meter,
        has_explanation: bool,
    ) -> Option<Replacement> {
        let marker = Marker::Reference(id.clone());
        Some(match self {
            Self::Output { summary, characters, lines, cut } => {
                let size_words = size_words(*characters, *lines);
                let cut = cut.as_ref().map_or_else(String::new, |words| format!("; {words}"));
                let explanation = if has_explanation { EXPLANATION } else { "" };
                Replacement::Text(format!("{marker} (Summary: {summary})\n[{size_words} folded{cut}]{explanation}"))
            }
            Self::Image { frames, tokens } => Replacement::Image {
                text: format!("[image was here — {tokens} tokens] {marker}"),
                frames: frames.clone(),
            },
            Self::Arguments(call) => {
                let shrunk = arguments::shrink(call, config, meter, Some(&marker))?;
                Replacement::Arguments(SecretPolicy(config.secrets).arguments_to_show(shrunk.value)?)
            }
            Self::Nothing(gap) => Replacement::Thinking(gap.clone()),
        })
    }
}

/// Returns the originals whose placeholders contained the explanation, at birth or later.
pub(super) fn explained_in(ledger: &Ledger) -> impl Iterator<Item = ContentHash> {
    // Only few of the other rows are of a placeholder that saves nothing by itself, so few records are computed.
    let is_alike = |row: &&PrintedText| row.kind == PrintedKind::Placeholder && row.saved == 0;
    let rows = ledger.printed.iter().filter(is_alike);
    rows.filter(|row| **row == explanation_in(row.original)).map(|row| row.original)
}

/// Returns the record that the placeholder of an original contained the explanation.
pub(super) fn explanation_in(original: ContentHash) -> PrintedText {
    let text = ContentHash::of(format!("{}{EXPLANATION}", original.to_hex()).as_bytes());
    PrintedText { text, kind: PrintedKind::Placeholder, original, saved: 0 }
}

/// Lists names in text order, with line numbers in between, so that a part of the text can be requested: ` a b L41 c
/// d`.
fn with_lines(text: &str, mut names: Vec<&str>) -> String {
    names.sort_by_key(|name| name.as_ptr());
    let lines = NumberedLines::of(text);
    let step = MIN_LINES_BETWEEN_NUMBERS.max(lines.all.len() / MAX_LINE_NUMBERS);
    let mut last_number = lines.number_of(text);
    let mut listed = String::new();
    for name in names {
        let line = lines.number_of(name);
        if line - last_number >= step {
            listed.push_str(&format!(" L{line}"));
            last_number = line;
        }
        listed.push(' ');
        listed.push_str(name);
    }
    listed
}

/// Returns true if placeholders list names beside their summaries: only with the cache-aware schedule.
pub(super) fn has_names(config: &Config) -> bool {
    config.schedule == Schedule::CacheAware && config.keep_names > 0
}

/// Returns the summary of a tool output, without the names that the placeholder lists itself.
pub(super) fn summary(text: &str, result: &ToolResult, max_chars: u64, config: &Config) -> String {
    let summarize_text = if has_names(config) { describe } else { summarize };
    let max_chars = usize::try_from(max_chars).unwrap_or(usize::MAX);
    summarize_text(text, &Hints::from(result), max_chars, config.sccs_enable_smart_summary)
}

/// Returns the maximum number of names kept of a text, `factor` times as many as the options say; short texts keep
/// fewer.
fn max_names(tokens: u64, config: &Config, factor: u64) -> u64 {
    let limit = config.keep_names.saturating_mul(factor);
    if has_names(config) { (tokens / name_budget_of(config).0).min(limit) } else { 0 }
}

/// Estimates the tokens that folding a block frees, without rendering its placeholder; used by the plan only. For
/// outputs the estimate is deliberately pessimistic: placeholders cost about a third of what is assumed here. An exact
/// estimate folds more, and the extra fetches eat the gain (in the replay of the development corpus bill +.001, use
/// recall -.003).
pub(super) fn expected_savings(block: &KeyedBlock, config: &Config) -> u64 {
    /// Tokens of marker and size in an output's placeholder, counted on its wording.
    const FRAME_TOKENS: u64 = 30;
    /// Tokens of an image's placeholder, counted on its wording.
    const IMAGE_NOTE_TOKENS: u64 = 26;
    /// The assumed characters per token of a preview, and the divisor that bounds a preview's share of the output's
    /// tokens. Chosen by judgement.
    const PREVIEW_CHARS_PER_TOKEN: u64 = 4;
    const PREVIEW_DIVISOR: u64 = 4;
    let cost = match block.block.kind {
        BlockKind::Text(_) => {
            let has_failed = block.block.result.is_some_and(|result| result.is_error);
            let preview =
                (preview_chars(has_failed, config) / PREVIEW_CHARS_PER_TOKEN).min(block.tokens / PREVIEW_DIVISOR);
            FRAME_TOKENS + preview + name_budget_of(config).1 * max_names(block.tokens, config, 1)
        }
        BlockKind::Call(call) => return arguments::expected_savings(&call, block.tokens),
        BlockKind::Image(_) => IMAGE_NOTE_TOKENS,
        BlockKind::Thinking(_) | BlockKind::Other(_) => return 0,
    };
    block.tokens.saturating_sub(cost)
}

fn size_words(characters: usize, lines: usize) -> String {
    match lines {
        0 | 1 => format!("{characters} characters"),
        _ => format!("{lines} lines, {characters} characters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_with_the_numbers_that_their_lines_are_asked_for_by() {
        for (indent, expected) in
            [("→", " item301 L350 item350 L390 item390"), (" ", " item301 L51 item350 L91 item390")]
        {
            let text: String = (300..400).map(|line| format!("{line:>6}{indent}let item{line} = {line};\n")).collect();
            let names = ["item390", "item301", "item350"].map(|name| &text[text.find(name).unwrap()..][..name.len()]);
            assert_eq!(with_lines(&text, names.to_vec()), expected);
        }
    }
}
