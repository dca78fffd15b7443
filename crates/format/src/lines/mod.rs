//! The notation of folded lines, and how it is read.
//!
//! ```text
//! a: -rw-r--r-- 1 root {>6} {}   the first template is a; {} are its values, one of them filled up to six characters from the left
//! 1024 src/main.rs               a row of the last template: its values; the last one is the rest of the line
//! . ^lib.rs                      . the value above (or the next of {+1}), .4 four of them; ^ the folder of the value above ({/}),
//!                                ^^ the one above that
//! c*: use {};                    a template of which each word of the lines below is a row
//! d: {+1 from 7}: {}             rows of the second value alone; the first one counts from 7
//! @17 x                          the row where the number that counts is 17
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

use rule::{Count, Rule, folder};
use template::{Pad, Part, column_after, shown, tabs};

use crate::fold::Fold;

/// Pairs that may mark the places of values.
pub const MARKS: [(char, char); 4] = [('{', '}'), ('«', '»'), ('‹', '›'), ('⟨', '⟩')];

/// Stands between what a number grows by and the first one, where rows leave it out.
const FROM: &str = " from ";

/// After so many rows that do not tell it, the number that counts is told.
pub const MILESTONE: usize = 10;

/// The place of the bytes of a dump's line, as text.
const SHOWN: &str = "text";

/// Unfolded lines are at most so many times the fold, and as many bytes more.
const MAX_GROWTH: usize = 200;
const MAX_MORE: usize = 1 << 20;

/// The text that a fold stands for.
pub fn unfold(fold: &Fold) -> Option<String> {
    let mut characters = fold.legend.chars();
    let marks = (characters.next()?, characters.next()?);
    (MARKS.contains(&marks) && characters.as_str().starts_with(": ")).then_some(())?;
    read(fold.body.as_ref()?, marks)
}

/// A template as it is read.
#[derive(Debug)]
struct Known {
    parts: Vec<Part>,
    rules: Vec<Rule>,
    above: Vec<String>,
    /// Whether each word is a row.
    is_list: bool,
    is_used: bool,
    /// The value that is [told](Rule::told), and how many rows there were since it was.
    told: Option<usize>,
    untold: usize,
}

impl Known {
    fn new(parts: Vec<Part>, rules: Vec<Rule>, is_list: bool) -> Self {
        let above = vec![String::new(); rules.len()];
        Self { told: Rule::told(&rules), untold: 0, above, parts, rules, is_list, is_used: false }
    }

    /// What a line says of a row behind the number that it counts to, if it tells.
    fn counted<'w>(&mut self, words: &'w str) -> &'w str {
        let Some(value) = self.told.filter(|_| self.untold >= MILESTONE) else { return words };
        let Some(told) = words.strip_prefix('@') else { return words };
        let (number, rest) = told.split_once(' ').unwrap_or((told, ""));
        if self.rules[value].expected(&self.above[value]) != number {
            return words;
        }
        self.untold = 0;
        rest
    }

    /// Adds what a row says to the text.
    fn fill(&mut self, words: &str, names: &mut Vec<String>, text: &mut String) -> Option<()> {
        let mut rest = Some(words).filter(|words| !words.is_empty());
        let last = self.rules.iter().rposition(|rule| !rule.is_silent());
        let mut expected = 0;
        for index in 0..self.rules.len() {
            let value = match (self.rules[index], rest) {
                (Rule::Same(other), _) => Some(self.above.get(other).filter(|_| other < index)?.clone()),
                (Rule::Count(count), _) if !self.is_used => Some(count.first()),
                (Rule::Count(_), _) => self.expected(index),
                (_, _) if expected > 0 => {
                    expected -= 1;
                    self.expected(index)
                }
                (_, None) if self.is_used => self.expected(index),
                (_, None) => return None,
                (_, Some(words)) => match run_of(words).filter(|_| self.is_used) {
                    Some((times, left)) => {
                        (expected, rest) = (times - 1, left);
                        self.expected(index)
                    }
                    None => {
                        let (value, left) = self.value(index, words, last == Some(index), names)?;
                        rest = left;
                        Some(value)
                    }
                },
            };
            if let Some(value) = value {
                self.above[index] = value;
            }
        }
        (rest.is_none() && expected == 0).then_some(())?;
        self.is_used = true;
        self.untold += 1;
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Shown => {
                    let line = &text[text.rfind('\n').map_or(0, |end| end + 1)..];
                    let (_, shown) = shown(line)?;
                    text.push_str(&shown);
                }
                Part::Value(value, pad) => push_padded(text, &self.above[*value], *pad),
            }
        }
        Some(())
    }

    /// The next value of a field by its rule; `None` where that is the one above.
    fn expected(&self, index: usize) -> Option<String> {
        match self.rules[index].expected(&self.above[index]) {
            Cow::Owned(value) => Some(value),
            Cow::Borrowed(_) => None,
        }
    }

    /// Reads the first of some words; returns its value, and the words behind it.
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

/// What a word stands for: `$1=x` names x, and `$1` is x again.
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

/// Reads `.` or `.4` at the start of some words; returns how many values are as expected, and the words behind it.
pub fn run_of(words: &str) -> Option<(usize, Option<&str>)> {
    let words = words.strip_prefix('.')?;
    let (word, rest) = words.split_once(' ').map_or((words, None), |(word, rest)| (word, Some(rest)));
    let times = match word {
        "" => 1,
        digits => digits.parse().ok().filter(|&times| times > 1 && !digits.starts_with(['0', '+']))?,
    };
    Some((times, rest))
}

/// Reads `"a ""b"" c"`; returns the value, and what stands behind the blank behind it.
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

/// Adds a value, filled up.
fn push_padded(text: &mut String, value: &str, pad: Pad) {
    let blanks = |width: usize| " ".repeat(width.saturating_sub(value.chars().count()));
    match pad {
        Pad::None => text.push_str(value),
        Pad::Behind(width) => {
            text.push_str(value);
            text.push_str(&blanks(width));
        }
        Pad::Before(width) => {
            text.push_str(&blanks(width));
            text.push_str(value);
        }
        Pad::Tabs(column) => {
            text.push_str(value);
            let line = &text[text.rfind('\n').map_or(0, |end| end + 1)..];
            let count = tabs(column_after(0, line), column);
            text.extend(std::iter::repeat_n('\t', count));
        }
    }
}

/// The name of a template.
pub fn name(mut index: usize) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'a' + (index % 26) as u8));
        match index / 26 {
            0 => return name,
            more => index = more - 1,
        }
    }
}

/// Which template has a name, if there were so many.
pub fn index(name: &str) -> Option<usize> {
    let is_name = (1..=3).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then(|| name.bytes().fold(0, |index, byte| index * 26 + usize::from(byte - b'a') + 1) - 1)
}

/// Whether a line that is written as the values of a row would be read as something else.
pub fn is_taken(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or(line);
    let head = word.strip_suffix(':').map_or(word, |word| word.split(['/', '*']).next().unwrap_or(word));
    line.starts_with(['|', '*']) || index(head).is_some()
}

/// A template in its own notation.
pub fn spell(parts: &[Part], rules: &[Rule], marks: (char, char)) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Shown => {
                text.push(marks.0);
                text.push_str(SHOWN);
                text.push(marks.1);
            }
            Part::Value(value, pad) => {
                text.push(marks.0);
                text += &match pad {
                    Pad::None => String::new(),
                    Pad::Behind(width) => format!("<{width}"),
                    Pad::Before(width) => format!(">{width}"),
                    Pad::Tabs(column) => format!("t{column}"),
                };
                text += &match rules[*value] {
                    Rule::Above => String::new(),
                    Rule::Step(step, is_hex) => signed(step, is_hex),
                    Rule::Count(count) => format!("{}{FROM}{}", signed(count.step, count.is_hex), count.first()),
                    Rule::Same(other) => format!("={}", other + 1),
                    Rule::Folder(separator) => separator.to_string(),
                };
                text.push(marks.1);
            }
        }
    }
    text
}

/// What a number grows by.
fn signed(step: i64, is_hex: bool) -> String {
    match is_hex {
        false => format!("{step:+}"),
        true if step < 0 => format!("-x{:x}", -step),
        true => format!("+x{step:x}"),
    }
}

fn parse_template(text: &str, is_list: bool, marks: (char, char)) -> Option<Known> {
    let (mut parts, mut rules) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(marks.0) {
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let (spec, behind) = behind.split_once(marks.1)?;
        rest = behind;
        if spec == SHOWN {
            parts.push(Part::Shown);
            continue;
        }
        let digits = |text: &str| text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let width = |text: &str| text.parse::<usize>().ok().filter(|&width| width <= 4096);
        let (pad, rule) = match spec.as_bytes().first() {
            Some(b'<' | b'>' | b't') => {
                let end = 1 + digits(&spec[1..]);
                let width = width(&spec[1..end])?;
                let pad = match spec.as_bytes()[0] {
                    b'<' => Pad::Behind(width),
                    b'>' => Pad::Before(width),
                    _ => Pad::Tabs(width),
                };
                (pad, &spec[end..])
            }
            _ => (Pad::None, spec),
        };
        let mut characters = rule.chars();
        let rule = match (characters.next(), characters.as_str()) {
            (None, _) => Rule::Above,
            (Some(separator), "") => Rule::Folder(separator),
            (Some('='), other) => Rule::Same(other.parse::<usize>().ok()?.checked_sub(1)?),
            (Some(sign @ ('+' | '-')), step) => {
                let (step, first) = step.split_once(FROM).map_or((step, None), |(step, first)| (step, Some(first)));
                let (step, is_hex) = match step.strip_prefix('x') {
                    Some(step) => (i64::from_str_radix(step, 16).ok()?, true),
                    None => (step.parse::<i64>().ok()?, false),
                };
                let step = if sign == '-' { -step } else { step };
                match first {
                    Some(first) => Rule::Count(Count::from(first, step, is_hex)?),
                    None => Rule::Step(step, is_hex),
                }
            }
            _ => return None,
        };
        parts.push(Part::Value(rules.len(), pad));
        rules.push(rule);
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Some(Known::new(parts, rules, is_list))
}

/// Reads a body; `None` when it is not one.
pub fn read(body: &str, marks: (char, char)) -> Option<String> {
    let most = body.len().saturating_mul(MAX_GROWTH).saturating_add(MAX_MORE);
    let mut templates: Vec<Known> = Vec::new();
    let mut names = Vec::new();
    let mut current = None;
    let mut next = name(0);
    let mut text = String::new();
    let mut last: Option<(Option<usize>, &str)> = None;
    let mut lines = body.split('\n');
    // Ends a line.
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
            for _ in 0..times.parse::<usize>().ok()? {
                match template {
                    None => text.push_str(words),
                    Some(template) => templates[template].fill(words, &mut names, &mut text)?,
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
                templates.push(parse_template(&template, list.is_some(), marks)?);
                next = name(templates.len());
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
                let row = templates[template].counted(word);
                if row.is_empty() && !word.is_empty() {
                    continue;
                }
                templates[template].fill(row, &mut names, &mut text)?;
                end(&mut text)?;
            }
            last = None;
            continue;
        }
        let words = templates[template].counted(words);
        templates[template].fill(words, &mut names, &mut text)?;
        end(&mut text)?;
        last = Some((Some(template), words));
    }
    text.pop();
    Some(text)
}
