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
        "sccsEnabled": "Fold tool output", "When this is off, everything goes to the model as it is, and nothing is stored.";
        "preset": "How far to fold", "Lossless keeps to forms that can be undone from the text alone. Balanced also leaves out what can be fetched back from the store. Max also shortens prose.";
        "thrift": "Thrift", "Careful folds late and leaves much in sight. Normal is where 95 % of what agents use stays in sight. High folds soon and leaves little: the lowest bill, and more is fetched back.";
        "thinking": "Old thinking", "Auto drops the thinking of finished turns where the provider allows it. Keep always sends it.";
        "skipTools": "Tools to leave alone", "The output of these tools is never changed. Names may hold * and ?.";
        "skipCommands": "Commands to leave alone", "The output of these commands is never changed. The patterns are for the whole command line and may hold * and ?.";
        "exactTools": "Tools with exact output", "Fresh output of these tools stays exact, because the agent goes on from it. Names may hold * and ?. Output of a command that prints files stays exact, too, unless the list is empty. Of line numbers each tenth stays.";
        "secrets": "Texts that hold a secret", "Keep-inline leaves such a text as it is and never stores it. Redact blanks the secret for good. Store treats it like any other text.";
        "sccsStorageDir": "Store directory", "Where originals are kept. Empty means the directory \"concertina\" in OpenClaw's state directory. A relative path starts in the state directory.";
        "storeMaxBytes": "Largest store (bytes)", "When the store is full, originals of ended sessions go first. What a live session shows always stays.";
        "purgeOnReset": "Forget a session on reset", "Deletes the originals of a session as soon as it is reset or deleted. What its transcript still shows can then no longer be fetched.";
    }
    Advanced {
        "schedule": "When to fold", "Cache-aware waits until folding pays with the provider's prompt cache. Every-turn folds by age alone, for providers without a cache.";
        "contextThresholdPercent": "Context is full at (percent)", "Above this share of the token budget, everything that may go is folded at once.";
        "staleTurns": "Old after (user turns)", "Content of more user turns ago may go. What was written to a file goes after half as many, and so do bulky results.";
        "staleCalls": "Old after (model calls)", "Content of more model calls ago may go, even within one user turn. What was written to a file goes after half as many.";
        "imageAgeTurns": "Images are old after (user turns)", "Images of more user turns ago may go.";
        "minTokensToFold": "Smallest content to fold (tokens)", "Smaller content stays.";
        "keepNames": "Names to keep", "At most this many names, paths and numbers of folded content stay in sight.";
        "nameScorer": "How names are chosen", "Learned goes by what agents needed again in recorded sessions. Rule goes by the shape of a name and how often it stands there.";
        "keepPreviewChars": "Preview length (characters)", "This much of the beginning of folded content stays in sight.";
        "sccsCompressThreshold": "Fold fresh output above (characters)", "Longer output is replaced by a reference and a summary before it is first sent.";
        "sccsSummaryMaxChars": "Summary length (characters)", "A summary is at most this long.";
        "sccsStorageTtlSeconds": "Keep originals for (seconds)", "How long originals stay after OpenClaw has deleted their session.";
        "onlyTools": "Only these tools", "When this list has entries, only output of these tools is changed. Names may hold * and ?.";
        "fusion": "Fresh output", "How tool output is shortened before it is first sent.";
        "fusion.enabled": "Shorten fresh output", "Rewrites tool output by its type before it is first sent.";
        "rules": "Rule files", "Repeating the workspace's rules in long sessions.";
        "rules.refreshEveryTurns": "Repeat the rules every (user turns)", "0 turns it off. OpenClaw also asks for plugins.entries.concertina.hooks.allowConversationAccess.";
        "rules.files": "Which files", "Paths in the workspace. * stays within a directory, ** does not.";
        "rules.level": "How much to shorten the rules", "0 nothing, 1 formatting, 2 also fillers and abbreviations, 3 also vowels inside long words.";
        "rules.maxChars": "Length of the repeated rules (characters)", "Files that do not fit are left out and named.";
    }
    Expert {
        "sccsStoreUrl": "Shared database", "For several machines: a PostgreSQL database that keeps the originals instead of a directory. A secret reference, or an address.";
        "sccsStoreNamespace": "Tenant in the database", "A schema of its own in that database. Gateways with the same name share originals.";
        "maxDeferredTurns": "Longest wait (user turns)", "Content that has waited this long goes as soon as what was saved before pays for it.";
        "models": "Options by model", "Patterns of model names, each with its own thrift, ages or sizes: { \"*haiku*\": { \"thrift\": \"high\" } }.";
        "minTokensToSqueeze": "Smallest content to fold by age (tokens)", "Counts when folding by age alone. Smaller content stays.";
        "compat": "Form of shortened arguments", "None keeps the shape of tool-call arguments. Clawsqueezer writes the object that ClawSqueezer 1.0 wrote.";
        "sccsEnableSmartSummary": "Summaries by type", "When this is off, a summary is the beginning of the text.";
        "sccsMaxEntries": "Originals held in memory", "The disk holds the rest.";
        "encoding": "Vocabulary for counting tokens", "Use the one that is nearest to your model's.";
        "fusion.stages": "Stages", "Each stage by its name: false leaves it out, { \"order\": 40 } moves it.";
        "rules.scope": "What to shorten", "Refresh shortens the repeated rules only. All also shortens prose in fresh tool output.";
        "rules.abbreviations": "File of abbreviations", "A JSON file in the workspace: { \"entries\": { \"long\": \"short\" } }. They are used beside the built-in ones.";
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
