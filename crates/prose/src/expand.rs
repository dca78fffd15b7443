//! Short forms -> the long ones they stand for.
//!
//! Only words of prose are looked at: `.env`, `config.json` and `5 min` were never abbreviated.

use super::lexicon::{Category, Entry, lexicon};
use super::segment::Kind;
use super::shorten::{Break, Separator, capitalized, for_each_paragraph};

/// A short form that stands for a longer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// What stood there.
    pub long: String,
    /// What stands there now.
    pub short: String,
    /// How often it was put in.
    pub count: usize,
}

/// Writes the abbreviations of the lexicon out.
pub fn expand(text: &str) -> String {
    expanded(text, &[Kind::Prose], |entry, before| {
        let counts = before.trim_end_matches([' ', '\t']).ends_with(|c: char| c.is_ascii_digit());
        !(entry.needs_receipt || entry.is_unit && counts)
    })
}

/// Writes out only those abbreviations that a receipt names. A text that uses a short form itself is never given that
/// form, so all of them are ours, also where a short form reads like a word that is named.
pub fn expand_listed(text: &str, substitutions: &[Substitution]) -> String {
    expanded(text, &[Kind::Prose, Kind::Named], |entry, _| {
        substitutions.iter().any(|one| one.long == entry.long && one.short == entry.written)
    })
}

/// Looks at words of these kinds. `applies` is asked with what stands before the short form. Where a sentence begins is
/// told as it was when shortening.
fn expanded(text: &str, kinds: &[Kind], applies: impl Fn(&Entry, &str) -> bool) -> String {
    let mut long = String::with_capacity(text.len() + text.len() / 8);
    let mut at = 0;
    for_each_paragraph(text, |atoms, around| {
        let (mut end, mut before) = (around.start, None);
        for atom in atoms {
            let word = &text[atom.range.clone()];
            let separator = Separator::new(&text[end..atom.range.start], before.replace(word));
            end = atom.range.end;
            let entry = lexicon().expansion(atom.word).filter(|_| kinds.contains(&atom.kind));
            let Some(entry) = entry.filter(|entry| applies(entry, &text[..atom.range.start])) else { continue };
            debug_assert_eq!(entry.category, Category::Abbreviation);
            let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
            let is_free = separator.opens() && Separator::new(&text[end..], None).closes();
            if !is_free || is_capital && (entry.is_lower_only || separator.kind != Break::Sentence) {
                continue;
            }
            long.push_str(&text[at..atom.range.start]);
            long.push_str(&if is_capital { capitalized(entry.long) } else { entry.long.to_owned() });
            at = end;
        }
    });
    long + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Intensity, Objective, compress_prose};

    #[test]
    fn what_was_abbreviated_comes_back() {
        let text = "Read configuration of database because parameters come with messages.";
        let (short, receipt) = compress_prose(text, Intensity::Ultra, Objective::Chars);
        assert_eq!(short, "Read cfg of db b/c params come w/ msgs.");
        assert_eq!(expand(&short), text);
        assert_eq!(expand_listed(&short, &receipt.substitutions), text);
        assert_eq!(expand_listed("the env of db", &receipt.substitutions), "the env of database");
    }

    #[test]
    fn all_that_a_receipt_lists_comes_back() {
        for (text, expected) in [
            (
                "In order to read and write, each and every asynchronous request has a message.",
                "To read and write, every asynchronous request has message.",
            ),
            (
                "This is the\nimplementation of it,\nenvironment variables; more of them",
                "This is\nimplementation of it,\nenvironment variables; more of them",
            ),
            (
                "They set this environment --verbose when they run it",
                "They set this environment --verbose when they run it",
            ),
            ("Before the request, and before the response", "Before request, and before response"),
        ] {
            let (short, receipt) = compress_prose(text, Intensity::Ultra, Objective::Chars);
            let long = expand_listed(&short, &receipt.substitutions);
            assert_eq!(long, expected, "{short}");
            let put_in = |one: &Substitution| one.count * (one.long.len() - one.short.len());
            let added: usize = receipt.substitutions.iter().map(put_in).sum();
            assert_eq!(long.len(), short.len() + added, "{short}: {:?}", receipt.substitutions);
        }
    }

    #[test]
    fn what_was_never_abbreviated_stays() {
        for text in [
            "Edit .env and config.json.",
            "wait 5 min",
            "at most 10 max",
            "50 req, 3 mw",
            "run `env` or $env",
            "at b4",
            "Max said so",
            "--config db/x",
        ] {
            assert_eq!(expand(text), text);
        }
        assert_eq!(
            expand("Set it:\n\n- Config of it\n2. (Env first)"),
            "Set it:\n\n- Configuration of it\n2. (Environment first)"
        );
        assert_eq!(expand("10 jobs, max of 3"), "10 jobs, maximum of 3");
        assert_eq!(expand("The env. Config first."), "The environment. Configuration first.");
    }
}
