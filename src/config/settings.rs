//! The settings page of a host: the section, label and help text of each option.
//!
//! There is one row for each option that a host supports. Options of `squeeze()` alone are in [`SQUEEZE_ONLY`]; an
//! option in neither list fails a test.

/// The sections of the page, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Options that a user may want to choose.
    Basic,
    /// Options that trade the bill against what stays in context.
    Advanced,
    /// Options that hardly anybody has a reason to change.
    Expert,
}

impl Section {
    /// Returns the name of the section.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Advanced => "advanced",
            Self::Expert => "expert",
        }
    }
}

/// One row of the page.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The option, or an object that holds options.
    pub name: &'static str,
    /// The section that it is in.
    pub section: Section,
    /// The label.
    pub label: &'static str,
    /// The help text, in short sentences.
    pub help: &'static str,
}

/// Returns the row of an option, or of an object that holds options.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// Options that have no effect in a host.
pub const SQUEEZE_ONLY: &[&str] = &["pruneHeartbeats", "largeResultThreshold", "largeResultPreviewChars"];

macro_rules! settings {
    ($($section:ident { $($name:literal: $label:literal, $help:literal;)+ })+) => {
        /// All rows of the page, section by section.
        pub const SETTINGS: &[Setting] =
            &[$($(Setting { name: $name, section: Section::$section, label: $label, help: $help },)+)+];
    };
}

settings! {
    Basic {
        "sccsEnabled": "Fold tool output", "When this is off, everything goes to the model unchanged, and nothing is stored. Observe changes nothing either, and shows what folding would have saved.";
        "preset": "Limit of rewriting", "Lossless uses only rewrites that the text alone can undo. Balanced also uses rewrites that need the store. Max also shortens prose.";
        "thrift": "Thrift", "Careful folds late and keeps long previews. Normal keeps 95 % of what agents use in the context. High folds early and keeps little: the bill is lowest, and more is fetched.";
        "thinking": "Old thinking", "Auto removes the thinking of finished turns if the provider allows it. Keep always sends it.";
        "protect": "Protected content", "One pattern in a line: docs/spec/*.md, tool:browser_*, command:git log*, or content:REGEX. A pattern after ! is an exception.";
        "exactTools": "Tools with exact output", "Fresh output of these tools stays exact, because the next edit needs its bytes. Names may hold * and ?. Output of a command that prints files stays exact too, unless the list is empty. Only every tenth line number is kept.";
        "secrets": "Texts that hold a secret", "Keep-inline leaves such a text unchanged and never stores it. Redact removes the secret for good. Store treats it like any other text.";
        "sccsStorageDir": "Store directory", "The directory that keeps originals. Empty means the directory \"concertina\" in OpenClaw's state directory. A relative path starts in the state directory.";
        "storeMaxBytes": "Largest store (bytes)", "When the store is full, originals of ended sessions are removed first. Content that a live session shows is always kept.";
        "purgeOnReset": "Forget a session on reset", "Deletes the originals of a session as soon as it is reset or deleted. Placeholders in its transcript can then no longer be fetched.";
    }
    Advanced {
        "holdout": "Share of sessions to leave untouched", "From 0 to 1, for example 0.1. The figures compare these sessions with the others, which measures the saving.";
        "schedule": "Schedule of folding", "Cache-aware folds when that pays with the provider's prompt cache. Every-turn folds by age alone, for providers without a cache.";
        "contextThresholdPercent": "Context is full at (percent)", "Above this share of the token budget, everything foldable is folded at once.";
        "staleTurns": "Old after (user turns)", "Content older than this may be folded. Written files and bulky results may be folded after half as many turns.";
        "staleCalls": "Old after (model calls)", "Content older than this may be folded, even within one user turn. Written files may be folded after half as many calls.";
        "imageAgeTurns": "Images are old after (user turns)", "Images older than this may be folded.";
        "minTokensToFold": "Smallest content to fold (tokens)", "Smaller content stays.";
        "keepNames": "Names to keep", "At most this many names, paths and numbers of folded content stay in its placeholder.";
        "nameScorer": "Choice of names", "Learned is a model of what agents needed again in recorded sessions. Rule uses the shape of a name and how often it occurs.";
        "keepPreviewChars": "Preview length (characters)", "This many characters of folded content stay in its placeholder.";
        "sccsCompressThreshold": "Fold fresh results above (characters)", "Longer results are replaced by a reference and a summary before they are first sent.";
        "sccsSummaryMaxChars": "Summary length (characters)", "A summary is at most this long.";
        "sccsStorageTtlSeconds": "Keep originals for (seconds)", "Originals stay for this long after OpenClaw has deleted their session.";
        "instructionTurns": "Keep instructions for (user turns)", "Instruction files and skills stay for this many turns after they were read. 0 keeps them for the whole session.";
        "fusion": "Fresh output", "The shortening of tool output before it is first sent.";
        "fusion.enabled": "Shorten fresh output", "Rewrites tool output by its type before it is first sent.";
        "rules": "Rule files", "The repetition of the workspace's rules in long sessions.";
        "rules.refreshEveryTurns": "Repeat the rules every (user turns)", "0 turns it off. OpenClaw also asks for plugins.entries.concertina.hooks.allowConversationAccess.";
        "rules.files": "Files to repeat", "Paths in the workspace. * stays within a directory, ** does not.";
        "rules.level": "Shortening of the rules", "0 nothing, 1 formatting, 2 also fillers and abbreviations, 3 also vowels inside long words.";
        "rules.maxChars": "Length of the repeated rules (characters)", "Files that do not fit are left out and named.";
    }
    Expert {
        "sccsStoreUrl": "Shared database", "For several machines: a PostgreSQL database that keeps the originals instead of a directory. A secret reference, or an address.";
        "sccsStoreNamespace": "Tenant in the database", "A schema in that database. Gateways with the same name share originals.";
        "maxDeferredTurns": "Longest wait (user turns)", "Content that has waited this long is folded as soon as earlier savings pay for it.";
        "models": "Options by model", "Patterns of model names, each with its own thrift, ages or sizes: { \"*haiku*\": { \"thrift\": \"high\" } }.";
        "minTokensToSqueeze": "Smallest content to fold by age (tokens)", "Applies when folding by age alone. Smaller content is not folded.";
        "compat": "Form of shortened arguments", "None keeps the shape of tool-call arguments. Clawsqueezer writes the object that ClawSqueezer 1.0 wrote.";
        "sccsEnableSmartSummary": "Summaries by type", "When this is off, a summary is the beginning of the text.";
        "sccsMaxEntries": "Originals held in memory", "The disk holds the rest.";
        "encoding": "Vocabulary for counting tokens", "Use the one that is nearest to your model's.";
        "fusion.stages": "Stages", "Each stage by its name: false removes it, { \"order\": 40 } moves it.";
        "rules.scope": "Texts to shorten", "Refresh shortens the repeated rules only. All also shortens prose in fresh tool output.";
        "rules.abbreviations": "File of abbreviations", "A JSON file in the workspace: { \"entries\": { \"long\": \"short\" } }. They are used in addition to the built-in ones.";
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::option_table;

    #[test]
    fn every_option_has_one_row_or_is_of_squeeze_alone() {
        let options: Vec<&str> = option_table().iter().map(|row| row.name).collect();
        for name in &options {
            let rows = SETTINGS.iter().filter(|setting| setting.name == *name).count();
            let expected = usize::from(!SQUEEZE_ONLY.contains(name));
            assert_eq!(rows, expected, "{name} has {rows} rows in src/config/settings.rs; it needs {expected}");
        }
        let objects: BTreeSet<&str> =
            options.iter().filter_map(|name| name.split_once('.')).map(|(object, _)| object).collect();
        for name in SETTINGS.iter().map(|setting| setting.name).chain(SQUEEZE_ONLY.iter().copied()) {
            assert!(options.contains(&name) || objects.contains(name), "{name} is no option");
        }
        assert!(objects.iter().all(|name| setting(name).is_some()), "{objects:?}");
    }

    #[test]
    fn labels_are_short_and_told_apart_and_helps_are_short_sentences() {
        let mut seen = BTreeSet::new();
        for Setting { name, label, help, .. } in SETTINGS {
            let object = name.split_once('.').map(|(object, _)| object);
            assert!(seen.insert((object, *label)), "{name}: {label} is there twice");
            assert!(label.len() <= 48 && label.starts_with(char::is_uppercase), "{name}: {label}");
            assert!(help.ends_with('.'), "{name}: {help}");
            for sentence in help.split(". ") {
                assert!(sentence.split_whitespace().count() <= 20, "{name}: {sentence}");
            }
        }
    }
}
