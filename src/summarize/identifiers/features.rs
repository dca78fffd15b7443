//! A name and how it stands in its text -> what the learned scorer knows of it: a step from 0 to 7 for each feature.
//!
//! The one place that computes them. Training reads what [`super::features_of`] prints, so the scorer is asked what it was taught.

use super::Sighting;
use super::around::{Around, for_each_part};
use super::words::has_file_extension;

/// The names of the features, in the order of the model's lines.
pub(super) const FEATURES: [&str; 31] = [
    "shape",
    "extension",
    "slashes",
    "dots",
    "underscores",
    "hyphens",
    "colons",
    "figures",
    "capitals",
    "lead",
    "length",
    "hexadecimal",
    "count",
    "defined",
    "first",
    "last",
    "line",
    "nesting",
    "before",
    "after",
    "words-on-line",
    "place-on-line",
    "indent",
    "sign",
    "error-word",
    "import",
    "comment",
    "text-length",
    "parts-in-sight",
    "parts-in-recent-words",
    "written",
];

/// Where the step of the length stands.
pub(super) const LENGTH: usize = 10;

/// Each feature takes one of so many steps.
pub(super) const STEPS: usize = 8;

/// The steps of one name, by [`FEATURES`].
pub(super) type Steps = [u8; FEATURES.len()];

/// Of a longer line only so many bytes are looked at.
const FRONT: usize = 240;

/// What a line says about the names that first stand on it.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    words: u8,
    indent: u8,
    sign: u8,
    has_error: bool,
    is_import: bool,
    is_comment: bool,
}

/// Reads the names of one text in the order in which they first stand there, so that each line is looked at once.
pub(super) struct Reader<'t, 'c> {
    text: &'t str,
    around: &'c Around,
    line: Option<(usize, Line)>,
}

impl<'t, 'c> Reader<'t, 'c> {
    pub(super) fn new(text: &'t str, around: &'c Around) -> Self {
        Self { text, around, line: None }
    }

    /// The features of a name. Quickest in the order of the text.
    pub(super) fn steps(&mut self, name: &str, sighting: &Sighting) -> Steps {
        let line = match self.line {
            Some((start, line)) if start == sighting.line_start => line,
            _ => {
                let line = read_line(&self.text.as_bytes()[sighting.line_start..]);
                self.line = Some((sighting.line_start, line));
                line
            }
        };
        let bytes = name.as_bytes();
        let count = |wanted: u8| memchr::memchr_iter(wanted, bytes).count();
        let all = self.text.as_bytes();
        let eighth = |at: usize| (at * STEPS / all.len().max(1)) as u8;
        let (in_sight, recent) = self.parts(name);
        [
            shape(name),
            extension(name),
            steps(count(b'/') + count(b'\\'), &[1, 2, 3, 4, 5, 7, 9]),
            steps(count(b'.'), &[1, 2, 3, 4, 5, 6, 7]),
            steps(count(b'_'), &[1, 2, 3, 4, 5, 6, 7]),
            steps(count(b'-'), &[1, 2, 3, 4, 5, 6, 7]),
            colons(name),
            figures(bytes),
            capitals(bytes),
            lead(bytes),
            steps(bytes.len(), &[6, 8, 11, 15, 21, 31, 51]),
            hexadecimal(bytes),
            steps(sighting.count, &[2, 3, 4, 6, 10, 20, 50]),
            u8::from(sighting.defined),
            eighth(sighting.first),
            eighth(sighting.last),
            steps(sighting.line, &[1, 2, 4, 8, 24, 80, 250]),
            u8::from(sighting.is_term) + 2 * u8::from(sighting.has_terms),
            neighbour(sighting.first.checked_sub(1).map(|at| all[at])),
            neighbour(all.get(sighting.first + bytes.len()).copied()),
            line.words,
            steps(sighting.place, &[1, 2, 3, 5, 8, 13, 21]),
            line.indent,
            line.sign,
            u8::from(line.has_error),
            u8::from(line.is_import),
            u8::from(line.is_comment),
            steps(all.len(), &[512, 1024, 2048, 4096, 8192, 16384, 65536]),
            in_sight,
            recent,
            u8::from(self.around.is_written(name)),
        ]
    }

    /// How many of a name's parts are in sight, and in the last words: 0 where it has none, 1 none of them, 2 some, 3 all.
    fn parts(&self, name: &str) -> (u8, u8) {
        let (mut parts, mut in_sight, mut recent) = (0, 0, 0);
        for_each_part(name, |part| {
            parts += 1;
            in_sight += usize::from(self.around.has_part(part));
            recent += usize::from(self.around.has_recent_part(part));
        });
        let share = |some: usize| match (parts, some) {
            (0, _) => 0,
            (_, 0) => 1,
            (all, some) if some < all => 2,
            _ => 3,
        };
        (share(in_sight), share(recent))
    }
}

/// In which step a number is, given where each but the first begins.
fn steps(number: usize, starts: &[usize; STEPS - 1]) -> u8 {
    starts.iter().take_while(|&&start| number >= start).count() as u8
}

fn shape(name: &str) -> u8 {
    let bytes = name.as_bytes();
    if !bytes.iter().any(u8::is_ascii_alphabetic) {
        0
    } else if name.contains(['/', '\\']) {
        1
    } else if has_file_extension(name) {
        2
    } else if name.contains('.') {
        3
    } else if name.contains('_') {
        4
    } else if bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()) {
        5
    } else if name.contains('-') {
        6
    } else {
        7
    }
}

/// What kind of file a name ends like: 0 none, 1 code, 2 tests by their name, 3 words, 4 settings, 5 any other.
fn extension(name: &str) -> u8 {
    const WORDS: &[&str] = &["csv", "html", "ipynb", "log", "md", "txt"];
    const SETTINGS: &[&str] =
        &["cfg", "conf", "env", "ini", "json", "jsonl", "lock", "mod", "sum", "toml", "xml", "yaml", "yml"];
    const CODE: &[&str] = &[
        "c", "cc", "cpp", "cs", "css", "go", "h", "hpp", "java", "js", "jsx", "kt", "mjs", "php", "py", "rb", "rs",
        "scala", "sh", "sql", "swift", "ts", "tsx",
    ];
    if !has_file_extension(name) {
        return 0;
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        _ if CODE.contains(&extension) => 1 + u8::from(name.contains("test")),
        _ if WORDS.contains(&extension) => 3,
        _ if SETTINGS.contains(&extension) => 4,
        _ => 5,
    }
}

/// 0 none, 1 `std::io`, 2 an address, 3 any other.
fn colons(name: &str) -> u8 {
    match name.find(':') {
        None => 0,
        Some(at) if name[at..].starts_with("://") => 2,
        Some(at) if name[at..].starts_with("::") => 1,
        Some(_) => 3,
    }
}

/// 0 none, 1 to 6 by their share, 7 nothing else.
fn figures(bytes: &[u8]) -> u8 {
    let figures = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if figures == bytes.len() { 7 } else { (figures * 6).div_ceil(bytes.len().max(1)) as u8 }
}

/// 0 none, 1 the first alone, 2 inside with small ones, 3 first and inside, 4 no small ones.
fn capitals(bytes: &[u8]) -> u8 {
    let capitals = bytes.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let is_first = bytes.first().is_some_and(u8::is_ascii_uppercase);
    match capitals {
        0 => 0,
        _ if !bytes.iter().any(u8::is_ascii_lowercase) => 4,
        1 if is_first => 1,
        _ if is_first => 3,
        _ => 2,
    }
}

fn lead(bytes: &[u8]) -> u8 {
    match bytes {
        [b'.', b'/', ..] | [b'.', b'.', ..] => 3,
        [b'/', ..] => 2,
        [b'.', ..] => 4,
        [b'@' | b'~', ..] => 5,
        [b'_', ..] => 6,
        [byte, ..] if byte.is_ascii_digit() => 1,
        _ => 0,
    }
}

/// 0 no, 1 from seven figures on, 2 from sixteen, 3 from 32 (a digest or an id).
fn hexadecimal(bytes: &[u8]) -> u8 {
    let is_hex = bytes.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b'-');
    let has_both = bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic);
    match bytes.len() {
        length if is_hex && has_both && length >= 7 => 1 + u8::from(length >= 16) + u8::from(length >= 32),
        _ => 0,
    }
}

/// The kind of byte beside a name.
fn neighbour(byte: Option<u8>) -> u8 {
    match byte {
        None | Some(b' ' | b'\t' | b'\n' | b'\r') => 0,
        Some(b'"' | b'\'') => 1,
        Some(b'`') => 2,
        Some(b'(' | b'[' | b'{' | b'<') => 3,
        Some(b'=' | b':') => 4,
        Some(b'/' | b'\\' | b'.' | b'@' | b'#' | b'$') => 5,
        Some(b')' | b']' | b'}' | b'>' | b',' | b';') => 6,
        Some(_) => 7,
    }
}

fn read_line(rest: &[u8]) -> Line {
    let front = &rest[..rest.len().min(FRONT)];
    let line = &front[..memchr::memchr(b'\n', front).unwrap_or(front.len())];
    // What tools print before a line of a file: a number and a sign.
    let figures = line.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b' ').count();
    let is_numbered = line[..figures].iter().any(u8::is_ascii_digit)
        && line.get(figures).is_some_and(|byte| b":|\t\xe2-".contains(byte));
    let sign = match line.first() {
        _ if is_numbered => 4,
        Some(b'+') => 1,
        Some(b'-') => 2,
        Some(b'@' | b'#' | b'$' | b'>') => 3,
        Some(b'{' | b'[') => 5,
        _ => 0,
    };
    let body =
        if is_numbered { &line[line.len().min(figures + if line[figures] == 0xe2 { 3 } else { 1 })..] } else { line };
    let indent = body.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let body = &body[indent..];
    let words = body.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    Line {
        words: steps(words, &[2, 3, 5, 8, 12, 18, 30]),
        indent: steps(indent, &[1, 3, 5, 9, 13, 17, 21]),
        sign,
        has_error: has_error_word(line),
        is_import: [&b"import "[..], b"from ", b"use ", b"require", b"#include", b"package ", b"export "]
            .iter()
            .any(|start| body.starts_with(start)),
        is_comment: [&b"//"[..], b"#", b"*", b"/*", b"--", b"<!--"].iter().any(|start| body.starts_with(start)),
    }
}

fn has_error_word(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 8] =
        [b"error", b"fail", b"panic", b"exception", b"warning", b"not found", b"undefined", b"cannot"];
    let lower = line.to_ascii_lowercase();
    WORDS.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::features_of;

    /// The step of one feature of one name of a text.
    fn step(text: &str, around: &Around, name: &str, feature: &str) -> u8 {
        let names = features_of(text, around);
        let (.., steps) =
            names.iter().find(|(found, ..)| *found == name).unwrap_or_else(|| panic!("no {name} in {names:?}"));
        steps[FEATURES.iter().position(|known| *known == feature).unwrap()]
    }

    fn alone(text: &str, name: &str, feature: &str) -> u8 {
        step(text, &Around::default(), name, feature)
    }

    #[test]
    fn every_step_has_a_weight() {
        let text = "--- a/src/x.rs\n+++ b/src/x.rs\n 12\tlet http_client_2 = a.b_c::D(\"0123456789abcdef0123456789abcdef\");\n".repeat(60);
        let names = features_of(&text, &Around::default());
        assert!(names.len() > 5, "{names:?}");
        assert!(names.iter().all(|(.., steps)| steps.len() == FEATURES.len() && steps.iter().all(|&step| usize::from(step) < STEPS)));
    }

    #[test]
    fn a_definition_is_told_from_a_use() {
        let text = "fn read_row() {}\nread_cell();\n";
        assert_eq!(alone(text, "read_row", "defined"), 1);
        assert_eq!(alone(text, "read_cell", "defined"), 0);
        assert_eq!(alone(text, "read_cell", "line"), 1);
        assert_eq!(alone(text, "read_row", "place-on-line"), 1);
    }

    #[test]
    fn an_error_word_counts_for_the_names_of_its_line() {
        let text = "test parse_row ... ok\nERROR in write_row: broken\ntest read_row ... ok\n";
        let steps = ["parse_row", "write_row", "read_row"].map(|name| alone(text, name, "error-word"));
        assert_eq!(steps, [0, 1, 0]);
    }

    #[test]
    fn a_path_is_known_by_its_parts() {
        let text = "see ./src/rows/parse_test.rs and settings.toml\n";
        let of = |feature| alone(text, "./src/rows/parse_test.rs", feature);
        assert_eq!([of("shape"), of("slashes"), of("extension"), of("lead")], [1, 3, 2, 3]);
        assert_eq!([alone(text, "settings.toml", "shape"), alone(text, "settings.toml", "extension")], [2, 4]);
    }

    #[test]
    fn what_is_talked_about_is_known() {
        let mut around = Around::default();
        around.add("the retry of requests");
        around.add_recent("look at the limit");
        around.add_written("{\"command\":\"grep -n retry_limit a.rs\"}");
        let text = "retry_limit = 3\nother_name = 4\n";
        let of = |name, feature| step(text, &around, name, feature);
        assert_eq!([of("retry_limit", "parts-in-sight"), of("other_name", "parts-in-sight")], [2, 1]);
        assert_eq!([of("retry_limit", "parts-in-recent-words"), of("other_name", "parts-in-recent-words")], [2, 1]);
        assert_eq!([of("retry_limit", "written"), of("other_name", "written")], [1, 0]);
    }

    #[test]
    fn lines_of_a_file_are_known_by_their_numbers() {
        let text = "  7\tuse one_name;\n  8\u{2192}    other_name();\nlast_name\n";
        let of = |name, feature| alone(text, name, feature);
        assert_eq!(["one_name", "other_name", "last_name"].map(|name| of(name, "sign")), [4, 4, 0]);
        assert_eq!([of("one_name", "import"), of("other_name", "indent")], [1, 2]);
    }

    #[test]
    fn a_megabyte_on_one_line_is_read_by_its_front() {
        let text = (0..60_000).map(|index| format!("name_{index:06} ")).collect::<String>();
        let names = features_of(&text, &Around::default());
        assert_eq!(names.len(), 60_000);
        assert_eq!(names[59_999].2, names[59_998].2);
    }
}
