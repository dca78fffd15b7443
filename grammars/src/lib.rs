//! Grammars of tree-sitter with compressed parse tables: 31 MB become 2 MB until a language is first parsed.
//!
//! The lexers are linked unchanged. The tables that drive the parser are compressed, and are decompressed into the
//! space that the linker has reserved for them. A language must be accessed only through its [`Grammar`], because its
//! tables are empty before that.

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
    /// Returns the language for the parser. The first call decompresses the tables, in about a millisecond for each
    /// megabyte.
    pub fn language(&self) -> &Language {
        self.language.get_or_init(|| {
            let (start, len, language) = (self.linked)();
            // SAFETY: `start` and `len` are those of a variable that only this crate uses. Nothing else refers to it
            // before this cell is set: the parser reads it through the language, which is not accessible yet.
            let tables = unsafe { std::slice::from_raw_parts_mut(start, len) };
            let inflated = zstd::bulk::decompress_to_buffer(self.compressed, tables);
            assert_eq!(inflated.expect("the build script compressed it"), len, "all of the tables");
            // SAFETY: the pointer is to the static struct of a generated parser, and all that it refers to is
            // initialized now.
            unsafe { Language::from_raw(language) }
        })
    }
}

/// Declares a grammar that the build script split: its name here, its name in C, and the number of bytes of its tables.
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
