//! The parts of a template, and its notation.

use super::rule::Rule;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A constant text.
    Text(String),
    /// The value with this index.
    Value(usize, Pad),
}

/// The padding of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pad {
    /// No padding.
    #[default]
    None,
    /// Blanks after the value, up to this width in characters.
    Behind(usize),
    /// Blanks before the value, up to this width in characters.
    Before(usize),
}

/// The widest field, in characters. No column of a report is wider.
const MAX_WIDTH: usize = 4096;

impl Pad {
    /// Reads a padding at the start of a text; returns the text after it.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let Some(behind) = text.strip_prefix(['<', '>']) else { return Some((Self::None, text)) };
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let width = behind[..digits].parse().ok().filter(|&width| width <= MAX_WIDTH)?;
        let pad = if text.starts_with('<') { Self::Behind(width) } else { Self::Before(width) };
        Some((pad, &behind[digits..]))
    }

    /// Appends a value with its padding.
    pub fn push(self, text: &mut String, value: &str) {
        let blanks = |width: usize| " ".repeat(width.saturating_sub(value.chars().count()));
        match self {
            Self::None => text.push_str(value),
            Self::Behind(width) => text.extend([value, &blanks(width)]),
            Self::Before(width) => text.extend([&blanks(width), value]),
        }
    }
}

/// Prints a template in its notation.
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

/// Reads a template; returns its parts and the rules of its values.
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
