//! The parts of a template, and its notation.

use super::rule::Rule;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// This text.
    Text(String),
    /// The value with this index.
    Value(usize, Pad),
}

/// How a field is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pad {
    /// Not at all.
    #[default]
    None,
    /// Blanks behind it, up to so many characters.
    Behind(usize),
    /// Blanks before it, up to so many characters.
    Before(usize),
}

/// The widest field, in characters: more is no column of a report.
const MAX_WIDTH: usize = 4096;

impl Pad {
    /// Reads a pad at the start of some text; returns the text behind it.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let Some(behind) = text.strip_prefix(['<', '>']) else { return Some((Self::None, text)) };
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let width = behind[..digits].parse().ok().filter(|&width| width <= MAX_WIDTH)?;
        let pad = if text.starts_with('<') { Self::Behind(width) } else { Self::Before(width) };
        Some((pad, &behind[digits..]))
    }

    /// Adds a value to a text, filled up.
    pub fn push(self, text: &mut String, value: &str) {
        let blanks = |width: usize| " ".repeat(width.saturating_sub(value.chars().count()));
        match self {
            Self::None => text.push_str(value),
            Self::Behind(width) => text.extend([value, &blanks(width)]),
            Self::Before(width) => text.extend([&blanks(width), value]),
        }
    }
}

/// A template in its own notation.
pub fn spell(parts: &[Part], rules: &[Rule], marks: (char, char)) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Value(value, pad) => {
                let pad = match pad {
                    Pad::None => String::new(),
                    Pad::Behind(width) => format!("<{width}"),
                    Pad::Before(width) => format!(">{width}"),
                };
                text += &format!("{}{pad}{}{}", marks.0, rules[*value], marks.1);
            }
        }
    }
    text
}

/// Reads a template: its parts, and the rules of its values.
pub fn parse(text: &str, marks: (char, char)) -> Option<(Vec<Part>, Vec<Rule>)> {
    let (mut parts, mut rules) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(marks.0) {
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let (spec, behind) = behind.split_once(marks.1)?;
        rest = behind;
        let (pad, rule) = Pad::parse(spec)?;
        parts.push(Part::Value(rules.len(), pad));
        rules.push(Rule::parse(rule)?);
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Some((parts, rules))
}
