//! templates and entries -> the lines that [`concertina_format::lines`] reads.

use super::column::{Rule, below};
use super::record::Entry;
use super::template::{Part, Template};
use crate::pipeline::columns::{LEAST_NAMED, cost, tells_verdict};
use concertina_base::hashing::FastMap;
use concertina_format::letters;
use concertina_format::lines::rule::Stated;
use concertina_format::lines::template::spell;
use concertina_format::lines::{MARKS, behind_expected, is_taken};

/// The features of the notation that a fold uses, for its legend.
#[derive(Debug, Default)]
struct Uses {
    pads: bool,
    steps: bool,
    folders: Option<char>,
    goes_up: bool,
    same: bool,
    above: bool,
    omits: bool,
    names: bool,
    raw: bool,
    again: bool,
    lists: bool,
    quotes: bool,
}

/// Returns the legend and the body; `None` if the text contains every pair of marks. With `restates`, a value is stated
/// again where a naive reader would not get it right.
pub(super) fn write(
    texts: &[&str],
    templates: &[Template],
    entries: &[Entry],
    restates: bool,
) -> Option<(String, String)> {
    let has = |mark: char| {
        templates
            .iter()
            .flat_map(|template| &template.parts)
            .any(|part| matches!(part, Part::Text(text) if text.contains(mark)))
    };
    let marks = MARKS.into_iter().find(|marks| !has(marks.0))?;
    let lists: Vec<bool> = templates.iter().map(Template::is_list).collect();
    let rows = words(templates, entries, &lists, restates);
    let names = worth_naming(&rows);
    let mut writer = Writer {
        body: String::new(),
        names,
        named: 0,
        uses: Uses::default(),
        known: vec![None; templates.len()],
        defined: 0,
    };
    let mut current = None;
    let mut last: Option<String> = None;
    let mut again = 0;
    // True if the last line belongs to a list, and where it starts.
    let (mut continues, mut line_start) = (false, 0);
    for entry in entries {
        let (key, words) = match *entry {
            Entry::Raw(line) => {
                writer.uses.raw = true;
                (String::new(), format!("|{}", texts[line]))
            }
            Entry::Row { template, row } => {
                if writer.known[template].is_none() {
                    writer.end_run(&mut again);
                    writer.define(template, &templates[template], lists[template], marks);
                    current = Some(template);
                    continues = false;
                    last = None;
                }
                let words = writer.row(&rows[template][row]);
                let is_current = current.replace(template) == Some(template);
                let key =
                    writer.known[template].clone().filter(|_| !is_current || is_taken(&words) || words.is_empty());
                (key.unwrap_or_default(), words)
            }
        };
        let line = joined(&key, &words);
        let is_listed = matches!(*entry, Entry::Row { template, .. } if lists[template]);
        if last.as_ref() == Some(&line) && !is_listed {
            again += 1;
            continue;
        }
        if is_listed && continues && !is_taken(&line) && writer.body.len() - line_start + line.len() < LIST_WIDTH {
            writer.body.pop();
            writer.body.push(' ');
            writer.push(&line);
            continue;
        }
        continues = is_listed;
        writer.end_run(&mut again);
        line_start = writer.body.len();
        writer.push(&line);
        last = Some(line);
    }
    writer.end_run(&mut again);
    let legend = legend(&writer.uses, marks);
    writer.body.pop();
    Some((legend, writer.body))
}

fn joined(key: &str, words: &str) -> String {
    let blank = if key.is_empty() || words.is_empty() { "" } else { " " };
    format!("{key}{blank}{words}")
}

fn legend(uses: &Uses, (open, close): (char, char)) -> String {
    let separator = uses.folders.unwrap_or(' ');
    let sign = if separator == ' ' { "blank".to_owned() } else { separator.to_string() };
    let words = [
        (true, format!("{open}{close}: values, row by row")),
        (uses.pads, format!("; {open}>9{close} padded")),
        (uses.steps, format!("; {open}+1{close} counts, . is the next")),
        (uses.folders.is_some(), format!("; {open}{separator}{close} ^ as above up to its last {sign}")),
        (uses.goes_up, ", ^^ to the one before".to_owned()),
        (uses.same, format!("; {open}=1{close} value 1 again")),
        (uses.above, "; . as above".to_owned()),
        (uses.omits, "; missing at the end: as above".to_owned()),
        (uses.names, "; $1=x names x".to_owned()),
        (uses.lists, "; a*: a row each word".to_owned()),
        (uses.quotes, "; \"x y\" is one value".to_owned()),
        (uses.raw, "; |line".to_owned()),
        (uses.again, "; *2 twice more".to_owned()),
    ];
    words.into_iter().filter(|(is_used, _)| *is_used).map(|(_, words)| words).collect()
}

/// The longest line of a list, in bytes.
const LIST_WIDTH: usize = 120;

/// A value of a row before names are given.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word<'t> {
    Above,
    /// The number of folders to go up, the text after them, and the whole value.
    Below(usize, &'t str, &'t str),
    Plain(&'t str),
}

/// The words of the rows of each template.
type Rows<'t> = Vec<Vec<Vec<Word<'t>>>>;

/// Returns the words of all rows.
fn words<'t>(templates: &[Template<'t>], entries: &[Entry], lists: &[bool], restates: bool) -> Rows<'t> {
    let mut rows: Rows = templates.iter().map(|template| Vec::with_capacity(template.lines.len())).collect();
    let mut stated: Vec<Vec<Stated>> =
        templates.iter().map(|template| vec![Stated::default(); template.rules.len()]).collect();
    // The number of rows of each template; equal rows that are counted are one.
    let mut numbers = vec![0; templates.len()];
    let (mut last, mut is_counted) = (None, false);
    for entry in entries {
        let Entry::Row { template: index, row } = *entry else {
            last = None;
            continue;
        };
        let template = &templates[index];
        numbers[index] += 1;
        let told = template.rules.iter().zip(&template.columns).zip(&stated[index]);
        let number = restates.then_some(numbers[index]);
        let (words, after): (Vec<Option<Word>>, Vec<Stated>) =
            told.map(|((rule, column), stated)| word(*rule, column, row, number, *stated)).unzip();
        let words: Vec<Word> = words.into_iter().flatten().collect();
        let is_again = last == Some(index) && !lists[index] && rows[index].last() == Some(&words);
        if is_again && is_counted {
            numbers[index] -= 1;
        } else {
            stated[index] = after;
        }
        is_counted = is_again;
        last = Some(index);
        rows[index].push(words);
    }
    rows
}

/// Returns a value as a row writes it, unless no row does, and where it is stated then. Without a number of the row, no
/// value is stated again.
fn word<'t>(
    rule: Rule,
    column: &[&'t str],
    row: usize,
    number: Option<usize>,
    stated: Stated,
) -> (Option<Word<'t>>, Stated) {
    if rule.is_silent() {
        return (None, stated);
    }
    let value = column[row];
    let above = row.checked_sub(1).map(|above| column[above]);
    let is_expected = above.is_some_and(|above| rule.is_expected(above, value)) && !tells_verdict(value);
    let below = match (rule, above) {
        (Rule::Folder(separator), Some(above)) => below(above, value, separator),
        _ => None,
    };
    let (word, up) = match below.filter(|(_, rest)| !rest.starts_with('^')) {
        _ if is_expected => (Word::Above, 0),
        Some((up, rest)) => (Word::Below(up, rest, value), up + 1),
        None => (Word::Plain(value), 0),
    };
    let after = stated.after(rule.added(up));
    if matches!(word, Word::Plain(_)) || number.is_some_and(|number| !after.is_near(number)) {
        return (Some(Word::Plain(value)), Stated::at(number.unwrap_or_default()));
    }
    (Some(word), after)
}

/// Returns the words that are cheaper as `$1`, not numbered yet.
fn worth_naming<'t>(rows: &[Vec<Vec<Word<'t>>>]) -> FastMap<&'t str, usize> {
    let mut seen: FastMap<&str, usize> = FastMap::default();
    for row in rows.iter().flatten() {
        for (index, word) in row.iter().enumerate() {
            let Word::Plain(value) = word else { continue };
            if !is_literal(value, index + 1 == row.len()) {
                value.split(' ').filter(|word| word.len() > 4).for_each(|word| *seen.entry(word).or_default() += 1);
            }
        }
    }
    seen.retain(|word, times| {
        *times > 1 && cost(word) >= LEAST_NAMED && (*times - 1) * cost(word).saturating_sub(2) > 3
    });
    seen.values_mut().for_each(|number| *number = 0);
    seen
}

/// Returns true if a value must be quoted, so that its words cannot be named.
fn is_literal(value: &str, is_last: bool) -> bool {
    let is_notation = value.is_empty() || behind_expected(value).is_some() || value.starts_with(['"', '^']);
    is_notation || !is_last && value.contains(' ') || value.split(' ').any(|word| word.starts_with('$'))
}

struct Writer<'t> {
    body: String,
    names: FastMap<&'t str, usize>,
    named: usize,
    uses: Uses,
    known: Vec<Option<String>>,
    defined: usize,
}

impl<'t> Writer<'t> {
    fn push(&mut self, line: &str) {
        self.body.push_str(line);
        self.body.push('\n');
    }

    /// Writes the number of repeats of the last line.
    fn end_run(&mut self, again: &mut usize) {
        let times = std::mem::take(again);
        if times > 0 {
            self.push(&format!("*{times}"));
            self.uses.again = true;
        }
    }

    fn define(&mut self, index: usize, template: &Template, is_list: bool, marks: (char, char)) {
        let is_padded = |part: &Part| matches!(part, Part::Value(_, pad) if *pad != super::layout::Pad::None);
        self.uses.pads |= template.parts.iter().any(is_padded);
        for rule in &template.rules {
            match rule {
                Rule::Step(_) => self.uses.steps = true,
                Rule::Same(_) => self.uses.same = true,
                Rule::Folder(separator) => self.uses.folders = self.uses.folders.or(Some(*separator)),
                Rule::Above => {}
            }
        }
        let key = letters::name(self.defined);
        let height = if template.height > 1 { format!("/{}", template.height) } else { String::new() };
        let list = if is_list { "*" } else { "" };
        self.uses.lists |= is_list;
        let line = format!("{key}{list}{height}: {}", spell(&template.parts, &template.rules, marks));
        self.push(&line);
        self.known[index] = Some(key);
        self.defined += 1;
    }

    /// Returns the values of a row in the notation.
    fn row(&mut self, words: &[Word<'t>]) -> String {
        // A row whose values are all as expected still says so: an empty line would be no row to a reader.
        let len = words.iter().rposition(|word| *word != Word::Above).map_or(1, |last| last + 1).min(words.len());
        self.uses.above |= words.contains(&Word::Above);
        self.uses.omits |= len < words.len();
        let mut line = String::new();
        for (index, word) in words[..len].iter().enumerate() {
            if index > 0 {
                line.push(' ');
            }
            match *word {
                Word::Above => line.push('.'),
                // Only the last value of a row may have blanks.
                Word::Below(_, rest, value) if rest.contains(' ') && index + 1 < words.len() => {
                    line += &self.quoted(value);
                }
                Word::Below(up, rest, _) => {
                    self.uses.goes_up |= up > 0;
                    line += &format!("{}{rest}", "^".repeat(up + 1));
                }
                Word::Plain(value) => self.value(&mut line, value, index + 1 == words.len()),
            }
        }
        line
    }

    fn value(&mut self, line: &mut String, value: &'t str, is_last: bool) {
        if is_literal(value, is_last) {
            *line += &self.quoted(value);
            return;
        }
        for (index, word) in value.split(' ').enumerate() {
            if index > 0 {
                line.push(' ');
            }
            match self.names.get_mut(word) {
                Some(0) => {
                    self.named += 1;
                    self.names.insert(word, self.named);
                    self.uses.names = true;
                    *line += &format!("${}={word}", self.named);
                }
                Some(number) => *line += &format!("${number}"),
                None => *line += word,
            }
        }
    }

    fn quoted(&mut self, value: &str) -> String {
        self.uses.quotes = true;
        format!("\"{}\"", value.replace('"', "\"\""))
    }
}
