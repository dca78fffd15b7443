//! Reports of `npm audit` and `cargo audit` -> the totals, the packages by severity, and of each what is wrong and what mends it.
//!
//! Most of their lines are trees of who depends on what, and say the same of many packages.

use std::cmp::Reverse;
use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::sheet::{Sheet, quote};

/// Advisories that are kept.
const KEPT: usize = 2_000;

/// `34 vulnerabilities (3 low, …)`, `error: 4 vulnerabilities found!`, `warning: 3 allowed warnings found`.
static TOTAL: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"^(?:found |error: )?\d+ (?:[a-z]+ severity )?vulnerabilit(?:y|ies)\b|^warning: \d+ allowed warnings? ",
    )
});

/// Where npm says what an advisory is about.
const ADDRESS: &str = " - https://github.com/advisories/";

/// What is said of one package.
#[derive(Default)]
struct Advisory<'t> {
    name: &'t str,
    version: &'t str,
    severity: &'t str,
    title: &'t str,
    id: &'t str,
    fix: &'t str,
}

impl Advisory<'_> {
    /// The more, the graver. One of cargo's may name no severity, or warn that nobody maintains the package.
    fn gravity(&self) -> usize {
        const RISING: [&str; 5] = ["low", "moderate", "medium", "high", "critical"];
        let named = RISING.iter().position(|word| self.severity.contains(word)).map(|at| at + 1);
        named.unwrap_or(if self.severity.is_empty() { 3 } else { 0 })
    }

    /// `braces <3.0.3 high`.
    fn package(&self) -> String {
        joined([self.name, self.version, self.severity], " ")
    }

    /// `braces: Uncontrolled resource consumption, GHSA-grv7-fg5c-xmjg, fix available via …`.
    fn shown(&self) -> String {
        quote(&format!("{}: {}", self.name, joined([self.title, self.id, self.fix], ", ")), 240)
    }
}

/// Those of some words that are not empty.
fn joined(words: [&str; 3], separator: &str) -> String {
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(separator)
}

/// Writes the summary; false for a text that is no such report.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    if !text.contains("advisories") {
        return false;
    }
    let mut advisories = read(text);
    let totals: Vec<&str> = text.lines().filter(|line| TOTAL.is_match(line)).take(KEPT).collect();
    if advisories.is_empty() || totals.is_empty() {
        return false;
    }
    advisories.sort_by_key(|advisory| Reverse(advisory.gravity()));
    sheet.say("audit report");
    sheet.lines(&totals, sheet.share(50));
    let packages: Vec<String> = advisories.iter().map(Advisory::package).collect();
    sheet.list("packages:", &packages, sheet.share(70));
    let shown: Vec<String> = advisories.iter().map(Advisory::shown).collect();
    sheet.lines(&shown, sheet.share(90));
    true
}

fn read(text: &str) -> Vec<Advisory<'_>> {
    let mut advisories: Vec<Advisory> = Vec::new();
    // Whether the next lines are of the last advisory.
    let mut is_open = false;
    let mut above = "";
    for line in text.lines().map(str::trim_end) {
        let field = line.split_once(':').map(|(key, value)| (key, value.trim()));
        let begun = match field {
            Some(("Crate", name)) => Some(Advisory { name, ..Advisory::default() }),
            Some(("Severity", severity)) if !is_open => above.split_once("  ").map(|(name, version)| Advisory {
                name,
                version: version.trim(),
                severity,
                ..Advisory::default()
            }),
            _ => None,
        };
        if let Some(advisory) = begun {
            if advisories.len() == KEPT {
                break;
            }
            advisories.push(advisory);
            is_open = true;
        } else if let Some(advisory) = advisories.last_mut().filter(|_| is_open) {
            match field {
                _ if line.is_empty() => is_open = false,
                Some(("Version", version)) => advisory.version = version,
                Some(("Severity" | "Warning", severity)) => advisory.severity = severity,
                Some(("Title", title)) => advisory.title = title,
                Some(("ID", id)) => advisory.id = id,
                Some(("Solution", fix)) => advisory.fix = fix,
                _ if line.starts_with("fix available") || line == "No fix available" => advisory.fix = line,
                _ if advisory.title.is_empty() => {
                    if let Some((title, id)) = line.split_once(ADDRESS) {
                        (advisory.title, advisory.id) = (title, id);
                    }
                }
                _ => {}
            }
        }
        above = line;
    }
    advisories
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str, max_chars: usize) -> String {
        let mut sheet = Sheet::new(max_chars);
        assert!(summarize(text, &mut sheet), "no report");
        sheet.finish()
    }

    #[test]
    fn the_gravest_of_npm_come_first_with_what_mends_them() {
        let text = "\
# npm audit report

braces  <3.0.3
Severity: high
Uncontrolled resource consumption in braces - https://github.com/advisories/GHSA-grv7-fg5c-xmjg
fix available via `npm audit fix`
node_modules/braces
  chokidar  1.0.0 - 2.1.8
  Depends on vulnerable versions of braces
  node_modules/chokidar

ip  *
Severity: critical
ip SSRF: improper categorization - https://github.com/advisories/GHSA-2p57-rm9w-gvfp
No fix available
node_modules/ip

3 vulnerabilities (2 high, 1 critical)

To address all issues, run:
  npm audit fix
";
        assert_eq!(
            summary(text, 600),
            "audit report\n3 vulnerabilities (2 high, 1 critical)\n\
             packages: ip * critical, braces <3.0.3 high\n\
             ip: ip SSRF: improper categorization, GHSA-2p57-rm9w-gvfp, No fix available\n\
             braces: Uncontrolled resource consumption in braces, GHSA-grv7-fg5c-xmjg, fix available via `npm audit fix`"
        );
    }

    #[test]
    fn what_nobody_maintains_comes_behind_what_is_vulnerable() {
        let text = "\
      Loaded 812 security advisories (from /root/.cargo/advisory-db)
    Scanning Cargo.lock for vulnerabilities (418 crate dependencies)
Crate:     atty
Version:   0.2.14
Warning:   unmaintained
Title:     `atty` is unmaintained
ID:        RUSTSEC-2024-0375
Dependency tree:
atty 0.2.14
└── clap 3.2.25

Crate:     time
Version:   0.1.45
Title:     Potential segfault in the time crate
ID:        RUSTSEC-2020-0071
Severity:  6.2 (medium)
Solution:  Upgrade to >=0.2.23

error: 1 vulnerability found!
warning: 1 allowed warning found
";
        assert_eq!(
            summary(text, 600),
            "audit report\nerror: 1 vulnerability found!\nwarning: 1 allowed warning found\n\
             packages: time 0.1.45 6.2 (medium), atty 0.2.14 unmaintained\n\
             time: Potential segfault in the time crate, RUSTSEC-2020-0071, Upgrade to >=0.2.23\n\
             atty: `atty` is unmaintained, RUSTSEC-2024-0375"
        );
    }

    #[test]
    fn words_on_advisories_are_no_report() {
        for text in ["Crate:     a\nSome words on advisories.\n", "3 vulnerabilities\nSome advisories.\n"] {
            assert!(!summarize(text, &mut Sheet::new(300)), "{text}");
        }
    }
}
