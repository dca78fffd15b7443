//! Tokens of a known form: a fixed prefix or an inner sign, and a number of characters of one alphabet
//! (`data/tokens.txt`), and a few special forms.
//!
//! A prefix inside a longer word does not count. This also keeps the search linear, because a run of key characters has
//! only one start.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::alphabet::Alphabet;
use crate::cursor::Cursor;
use crate::private_key;
use crate::table::{fields, rows, word_list};
use crate::value::{is_placeholder, is_random, is_word};

word_list!(URL_WORDS, "url_words.txt");

const URL: &str = "://";

/// The longest user and password of a URL, in bytes.
const MAX_LOGIN_BYTES: usize = 256;

/// A function that finds a secret whose sign is between two positions.
type Find = fn(Cursor, Cursor) -> Option<Range<usize>>;

/// The forms that are not rows of the table, by their prefix. Discord bot tokens begin with a decimal number in base64.
const SPECIAL_FORMS: [(&str, Find); 14] = [
    ("eyJ", |start, _| find_web_token(start)),
    (private_key::PEM, private_key::find_pem),
    (private_key::ENCODED, |start, _| private_key::find_encoded(start)),
    (private_key::PUTTY, |_, end| private_key::find_putty(end)),
    (URL, |_, end| find_login(end)),
    ("MT", find_bot_token),
    ("Mj", find_bot_token),
    ("Mz", find_bot_token),
    ("ND", find_bot_token),
    ("NT", find_bot_token),
    ("Nj", find_bot_token),
    ("Nz", find_bot_token),
    ("OD", find_bot_token),
    ("OT", find_bot_token),
];

/// A part of a token: its alphabet and its length.
struct Part {
    alphabet: Alphabet,
    length: Range<usize>,
}

impl Part {
    fn read(alphabet: &str, length: &str) -> Option<Self> {
        let (min, max) = length.split_once('-').unwrap_or((length, length));
        Some(Self { alphabet: Alphabet::parse(alphabet)?, length: min.parse().ok()?..max.parse::<usize>().ok()? + 1 })
    }
}

/// A row of the table.
struct Token {
    before: Option<Part>,
    sign: String,
    after: Part,
    /// True if words have this form too, so that the part after the sign must look random.
    must_be_random: bool,
}

impl Token {
    fn read(row: &str) -> Option<Self> {
        let fields = fields(row);
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let (before, sign, alphabet, length, flag) = match fields[..] {
            [sign, alphabet, length] => (None, sign, alphabet, length, None),
            [sign, alphabet, length, flag] => (None, sign, alphabet, length, Some(flag)),
            [first, size, sign, alphabet, length] => (Some(Part::read(first, size)?), sign, alphabet, length, None),
            _ => return None,
        };
        let must_be_random = flag == Some("random");
        (must_be_random || flag.is_none()).then_some(Self {
            before,
            sign: sign.to_owned(),
            after: Part::read(alphabet, length)?,
            must_be_random,
        })
    }

    fn find(&self, sign: Cursor, body: Cursor) -> Option<Range<usize>> {
        let start = self.before.as_ref().map_or(sign, |part| {
            let start = sign.back(part.length.end, |byte| part.alphabet.contains(byte));
            start.skip_escape()
        });
        // In URLs, the token of a Telegram bot follows the word `bot`.
        let is_whole = start.is_start() || self.before.is_some() && start.before().ends_with(b"bot");
        let run = body.skip(self.after.length.end, |byte| self.after.alphabet.contains(byte));
        let end = body.plus(body.shown(run).trim_end_matches('.').len());
        let (before_sign, shown) = (start.shown(sign), body.shown(end));
        let has_length = self.before.as_ref().is_none_or(|part| part.length.contains(&before_sign.len()))
            && self.after.length.contains(&shown.len());
        let is_token = is_whole
            && has_length
            && !end.peek().is_some_and(is_word)
            && ![before_sign, shown].iter().any(|part| is_placeholder(&without_escapes(part)))
            && (!self.must_be_random || is_random(shown));
        // After a sign that ends with `=` or a blank, the token begins; a fixed prefix is part of the token.
        let start = if self.sign.ends_with(['=', ' ']) && self.before.is_none() { body } else { start };
        is_token.then_some(start.at..end.at)
    }
}

/// The table, with the automaton that searches for its signs.
pub(crate) struct Tokens {
    tokens: Vec<Token>,
    signs: AhoCorasick,
}

impl Tokens {
    /// Parses the table.
    ///
    /// # Panics
    /// If a row is malformed.
    pub(crate) fn read() -> Self {
        let read = |row| Token::read(row).unwrap_or_else(|| panic!("no row of data/tokens.txt: {row}"));
        let tokens: Vec<Token> = rows(include_str!("../data/tokens.txt")).map(read).collect();
        let signs = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(tokens.iter().map(|token| token.sign.as_str()).chain(SPECIAL_FORMS.map(|(sign, _)| sign)))
            .expect("the signs fit into an automaton");
        Self { tokens, signs }
    }

    /// Returns the ranges of tokens. They may overlap.
    pub(crate) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = self.signs.find(Input::new(text).range(at..)) {
            let (start, end) = (Cursor::new(text, hit.start()), Cursor::new(text, hit.end()));
            let which = hit.pattern().as_usize();
            let range = match self.tokens.get(which) {
                Some(token) => token.find(start, end),
                None => SPECIAL_FORMS[which - self.tokens.len()].1(start, end),
            };
            at = match &range {
                // Another sign may begin inside this one: `api_org_` in `\napi_org_`.
                None => start.at + 1,
                // The user of a URL may be a token that is found on its own.
                Some(_) if start.shown(end) == URL => end.at,
                Some(range) => range.end.max(end.at),
            };
            found.extend(range);
        }
        found
    }
}

/// Returns the range of a JSON web token: two base64url parts that each begin with an object, and a signature.
fn find_web_token(start: Cursor) -> Option<Range<usize>> {
    if !start.is_start() {
        return None;
    }
    let header = web_token_part(start);
    let body = web_token_part(header.rest().starts_with(b".eyJ").then(|| header.plus(1))?);
    let end = web_token_part(body.rest().starts_with(b".").then(|| body.plus(1))?);
    (header.at - start.at >= 16 && body.at - header.at >= 16 && end.at - body.at >= 20).then_some(start.at..end.at)
}

/// Returns the position after one part of a web token.
fn web_token_part(start: Cursor) -> Cursor {
    start.skip(usize::MAX, |byte| Alphabet::URL.contains(byte))
}

/// Returns the range of the password in `scheme://user:password@host`, or of user and password if the user is a token.
fn find_login(start: Cursor) -> Option<Range<usize>> {
    let mut end = start.skip(MAX_LOGIN_BYTES, |byte| byte.is_ascii_graphic() && !b"/\"'`<>@".contains(&byte));
    if end.peek() != Some(b'@') {
        return None;
    }
    // A password may contain an `@` that should have been escaped: the last one ends the login.
    loop {
        let next =
            end.plus(1).skip(MAX_LOGIN_BYTES, |byte| byte.is_ascii_alphanumeric() || b"!$*+-._~".contains(&byte));
        if next.peek() != Some(b'@') || next.at - start.at > MAX_LOGIN_BYTES {
            break;
        }
        end = next;
    }
    let login = start.shown(end);
    let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    if is_user_token(user, end.plus(1)) {
        return Some(start.at..end.at);
    }
    let password = password?;
    let is_word = URL_WORDS.contains(&password.to_ascii_lowercase()) || password == user;
    let written = without_escapes(password);
    let is_template = written.contains(['{', '(', '[', '*', '$', '%', '\\']) || is_placeholder(&written);
    (password.len() >= 4 && !is_word && !is_template).then(|| end.at - password.len()..end.at)
}

/// Returns true if the user of a URL is a token, as GitHub accepts its tokens. Users before the hosts of Sentry are
/// public.
fn is_user_token(user: &str, host: Cursor) -> bool {
    let end = host.skip(64, |byte| !matches!(byte, b'/' | b' ' | b'\n'));
    user.len() >= 24
        && user.bytes().all(|byte| Alphabet::URL.contains(byte))
        && is_random(user)
        && !is_placeholder(user)
        && memchr::memmem::find(&host.rest()[..end.at - host.at], b"sentry").is_none()
}

/// Returns a part of a URL without the characters that are percent-encoded, such as `%40`.
fn without_escapes(part: &str) -> String {
    let mut pieces = part.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let is_escape = piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        if is_escape { shown + &piece[2..] } else { shown + "%" + piece }
    })
}

/// Returns the range of a Discord bot token: the bot's number in base64, the time in six characters, and a signature.
fn find_bot_token(start: Cursor, _: Cursor) -> Option<Range<usize>> {
    let dot = |end: Cursor<'_>| end.rest().starts_with(b".");
    let number = start.skip(28, |byte| Alphabet::ALNUM.contains(byte));
    let time = number.plus(1).skip(7, |byte| Alphabet::URL.contains(byte));
    let end = time.plus(1).skip(44, |byte| Alphabet::URL.contains(byte));
    let has_parts = start.is_start() && dot(number) && dot(time) && time.at - number.at == 7;
    let is_number = || {
        let digits = base64_simd::STANDARD_NO_PAD.decode_to_vec(start.shown(number));
        digits.is_ok_and(|digits| digits.len() >= 17 && digits.iter().all(u8::is_ascii_digit))
    };
    (has_parts && (27..44).contains(&(end.at - time.at - 1)) && is_number()).then_some(start.at..end.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{MIXED, lines, noise, read};

    /// Returns noise of an alphabet. With `is_mixed`, letters and digits alternate, as `is_random` requires of short
    /// tokens.
    fn part(part: &Part, length: usize, is_mixed: bool) -> String {
        let all = (0..128).filter(|&byte| part.alphabet.contains(byte)).map(char::from);
        let [letters, digits, mixed] = [
            all.clone().filter(char::is_ascii_lowercase).collect(),
            all.clone().filter(char::is_ascii_digit).collect::<String>(),
            all.filter(|c| MIXED.contains(*c)).collect(),
        ];
        let letters = if letters.is_empty() { digits.clone() } else { letters };
        match is_mixed {
            true => (noise(&letters, length, 0).chars().zip(noise(&digits, length, 0).chars()))
                .flat_map(|(a, b)| [a, b])
                .take(length)
                .collect(),
            false => noise(&mixed, length, 0),
        }
    }

    #[test]
    fn each_row_is_found_at_its_shortest_and_not_where_a_part_is_too_short_or_too_long() {
        let tokens = Tokens::read();
        for token in &tokens.tokens {
            let before_sign =
                |length: usize| token.before.as_ref().map_or_else(String::new, |before| part(before, length, false));
            let write = |first: usize, last: usize| {
                before_sign(first) + &token.sign + &part(&token.after, last, token.must_be_random)
            };
            let before = token.before.as_ref().map_or(0..1, |part| part.length.clone());
            let (min, max) = (token.after.length.start, token.after.length.end);
            let key = write(before.start, min);
            for text in [key.clone(), format!("key: {key}\n"), format!("{{\"key\":\"{key}\"}}")] {
                let found = tokens.find(&text);
                assert_eq!(found.len(), 1, "{text}");
                assert!(key.ends_with(&text[found[0].clone()]), "{text}");
            }
            let alone = tokens.find(&key)[0].clone();
            for escape in lines(include_str!("../tests/escapes.txt")).map(|line| read(line).0) {
                let text = format!("a{escape}{key}\\n");
                let found = tokens.find(&text);
                let before = 1 + escape.len();
                // Behind the letter of an escape, some tokens read as others: `\nfp_`.
                let is_covered = |found: &Range<usize>| {
                    found.start <= before + alone.start && found.end == before + alone.end && found.start >= 2
                };
                assert!(found.len() == 1 && is_covered(&found[0]), "{text}: {found:?}");
            }
            let shorter = min.checked_sub(1).map(|length| write(before.start, length));
            let wrong = token
                .before
                .iter()
                .flat_map(|_| [write(before.start - 1, min), write(before.end, min), write(before.start, max)]);
            let inside = token.before.is_none().then(|| format!("x{key}"));
            for other in wrong.chain(shorter).chain(inside) {
                assert!(tokens.find(&other).is_empty(), "{other}");
            }
        }
    }
}
