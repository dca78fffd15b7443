//! The line numbers that `cat -n` and read tools print before the lines of a file.
//!
//! Numbers count up by one: the hits of a search in one file have the same form and do not.

use super::seen::{Question, Seen, filled};

/// A line with the number that `cat -n` or a read tool put before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedLine<'a> {
    /// Its number.
    pub number: u64,
    /// The prefix, separator included; `prefix` + `text` is the line.
    pub prefix: &'a str,
    /// What stands behind it.
    pub text: &'a str,
}

impl<'a> NumberedLine<'a> {
    /// Reads `     1→text`, `     1<tab>text`, `12| text`, `12 │ text` or `12:text` (at most nine digits, blanks before them).
    pub fn parse(line: &'a str) -> Option<Self> {
        let digits_at = line.bytes().take_while(|&byte| byte == b' ').count();
        let digits = line[digits_at..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 9 {
            return None;
        }
        let rest = &line[digits_at + digits..];
        let bare = rest.trim_start_matches(' ');
        let blanks = rest.len() - bare.len();
        let separator = match bare.chars().next()? {
            '→' | '\t' | ':' if blanks == 0 => bare.chars().next()?.len_utf8(),
            bar @ ('|' | '│') if blanks <= 1 => bar.len_utf8() + usize::from(bare[bar.len_utf8()..].starts_with(' ')),
            _ => return None,
        };
        let prefix_end = digits_at + digits + blanks + separator;
        let number = line[digits_at..digits_at + digits].parse().ok()?;
        Some(Self { number, prefix: &line[..prefix_end], text: &line[prefix_end..] })
    }
}

/// Lines without their numbers, when most of them carry consecutive ones; else `None`.
///
/// A few lines before, between and after may go without (`[File: a.rs]`, `(5 more lines above)`): they are left out.
pub(super) fn strip_numbers(lines: &[Seen]) -> Option<String> {
    let total = filled(lines).count();
    let numbered = lines.iter().filter(|line| line.is(Question::Numbered)).count();
    if numbered == 0 || numbered * 10 < total * 6 {
        return None;
    }
    let (mut steps, mut cells) = (0usize, 0usize);
    let mut last: Option<u64> = None;
    let mut bare = String::new();
    for line in lines.iter().filter(|line| line.is(Question::Numbered)) {
        let Some(found) = NumberedLine::parse(line.text) else { continue };
        steps += usize::from(last.is_some_and(|last| last + 1 == found.number));
        last = Some(found.number);
        let is_unpadded_tab = found.prefix.ends_with('\t') && !found.prefix.starts_with(' ');
        cells += usize::from(is_unpadded_tab && found.text.trim().contains('\t'));
        bare.push_str(found.text);
        bare.push('\n');
    }
    let is_single = numbered == 1 && lines.iter().any(|line| line.text.contains('→'));
    let is_consecutive = numbered >= 2 && steps * 10 >= (numbered - 1) * 9;
    // Numbers below a column `id` count up, too.
    let is_table = cells * 2 > numbered;
    ((is_single || is_consecutive) && !is_table).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::super::seen::Page;
    use super::*;

    fn stripped(text: &str) -> Option<String> {
        strip_numbers(Page::of(text).view().lines)
    }

    #[test]
    fn numbers_of_all_tools_are_read() {
        for (line, number, text) in [
            ("     1→fn main() {", 1, "fn main() {"),
            ("    12\tlet x = 1;", 12, "let x = 1;"),
            ("7| x", 7, "x"),
            (" 8 │ y", 8, "y"),
            ("1457:        self.MINUTES,", 1457, "        self.MINUTES,"),
            ("     3→", 3, ""),
        ] {
            let found = NumberedLine::parse(line).expect(line);
            assert_eq!((found.number, found.text), (number, text));
            assert_eq!(format!("{}{}", found.prefix, found.text), line);
        }
        for line in ["", "fn main()", "1. a list", "12 monkeys", "→x", "9999999999→x"] {
            assert_eq!(NumberedLine::parse(line), None, "{line}");
        }
    }

    #[test]
    fn numbers_are_stripped_only_where_they_count_up() {
        assert_eq!(stripped("     1→a\n     2→b\n").as_deref(), Some("a\nb\n"));
        assert_eq!(stripped("[File: a]\n(3 more lines above)\n4:a\n5:b\n6:c\n7:d\n").as_deref(), Some("a\nb\nc\nd\n"));
        assert_eq!(stripped("4:a\n90:b\n31:c\n"), None);
        assert_eq!(stripped("id\tname\tage\n1\tAnn\t3\n2\tBob\t4\n"), None);
        assert_eq!(stripped("plain\ntext\n"), None);
    }
}
