//! Blocks of one shape -> a template and its values, and back.
//!
//! ```text
//! [[FOLD:structuralCollapse 4]] 2 lines for each row of $1 $2
//! def test_$1(self):
//!     self.check($1, $2)
//! one 1
//! two 2
//! ```
//!
//! `$n` are the words that differ between the rows; words that are the same in every row stand in the template. The header says
//! how many lines the template has, and shows how the values of a row are separated. The values of a single `$1` stand on one
//! line where none has a blank.

use super::shape::Shape;
use crate::pipeline::fold::Fold;

/// What may mark a value; the first that the text does not have does.
const SIGILS: [char; 5] = ['$', '%', '@', '~', '§'];

/// What may separate the values of a row; the first that no value has does.
const SEPARATORS: [&str; 4] = [" ", " | ", " ¦ ", "\t"];

/// Separates the values of a single column that have blanks.
const LINE_END: &str = "\n";

/// No row has more values: it would be no template.
const MAX_VALUES: usize = 12;

/// Between the words of the header.
const HEADER: (&str, &str) = (" for each row of ", " for each of ");

/// A template with its values.
#[derive(Debug)]
pub(super) struct Template<'t> {
    lines: Vec<String>,
    sigil: char,
    separator: &'static str,
    /// For each row its values.
    rows: Vec<Vec<&'t str>>,
}

impl<'t> Template<'t> {
    /// The template of blocks of `period` lines, all of one shape; `None` where there is no form for it.
    pub(super) fn of(lines: &[Shape<'t>], period: usize) -> Option<Self> {
        let sigil = SIGILS.into_iter().find(|&sigil| lines.iter().all(|line| !line.line.contains(sigil)))?;
        let blocks: Vec<&[Shape<'t>]> = lines.chunks(period).collect();
        let mut columns: Vec<Vec<&'t str>> = Vec::new();
        let mut template = Vec::with_capacity(period);
        for (row, line) in blocks[0].iter().enumerate() {
            let mut text = String::new();
            let mut at = 0;
            for (index, &(start, end)) in line.words.iter().enumerate() {
                let column: Vec<&str> = blocks.iter().map(|block| block[row].word(index)).collect();
                if column.iter().all(|word| *word == column[0]) {
                    continue;
                }
                let (prefix, suffix) = shared_ends(&column);
                let column: Vec<&str> = column.iter().map(|word| &word[prefix..word.len() - suffix]).collect();
                let number = columns.iter().position(|known| *known == column).unwrap_or(columns.len());
                if number == columns.len() {
                    columns.push(column);
                }
                if columns.len() > MAX_VALUES {
                    return None;
                }
                text.push_str(&line.line[at..start + prefix]);
                // A digit behind it would belong to the number.
                if line.line[end - suffix..].starts_with(|next: char| next.is_ascii_digit()) {
                    return None;
                }
                text.push_str(&format!("{sigil}{}", number + 1));
                at = end - suffix;
            }
            text.push_str(&line.line[at..]);
            template.push(text);
        }
        if columns.is_empty() {
            return None;
        }
        let rows: Vec<Vec<&str>> =
            (0..blocks.len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect();
        let separator = match columns.len() {
            1 if !fits(&rows, " ") => LINE_END,
            _ => SEPARATORS.into_iter().find(|separator| fits(&rows, separator))?,
        };
        Some(Self { lines: template, sigil, separator, rows })
    }

    /// How many lines it replaces.
    pub(super) fn lines(&self) -> usize {
        self.lines.len() * self.rows.len()
    }

    /// About how many bytes the fold has.
    pub(super) fn len(&self) -> usize {
        let template: usize = self.lines.iter().map(|line| line.len() + 1).sum();
        let values: usize = self.rows.iter().flatten().map(|value| value.len() + self.separator.len()).sum();
        template + values + "[[FOLD:structuralCollapse 10]] 1 lines for each row of $1".len()
    }

    /// The fold of a stage.
    pub(super) fn to_fold(&self, stage: &str) -> Fold {
        let names: Vec<String> = (1..=self.rows[0].len()).map(|number| format!("{}{number}", self.sigil)).collect();
        let count = match self.lines.len() {
            1 => "1 line".to_owned(),
            count => format!("{count} lines"),
        };
        let on_one_line = names.len() == 1 && self.separator == " ";
        let legend = if on_one_line {
            format!("{count}{}{}", HEADER.1, names[0])
        } else {
            format!("{count}{}{}", HEADER.0, names.join(self.separator))
        };
        let rows: Vec<String> = self.rows.iter().map(|row| row.join(self.separator)).collect();
        let values = rows.join(if on_one_line { " " } else { "\n" });
        Fold::new(stage, legend, Some(format!("{}\n{values}", self.lines.join("\n"))))
    }
}

/// Whether a separator separates: no value has it, and none can be taken for a part of it.
fn fits(rows: &[Vec<&str>], separator: &str) -> bool {
    rows.iter().flatten().all(|value| match separator {
        " " => !value.is_empty() && !value.contains([' ', '\t', '\r']),
        "\t" => !value.contains('\t'),
        _ => !value.contains(separator.trim()) && value.trim() == *value,
    })
}

/// How much all words have in common at their beginning and at their end, in whole runs of word characters.
fn shared_ends(words: &[&str]) -> (usize, usize) {
    let first = words[0];
    let mut prefix = first.len();
    let mut suffix = first.len();
    for word in &words[1..] {
        prefix = first.bytes().zip(word.bytes()).take(prefix).take_while(|(a, b)| a == b).count();
        suffix = first.bytes().rev().zip(word.bytes().rev()).take(suffix).take_while(|(a, b)| a == b).count();
    }
    // Cut only where a word of a quoted text or a path ends, so that names stay whole.
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let prefix = first[..first.floor_char_boundary(prefix)].trim_end_matches(is_name).len();
    let start = first.ceil_char_boundary(first.len() - suffix);
    let suffix = first[start..].trim_start_matches(is_name).len();
    let shortest = words.iter().map(|word| word.len()).min().unwrap_or(0);
    if prefix + suffix <= shortest { (prefix, suffix) } else { (prefix, 0) }
}

/// The text that a fold replaced.
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    let (count, names) = fold.legend.split_once(HEADER.0).or_else(|| fold.legend.split_once(HEADER.1))?;
    let on_one_line = fold.legend.contains(HEADER.1);
    let count: usize = count.strip_suffix(" lines").or_else(|| count.strip_suffix(" line"))?.parse().ok()?;
    let sigil = names.chars().next().filter(|sigil| SIGILS.contains(sigil))?;
    let separator = SEPARATORS.into_iter().find(|separator| {
        let columns = names.split(separator).enumerate();
        columns.into_iter().all(|(index, name)| name.strip_prefix(sigil) == Some(&(index + 1).to_string()))
    })?;
    let width = names.split(separator).count();
    let mut lines = fold.body.as_deref()?.split('\n');
    let template: Vec<&str> = lines.by_ref().take(count).collect();
    let rows: Vec<Vec<&str>> = if on_one_line {
        lines.next().filter(|_| lines.next().is_none())?.split(' ').map(|value| vec![value]).collect()
    } else {
        lines.map(|line| if width == 1 { vec![line] } else { line.split(separator).collect() }).collect()
    };
    if template.len() != count || width > MAX_VALUES || rows.iter().any(|row| row.len() != width) {
        return None;
    }
    let mut blocks = Vec::with_capacity(rows.len() * count);
    for row in &rows {
        for line in &template {
            blocks.push(fill(line, sigil, row)?);
        }
    }
    Some(blocks.join("\n"))
}

/// A line of a template with the values of a row.
fn fill(line: &str, sigil: char, row: &[&str]) -> Option<String> {
    let mut parts = line.split(sigil);
    let mut filled = parts.next()?.to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = part[..digits].parse().ok()?;
        filled.push_str(row.get(number.checked_sub(1)?)?);
        filled.push_str(&part[digits..]);
    }
    Some(filled)
}
