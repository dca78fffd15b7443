//! The notation of folded lines, and its decoder.
//!
//! ```text
//! a: -rw-r--r-- 1 root {>6} {}   the first template is a; {} are its values, one of them filled up to six characters
//! 1024 src/main.rs               a row of the last template: its values; the last one is the rest of the line
//! . ^lib.rs                      . the value above (or the next of {+1}); ^ the folder of the value above ({/}), ^^
//!                                the one above that
//! c*: use {};                    a template of which each word of the lines below is a row
//! b/2: name {}                   a template of two lines
//! version {}
//! a 7 x                          a row of template a
//! "two words" $1=long            a value with blanks; a value that is $1 from now on
//! |text                          the line `text`
//! *3                             the last row, three times more
//! ```

pub mod rule;
pub mod template;

use std::borrow::Cow;

use rule::{Rule, Stated, folder};
use template::Part;

use crate::fold::Fold;
use crate::letters;
use crate::naive::unread;

/// Pairs of characters that may mark the places of values.
pub const MARKS: [(char, char); 2] = [('{', '}'), ('«', '»')];

/// The most bytes of unfolded lines, as a multiple of the fold's and a constant.
const MAX_GROWTH: usize = 200;
const MAX_MORE: usize = 1 << 20;

/// Returns the text that a fold stands for.
pub fn unfold(fold: &Fold) -> Option<String> {
    unfold_as(fold, false)
}

/// Does the same as [`unfold`], or as the naive reader does.
pub(crate) fn unfold_as(fold: &Fold, is_naive: bool) -> Option<String> {
    let mut characters = fold.legend.chars();
    let marks = (characters.next()?, characters.next()?);
    (MARKS.contains(&marks) && characters.as_str().starts_with(": ")).then_some(())?;
    read(fold.body.as_ref()?, marks, is_naive)
}

/// A template, with the state of reading its rows.
#[derive(Debug)]
struct Known {
    parts: Vec<Part>,
    rules: Vec<Rule>,
    above: Vec<String>,
    /// For each value where it was stated, for the naive reader.
    stated: Vec<Stated>,
    /// The number of rows so far; equal rows that are counted are one.
    rows: usize,
    is_naive: bool,
    /// True if each word is a row.
    is_list: bool,
    is_used: bool,
}

impl Known {
    fn parse(text: &str, is_list: bool, marks: (char, char), is_naive: bool) -> Option<Self> {
        let (parts, rules) = template::parse(text, marks)?;
        let above = vec![String::new(); rules.len()];
        let stated = vec![Stated::default(); rules.len()];
        Some(Self { parts, rules, above, stated, rows: 0, is_naive, is_list, is_used: false })
    }

    /// Appends the text of a row. A naive reader reads one that is counted `again` like the row before.
    fn fill(&mut self, words: &str, names: &mut Vec<String>, again: bool, text: &mut String) -> Option<()> {
        let mut rest = Some(words).filter(|words| !words.is_empty());
        let last = self.rules.iter().rposition(|rule| !rule.is_silent());
        self.rows += usize::from(!again);
        for index in 0..self.rules.len() {
            let rule = self.rules[index];
            let next = rest.map_or(Some(None), behind_expected).filter(|_| self.is_used);
            let value = match (rule, next, rest) {
                (Rule::Same(other), ..) => Some(self.above.get(other).filter(|_| other < index)?.clone()),
                (_, Some(left), _) => {
                    rest = left;
                    self.stated[index] = self.stated[index].after(if again { 0 } else { rule.added(0) });
                    self.expected(index)
                }
                (_, None, words) => {
                    let words = words?;
                    let (value, left) = self.value(index, words, last == Some(index), names)?;
                    rest = left;
                    let up = words.bytes().take_while(|&byte| byte == b'^').count();
                    self.stated[index] = match rule {
                        Rule::Folder(_) if up > 0 => self.stated[index].after(rule.added(up)),
                        _ => Stated::at(self.rows),
                    };
                    Some(value)
                }
            };
            if let Some(value) = value {
                self.above[index] = value;
            }
        }
        rest.is_none().then_some(())?;
        self.is_used = true;
        let is_far = |value: usize| {
            let of = if let Rule::Same(other) = self.rules[value] { other } else { value };
            self.is_naive && !self.stated[of].is_near(self.rows)
        };
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value(value, pad) if is_far(*value) => pad.push(text, &unread(&self.above[*value])),
                Part::Value(value, pad) => pad.push(text, &self.above[*value]),
            }
        }
        Some(())
    }

    /// Returns the next value of a field by its rule; `None` if it is equal to the one above.
    fn expected(&self, index: usize) -> Option<String> {
        match self.rules[index].expected(&self.above[index]) {
            Cow::Owned(value) => Some(value),
            Cow::Borrowed(_) => None,
        }
    }

    /// Reads the first value of a row; returns it and the words after it.
    fn value<'w>(
        &self,
        index: usize,
        words: &'w str,
        is_last: bool,
        names: &mut Vec<String>,
    ) -> Option<(String, Option<&'w str>)> {
        let (rule, above) = (self.rules[index], self.above[index].as_str());
        let (word, rest) = match words.strip_prefix('"') {
            Some(_) => {
                let (value, rest) = unquoted(words)?;
                return Some((value, rest));
            }
            None if is_last => (words, None),
            None => words.split_once(' ').map_or((words, None), |(word, rest)| (word, Some(rest))),
        };
        if let (Rule::Folder(separator), true) = (rule, word.starts_with('^')) {
            let up = word.bytes().take_while(|&byte| byte == b'^').count();
            return Some((format!("{}{}", folder(above, up - 1, separator)?, &word[up..]), rest));
        }
        let words: Option<Vec<String>> = word.split(' ').map(|word| named(word, names)).collect();
        Some((words?.join(" "), rest))
    }
}

/// Returns the text that a word stands for: `$1=x` names x, and `$1` is x again.
fn named(word: &str, names: &mut Vec<String>) -> Option<String> {
    let Some(name) = word.strip_prefix('$') else { return Some(word.to_owned()) };
    match name.split_once('=') {
        Some((name, value)) => {
            (name.parse() == Ok(names.len() + 1)).then_some(())?;
            names.push(value.to_owned());
            Some(value.to_owned())
        }
        None => names.get(name.parse::<usize>().ok()?.checked_sub(1)?).cloned(),
    }
}

/// Returns the words after a leading `.`; `None` if there is no such word.
pub fn behind_expected(words: &str) -> Option<Option<&str>> {
    let rest = words.strip_prefix('.')?;
    if rest.is_empty() { Some(None) } else { rest.strip_prefix(' ').map(Some) }
}

/// Reads `"a ""b"" c"`; returns the value and the words after it.
fn unquoted(words: &str) -> Option<(String, Option<&str>)> {
    let mut value = String::new();
    let mut rest = words.strip_prefix('"')?;
    loop {
        let (part, behind) = rest.split_once('"')?;
        value.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None if behind.is_empty() => return Some((value, None)),
            None => return Some((value, Some(behind.strip_prefix(' ')?))),
        }
    }
}

/// Returns the index of the template with this name of at most three letters; there may be fewer templates.
fn index(name: &str) -> Option<usize> {
    if name.len() <= 3 { letters::number(name) } else { None }
}

/// Returns true if a line that is written as the values of a row would be read as something else.
pub fn is_taken(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or(line);
    let head = word.strip_suffix(':').map_or(word, |word| word.split(['/', '*']).next().unwrap_or(word));
    line.starts_with(['|', '*']) || index(head).is_some()
}

/// Reads a body; `None` if it is not in this notation.
fn read(body: &str, marks: (char, char), is_naive: bool) -> Option<String> {
    let most = body.len().saturating_mul(MAX_GROWTH).saturating_add(MAX_MORE);
    let mut templates: Vec<Known> = Vec::new();
    let mut names = Vec::new();
    let mut current = None;
    let mut next = letters::name(0);
    let mut text = String::new();
    let mut last: Option<(Option<usize>, &str)> = None;
    let mut lines = body.split('\n');
    // Ends a line and checks the limit.
    let end = |text: &mut String| {
        text.push('\n');
        (text.len() <= most).then_some(())
    };
    while let Some(line) = lines.next() {
        if let Some(line) = line.strip_prefix('|') {
            text.push_str(line);
            end(&mut text)?;
            last = Some((None, line));
            continue;
        }
        if let Some(times) = line.strip_prefix('*') {
            let (template, words) = last?;
            for time in 0..times.parse::<usize>().ok()? {
                match template {
                    None => text.push_str(words),
                    Some(template) => templates[template].fill(words, &mut names, time > 0, &mut text)?,
                }
                end(&mut text)?;
            }
            continue;
        }
        if line.starts_with(&next)
            && let Some((head, first)) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))
        {
            let (head, height) = head.split_once('/').map_or((head, "1"), |(head, height)| (head, height));
            let list = head.strip_suffix('*');
            let head = list.unwrap_or(head);
            if head == next {
                let mut template = first.to_owned();
                for _ in 1..height.parse::<usize>().ok()? {
                    template.push('\n');
                    template.push_str(lines.next()?);
                }
                current = Some(templates.len());
                templates.push(Known::parse(&template, list.is_some(), marks, is_naive)?);
                next = letters::name(templates.len());
                continue;
            }
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words = match index(word).filter(|&index| index < templates.len()) {
            Some(index) => {
                current = Some(index);
                rest
            }
            None => line,
        };
        let template = current?;
        if templates[template].is_list {
            for word in words.split(' ') {
                templates[template].fill(word, &mut names, false, &mut text)?;
                end(&mut text)?;
            }
            last = None;
            continue;
        }
        templates[template].fill(words, &mut names, false, &mut text)?;
        end(&mut text)?;
        last = Some((Some(template), words));
    }
    text.pop();
    Some(text)
}
