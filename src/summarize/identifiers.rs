//! The names, paths and numbers of a text that an agent is most likely to write again.
//!
//! A ranking, not a parse: shape, how often, whether it is defined here, how early, and how short. Over recorded sessions a name
//! that occurs twice is named again three times as often as one that occurs once, a defined one twice as often as a used one,
//! and numbers of up to four digits hardly ever.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Longer words are blobs.
const LONGEST: usize = 160;

/// Words after which a name is defined, in any of the languages.
pub(super) const DEFINING: &[&str] = &[
    "class",
    "const",
    "def",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "let",
    "module",
    "namespace",
    "object",
    "protocol",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "val",
    "var",
];

/// Names that a reader sees already, so that nobody has to keep them for him.
#[derive(Debug, Clone, Default)]
pub struct NamesInSight(HashSet<String>);

impl NamesInSight {
    /// Adds the names of a text that is in sight, whole and in their parts.
    pub fn add(&mut self, text: &str) {
        for range in words(text) {
            let word = &text[range];
            for_each_term(word, |term| self.insert(&word[term]));
            self.insert(word);
        }
    }

    fn insert(&mut self, name: &str) {
        if shape_weight(name) > 0 && !self.0.contains(name) {
            self.0.insert(name.to_owned());
        }
    }
}

/// The most useful identifiers, paths and numbers of a text, best first, at most `limit`; none is part of an earlier one, and
/// none is in sight.
///
/// Linear in the text, whatever the limit.
pub fn salient_identifiers<'t>(text: &'t str, limit: usize, in_sight: &NamesInSight) -> Vec<&'t str> {
    if limit == 0 {
        return Vec::new();
    }
    let mut seen: HashMap<&str, Sighting> = HashMap::new();
    let mut definition = usize::MAX;
    for range in words(text) {
        let word = &text[range.clone()];
        let defined = definition == range.start;
        let mut is_whole = false;
        for_each_term(word, |term| {
            is_whole |= term.len() == word.len();
            let first = range.start + term.start;
            let sighting = seen.entry(&word[term]).or_insert(Sighting { first, ..Sighting::default() });
            sighting.count += 1;
            sighting.defined |= defined;
        });
        if !is_whole {
            let whole =
                seen.entry(word).or_insert(Sighting { first: range.start, has_terms: true, ..Sighting::default() });
            whole.count += 1;
        }
        if DEFINING.contains(&word) {
            definition = name_after(text, word, range.end);
        }
    }
    let mut ranked: Vec<(u64, usize, &str)> = seen
        .into_iter()
        .map(|(word, sighting)| (score(word, &sighting, text), sighting.first, word))
        .filter(|&(score, _, word)| score > 0 && !in_sight.0.contains(word))
        .collect();
    let order = |a: &(u64, usize, &str), b: &(u64, usize, &str)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    let considered = limit.saturating_mul(3);
    if ranked.len() > considered {
        ranked.select_nth_unstable_by(considered - 1, order);
        ranked.truncate(considered);
    }
    ranked.sort_unstable_by(order);
    let words: Vec<&str> = ranked.into_iter().map(|(.., word)| word).collect();
    longest_of_nested(&words, limit)
}

/// The first `limit` of the words, best first, without those that are part of a better one. A longer one takes the place of the
/// best that it holds: `this.items` says all that `items` did.
fn longest_of_nested<'t>(words: &[&'t str], limit: usize) -> Vec<&'t str> {
    let finder = AhoCorasick::builder()
        // The quickest to build: it reads each word once.
        .kind(Some(AhoCorasickKind::NoncontiguousNFA))
        .build(words)
        .expect("words of a text in memory have less letters than an automaton may have states");
    let mut chosen: Vec<&str> = Vec::new();
    // By word: where it is chosen, and whether a chosen one holds it. What holds the holder holds it too, so that stays true.
    let mut place: Vec<Option<usize>> = vec![None; words.len()];
    let mut is_held = vec![false; words.len()];
    for (index, &word) in words.iter().enumerate() {
        if chosen.len() == limit {
            break;
        }
        if is_held[index] {
            continue;
        }
        let mut best: Option<(usize, usize)> = None;
        for inner in finder.find_overlapping_iter(word).map(|found| found.pattern().as_usize()) {
            is_held[inner] = true;
            best = best.into_iter().chain(place[inner].map(|at| (at, inner))).min();
        }
        let at = best.map_or(chosen.len(), |(at, _)| at);
        if let Some((_, shorter)) = best {
            place[shorter] = None;
        }
        place[index] = Some(at);
        match chosen.get_mut(at) {
            Some(shorter) => *shorter = word,
            None => chosen.push(word),
        }
    }
    chosen
}

/// The parts of a word that are named by themselves: the file of a long path with its directory, the members of `a.b.c`.
fn for_each_term(word: &str, mut term: impl FnMut(Range<usize>)) {
    const LONG_PATH: usize = 40;
    if word.contains(['/', '\\']) {
        let is_long = word.len() > LONG_PATH && !word.contains("://");
        let slashes = word.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
        let start = if is_long { slashes.take(2).last().unwrap_or(0) } else { 0 };
        return term(start..word.len());
    }
    if !word.contains('.') || has_file_extension(word) {
        return term(0..word.len());
    }
    let mut found = false;
    let mut start = 0;
    for part in word.split('.') {
        if shape_weight(part) > 0 && !part.starts_with(|c: char| c.is_ascii_digit()) {
            found = true;
            term(start..start + part.len());
        }
        start += part.len() + 1;
    }
    if !found {
        term(0..word.len());
    }
}

fn has_file_extension(word: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "diff", "env", "gif", "go", "gz", "h", "hpp",
        "html", "ini", "ipynb", "java", "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "md", "mjs", "mod",
        "php", "png", "pub", "py", "rb", "rs", "scala", "sh", "so", "sql", "sum", "svg", "swift", "tar", "toml", "ts",
        "tsx", "txt", "xml", "yaml", "yml", "zip",
    ];
    word.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.binary_search(&extension).is_ok())
}

#[derive(Default)]
struct Sighting {
    first: usize,
    count: usize,
    defined: bool,
    /// Its parts are ranked too; the whole is worth having only after them.
    has_terms: bool,
}

/// Where the name would start that a defining keyword announces, past the receiver of a Go method.
fn name_after(text: &str, keyword: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let skip_blanks = |mut at: usize| {
        while bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        at
    };
    let at = skip_blanks(end);
    if keyword == "func" && bytes.get(at) == Some(&b'(') {
        let reach = bytes.len().min(at + 80);
        return memchr::memchr(b')', &bytes[at..reach]).map_or(at, |close| skip_blanks(at + close + 1));
    }
    at
}

fn score(word: &str, sighting: &Sighting, text: &str) -> u64 {
    let shape = shape_weight(word);
    let shape = if sighting.has_terms { shape / 3 } else { shape };
    let weight = if shape == 0 && sighting.defined && is_defined_name(word, text, sighting.first) { 25 } else { shape };
    let often = match sighting.count {
        1 => 10,
        2..=4 => 23,
        _ => 30,
    };
    let defined = if sighting.defined { 2 } else { 1 };
    let early = if sighting.first <= text.len() / 5 { 13 } else { 10 };
    let length = word.len() as u64 + 12;
    weight * often * defined * early * 1000 / length
}

/// A plain word is a name only where it looks like one: `class Foo`, `fn run(`; not "the function returns".
fn is_defined_name(word: &str, text: &str, at: usize) -> bool {
    let next = text.as_bytes().get(at + word.len());
    (3..=LONGEST).contains(&word.len())
        && (word.starts_with(|c: char| c.is_ascii_uppercase()) || next.is_some_and(|byte| b"({:<=[;".contains(byte)))
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !DEFINING.contains(&word)
}

/// How likely a word of this shape is to be named again, in thousandths; 0 for plain words and small numbers.
fn shape_weight(word: &str) -> u64 {
    let bytes = word.as_bytes();
    if !(4..=LONGEST).contains(&bytes.len()) {
        return 0;
    }
    let has = |byte: u8| memchr::memchr(byte, bytes).is_some();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let starts_alphabetic = !bytes[0].is_ascii_digit();
    let has_inner_capital = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    if letters == 0 {
        return if digits >= 5 && !has(b'-') && !has(b'/') && !has(b'.') { 20 } else { 0 };
    }
    if has(b'/') || has(b'\\') {
        let is_path =
            bytes[0] == b'/' || has(b'.') || bytes.iter().filter(|&&byte| byte == b'/').count() > 1 || has(b'\\');
        return if is_path {
            40
        } else if bytes.len() > 6 {
            10
        } else {
            0
        };
    }
    if bytes.len() >= 7 && digits > 0 && digits + letters == bytes.len() && bytes.iter().all(u8::is_ascii_hexdigit) {
        return 40;
    }
    if !starts_alphabetic {
        return if has(b'-') || has(b'_') { 20 } else { 5 };
    }
    if has(b'.') && !has_file_extension(word) {
        // `fmt.Errorf`, `t.Fatal`: a library's member, seldom worth naming.
        return if bytes[..4].contains(&b'.') { 5 } else { 20 };
    }
    if has(b'.') || has(b':') {
        return 40;
    }
    if has(b'_') || has_inner_capital {
        return 45;
    }
    if has(b'-') {
        return if digits > 0 { 30 } else { 18 };
    }
    if digits > 0 { 30 } else { 0 }
}

/// Byte ranges of the words of a text: letters, digits and `_`, joined by `.`, `-`, `/`, `::`, `://` and, after a drive, `\`.
pub(super) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let floor = at;
        while !is_word(*bytes.get(at)?) || is_escape(bytes, at) {
            at += 1;
        }
        let mut start = at;
        while start > floor && b"./~@".contains(&bytes[start - 1]) && at - start < 3 {
            start -= 1;
        }
        let body = at;
        while at < bytes.len() {
            match joint(bytes, body, at) {
                0 => break,
                step => at += step,
            }
        }
        let follows_name = start > 0 && (is_word(bytes[start - 1]) || b")]".contains(&bytes[start - 1]));
        let is_rooted =
            !follows_name && leads(&bytes[start..body]) && bytes[body..at].iter().any(|byte| b"/.".contains(byte));
        let follows_tag = start > 0 && bytes[start - 1] == b'<';
        Some(if is_rooted && !follows_tag { start..at } else { body..at })
    })
}

/// Whether this is the letter of a `\n`, `\r` or `\t` inside a JSON string.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b'\\' && b"nrt".contains(&bytes[at])
}

/// Whether these bytes before a word make it a path or a scoped package.
fn leads(lead: &[u8]) -> bool {
    matches!(lead, b"." | b"/" | b"./" | b"../" | b"~/" | b"@")
}

/// How many bytes at `at` continue the word that starts at `body`; 0 at its end.
fn joint(bytes: &[u8], body: usize, at: usize) -> usize {
    let byte = bytes[at];
    if is_word(byte) {
        return 1;
    }
    let rest = &bytes[at + 1..];
    let word_follows = |skip: usize| rest.get(skip).is_some_and(|&next| is_word(next));
    match byte {
        b'.' | b'-' if word_follows(0) => 1,
        b'/' if word_follows(0) || (rest.first().is_some_and(|next| b".@".contains(next)) && word_follows(1)) => 1,
        b':' if rest.starts_with(b"//") && word_follows(2) => 3,
        b':' if rest.starts_with(b":") && word_follows(1) => 2,
        b':' if at == body + 1 && rest.starts_with(b"\\") && word_follows(1) => 2,
        b':' if at == body + 1 && rest.starts_with(b"\\\\") && word_follows(2) => 3,
        b'\\' if bytes[body..].get(1) == Some(&b':') && rest.starts_with(b"\\") && word_follows(1) => 2,
        b'\\' if bytes[body..].get(1) == Some(&b':') && word_follows(0) => 1,
        _ => 0,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<&str> {
        words(text).map(|range| &text[range]).collect()
    }

    #[test]
    fn paths_urls_and_scoped_names_are_one_word() {
        assert_eq!(
            words_of(
                "see ./src/a.rs:12, .github/ci.yml (x).map.y https://x.org/a/b. std::io::Read </div> @scope/pkg C:\\Users\\me\\x.txt a\\nb"
            ),
            [
                "see",
                "./src/a.rs",
                "12",
                ".github/ci.yml",
                "x",
                "map.y",
                "https://x.org/a/b",
                "std::io::Read",
                "div",
                "@scope/pkg",
                "C:\\Users\\me\\x.txt",
                "a",
                "b"
            ]
        );
    }

    #[test]
    fn defined_and_repeated_names_come_before_mentions() {
        let text = "func (s *Store) LoadState(id string) error {\n\treturn s.readFile(id)\n}\nuseOnce()\n";
        let found = salient_identifiers(text, 3, &NamesInSight::default());
        assert_eq!(found[0], "LoadState");
        assert!(found.contains(&"readFile"), "{found:?}");
    }

    #[test]
    fn plain_words_and_small_numbers_are_not_salient() {
        assert!(
            salient_identifiers("the function returns 42 of 1999 rows and/or more", 9, &NamesInSight::default())
                .is_empty()
        );
        assert_eq!(
            salient_identifiers("class Parser and order 8812345", 9, &NamesInSight::default()),
            ["Parser", "8812345"]
        );
    }

    #[test]
    fn a_part_of_a_chosen_name_is_not_listed_again() {
        assert_eq!(
            salient_identifiers("a.max_visible a.max_visible max_visible", 9, &NamesInSight::default()),
            ["a.max_visible"]
        );
    }

    /// What [`longest_of_nested`] says in linear time.
    fn by_comparing_pairs<'t>(words: &[&'t str], limit: usize) -> Vec<&'t str> {
        let mut chosen: Vec<&str> = Vec::new();
        for &word in words {
            if chosen.len() < limit && !chosen.iter().any(|longer| longer.contains(word)) {
                match chosen.iter_mut().find(|shorter| word.contains(**shorter)) {
                    Some(shorter) => *shorter = word,
                    None => chosen.push(word),
                }
            }
        }
        chosen
    }

    #[test]
    fn nested_words_are_chosen_as_by_comparing_each_with_each() {
        let mut state = 7_u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for _ in 0..2000 {
            let mut words: Vec<String> =
                (0..1 + random(30)).map(|_| (0..1 + random(6)).map(|_| ['a', 'b', '.'][random(3)]).collect()).collect();
            let mut seen = HashSet::new();
            words.retain(|word| seen.insert(word.clone()));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let limit = 1 + random(12);
            assert_eq!(longest_of_nested(&words, limit), by_comparing_pairs(&words, limit), "{words:?} {limit}");
        }
    }

    #[test]
    fn a_hundred_thousand_names_are_all_chosen() {
        let text = (0..100_000).map(|i| format!("name_{i:06}x ")).collect::<String>();
        assert_eq!(salient_identifiers(&text, 100_000, &NamesInSight::default()).len(), 100_000);
    }

    #[test]
    fn the_limit_holds_and_zero_is_none() {
        let text = (0..500).map(|i| format!("name_{i} ")).collect::<String>();
        assert_eq!(salient_identifiers(&text, 7, &NamesInSight::default()).len(), 7);
        assert!(salient_identifiers(&text, 0, &NamesInSight::default()).is_empty());
    }

    #[test]
    fn what_is_in_sight_is_not_kept_again() {
        let mut in_sight = NamesInSight::default();
        in_sight.add("see parse_row in src/rows/parse.rs");
        let text = "fn parse_row calls read_cell in src/rows/parse.rs";
        assert_eq!(salient_identifiers(text, 9, &in_sight), ["read_cell"]);
    }
}
