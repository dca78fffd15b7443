//! C code that crashes its process or never returns, as a faulty grammar would.

use std::ffi::c_char;

unsafe extern "C" {
    fn deadly_write(text: *const c_char, length: usize) -> usize;
    fn deadly_loop(text: *const c_char, length: usize) -> usize;
    fn deadly_recursion(text: *const c_char, length: usize) -> usize;
}

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadly {
    /// Writes to an invalid address.
    Write,
    /// Never returns.
    Loop,
    /// Recurses until the stack overflows.
    Recursion,
}

impl Deadly {
    /// Scans a text, which must not be empty. Never returns.
    pub fn scan(self, text: &[u8]) -> usize {
        assert!(!text.is_empty(), "a text to scan");
        let scan = match self {
            Self::Write => deadly_write,
            Self::Loop => deadly_loop,
            Self::Recursion => deadly_recursion,
        };
        // SAFETY: the text has the given length and is only read. Apart from that, these functions end the process or
        // never return, so no code runs after the call.
        unsafe { scan(text.as_ptr().cast(), text.len()) }
    }
}
