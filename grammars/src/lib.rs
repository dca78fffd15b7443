//! Grammars of tree-sitter, without the weight of their parse tables: 31 MB are 2 MB until a language is first parsed.
//!
//! The lexers are linked as they are; the tables that drive the parser come compressed, and are inflated in the place that the
//! linker has kept for them. What one would get wrong: a language must not be reached but through its [`Grammar`], because before
//! that its tables are empty.

use std::sync::OnceLock;

use tree_sitter::Language;
use tree_sitter::ffi::TSLanguage;

/// A language that can be parsed.
pub struct Grammar {
    compressed: &'static [u8],
    linked: fn() -> (*mut u8, usize, *const TSLanguage),
    language: OnceLock<Language>,
}

impl Grammar {
    /// What the parser loads. The first call inflates the tables, in about a millisecond for each megabyte.
    pub fn language(&self) -> &Language {
        self.language.get_or_init(|| {
            let (start, len, language) = (self.linked)();
            // SAFETY: `start` and `len` are those of a variable of this crate alone. Nothing else refers to it before this cell is
            // set: the parser reads it through the language, which nobody has yet.
            let tables = unsafe { std::slice::from_raw_parts_mut(start, len) };
            let inflated = zstd::bulk::decompress_to_buffer(self.compressed, tables);
            assert_eq!(inflated.expect("the build script compressed it"), len, "all of the tables");
            // SAFETY: the pointer is to the static struct of a generated parser, now with all that it refers to.
            unsafe { Language::from_raw(language) }
        })
    }
}

/// Declares a grammar that the build script took apart: its name here, its name in C, and how many bytes its tables have.
macro_rules! grammar {
    ($name:ident, $c:literal, $len:literal) => {
        #[doc = concat!("The grammar `", $c, "`.")]
        pub static $name: Grammar = {
            unsafe extern "C" {
                #[link_name = concat!("concertina_", $c, "_tables")]
                static mut TABLES: [u8; $len];
                #[link_name = concat!("concertina_", $c)]
                safe fn language() -> *const TSLanguage;
            }
            Grammar {
                compressed: include_bytes!(concat!(env!("OUT_DIR"), "/", $c, ".zst")),
                linked: || ((&raw mut TABLES).cast(), $len, language()),
                language: OnceLock::new(),
            }
        };
    };
}

include!(concat!(env!("OUT_DIR"), "/grammars.rs"));
