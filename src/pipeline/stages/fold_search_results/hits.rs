//! `path:12:text` lines <-> the path once, with its hits below; a text on several lines of a file once.
//!
//! Only lines in ascending order are merged, so that sorting by number restores them.

use super::root;
use super::tree;
use crate::content::hit_line::{Form, Hit, Row};
use crate::pipeline::fold::Fold;
use concertina_base::hashing::FastMap;
use concertina_format::search_crunch::legend::Legend;
use concertina_format::search_crunch::unfold;

/// The maximum number of lines that share one text. It bounds the size of the restored text.
const MAX_MERGED: usize = 32;

/// A part of the output, in order.
enum Item<'a> {
    /// The start of a file, with its index in the list of files.
    File(usize),
    /// A line of that file. `is_flipped` is true if its path differs from what the legend says.
    Line {
        hit: Hit<'a>,
        is_flipped: bool,
    },
    /// A `--` line that the legend does not imply.
    Separator,
    Other(&'a str),
}

/// Folds a text without a final line end, given its lines. Returns `None` for fewer than two hits.
pub(super) fn fold(stage: &str, text: &str, rows: &[(&str, Row)]) -> Option<Fold> {
    let hits: Vec<Hit> =
        rows.iter().filter_map(|(_, row)| if let Row::Hit(hit) = row { Some(*hit) } else { None }).collect();
    // Below a heading the path is written once already.
    if hits.len() < 2 || hits.iter().any(|hit| hit.is_headed || matches!(hit.form, Form::Labelled(_))) {
        return None;
    }
    let plain = Legend { context: hits.iter().any(Hit::is_context), root: root::find(&hits), ..Legend::default() };
    let gaps = plain.context && rows.iter().any(|(_, row)| *row == Row::Separator);
    let folded = |legend: Legend| {
        let fold = Fold::new(stage, legend.write(), Some(write(rows, &legend)));
        (unfold(&fold).as_deref() == Some(text)).then_some(fold)
    };
    // Where separators do not stand at the gaps, they are not omitted.
    gaps.then(|| folded(Legend { gaps, ..plain.clone() })).flatten().or_else(|| folded(plain))
}

fn write(rows: &[(&str, Row)], legend: &Legend) -> String {
    let (files, items) = items(rows, legend);
    let headers = tree::fold(&files);
    let mut writer = Writer { legend, lines: Vec::new(), run: Vec::new(), previous: None };
    for item in items {
        match item {
            Item::File(index) => writer.push(headers[index].iter().cloned()),
            Item::Separator => writer.push(["--".to_owned()]),
            Item::Other("") => writer.push([String::new()]),
            Item::Other(text) => writer.push([format!("\\{text}")]),
            Item::Line { hit, is_flipped } => writer.hit(&hit, is_flipped),
        }
    }
    writer.flush();
    writer.lines.join("\n")
}

/// Returns the files in the order in which they begin, and the parts to write.
fn items<'a>(rows: &[(&'a str, Row<'a>)], legend: &Legend<'a>) -> (Vec<&'a str>, Vec<Item<'a>>) {
    let mut files: Vec<&str> = Vec::new();
    let mut items = Vec::with_capacity(rows.len());
    for &(text, row) in rows {
        match row {
            Row::Hit(hit) => {
                let (path, is_flipped) = legend.root.strip(hit.path, hit.is_context());
                if files.last() != Some(&path) {
                    files.push(path);
                    items.push(Item::File(files.len() - 1));
                }
                items.push(Item::Line { hit, is_flipped });
            }
            Row::Separator if legend.gaps => {}
            Row::Separator => items.push(Item::Separator),
            Row::Heading(_) | Row::Other => items.push(Item::Other(text)),
        }
    }
    (files, items)
}

struct Writer<'a> {
    legend: &'a Legend<'a>,
    lines: Vec<String>,
    /// Numbered hits that may be merged: number, whether it is flipped, place and text.
    run: Vec<(u64, bool, &'a str, &'a str)>,
    /// The number of the previous line in the same file.
    previous: Option<u64>,
}

impl<'a> Writer<'a> {
    fn push(&mut self, lines: impl IntoIterator<Item = String>) {
        self.flush();
        self.lines.extend(lines);
        self.previous = None;
    }

    fn hit(&mut self, hit: &Hit<'a>, is_flipped: bool) {
        let previous = self.previous.take();
        let mark = mark(is_flipped);
        let Some((place, text)) = hit.place_and_text() else {
            self.flush();
            return self.lines.push(format!("{mark}{}", hit.place));
        };
        let (Some(number), is_context) = (hit.line(), hit.is_context()) else { return };
        self.previous = Some(number);
        if !self.legend.context {
            return self.run.push((number, is_flipped, place, text));
        }
        let follows = previous.is_some_and(|previous| previous.checked_add(1) == Some(number));
        self.lines.push(match (is_context, follows) {
            (true, true) => format!("{mark}\t{text}"),
            (true, false) => format!("{mark}{place} {text}"),
            (false, _) => format!("{mark}{place}:{text}"),
        });
    }

    /// Writes the run. If its numbers ascend, each text is written once.
    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        let ascends = run.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let mut written: Vec<(bool, Vec<&str>, &str)> = Vec::with_capacity(run.len());
        let mut seen: FastMap<(bool, &str), usize> = FastMap::default();
        for (_, is_flipped, place, text) in run {
            let next = written.len();
            let index = *seen.entry((is_flipped, text)).or_insert(next);
            if ascends && index < next && written[index].1.len() < MAX_MERGED {
                written[index].1.push(place);
            } else {
                seen.insert((is_flipped, text), next);
                written.push((is_flipped, vec![place], text));
            }
        }
        for (is_flipped, places, text) in written {
            self.lines.push([mark(is_flipped), &ranges(&places), " ", text].concat());
        }
    }
}

fn mark(is_flipped: bool) -> &'static str {
    if is_flipped { "~" } else { "" }
}

/// Returns numbers with ranges: `1`, `2`, `3`, `7` -> `1-3,7`.
fn ranges(places: &[&str]) -> String {
    let mut text = String::new();
    let mut start = 0;
    while start < places.len() {
        let number = |index: usize| places.get(index).and_then(|place: &&str| place.parse::<u64>().ok());
        let mut end = start;
        while number(end).is_some() && number(end + 1) == number(end).map(|number| number + 1) {
            end += 1;
        }
        // A range of two numbers would not be shorter.
        end = if end - start < 2 { start } else { end };
        text.push_str(if start > 0 { "," } else { "" });
        text.push_str(places[start]);
        if end > start {
            text.push('-');
            text.push_str(places[end]);
        }
        start = end + 1;
    }
    text
}
