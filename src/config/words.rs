//! Options whose value is one of a few words.

use serde_json::{Value, json};

use super::value::OptionValue;

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

/// The choice to fold, to observe only, or to do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enabled {
    /// Content is folded.
    On,
    /// Everything runs, but what is sent is unchanged: the figures show what folding would have saved.
    Observe,
    /// Nothing is replaced or stored.
    Off,
}

/// The value of [`Enabled::Observe`].
const OBSERVE: &str = "observe";

impl OptionValue for Enabled {
    fn schema() -> Value {
        json!({ "enum": [true, OBSERVE, false] })
    }
    fn type_script() -> String {
        format!("boolean | \"{OBSERVE}\"")
    }
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(true) => Some(Self::On),
            Value::Bool(false) => Some(Self::Off),
            _ => (value.as_str()? == OBSERVE).then_some(Self::Observe),
        }
    }
    fn write(&self) -> Value {
        match self {
            Self::On => json!(true),
            Self::Observe => json!(OBSERVE),
            Self::Off => json!(false),
        }
    }
}

words! {
    /// The limit of rewriting.
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
    /// The schedule of changes to already-sent content.
    Schedule {
        /// By simple ages, on every assembly.
        EveryTurn = "every-turn",
        /// When the prompt cache makes it pay.
        CacheAware = "cache-aware",
    }
}

words! {
    /// The treatment of a model's thinking when its turn is over.
    Thinking {
        /// It leaves in an epoch, where the provider allows that.
        Auto = "auto",
        /// It stays.
        Keep = "keep",
    }
}

words! {
    /// The point between the lowest bill and the most content in context: how soon content goes, and how much of it
    /// stays.
    Thrift {
        /// Content goes late and leaves long placeholders.
        Careful = "careful",
        /// 95 % of the facts that agents use stay in context.
        Normal = "normal",
        /// Content goes soon and leaves short placeholders.
        High = "high",
    }
}

words! {
    /// The scorer that chooses the names that a placeholder keeps.
    NameScorer {
        /// A model of which names recorded sessions needed again.
        Learned = "learned",
        /// A rule made by hand.
        Rule = "rule",
    }
}

words! {
    /// The treatment of a text that seems to hold a secret.
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
    /// The form of argument placeholders.
    Compat {
        /// Ours: the arguments keep their shape, long strings shrink in place.
        None = "none",
        /// The published `_squeezed` object instead of the arguments.
        ClawSqueezer = "clawsqueezer",
    }
}

words! {
    /// The texts that the rules shorten.
    RulesScope {
        /// The rule files that are repeated.
        Refresh = "refresh",
        /// Also prose in tool results.
        All = "all",
    }
}
