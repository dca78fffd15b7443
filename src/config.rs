//! Every option once: name, default, minimum, meaning. The manifest's JSON schema, `index.d.cts` and the table of
//! `docs/options.md` are generated from [`knobs`], so they cannot drift.
//!
//! Options arrive as one JSON object ([`Config::from_json`]). An unknown key or a bad value is an error that names key, value
//! and range, except for the `sccs*` options, whose published contract is lenient: too small is lifted to the minimum, a wrong
//! type falls back to the default, and each leaves one warning. Where a mistake must not cost its user the rest,
//! [`Config::overlay`] treats all options so.

pub mod models;
mod nearest;
pub mod settings;
mod store_url;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
pub use crate::rules::RulesLevel;
use crate::store::StoreOptions;
pub use crate::tokens::Encoding;
use models::Models;
use nearest::nearest;
pub use store_url::StoreUrl;

/// How the type of an option reads from and writes to JSON.
trait OptionValue: Sized + Clone {
    /// The JSON schema of the type.
    fn schema() -> Value;
    /// The TypeScript type.
    fn type_script() -> String;
    /// Reads a value; `None` when the type does not fit.
    fn read(value: &Value) -> Option<Self>;
    /// Writes a value.
    fn write(&self) -> Value;
    /// The number behind it, when it has a range.
    fn number(&self) -> Option<u64> {
        None
    }
    /// The same type from a number, when it has a range.
    fn from_number(_: u64) -> Option<Self> {
        None
    }
}

impl OptionValue for u64 {
    fn schema() -> Value {
        json!({ "type": "integer" })
    }
    fn type_script() -> String {
        "number".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_u64().or_else(|| {
            let float = value.as_f64()?;
            (float >= 0.0 && float.fract() == 0.0 && float < 9e15).then_some(float as u64)
        })
    }
    fn write(&self) -> Value {
        json!(self)
    }
    fn number(&self) -> Option<u64> {
        Some(*self)
    }
    fn from_number(number: u64) -> Option<Self> {
        Some(number)
    }
}

impl OptionValue for bool {
    fn schema() -> Value {
        json!({ "type": "boolean" })
    }
    fn type_script() -> String {
        "boolean".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
    fn write(&self) -> Value {
        json!(self)
    }
}

impl OptionValue for String {
    fn schema() -> Value {
        json!({ "type": "string" })
    }
    fn type_script() -> String {
        "string".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
    fn write(&self) -> Value {
        json!(self)
    }
}

impl OptionValue for Vec<String> {
    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }
    fn type_script() -> String {
        "string[]".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
    }
    fn write(&self) -> Value {
        json!(self)
    }
}

impl OptionValue for Map<String, Value> {
    fn schema() -> Value {
        json!({ "type": "object" })
    }
    fn type_script() -> String {
        "Record<string, boolean | ({ order?: number } & Record<string, unknown>)>".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_object().cloned()
    }
    fn write(&self) -> Value {
        json!(self)
    }
}

/// Declares an option whose value is one of a few words.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$word_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$word_meta])* $variant),+ }

        impl $name {
            /// The word as users write it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
            /// All, in the order of their declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Reads the word back.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl OptionValue for $name {
            fn schema() -> Value { json!({ "type": "string", "enum": [$($word),+] }) }
            fn type_script() -> String { [$(concat!("\"", $word, "\"")),+].join(" | ") }
            fn read(value: &Value) -> Option<Self> { Self::parse(value.as_str()?) }
            fn write(&self) -> Value { json!(self.as_str()) }
        }
    };
}

words! {
    /// How far rewriting may go.
    Preset {
        /// Only restorable rewrites, and eviction with references.
        Lossless = "lossless",
        /// Also rewrites that need the store to be undone.
        Balanced = "balanced",
        /// Also shortened prose and outlines.
        Max = "max",
    }
}

words! {
    /// When already-sent content may change.
    Schedule {
        /// By simple ages, on every assembly.
        EveryTurn = "every-turn",
        /// When the prompt cache makes it pay.
        CacheAware = "cache-aware",
    }
}

words! {
    /// What becomes of a model's thinking when its turn is over.
    Thinking {
        /// It leaves in an epoch, where the provider allows that.
        Auto = "auto",
        /// It stays.
        Keep = "keep",
    }
}

words! {
    /// How soon content goes, and how much of it stays in its place: a point between the least bill and the most in sight.
    Thrift {
        /// Late, with long placeholders.
        Careful = "careful",
        /// Where 95 % of the facts that agents use stay in sight.
        Normal = "normal",
        /// Soon, with short placeholders.
        High = "high",
    }
}

words! {
    /// What chooses the names that a placeholder keeps.
    NameScorer {
        /// A model of which names recorded sessions needed again.
        Learned = "learned",
        /// A rule made by hand.
        Rule = "rule",
    }
}

words! {
    /// What happens to a text that seems to hold a secret.
    Secrets {
        /// It is neither stored nor replaced.
        KeepInline = "keep-inline",
        /// It is treated like any other text.
        Store = "store",
        /// It is stored and shown with the secrets blanked out; the secrets themselves are not recoverable.
        Redact = "redact",
    }
}

words! {
    /// Whose argument placeholders to write.
    Compat {
        /// Ours: the arguments keep their shape, long strings shrink in place.
        None = "none",
        /// The published `_squeezed` object instead of the arguments.
        ClawSqueezer = "clawsqueezer",
    }
}

words! {
    /// What is shortened of rule files, and what else.
    RulesScope {
        /// The rule files that are repeated.
        Refresh = "refresh",
        /// Also prose in tool results.
        All = "all",
    }
}

/// Written as a number or as a word.
impl OptionValue for RulesLevel {
    fn schema() -> Value {
        let numbers = Self::ALL.map(|level| json!(level as u8));
        json!({ "enum": numbers.into_iter().chain(Self::ALL.map(|level| json!(level.as_str()))).collect::<Vec<_>>() })
    }
    fn type_script() -> String {
        "0 | 1 | 2 | 3 | \"off\" | \"light\" | \"standard\" | \"aggressive\"".into()
    }
    fn read(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some(word) => Self::ALL.into_iter().find(|level| level.as_str() == word),
            None => Self::ALL.get(usize::try_from(u64::read(value)?).ok()?).copied(),
        }
    }
    fn write(&self) -> Value {
        json!(*self as u8)
    }
}

impl OptionValue for Encoding {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
    fn type_script() -> String {
        Self::ALL.map(|encoding| format!("\"{}\"", encoding.as_str())).join(" | ")
    }
    fn read(value: &Value) -> Option<Self> {
        Self::parse(value.as_str()?)
    }
    fn write(&self) -> Value {
        json!(self.as_str())
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

/// One option, for whoever generates documentation, schema or types.
#[derive(Debug, Clone)]
pub struct Knob {
    /// The option's name as users write it.
    pub name: &'static str,
    /// What it means, in one or two sentences.
    pub doc: &'static str,
    /// The default, as JSON.
    pub default: Value,
    /// Where `thrift` decides it: the default at each level, in the order of [`Thrift::ALL`].
    pub by_thrift: Option<[Value; 3]>,
    /// The smallest value, for numbers.
    pub minimum: Option<u64>,
    /// Whether a bad value is corrected with a warning instead of refused.
    pub lenient: bool,
    /// JSON schema of the value.
    pub schema: Value,
    /// TypeScript type of the value.
    pub type_script: String,
}

macro_rules! knobs {
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
        pub fn knobs() -> Vec<Knob> {
            let defaults = Config::default();
            let levels = Thrift::ALL.map(|thrift| Config::default().at(thrift));
            vec![$(Knob {
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
            /// The value of an option, as JSON.
            fn value_of(&self, name: &str) -> Option<Value> {
                match name {
                    $($name => Some(self.$field.write()),)+
                    _ => None,
                }
            }

            fn set(&mut self, name: &str, value: &Value, warnings: &mut Vec<String>) -> Result<bool> {
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

knobs! {
    /// How far rewriting may go: only restorable rewrites, also rewrites that the store can undo, or also shortened prose.
    preset: Preset = Preset::Balanced, "preset";
    /// Rewrite fresh tool outputs by the fusion pipeline before they are first sent.
    fusion_enabled: bool = true, "fusion.enabled";
    /// Stages of the pipeline by name: `false` leaves one out, `{ order }` moves it.
    fusion_stages: Map<String, Value> = Map::new(), "fusion.stages";
    /// When content that was already sent may change: by ages alone, or when it pays with the provider's prompt cache.
    schedule: Schedule = Schedule::EveryTurn, "schedule";
    /// How soon content goes and how much of it stays in its place: the defaults of `minTokensToFold`, `staleCalls` and `keepPreviewChars`, each of which can be set by itself.
    thrift: Thrift = Thrift::Careful, "thrift";
    /// Options that depend on the model, by patterns of its name: `{ "*haiku*": { "thrift": "high" } }`. They win over what is set for all models.
    models: Models = Models::default(), "models";
    /// With "cache-aware": content that has waited this many user turns goes as soon as what was saved before pays for it.
    max_deferred_turns: u64 = 100, "maxDeferredTurns", [min 1];
    /// With "cache-aware": above this percentage of the token budget the context counts as full and is folded at once.
    context_threshold_percent: u64 = 70, "contextThresholdPercent", [min 10];
    /// With "cache-aware": content smaller than this many tokens stays.
    min_tokens_to_fold: u64 = 150, "minTokensToFold", [min 50];
    /// With "cache-aware": "auto" lets a model's thinking of finished turns leave together with what is folded before it, where the provider documents that it may be omitted; "keep" sends all of it.
    thinking: Thinking = Thinking::Auto, "thinking";
    /// With "cache-aware": at most how many names, paths and numbers of what goes are kept, so that the agent can go on using them; fewer of what is short.
    keep_names: u64 = 120, "keepNames", [min 0];
    /// With "cache-aware": what chooses those names, a model of what recorded sessions needed again, or a rule made by hand.
    name_scorer: NameScorer = NameScorer::Learned, "nameScorer";
    /// Content older than this many user turns may go; the body of a write that succeeded after half as many, since the file holds it, and with "cache-aware" a result of 16,000 bytes or more.
    stale_turns: u64 = 4, "staleTurns", [min 1];
    /// Content older than this many model calls may go, even within one user turn, and up to four calls earlier where nothing is cached; the body of a write that succeeded after half as many.
    stale_calls: u64 = 18, "staleCalls", [min 1];
    /// Content smaller than this many tokens stays.
    min_tokens_to_squeeze: u64 = 200, "minTokensToSqueeze", [min 50];
    /// How many characters of what goes are kept as a preview.
    keep_preview_chars: u64 = 200, "keepPreviewChars", [min 0];
    /// Images go after this many user turns.
    image_age_turns: u64 = 2, "imageAgeTurns", [min 1];
    /// Drop heartbeat prompts together with their HEARTBEAT_OK answers. Only `squeeze()` does this: OpenClaw filters them itself.
    prune_heartbeats: bool = true, "pruneHeartbeats";
    /// A tool result of more characters than this is cut whatever its age; 0 turns it off. Only `squeeze()` does this.
    large_result_threshold: u64 = 50000, "largeResultThreshold", [min 0];
    /// How many characters of a cut result are kept.
    large_result_preview_chars: u64 = 500, "largeResultPreviewChars", [min 0];
    /// Shape of shrunk tool-call arguments: ours, or the `_squeezed` object of ClawSqueezer 1.0.
    compat: Compat = Compat::None, "compat";
    /// Replace large outputs by a reference and a summary. Off means that nothing is replaced or stored.
    sccs_enabled: bool = true, "sccsEnabled", lenient;
    /// An output of more characters than this is replaced.
    sccs_compress_threshold: u64 = 3000, "sccsCompressThreshold", [min 2000], lenient;
    /// Longest summary, in characters.
    sccs_summary_max_chars: u64 = 300, "sccsSummaryMaxChars", [min 50], lenient;
    /// Summarize by type; off keeps the head of the text instead.
    sccs_enable_smart_summary: bool = true, "sccsEnableSmartSummary", lenient;
    /// How many seconds an original lives after the last time an assembled context referred to it; what was folded at birth and never assembled since, after its birth. In OpenClaw: after the host has deleted its session.
    sccs_storage_ttl_seconds: u64 = StoreOptions::default().ttl_seconds, "sccsStorageTtlSeconds", [min 600], lenient;
    /// Directory of the store; empty means the host's state directory for this plugin. In OpenClaw a relative one starts in its state directory.
    sccs_storage_dir: String = String::new(), "sccsStorageDir", lenient;
    /// Address of a PostgreSQL database that keeps the originals of several machines instead of a directory, `postgresql://user:password@host/database`, as text or as a secret reference of OpenClaw; never printed. Only the plugin does this: the library has `url`.
    sccs_store_url: StoreUrl = StoreUrl::default(), "sccsStoreUrl";
    /// Tenant in that database: a schema of this name, which no other tenant sees. Only the plugin does this: the library has `namespace`.
    sccs_store_namespace: String = "concertina".to_owned(), "sccsStoreNamespace";
    /// How many originals are held in memory; the disk holds more.
    sccs_max_entries: u64 = StoreOptions::default().max_entries, "sccsMaxEntries", [min 1000], lenient;
    /// Largest size of the store on disk, in bytes. What a live session shows is never removed: when nothing else is left, nothing more is folded.
    store_max_bytes: u64 = StoreOptions::default().max_bytes, "storeMaxBytes", [min 1048576];
    /// Forget a session as soon as its user resets or deletes it, instead of `sccsStorageTtlSeconds` later. What its transcript still shows can then not be fetched. Only the plugin does this.
    purge_on_reset: bool = false, "purgeOnReset";
    /// What happens to a text that seems to hold a secret.
    secrets: Secrets = Secrets::KeepInline, "secrets";
    /// Tools whose results are never touched (globs).
    skip_tools: Vec<String> = Vec::new(), "skipTools";
    /// Commands whose output is never touched (globs over the command line).
    skip_commands: Vec<String> = Vec::new(), "skipCommands";
    /// Tools whose results stay exact while fresh, because the next edit needs them, or another agent wrote them for this one (globs). Unless the list is empty, so does what a command prints of files (`cat`, `sed -n`), logs excepted. Each line stays as it is; of the numbers that a tool prints before lines each tenth stays.
    exact_tools: Vec<String> = ["read", "read_*", "*_read", "view", "view_file", "open_file", "cat", "str_replace_editor", "str_replace_based_edit_tool", "text_editor", "task", "agent", "subagent", "sessions_send"].map(str::to_owned).to_vec(), "exactTools";
    /// When not empty, only results of these tools are touched (globs).
    only_tools: Vec<String> = Vec::new(), "onlyTools";
    /// Repeat the workspace's rule files at the end of the context every so many user turns; 0 turns it off. Only the plugin does this.
    rules_refresh_every_turns: u64 = 0, "rules.refreshEveryTurns", [min 0];
    /// How much of the rule files' wording goes: 0 off, 1 light (formatting), 2 standard (also fillers and abbreviations), 3 aggressive.
    rules_level: RulesLevel = RulesLevel::Standard, "rules.level";
    /// Most characters of the repeated rules; files that do not fit are left out and named.
    rules_max_chars: u64 = 8000, "rules.maxChars", [min 200];
    /// Which files of the workspace are rule files (globs; `*` stays within a directory, `**` does not).
    rules_files: Vec<String> = ["AGENTS.md", "SOUL.md", "rules/*.md"].map(str::to_owned).to_vec(), "rules.files";
    /// Shorten only the repeated rule files, or also prose in fresh tool results. Prompts of users stay as they are.
    rules_scope: RulesScope = RulesScope::Refresh, "rules.scope";
    /// JSON file of the workspace, `{ "entries": { long: short } }`, with abbreviations beside the built-in ones; empty for none.
    rules_abbreviations: String = String::new(), "rules.abbreviations";
    /// Vocabulary that token counts use.
    encoding: Encoding = Encoding::O200kBase, "encoding";
}

fn accept<T: OptionValue>(
    name: &str,
    value: &Value,
    default: &T,
    minimum: Option<u64>,
    lenient: bool,
    warnings: &mut Vec<String>,
) -> Result<T> {
    let refused = || Error::bad_argument(name, shorten(value), expectation::<T>(minimum));
    // A lenient number may be negative or fractional before it is lifted.
    let lifted = value.as_f64().filter(|_| lenient).and_then(|float| {
        let rounded = if float.is_finite() {
            float.max(0.0).round() as u64
        } else {
            return None;
        };
        T::from_number(rounded)
    });
    let Some(read) = T::read(value).or(lifted) else {
        if !lenient {
            return Err(refused());
        }
        warnings.push(format!(
            "{name} is {}; it must be {}; using the default {}",
            shorten(value),
            expectation::<T>(minimum),
            default.write()
        ));
        return Ok(default.clone());
    };
    match (read.number(), minimum) {
        (Some(number), Some(minimum)) if number < minimum => {
            let Some(lifted) = T::from_number(minimum).filter(|_| lenient) else {
                return Err(refused());
            };
            warnings.push(format!("{name} is {}; lifted to the minimum {minimum}", shorten(value)));
            Ok(lifted)
        }
        _ => Ok(read),
    }
}

/// Reads a level for rule files.
///
/// # Errors
/// [`Error::BadArgument`] where it is none.
pub fn rules_level(value: &Value) -> Result<RulesLevel> {
    RulesLevel::read(value).ok_or_else(|| Error::bad_argument("level", value, expectation::<RulesLevel>(None)))
}

fn expectation<T: OptionValue>(minimum: Option<u64>) -> String {
    let schema = T::schema();
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    match (schema["type"].as_str(), minimum) {
        (Some("integer"), Some(minimum)) => format!("a whole number of at least {minimum}"),
        (Some("integer"), None) => "a whole number".into(),
        (Some("array"), _) => "an array of strings".into(),
        (Some("object"), _) => "an object".into(),
        (Some(kind), _) => format!("a {kind}"),
        (None, _) => "text, or a secret reference: source, provider and id".into(),
    }
}

/// The JSON of a value, cut to 80 characters, for messages.
fn shorten(value: &Value) -> String {
    let json = value.to_string();
    match json.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &json[..end]),
        None => json,
    }
}

/// The defaults of an option at each level, where they differ.
fn varying(levels: [Value; 3]) -> Option<[Value; 3]> {
    levels.iter().any(|level| *level != levels[0]).then_some(levels)
}

impl Config {
    /// These options with the defaults of a level of thrift. The levels are points of the frontier that `bench/replay --tune` draws.
    fn at(self, thrift: Thrift) -> Self {
        let [min_tokens_to_fold, stale_calls, keep_preview_chars] = match thrift {
            Thrift::Careful => [150, 18, 200],
            Thrift::Normal => [60, 16, 40],
            Thrift::High => [60, 4, 40],
        };
        Self { min_tokens_to_fold, stale_calls, keep_preview_chars, ..self }
    }

    /// Takes the level before everything else: what is set beside it wins.
    fn take_thrift(&mut self, options: &Map<String, Value>) {
        if let Some(level) = options.get("thrift").and_then(Thrift::read) {
            *self = self.clone().at(level);
        }
    }

    /// Reads options from a JSON object; absent keys keep their defaults. Options with a dot in their name are nested objects.
    ///
    /// Returns the configuration and one warning for each lenient option that was corrected.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an unknown key or a bad value of a strict option.
    pub fn from_json(options: &Map<String, Value>) -> Result<(Self, Vec<String>)> {
        let mut config = Self::default();
        let mut warnings = Vec::new();
        config.take_thrift(options);
        for (name, value) in by_name(options) {
            config.set_known(&name, value, &mut warnings)?;
        }
        Ok((config, warnings))
    }

    /// Reads options over these, which stay in force where one is wrong: an unknown key and a bad value are told by one line each.
    pub fn overlay(mut self, options: &Map<String, Value>) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        self.take_thrift(options);
        for (name, value) in by_name(options) {
            if let Err(error) = self.set_known(&name, value, &mut warnings) {
                warnings.push(match self.value_of(&name) {
                    Some(stays) => format!("{error}; using the default {stays}"),
                    None if is_group(&name) || name.starts_with(MODELS) => format!("{error}; using the defaults"),
                    None => {
                        format!("{name} is not an option; it is ignored. The nearest option is {}", nearest(&name))
                    }
                });
            }
        }
        (self, warnings)
    }

    /// Every option, as [`Config::from_json`] reads it.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut options = Map::new();
        for Knob { name, .. } in knobs() {
            let value = self.value_of(name).expect("every knob has a value");
            match name.split_once('.') {
                Some((group, inner)) => options.entry(group).or_insert_with(|| json!({}))[inner] = value,
                None => drop(options.insert(name.into(), value)),
            }
        }
        options
    }

    fn set_known(&mut self, name: &str, value: &Value, warnings: &mut Vec<String>) -> Result<()> {
        if name.starts_with(MODELS) {
            return self.models.set(name, value, warnings);
        }
        if self.set(name, value, warnings)? {
            return Ok(());
        }
        if is_group(name) {
            return Err(Error::bad_argument(name, shorten(value), "an object"));
        }
        let known: Vec<&str> = knobs().iter().map(|knob| knob.name).collect();
        Err(Error::bad_argument(name, "not an option", format!("one of {}", known.join(", "))))
    }

    /// Whether results of this tool may be replaced or rewritten at all (`onlyTools`, `skipTools`).
    pub fn may_touch_tool(&self, tool_name: &str) -> bool {
        (self.only_tools.is_empty() || matches_any(&self.only_tools, tool_name))
            && !matches_any(&self.skip_tools, tool_name)
    }

    /// Whether the output of this command line may be replaced or rewritten at all (`skipCommands`).
    pub fn may_touch_command(&self, command: &str) -> bool {
        !matches_any(&self.skip_commands, command.trim())
    }

    /// Whether all results of this tool stay exact while fresh (`exactTools`).
    pub fn is_exact_tool(&self, tool_name: &str) -> bool {
        matches_any(&self.exact_tools, tool_name)
    }
}

/// How the names of the members of `models` begin.
const MODELS: &str = "models.";

/// Values by the names of their options: what stands in the object of a group has a dotted name.
fn by_name(options: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut named = Vec::new();
    for (name, value) in options {
        match value.as_object() {
            Some(models) if name == "models" => named.extend(Models::by_name(models)),
            Some(group) if is_group(name) => {
                named.extend(group.iter().map(|(inner, value)| (format!("{name}.{inner}"), value)));
            }
            _ => named.push((name.clone(), value)),
        }
    }
    named
}

fn is_group(name: &str) -> bool {
    knobs().iter().any(|knob| knob.name.split_once('.').is_some_and(|(group, _)| group == name))
}

fn matches_any(globs: &[String], name: &str) -> bool {
    globs.iter().any(|glob| matches_glob(glob, name))
}

/// Matches a name against a glob of `*` (any run) and `?` (one character), ignoring ASCII case. Linear per star.
fn matches_glob(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) =
        (glob.to_ascii_lowercase().chars().collect(), name.to_ascii_lowercase().chars().collect());
    let (mut g, mut n) = (0, 0);
    let mut retry = None;
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                retry = Some((g, n));
                g += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                g += 1;
                n += 1;
            }
            _ => match retry {
                Some((star, start)) => {
                    retry = Some((star, start + 1));
                    g = star + 1;
                    n = start + 1;
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &Value) -> Result<(Config, Vec<String>)> {
        Config::from_json(options.as_object().unwrap())
    }

    #[test]
    fn absent_options_keep_their_defaults() {
        let (config, warnings) = read(&json!({ "staleTurns": 2 })).unwrap();
        assert_eq!(config, Config { stale_turns: 2, ..Config::default() });
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_bad_value_names_key_value_and_range() {
        for (options, words) in [
            (json!({ "staleTurns": 0 }), "staleTurns is 0; it must be a whole number of at least 1"),
            (json!({ "staleTurns": "x" }), "staleTurns is \"x\"; it must be a whole number of at least 1"),
            (json!({ "staleTurns": 1.5 }), "staleTurns is 1.5; it must be a whole number of at least 1"),
            (json!({ "preset": "huge" }), "preset is \"huge\"; it must be one of \"lossless\", \"balanced\", \"max\""),
            (json!({ "skipTools": [1] }), "skipTools is [1]; it must be an array of strings"),
        ] {
            assert_eq!(read(&options).unwrap_err().to_string(), words);
        }
        let (nested, _) = read(&json!({ "fusion": { "enabled": false } })).unwrap();
        assert!(!nested.fusion_enabled);
        let unknown = read(&json!({ "fusion": { "enable": false } })).unwrap_err().to_string();
        assert!(unknown.starts_with("fusion.enable is not an option"), "{unknown}");
        let unknown = read(&json!({ "stale": 1 })).unwrap_err().to_string();
        assert!(unknown.starts_with("stale is not an option; it must be one of preset, "), "{unknown}");
    }

    #[test]
    fn a_lenient_option_is_corrected_with_one_warning_each() {
        let (config, warnings) = read(&json!({
            "sccsCompressThreshold": 5, "sccsSummaryMaxChars": "many", "sccsMaxEntries": -1, "sccsStorageTtlSeconds": 601.5
        }))
        .unwrap();
        assert_eq!(config.sccs_compress_threshold, 2000);
        assert_eq!(config.sccs_summary_max_chars, 300);
        assert_eq!(config.sccs_max_entries, 1000);
        assert_eq!(config.sccs_storage_ttl_seconds, 602);
        assert_eq!(warnings.len(), 3, "{warnings:?}");
    }

    #[test]
    fn thrift_is_the_default_of_what_is_not_set() {
        let (config, _) = read(&json!({ "staleCalls": 20, "thrift": "high" })).unwrap();
        assert_eq!(config, Config { stale_calls: 20, thrift: Thrift::High, ..Config::default().at(Thrift::High) });
        assert_eq!(Config::default().at(Thrift::Careful), Config::default());
        let decided: Vec<_> =
            knobs().into_iter().filter(|knob| knob.by_thrift.is_some()).map(|knob| knob.name).collect();
        assert_eq!(decided, ["minTokensToFold", "staleCalls", "keepPreviewChars"]);
    }

    #[test]
    fn over_other_defaults_each_mistake_costs_its_own_option_and_is_one_line() {
        let base = Config { sccs_compress_threshold: 10_000, stale_turns: 7, ..Config::default() };
        let given = json!({
            "staleTurns": 0, "sccsCompressThreshold": "abc", "sccsMaxEntries": 5, "typo": 1, "staleCalls": 3,
            "rules": { "level": 9, "nope": 1, "maxChars": 300 }, "fusion": 3
        });
        let (config, warnings) = base.clone().overlay(given.as_object().unwrap());
        let mut expected = Config { sccs_max_entries: 1000, stale_calls: 3, ..base };
        expected.rules_max_chars = 300;
        assert_eq!(config, expected);
        let lines = [
            "staleTurns is 0; it must be a whole number of at least 1; using the default 7",
            "sccsCompressThreshold is \"abc\"; it must be a whole number of at least 2000; using the default 10000",
            "sccsMaxEntries is 5; lifted to the minimum 1000",
            "typo is not an option; it is ignored. The nearest option is skipTools",
            "rules.level is 9; it must be one of 0, 1, 2, 3, \"off\", \"light\", \"standard\", \"aggressive\"; using the default 2",
            "rules.nope is not an option; it is ignored. The nearest option is rules.scope",
            "fusion is 3; it must be an object; using the defaults",
        ];
        assert_eq!(warnings, lines);
    }

    #[test]
    fn options_written_are_the_options_read() {
        let given = json!({ "preset": "max", "rules": { "level": "off" }, "fusion": { "stages": { "rle": false } } });
        let (config, _) = read(&given).unwrap();
        let written = config.to_json();
        assert_eq!(written["rules"]["level"], 0);
        assert_eq!(Config::from_json(&written).unwrap(), (config, Vec::new()));
    }

    #[test]
    fn globs_match_whole_names_in_any_case() {
        for (glob, name, expected) in [
            ("read", "Read", true),
            ("read", "reader", false),
            ("*read*", "thread_pool", true),
            ("mcp__*__get?", "mcp__git__gets", true),
            ("mcp__*__get?", "mcp__git__get", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_glob(glob, name), expected, "{glob} {name}");
        }
    }
}
