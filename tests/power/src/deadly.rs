//! C code that ends its process, or never comes back: what grammars must not do, and one day will.

use std::ffi::c_char;

unsafe extern "C" {
    fn deadly_write(text: *const c_char, length: usize) -> usize;
    fn deadly_loop(text: *const c_char, length: usize) -> usize;
    fn deadly_recursion(text: *const c_char, length: usize) -> usize;
}

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadly {
    /// Writes where nothing is.
    Write,
    /// Never comes back.
    Loop,
    /// Calls itself until the stack ends.
    Recursion,
}

impl Deadly {
    /// Scans a text, which must not be empty. Does not come back.
    pub fn scan(self, text: &[u8]) -> usize {
        assert!(!text.is_empty(), "a text to scan");
        let scan = match self {
            Self::Write => deadly_write,
            Self::Loop => deadly_loop,
            Self::Recursion => deadly_recursion,
        };
        // SAFETY: the text is as long as it is said to be, and only read. What these functions do beside that is to end
        // the process, or to keep their thread: nothing goes on after it.
        unsafe { scan(text.as_ptr().cast(), text.len()) }
    }
}
