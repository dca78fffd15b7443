//! Control sequences of terminals (ECMA-48), and texts without them: `\x1b[32mok\x1b[0m` -> `ok`.
//!
//! A sequence never spans a line end. One that is not closed on its line is text, so that a truncated sequence hides
//! nothing after it.

use std::borrow::Cow;

use super::lines::{head, lines};

/// The effect of a control sequence on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Moves the cursor up by this many rows.
    Up(usize),
    /// Moves the cursor down by this many rows.
    Down(usize),
    /// Moves the cursor to the right by this many columns.
    Forward(usize),
    /// Moves the cursor to the left by this many columns.
    Back(usize),
    /// Moves the cursor to a column, counted from 0.
    Column(usize),
    /// Moves the cursor up by this many rows, to the start of the row.
    UpToStart(usize),
    /// Moves the cursor down by this many rows, to the start of the row.
    DownToStart(usize),
    /// Moves the cursor to a position counted from the top of the screen.
    Place,
    /// Erases in its row: 0 after the cursor, 1 before it, 2 everywhere.
    EraseInRow(usize),
    /// Erases below the cursor.
    EraseBelow,
    /// Sets colours and weights.
    Colour,
    /// Has no effect that matters here: titles, links, modes.
    Silent,
}

const ESCAPE: u8 = 0x1b;

/// Parses the control sequence at the start of `bytes` and returns it with its length. Reads no further than its end,
/// or than the byte that shows that it is none.
pub fn control(bytes: &[u8]) -> Option<(Control, usize)> {
    if bytes.first() != Some(&ESCAPE) {
        return None;
    }
    match *bytes.get(1)? {
        b'[' => csi(bytes),
        b']' | b'P' | b'X' | b'^' | b'_' => Some((Control::Silent, string_len(bytes)?)),
        b'M' => Some((Control::Up(1), 2)),
        b'D' => Some((Control::Down(1), 2)),
        b'E' => Some((Control::DownToStart(1), 2)),
        b' '..=b'/' => {
            let between = bytes[1..].iter().take(8).take_while(|byte| (b' '..=b'/').contains(byte)).count();
            let end = bytes.get(1 + between).is_some_and(|byte| (b'0'..=b'~').contains(byte));
            end.then_some((Control::Silent, 2 + between))
        }
        b'0'..=b'~' => Some((Control::Silent, 2)),
        _ => None,
    }
}

/// Parses `ESC [ parameters intermediates final`.
fn csi(bytes: &[u8]) -> Option<(Control, usize)> {
    let len = bytes[2..].iter().take_while(|byte| (b' '..=b'?').contains(byte)).count();
    let parameters = &bytes[2..2 + len];
    let end = *bytes.get(2 + len).filter(|byte| (b'@'..=b'~').contains(byte))?;
    let number = |default: usize| {
        let digits = parameters.iter().take_while(|byte| byte.is_ascii_digit()).take(6);
        let number = digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
        if number == 0 { default } else { number }
    };
    let is_plain = parameters.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'));
    let control = match end {
        _ if !is_plain => Control::Silent,
        b'm' => Control::Colour,
        b'A' => Control::Up(number(1)),
        b'B' | b'e' => Control::Down(number(1)),
        b'C' | b'a' => Control::Forward(number(1)),
        b'D' => Control::Back(number(1)),
        b'E' => Control::DownToStart(number(1)),
        b'F' => Control::UpToStart(number(1)),
        b'G' | b'`' => Control::Column(number(1) - 1),
        b'H' | b'f' | b'd' => Control::Place,
        b'J' if number(0) == 0 => Control::EraseBelow,
        b'K' => Control::EraseInRow(number(0)),
        _ => Control::Silent,
    };
    Some((control, 3 + len))
}

/// Returns the length of `ESC ] … BEL` or `ESC ] … ESC \`, or of another string with the same end.
fn string_len(bytes: &[u8]) -> Option<usize> {
    let at = 2 + bytes[2..].iter().position(|&byte| matches!(byte, 0x07 | ESCAPE | b'\n'))?;
    match bytes[at] {
        0x07 => Some(at + 1),
        ESCAPE if bytes.get(at + 1) == Some(&b'\\') => Some(at + 2),
        _ => None,
    }
}

/// Returns true if a text contains characters that a terminal does not show as they are.
pub fn has_controls(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr3(ESCAPE, 0x08, 0x07, bytes).is_some()
        || memchr::memchr_iter(b'\r', bytes).any(|at| !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r')))
}

/// Returns a text in the form that summaries quote and count: [`visible`], with line feeds in place of lone carriage
/// returns that end lines. The zero bytes of UTF-16 that was read as bytes are removed; any other zero becomes a blank.
pub fn readable(text: &str) -> Cow<'_, str> {
    let text = without_zeros(text);
    let text = if has_old_line_ends(&text) { Cow::Owned(text.replace('\r', "\n")) } else { text };
    match visible(&text) {
        Cow::Owned(visible) => Cow::Owned(visible),
        Cow::Borrowed(_) => text,
    }
}

fn without_zeros(text: &str) -> Cow<'_, str> {
    /// The number of characters from which the encoding of the text is inferred.
    const PROBED: usize = 1_000;
    if !text.contains('\0') {
        return Cow::Borrowed(text);
    }
    let probed = head(text, PROBED);
    let is_wide = probed.matches('\0').count() * 3 > probed.chars().count();
    if !is_wide {
        return Cow::Owned(text.replace('\0', " "));
    }
    Cow::Owned(text.trim_start_matches(['\u{feff}', '\u{fffd}']).replace('\0', ""))
}

/// Returns true if carriage returns are the only line ends of a text and do not separate successive states of one line,
/// such as progress.
pub fn has_old_line_ends(text: &str) -> bool {
    const LEAST: usize = 3;
    if text.contains('\n') || !text.contains('\r') {
        return false;
    }
    let (mut lines, mut states, mut above) = (0, 0, None);
    for line in text.split('\r').filter(|line| !line.trim().is_empty()) {
        let words = || line.chars().filter(|c| c.is_alphabetic());
        let is_same =
            above.replace(line).is_some_and(|above: &str| above.chars().filter(|c| c.is_alphabetic()).eq(words()));
        lines += 1;
        states += usize::from(is_same && is_state(line));
    }
    lines >= LEAST && states * 2 < lines
}

/// Returns true if a line with the words of the line above may be a later state of it: it contains at most one number,
/// a percentage or a rate.
fn is_state(line: &str) -> bool {
    let numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).count();
    numbers < 2
        || line.contains('%')
        || line.contains("/s")
        || line.split_once('/').is_some_and(|(done, all)| {
            done.trim_end().ends_with(|c: char| c.is_ascii_digit())
                && all.trim_start().starts_with(|c: char| c.is_ascii_digit())
        })
}

/// Returns a text in the form in which its kind is judged: without control sequences, and with only the last state of
/// text that was overwritten from the start of its line. The line structure is unchanged.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !has_controls(text) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len());
    for line in lines(text) {
        let start = visible.len();
        let (mut at, mut is_back) = (0, false);
        while let Some(&byte) = line.text.as_bytes().get(at) {
            match byte {
                ESCAPE => at += control(&line.text.as_bytes()[at..]).map_or(1, |(_, len)| len),
                0x07 => at += 1,
                0x08 => {
                    if visible.len() > start {
                        visible.pop();
                    }
                    at += 1;
                }
                b'\r' => {
                    is_back = true;
                    at += 1;
                }
                _ => {
                    let rest = &line.text[at..];
                    let end = memchr::memchr3(ESCAPE, 0x08, b'\r', rest.as_bytes()).unwrap_or(rest.len());
                    let end = memchr::memchr(0x07, &rest.as_bytes()[..end]).unwrap_or(end);
                    // Blanks erase the text there before other text follows.
                    let is_shown = !is_back || !rest[..end].trim().is_empty();
                    if is_back && is_shown {
                        visible.truncate(start);
                        is_back = false;
                    }
                    if is_shown {
                        visible.push_str(&rest[..end]);
                    }
                    at += end;
                }
            }
        }
        visible.push_str(&text[line.start + line.text.len()..line.end]);
    }
    Cow::Owned(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_has_the_lines_of_the_text() {
        let text = "\x1b[32mok\x1b[0m\r\n10%\r20%\r100%\n\x1b]0;t\x07a\x08\x08b\n\x1b]0;x\n\rlast\r";
        assert_eq!(visible(text), "ok\r\n100%\nb\n]0;x\nlast\r");
        assert!(matches!(visible("plain\r\ntext\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_is_read_whatever_its_line_ends_zeros_and_colours() {
        let plain = "id,name,total\n1,a 7,2.5\n2,a 8,3.5\n3,a 9,4.5\nerror: disk 4 is full, 12 rows are lost\n";
        let wide: String = plain.replace('\n', "\r\n").chars().flat_map(|c| [c, '\0']).collect();
        for text in [
            plain.to_owned(),
            plain.replace('\n', "\r"),
            plain.replace("error:", "\u{1b}[1;31merror:\u{1b}[0m"),
            plain.replace("error:", " 10%\r 20%\rerror:"),
            format!("\u{fffd}\u{fffd}{wide}"),
        ] {
            assert_eq!(readable(&text).replace("\r\n", "\n"), plain, "{text:?}");
        }
        assert!(!has_old_line_ends("a 10%\ra 50%\ra 100%, done.\rb 3\rb 4\rb 5"));
        assert!(!has_old_line_ends("Counting: 1\rCounting: 20\rCounting: 300"));
    }

    #[test]
    fn hostile_texts_get_no_longer() {
        for bit in ["\x1b]", "\x1b[", "\x1b[1;", "\x1b", "\r", "a\r", "\x08", "\x1bP", "\x1b(", "\x07"] {
            let text = bit.repeat((1 << 20) / bit.len());
            assert!(visible(&text).len() <= text.len(), "{bit:?}");
        }
    }
}
