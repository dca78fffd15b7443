//! Folded search hits and path listings -> the original lines.

pub mod legend;
pub mod listing;
pub mod place;
pub mod root;
pub mod shared;
pub mod tree;

use legend::Legend;
use place::split_place;
use tree::{Directories, Entry};

use crate::fold::Fold;

/// The most bytes of a restored text, as a multiple of the fold's and a constant for short folds: a fold from outside
/// must not expand without limit.
const MAX_GROWTH: usize = 512;
const MAX_SHORT: usize = 4096;

/// Returns the text that a fold stands for; `None` if this decoder cannot read it.
pub fn unfold(fold: &Fold) -> Option<String> {
    hits(fold).or_else(|| listing::unfold(fold))
}

fn hits(fold: &Fold) -> Option<String> {
    let legend = Legend::read(&fold.legend)?;
    let body = fold.body.as_ref()?;
    let mut reader = Reader {
        legend,
        limit: limit(fold),
        size: 0,
        lines: Vec::new(),
        directories: Directories::default(),
        path: None,
        previous: None,
        run: Vec::new(),
        is_merged: false,
    };
    for line in body.split('\n') {
        reader.line(line)?;
    }
    reader.flush();
    Some(reader.lines.join("\n"))
}

/// Returns the most bytes that the text of a fold may have.
pub fn limit(fold: &Fold) -> usize {
    MAX_SHORT + MAX_GROWTH * (fold.legend.len() + fold.body.as_ref().map_or(0, String::len))
}

struct Reader<'a> {
    legend: Legend<'a>,
    limit: usize,
    size: usize,
    lines: Vec<String>,
    directories: Directories,
    path: Option<String>,
    /// The number of the previous line, and true if it is of the current file.
    previous: Option<(u64, bool)>,
    /// The numbered lines of one file that may have been merged.
    run: Vec<(u64, String)>,
    is_merged: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Option<()> {
        let (is_flipped, rest) = line.strip_prefix('~').map_or((false, line), |rest| (true, rest));
        match rest.as_bytes().first() {
            Some(byte) if byte.is_ascii_digit() => return self.numbered(rest, is_flipped),
            Some(b'\t') => {
                let (previous, true) = self.previous? else { return None };
                return self.context(previous.checked_add(1)?, &rest[1..], is_flipped);
            }
            Some(b':' | b'(') => {
                let path = self.prefix(false, is_flipped)?;
                self.flush();
                self.previous = None;
                return self.push(format!("{path}{rest}"));
            }
            _ if is_flipped => return None,
            _ => {}
        }
        self.flush();
        match line.strip_prefix('\\') {
            Some(text) => {
                self.previous = None;
                self.push(text.to_owned())
            }
            None if line.is_empty() || line == "--" => {
                self.previous = None;
                self.push(line.to_owned())
            }
            None => self.header(line),
        }
    }

    fn header(&mut self, line: &str) -> Option<()> {
        let Entry::Path(path) = self.directories.read(line)? else { return Some(()) };
        // The next line is of another file, so it cannot continue the previous one.
        self.previous = self.previous.map(|(number, _)| (number, false));
        self.path = Some(path);
        Some(())
    }

    fn numbered(&mut self, line: &str, is_flipped: bool) -> Option<()> {
        if !self.legend.context {
            let prefix = self.prefix(false, is_flipped)?;
            let (places, text) = line.split_once(' ')?;
            return self.merged(&prefix, places, &self.legend.shared.lengthen(text));
        }
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let number = line[..digits].parse().ok()?;
        match line.as_bytes().get(digits)? {
            b' ' => self.context(number, &line[digits + 1..], is_flipped),
            b':' => {
                let prefix = self.prefix(false, is_flipped)?;
                let (place, text) = split_place(line)?;
                let text = self.legend.shared.lengthen(text);
                self.follow(number)?;
                self.push(format!("{prefix}:{place}:{text}"))
            }
            _ => None,
        }
    }

    fn context(&mut self, number: u64, text: &str, is_flipped: bool) -> Option<()> {
        if !self.legend.context {
            return None;
        }
        let prefix = self.prefix(true, is_flipped)?;
        let text = self.legend.shared.lengthen(text);
        self.follow(number)?;
        self.push(format!("{prefix}-{number}-{text}"))
    }

    /// Adds `--` if the line does not continue the previous one.
    fn follow(&mut self, number: u64) -> Option<()> {
        let follows = self.previous.is_none_or(|(previous, here)| here && previous.checked_add(1) == Some(number));
        self.previous = Some((number, true));
        if self.legend.gaps && !follows { self.push("--".to_owned()) } else { Some(()) }
    }

    /// Expands `12,14-16,20:5`, adding the text at each place.
    fn merged(&mut self, prefix: &str, places: &str, text: &str) -> Option<()> {
        for part in places.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?),
                None => {
                    let number = part.split_once(':').map_or(part, |(number, _)| number).parse().ok()?;
                    self.grow(prefix.len() + part.len() + text.len())?;
                    self.run.push((number, [prefix, ":", part, ":", text].concat()));
                    continue;
                }
            };
            for number in first..=last {
                self.grow(prefix.len() + 2 + text.len())?;
                self.run.push((number, format!("{prefix}:{number}:{text}")));
            }
        }
        self.is_merged |= places.contains([',', '-']);
        Some(())
    }

    fn flush(&mut self) {
        if std::mem::take(&mut self.is_merged) {
            self.run.sort_by_key(|(number, _)| *number);
        }
        self.lines.extend(self.run.drain(..).map(|(_, line)| line));
    }

    /// Returns the path of a line.
    fn prefix(&self, is_context: bool, is_flipped: bool) -> Option<String> {
        let path = self.path.as_deref()?;
        let root = &self.legend.root;
        let is_rooted = root.expected(is_context) != is_flipped;
        Some(if is_rooted { [root.directory, path].concat() } else { path.to_owned() })
    }

    fn push(&mut self, line: String) -> Option<()> {
        self.grow(line.len() + 1)?;
        self.lines.push(line);
        Some(())
    }

    fn grow(&mut self, bytes: usize) -> Option<()> {
        self.size += bytes;
        (self.size <= self.limit).then_some(())
    }
}
