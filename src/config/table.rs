//! The table of all options.

use serde_json::{Map, Value};

use super::models::Models;
use super::protect::Protect;
use super::store_url::StoreUrl;
use super::value::{OptionValue, Share, accept};
use super::words::{Compat, Enabled, NameScorer, Preset, RulesScope, Schedule, Secrets, Thinking, Thrift};
use crate::error::Result;
use crate::rules::RulesLevel;
use crate::store::StoreOptions;
use crate::tokens::Encoding;

/// One option, for generators of documentation, schema and types.
#[derive(Debug, Clone)]
pub struct OptionRow {
    /// The option's name as users write it.
    pub name: &'static str,
    /// The meaning, in one or two sentences.
    pub doc: &'static str,
    /// The default, as JSON.
    pub default: Value,
    /// The defaults at each level, in the order of [`Thrift::ALL`], if `thrift` determines them.
    pub by_thrift: Option<[Value; 3]>,
    /// The smallest value, for numbers.
    pub minimum: Option<u64>,
    /// True if an invalid value is corrected with a warning instead of refused.
    pub lenient: bool,
    /// JSON schema of the value.
    pub schema: Value,
    /// TypeScript type of the value.
    pub type_script: String,
}

macro_rules! options {
    ($($(#[doc = $doc:literal])+ $field:ident: $kind:ty = $default:expr, $name:literal $(, [min $minimum:literal])? $(, $lenient:ident)?;)+) => {
        /// All options with their values. [`Config::default`] holds the documented defaults.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $field: $kind,)+
        }

        impl Default for Config {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        /// Every option in documentation order.
        pub fn option_table() -> Vec<OptionRow> {
            let defaults = Config::default();
            let levels = Thrift::ALL.map(|thrift| Config::default().at(thrift));
            vec![$(OptionRow {
                name: $name,
                doc: concat!($($doc,)+).trim(),
                default: OptionValue::write(&defaults.$field),
                by_thrift: varying(levels.each_ref().map(|level| level.$field.write())),
                minimum: minimum!($($minimum)?),
                lenient: lenient!($($lenient)?),
                schema: <$kind as OptionValue>::schema(),
                type_script: <$kind as OptionValue>::type_script(),
            },)+]
        }

        impl Config {
            /// Returns the value of an option, as JSON.
            pub(super) fn value_of(&self, name: &str) -> Option<Value> {
                match name {
                    $($name => Some(self.$field.write()),)+
                    _ => None,
                }
            }

            /// Sets the option with this name. Returns false if there is none.
            pub(super) fn set(&mut self, name: &str, value: &Value, warnings: &mut Vec<String>) -> Result<bool> {
                match name {
                    $($name => {
                        self.$field = accept(
                            $name,
                            value,
                            &self.$field,
                            minimum!($($minimum)?),
                            lenient!($($lenient)?),
                            warnings,
                        )?;
                    })+
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}

macro_rules! minimum {
    () => {
        None
    };
    ($minimum:literal) => {
        Some($minimum)
    };
}

macro_rules! lenient {
    () => {
        false
    };
    (lenient) => {
        true
    };
}

options! {
    /// The limit of rewriting: "lossless" uses only rewrites that the text alone can undo, "balanced" also those that
    /// need the store, and "max" also shortens prose.
    preset: Preset = Preset::Balanced, "preset";
    /// Rewrites fresh tool outputs with the fusion pipeline before they are first sent.
    fusion_enabled: bool = true, "fusion.enabled";
    /// The stages of the pipeline by name: `false` removes a stage, `{ order }` moves it.
    fusion_stages: Map<String, Value> = Map::new(), "fusion.stages";
    /// The schedule of changes to content that was already sent: by age alone, or when a change pays with the
    /// provider's prompt cache.
    schedule: Schedule = Schedule::EveryTurn, "schedule";
    /// Sets the defaults of `minTokensToFold`, `staleCalls` and `keepPreviewChars`: how early content is folded, and
    /// how much of it stays. Each can also be set by itself.
    thrift: Thrift = Thrift::Careful, "thrift";
    /// Options by pattern of the model's name: `{ "*haiku*": { "thrift": "high" } }`. They override the options for all
    /// models.
    models: Models = Models::default(), "models";
    /// With "cache-aware": content that has waited for this many user turns is folded as soon as earlier savings pay
    /// for it.
    max_deferred_turns: u64 = 100, "maxDeferredTurns", [min 1];
    /// With "cache-aware": above this percentage of the token budget the context counts as full, and everything
    /// foldable is folded at once.
    context_threshold_percent: u64 = 70, "contextThresholdPercent", [min 10];
    /// With "cache-aware": content of fewer tokens is not folded.
    min_tokens_to_fold: u64 = 150, "minTokensToFold", [min 50];
    /// With "cache-aware": "auto" removes a model's thinking of finished turns together with content before it, if the
    /// provider documents that it may be omitted; "keep" sends all of it.
    thinking: Thinking = Thinking::Auto, "thinking";
    /// With "cache-aware": the maximum number of names, paths and numbers of folded content that its placeholder keeps,
    /// so that the agent can go on using them: twice as many if the content is new. Short content keeps fewer.
    keep_names: u64 = 120, "keepNames", [min 0];
    /// With "cache-aware": the scorer that chooses these names: a model learned from recorded sessions, or a rule made
    /// by hand.
    name_scorer: NameScorer = NameScorer::Learned, "nameScorer";
    /// Content older than this many user turns may be folded. The body of a successful write may be folded after half
    /// as many, because the file holds it, and so may, with "cache-aware", a result of 16,000 bytes or more.
    stale_turns: u64 = 4, "staleTurns", [min 1];
    /// Content older than this many model calls may be folded, even within one user turn, and up to four calls earlier
    /// if nothing is cached. The body of a successful write may be folded after half as many.
    stale_calls: u64 = 18, "staleCalls", [min 1];
    /// Content of fewer tokens is not folded by age.
    min_tokens_to_squeeze: u64 = 200, "minTokensToSqueeze", [min 50];
    /// The number of characters of folded content that its placeholder shows.
    keep_preview_chars: u64 = 200, "keepPreviewChars", [min 0];
    /// Images older than this many user turns may be folded.
    image_age_turns: u64 = 2, "imageAgeTurns", [min 1];
    /// Removes heartbeat prompts together with their HEARTBEAT_OK answers. Only `squeeze()` does this, because OpenClaw
    /// filters them itself.
    prune_heartbeats: bool = true, "pruneHeartbeats";
    /// A tool result of more characters is cut whatever its age; 0 disables this. Only `squeeze()` does this.
    large_result_threshold: u64 = 50000, "largeResultThreshold", [min 0];
    /// The number of characters that are kept at the beginning of a cut result.
    large_result_preview_chars: u64 = 500, "largeResultPreviewChars", [min 0];
    /// The form of shortened tool-call arguments: Concertina's own, or the `_squeezed` object of ClawSqueezer 1.0.
    compat: Compat = Compat::None, "compat";
    /// Replaces large outputs by a reference and a summary. If it is off, nothing is replaced or stored. With
    /// "observe", everything runs but nothing that is sent changes: the figures show what folding would have saved.
    /// Only the plugin has "observe": the proxy has `--observe`.
    sccs_enabled: Enabled = Enabled::On, "sccsEnabled", lenient;
    /// The share of sessions, from 0 to 1, that stays untouched, chosen by a hash of the session's id. The figures
    /// compare them with the others, which measures the saving. Only the plugin has this option: the proxy has
    /// `--holdout`.
    holdout: Share = Share::default(), "holdout";
    /// A result of more characters is replaced by a reference and a summary before it is first sent; a list of paths
    /// may be twice as long.
    sccs_compress_threshold: u64 = 3000, "sccsCompressThreshold", [min 2000], lenient;
    /// The maximum length of a summary, in characters.
    sccs_summary_max_chars: u64 = 300, "sccsSummaryMaxChars", [min 50], lenient;
    /// Summarizes by content type; if it is off, a summary is the beginning of the text.
    sccs_enable_smart_summary: bool = true, "sccsEnableSmartSummary", lenient;
    /// The lifetime of an original, in seconds, after the last assembled context that referred to it, or after its
    /// birth if there was none. In OpenClaw: after the host has deleted its session.
    sccs_storage_ttl_seconds: u64 = StoreOptions::default().ttl_seconds, "sccsStorageTtlSeconds", [min 600], lenient;
    /// The directory of the store; empty for the host's state directory of this plugin. In OpenClaw a relative path
    /// starts in its state directory.
    sccs_storage_dir: String = String::new(), "sccsStorageDir", lenient;
    /// The address of a PostgreSQL database that keeps the originals of several machines instead of a directory,
    /// `postgresql://user:password@host/database`, as text or as a secret reference of OpenClaw. It is never printed.
    /// Only the plugin has this option: the library has `url`.
    sccs_store_url: StoreUrl = StoreUrl::default(), "sccsStoreUrl";
    /// The tenant in that database: a schema of this name, which no other tenant sees. Only the plugin has this option:
    /// the library has `namespace`.
    sccs_store_namespace: String = "concertina".to_owned(), "sccsStoreNamespace";
    /// The number of originals held in memory. The disk holds the others.
    sccs_max_entries: u64 = StoreOptions::default().max_entries, "sccsMaxEntries", [min 1000], lenient;
    /// The maximum size of the store on disk, in bytes. Content that a live session shows is never removed: if nothing
    /// else is left, nothing more is folded.
    store_max_bytes: u64 = StoreOptions::default().max_bytes, "storeMaxBytes", [min 1048576];
    /// Deletes the originals of a session as soon as its user resets or deletes it, instead of `sccsStorageTtlSeconds`
    /// later. Placeholders in its transcript can then no longer be fetched. Only the plugin does this.
    purge_on_reset: bool = false, "purgeOnReset";
    /// The treatment of a text that seems to hold a secret: "keep-inline" neither stores nor replaces it, "redact"
    /// masks the secret in what is stored and shown, and "store" treats the text like any other.
    secrets: Secrets = Secrets::KeepInline, "secrets";
    /// Content that is never folded: a glob of paths (`docs/spec/*.md`), `tool:NAME`, `command:LINE` (both with `*` and
    /// `?`) or `content:REGEX`. A call is protected together with its result. A pattern after `!` is an exception; the
    /// last pattern that fits decides. A file's older copy may leave once the file was read again.
    protect: Protect = Protect::default(), "protect";
    /// The number of user turns for which instruction files and skills of agents (AGENTS.md, CLAUDE.md, SKILL.md,
    /// `.cursor/rules`, results of skill tools and the like) are protected; 0 protects them for the whole session.
    instruction_turns: u64 = 0, "instructionTurns", [min 0];
    /// Tools whose results stay exact while they are fresh, because the next edit needs their bytes, or another agent
    /// wrote them for this one (globs). Unless the list is empty, the output of a command or
    /// search that prints files (`cat`, `sed -n`, `rg -A20`) stays exact too, except logs. Lines are unchanged; only
    /// every tenth printed line number is kept.
    exact_tools: Vec<String> = ["read", "read_*", "*_read", "view", "view_file", "open_file", "cat", "str_replace_editor", "str_replace_based_edit_tool", "text_editor", "task", "agent", "subagent", "sessions_send"].map(str::to_owned).to_vec(), "exactTools";
    /// Repeats the workspace's rule files at the end of the context every so many user turns; 0 disables this. Only the
    /// plugin does this.
    rules_refresh_every_turns: u64 = 0, "rules.refreshEveryTurns", [min 0];
    /// The amount of shortening of the rule files: 0 off, 1 light (formatting), 2 standard (also fillers and
    /// abbreviations), 3 aggressive.
    rules_level: RulesLevel = RulesLevel::Standard, "rules.level";
    /// The maximum number of characters of the repeated rules. Files that do not fit are left out and named.
    rules_max_chars: u64 = 8000, "rules.maxChars", [min 200];
    /// The rule files of the workspace (globs; `*` stays within a directory, `**` does not).
    rules_files: Vec<String> = ["AGENTS.md", "SOUL.md", "rules/*.md"].map(str::to_owned).to_vec(), "rules.files";
    /// Shortens only the repeated rule files, or also prose in fresh tool results. Prompts of users stay as they are.
    rules_scope: RulesScope = RulesScope::Refresh, "rules.scope";
    /// A JSON file of the workspace, `{ "entries": { long: short } }`, with abbreviations in addition to the built-in
    /// ones; empty for none.
    rules_abbreviations: String = String::new(), "rules.abbreviations";
    /// The vocabulary with which tokens are counted.
    encoding: Encoding = Encoding::O200kBase, "encoding";
}

/// Returns the defaults of an option at each level, if they differ.
fn varying(levels: [Value; 3]) -> Option<[Value; 3]> {
    levels.iter().any(|level| *level != levels[0]).then_some(levels)
}

impl Config {
    /// Returns these options with the defaults of a thrift level. The levels are points of the frontier that
    /// `bench/replay --tune` draws.
    pub(super) fn at(self, thrift: Thrift) -> Self {
        let [min_tokens_to_fold, stale_calls, keep_preview_chars] = match thrift {
            Thrift::Careful => [150, 18, 200],
            Thrift::Normal => [60, 16, 0],
            Thrift::High => [60, 4, 0],
        };
        Self { min_tokens_to_fold, stale_calls, keep_preview_chars, ..self }
    }
}

impl From<&Config> for StoreOptions {
    fn from(config: &Config) -> Self {
        Self {
            ttl_seconds: config.sccs_storage_ttl_seconds,
            max_bytes: config.store_max_bytes,
            max_entries: config.sccs_max_entries,
            ..Self::default()
        }
    }
}
