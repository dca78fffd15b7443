//! Parsers for the forms of text, and detection of the kind of a text (Cortex): content types, languages, and the
//! segments of a mixed text.
//!
//! Each module at the top level parses one form (a search hit, a hunk of a diff, a time stamp) and does not judge the
//! text around it. `detect` judges texts and calls these parsers, as do the stages, the summaries and the history.
//!
//! Detection needs several signals and returns [`ContentType::Unknown`] when unsure: a wrong guess costs more than
//! none. Structural markers outweigh hints, and hints outweigh lexical evidence.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the variants are their own names")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// All values, in documentation order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the name as JavaScript sees it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Parses the name.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

pub mod blocks;
pub mod cut_note;
mod detect;
pub mod diff_hunk;
pub mod escapes;
pub mod hints;
pub mod hit_line;
pub mod html;
pub mod json_span;
pub mod json_tree;
mod lines;
pub mod log;
pub mod markup;
pub mod markup_block;
pub mod numbered;
pub mod severity;
pub mod table;
pub mod test_report;
#[cfg(test)]
mod tests;
pub mod time_stamp;
mod word_set;

use std::ops::Range;

pub use detect::{detect, is_frame, is_url_line};
pub use lines::{head, line_pattern};
pub use word_set::{is_number, is_word_byte};

named! {
    /// The kinds of text that are processed differently.
    ContentType {
        Code = "code",
        Json = "json",
        Log = "log",
        Diff = "diff",
        Search = "search",
        Table = "table",
        Html = "html",
        Text = "text",
        Unknown = "unknown",
    }
}

named! {
    /// The sixteen programming languages.
    Language {
        Python = "python",
        JavaScript = "javascript",
        TypeScript = "typescript",
        Java = "java",
        C = "c",
        Cpp = "cpp",
        CSharp = "csharp",
        Go = "go",
        Rust = "rust",
        Ruby = "ruby",
        Php = "php",
        Swift = "swift",
        Kotlin = "kotlin",
        Scala = "scala",
        Shell = "shell",
        Sql = "sql",
    }
}

/// The hints of the host about a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    /// The tool that produced the text.
    pub tool_name: Option<String>,
    /// The file from which it was read.
    pub path: Option<String>,
    /// The command that printed it.
    pub command: Option<String>,
    /// The type that the caller requests.
    pub content_type: Option<ContentType>,
    /// The language that the caller requests.
    pub language: Option<Language>,
}

/// A run of text of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Byte range in the text; segments cover it without gaps and start at line starts.
    pub range: Range<usize>,
    /// Its type.
    pub content_type: ContentType,
    /// Its language, for code.
    pub language: Option<Language>,
}

impl Segment {
    /// Creates the segment of a whole text.
    pub fn whole(text: &str, content_type: ContentType, language: Option<Language>) -> Self {
        Self { range: 0..text.len(), content_type, language }
    }
}

/// The detected kind of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The type of most of it.
    pub content_type: ContentType,
    /// The language, for code.
    pub language: Option<Language>,
    /// The segments, in order; at least one unless the text is empty.
    pub segments: Vec<Segment>,
}
