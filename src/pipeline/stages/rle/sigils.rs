//! `/srv/app/src/main.rs … /srv/app/src/lib.rs` -> `$P1/main.rs … $P1/lib.rs` with `$P1=/srv/app/src`; the same for the first
//! parts of IPv4 addresses.
//!
//! The sigil is one that the text does not hold, so undoing needs no escapes.

use std::collections::HashMap;

use crate::config::Encoding;
use crate::pipeline::fold::Fold;
use crate::tokens;

const SIGILS: [&str; 6] = ["$P", "$Q", "@P", "~P", "%P", "§P"];
/// Prefixes are looked for this deep.
const MAX_DEPTH: usize = 16;
/// A longer path is left alone.
const MAX_PATH: usize = 512;
/// So many prefixes are weighed, and so many named at most.
const MAX_WEIGHED: usize = 256;
const MAX_NAMED: usize = 24;

/// Whether a line holds a path of several parts or an address.
pub(super) fn has_path(line: &str) -> bool {
    paths(line).any(|(_, path)| !prefix_ends(path).is_empty())
}

/// The lines with their frequent path prefixes named; `None` when there are none.
pub(super) fn fold(text: &str, encoding: Encoding) -> Option<Fold> {
    let sigil = SIGILS.into_iter().find(|sigil| !text.contains(sigil))?;
    let named = worth_naming(text, encoding);
    if named.is_empty() {
        return None;
    }
    let mut body = String::with_capacity(text.len());
    let mut end = 0;
    let numbers: HashMap<&str, usize> = named.iter().enumerate().map(|(at, name)| (*name, at + 1)).collect();
    for (start, path) in paths(text) {
        let prefix = prefix_ends(path).into_iter().rev().find_map(|len| Some((len, *numbers.get(&path[..len])?)));
        if let Some((len, number)) = prefix {
            body += &text[end..start];
            body += &format!("{sigil}{number}");
            end = start + len;
        }
    }
    body += &text[end..];
    let legend: Vec<String> = named.iter().enumerate().map(|(at, name)| format!("{sigil}{}={name}", at + 1)).collect();
    Some(Fold::new(super::NAME, legend.join(" "), Some(body)))
}

/// Undoes [`fold`].
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    let sigil = SIGILS.into_iter().find(|sigil| fold.legend.starts_with(sigil))?;
    let mut names = Vec::new();
    for (at, entry) in fold.legend.split(' ').enumerate() {
        names.push(entry.strip_prefix(&format!("{sigil}{}=", at + 1))?);
    }
    let mut pieces = fold.body.as_deref()?.split(sigil);
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = piece[..digits].parse().ok()?;
        text += names.get(number.checked_sub(1)?)?;
        text += &piece[digits..];
    }
    Some(text)
}

/// Runs of characters that paths and addresses are made of, with where they start.
fn paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !"/\\._-+~@".contains(c);
    let mut end = 0;
    text.split_inclusive(is_other)
        .map(move |piece| {
            end += piece.len();
            (end - piece.len(), piece.strip_suffix(is_other).unwrap_or(piece))
        })
        .filter(|(_, path)| (7..=MAX_PATH).contains(&path.len()))
}

/// Where the prefixes of a path end that are worth a name: before its separators, or after two or three parts of an address.
fn prefix_ends(path: &str) -> Vec<usize> {
    if path.bytes().all(|b| b.is_ascii_digit() || b == b'.') && path.matches('.').count() == 3 {
        return path.match_indices('.').map(|(at, _)| at).skip(1).chain([path.len()]).collect();
    }
    path.match_indices(['/', '\\']).map(|(at, _)| at).filter(|&at| at >= 4).take(MAX_DEPTH).collect()
}

/// The prefixes that save tokens, best first: each choice lowers what prefixes above and below it would still save.
fn worth_naming(text: &str, encoding: Encoding) -> Vec<&str> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for (_, path) in paths(text) {
        for end in prefix_ends(path) {
            *times.entry(&path[..end]).or_default() += 1;
        }
    }
    let mut weighed: Vec<(&str, usize, usize)> = times
        .into_iter()
        .filter(|&(_, times)| times > 2)
        .map(|(prefix, times)| (prefix, times, tokens::count(prefix, encoding)))
        .collect();
    weighed.sort_by_key(|&(prefix, times, cost)| (std::cmp::Reverse(times * cost), prefix));
    weighed.truncate(MAX_WEIGHED);
    let mut named: Vec<(&str, usize)> = Vec::new();
    while named.len() < MAX_NAMED {
        let gain = |&(prefix, times, cost): &(&str, usize, usize)| {
            let above = named.iter().filter(|(name, _)| is_below(prefix, name)).map(|(_, cost)| cost - 2).max();
            (times * cost.saturating_sub(2 + above.unwrap_or(0))).saturating_sub(cost + 5)
        };
        let best = weighed.iter().enumerate().map(|(at, entry)| (gain(entry), at)).filter(|&(gain, _)| gain > 0);
        let Some((_, at)) = best.max_by_key(|&(gain, at)| (gain, std::cmp::Reverse(at))) else { break };
        let (prefix, times, cost) = weighed.remove(at);
        for entry in &mut weighed {
            if is_below(prefix, entry.0) {
                entry.1 = entry.1.saturating_sub(times);
            }
        }
        named.push((prefix, cost));
    }
    named.into_iter().map(|(prefix, _)| prefix).collect()
}

fn is_below(path: &str, above: &str) -> bool {
    path.len() > above.len() && path.starts_with(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_prefixes_get_names_and_come_back() {
        let text: String = (0..12)
            .map(|n| {
                format!("see /opt/app/releases/2024/src/f{n}.rs at 10.251.73.{n}, C:\\Program\\Files\\Tool\\x{n}.dll\n")
            })
            .collect();
        let folded = fold(&text, Encoding::O200kBase).unwrap();
        assert!(folded.body.as_ref().unwrap().starts_with("see $P"), "{folded}");
        assert!(folded.legend.contains("=/opt/app/releases/2024/src"), "{folded}");
        assert_eq!(unfold(&folded).as_deref(), Some(text.as_str()));
    }

    #[test]
    fn a_sigil_of_the_text_is_not_used() {
        let text: String = (0..9).map(|n| format!("/very/long/path/to/some/place/f{n} $P1 $Q\n")).collect();
        let folded = fold(&text, Encoding::O200kBase).unwrap();
        assert!(folded.legend.starts_with("@P1="), "{folded}");
        assert_eq!(unfold(&folded).as_deref(), Some(text.as_str()));
    }

    #[test]
    fn broken_references_are_not_followed() {
        for (legend, body) in [("$P1=/a", "$P2/x"), ("$P1=/a", "$Px"), ("$P2=/a", "x"), ("$P1=/a $P3=/b", "x")] {
            assert_eq!(unfold(&Fold::new("rle", legend, Some(body.into()))), None);
        }
    }
}
