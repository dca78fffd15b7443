//! A command line -> its commands, by the structure that a shell gives it.
//!
//! Bash and PowerShell are read alike. Nothing here runs or expands anything: a word is used as written, without its
//! quotes.

/// One program with its words.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    /// The text of its here-documents.
    pub(super) document: String,
    /// True if its input is the output of the previous command.
    pub(super) is_piped: bool,
    /// True if its output is redirected to a file, and if its input comes from one.
    pub(super) writes: bool,
    pub(super) reads: bool,
}

/// Splits a command line into its commands, in order.
pub(crate) fn commands(line: &str) -> Vec<Command> {
    const OPERATORS: &[&str] = &["||", "|&", "|", ";", "&", "\n", "(", ")"];
    let (mut commands, mut command) = (Vec::new(), Command::default());
    let mut awaited: Vec<(usize, String)> = Vec::new();
    let mut rest = line;
    let mut left = usize::MAX;
    while let Some(first) = rest.chars().next() {
        debug_assert!(rest.len() < left, "nothing was taken from {rest:?}");
        left = rest.len();
        if let Some((to_output, after)) = output_redirection(rest) {
            rest = after;
            command.writes |= !redirected(&mut rest).starts_with('&') && to_output;
        } else if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            rest = &rest[operator.len()..];
            let is_piped = matches!(*operator, "|" | "|&");
            commands.push(std::mem::replace(&mut command, Command { is_piped, ..Command::default() }));
            if *operator == "\n" {
                for (at, end) in awaited.drain(..) {
                    let (document, after) = split_document(rest, &end);
                    commands[at].document += document;
                    rest = after;
                }
            }
        } else if first.is_whitespace() {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
            rest = rest.strip_prefix("\\\n").unwrap_or(rest);
        } else if first == '#' {
            rest = rest.find('\n').map_or("", |at| &rest[at..]);
        } else if let Some(after) = rest.strip_prefix("<<<") {
            rest = after;
            redirected(&mut rest);
        } else if let Some(after) = rest.strip_prefix("<<") {
            rest = after.trim_start_matches('-');
            awaited.push((commands.len(), redirected(&mut rest)));
        } else if let Some(after) = rest.strip_prefix('<') {
            rest = after;
            redirected(&mut rest);
            command.reads = true;
        } else {
            command.words.push(take_word(&mut rest));
        }
    }
    commands.push(command);
    commands
}

/// Parses `>`, `>>`, `1>`, `2>`, `&>`: returns whether it redirects standard output, and the rest.
fn output_redirection(rest: &str) -> Option<(bool, &str)> {
    let after = rest.strip_prefix('&').unwrap_or_else(|| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let from = &rest[..rest.len() - after.len()];
    let target = after.strip_prefix('>')?;
    Some((matches!(from, "" | "1" | "&"), target.strip_prefix(['>', '|']).unwrap_or(target)))
}

/// Takes the target of a redirection.
fn redirected(rest: &mut &str) -> String {
    *rest = rest.trim_start_matches([' ', '\t']);
    let is_descriptor = rest.starts_with('&');
    *rest = rest.strip_prefix('&').unwrap_or(rest);
    let word = take_word(rest);
    if is_descriptor { format!("&{word}") } else { word }
}

/// Splits a text at the line that ends a here-document, which belongs to neither half.
fn split_document<'t>(text: &'t str, end: &str) -> (&'t str, &'t str) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == end {
            return (&text[..at], &text[at + line.len()..]);
        }
        at += line.len();
    }
    (text, "")
}

/// Takes a word without its quotes. Substitutions in it stay as written.
fn take_word(rest: &mut &str) -> String {
    let mut word = String::new();
    let mut chars = rest.char_indices().peekable();
    let mut end = rest.len();
    let mut depth = 0usize;
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' | '"' => {
                while let Some((_, inner)) = chars.next() {
                    match inner {
                        _ if inner == c => break,
                        '\\' if c == '"' => {
                            let escaped = chars.next().map(|(_, escaped)| escaped);
                            word.extend(Some('\\').filter(|_| !matches!(escaped, Some('"' | '\\' | '$' | '`'))));
                            word.extend(escaped);
                        }
                        _ => word.push(inner),
                    }
                }
            }
            '\\' => word.extend(chars.next().map(|(_, escaped)| escaped)),
            '$' if chars.next_if(|(_, next)| *next == '(').is_some() => {
                depth += 1;
                word.push_str("$(");
            }
            '(' if depth > 0 => {
                depth += 1;
                word.push(c);
            }
            ')' if depth > 0 => {
                depth -= 1;
                word.push(c);
            }
            _ if depth == 0 && (c.is_whitespace() || "|&;()<>".contains(c)) => {
                end = at;
                break;
            }
            _ => word.push(c),
        }
    }
    // A lone metacharacter is no word, but it must be consumed.
    *rest = if end == 0 { &rest[rest.chars().next().map_or(0, char::len_utf8)..] } else { &rest[end..] };
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Neighbours: operators, quotes, redirections and here-documents in any order, with every white space of Unicode
    /// between them.
    fn pieces() -> impl Strategy<Value = String> {
        let spaces = (0..0x3100).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect::<Vec<_>>();
        let signs = [
            "|", "||", "&", "&&", ";", "(", ")", "$(", "<", "<<", "<<<", "<<-", ">", ">>", "2>&1", "&>", "#", "'",
            "\"", "\\", "\\\n", "`", "{", "}", "a", "EOF", "é",
        ];
        let piece = prop_oneof![
            prop::sample::select(signs.to_vec()).prop_map(str::to_owned),
            prop::sample::select(spaces).prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in pieces()) {
            let read = commands(&line);
            prop_assert!(!read.is_empty());
            prop_assert!(read.iter().flat_map(|command| &command.words).all(|word| word.len() <= line.len()));
        }
    }

    #[test]
    fn any_white_space_parts_words() {
        for space in ["\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "\u{b}", "\u{c}"] {
            let [command] = &commands(&format!("echo a{space}b"))[..] else { panic!("one command") };
            assert_eq!(command.words, ["echo", "a", "b"], "{space:?}");
        }
    }
}
