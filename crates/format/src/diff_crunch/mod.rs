//! The short forms of diff headers, each with its inverse. Repeated and countable parts are left out.
//!
//! A line of the text that looks like a short form is escaped by a `>`, which no line of a hunk begins with.

use std::borrow::Cow;

use crate::fold::Fold;

/// The legend.
pub const LEGEND: &str = "short headers: diff path, @@ -old +new";

/// Returns the text that a fold stands for.
pub fn unfold(fold: &Fold) -> Option<String> {
    unfold_text(fold.body.as_ref().filter(|_| fold.legend == LEGEND)?)
}

/// The short file headers `diff path`, `new file path` and `deleted file path`.
pub const FILES: [File; 3] = [
    File { word: "diff ", mode: None, old: "a/", new: "b/" },
    File { word: "new file ", mode: Some("new file mode 100644"), old: "/dev/null", new: "b/" },
    File { word: "deleted file ", mode: Some("deleted file mode 100644"), old: "a/", new: "/dev/null" },
];

/// Escapes a line of the text that reads as a short form.
pub const ESCAPE: char = '>';

/// A short file header and what it stands for.
pub struct File {
    /// The short form.
    pub word: &'static str,
    /// The mode line, if the header has one.
    pub mode: Option<&'static str>,
    old: &'static str,
    new: &'static str,
}

impl File {
    fn side(&self, mark: &str, prefix: &str, path: &str) -> String {
        format!("{mark} {prefix}{}", if prefix == "/dev/null" { "" } else { path })
    }

    /// Returns the two lines above the first hunk.
    pub fn sides(&self, path: &str) -> [String; 2] {
        [self.side("---", self.old, path), self.side("+++", self.new, path)]
    }
}

/// Returns true if a line may stand between `diff --git` and `---`.
pub fn is_extended(line: &str) -> bool {
    line.starts_with("index ") || line.starts_with("old mode ") || line.starts_with("new mode ")
}

/// Returns the lines that a short file header stands for, and the number of short lines read.
fn unfold_file<'a>(lines: &[&'a str]) -> Option<(Vec<Cow<'a, str>>, usize)> {
    let (form, path) = FILES.iter().find_map(|form| Some((form, lines.first()?.strip_prefix(form.word)?)))?;
    let mut long = vec![Cow::Owned(format!("diff --git a/{path} b/{path}"))];
    long.extend(form.mode.map(Cow::Borrowed));
    let extended = lines[1..].iter().take_while(|line| is_extended(line)).count();
    long.extend(lines[1..=extended].iter().map(|line| Cow::Borrowed(*line)));
    long.extend(form.sides(path).map(Cow::Owned));
    Some((long, 1 + extended))
}

/// Reads `@@ -old +new section`; returns the first old line, the first new line, and the section with its blank.
pub fn read_hunk(line: &str) -> Option<(u64, u64, &str)> {
    let (old, rest) = number(line.strip_prefix("@@ -")?)?;
    let (new, section) = number(rest.strip_prefix(" +")?)?;
    let is_section = section.is_empty() || (section.starts_with(' ') && !section.starts_with(" @@"));
    is_section.then_some((old, new, section))
}

/// Returns the header of a hunk as git and GNU diff print it between two files, given the first line and the number of
/// lines of each.
pub fn hunk_header(old: (u64, u64), new: (u64, u64), section: &str) -> String {
    let count = |lines| if lines == 1 { String::new() } else { format!(",{lines}") };
    format!("@@ -{}{} +{}{} @@{section}", old.0, count(old.1), new.0, count(new.1))
}

fn unfold_hunk<'a>(lines: &[&'a str]) -> Option<(Vec<Cow<'a, str>>, usize)> {
    let (old_start, new_start, section) = read_hunk(lines.first()?)?;
    let body = &lines[1..1 + lines[1..].iter().take_while(|line| is_signed(line)).count()];
    let (old_lines, new_lines) = sizes(body);
    let header = hunk_header((old_start, old_lines), (new_start, new_lines), section);
    let long = std::iter::once(Cow::Owned(header)).chain(body.iter().map(|line| Cow::Borrowed(*line))).collect();
    Some((long, 1 + body.len()))
}

/// Returns the lines of a short commit header, and its author; `last` is the author of the previous commit.
pub fn unfold_commit<'a>(line: &'a str, last: Option<&'a str>) -> Option<(Vec<String>, &'a str)> {
    let mut parts = line.strip_prefix("commit ")?.split("; ").peekable();
    let hash = parts.next()?;
    let merge = parts.next_if(|part| part.starts_with("merge ")).map(|part| part.replacen("merge ", "Merge: ", 1));
    let date = parts.next()?;
    let author = parts.next().or(last)?;
    if parts.next().is_some() {
        return None;
    }
    let first = std::iter::once(format!("commit {hash}")).chain(merge);
    Some((first.chain([format!("Author: {author}"), format!("Date:   {date}"), String::new()]).collect(), author))
}

/// Returns true if a line reads as a short form.
pub fn is_short(line: &str) -> bool {
    let is_file = FILES.iter().any(|form| {
        line.strip_prefix(form.word)
            .is_some_and(|path| !path.is_empty() && !path.starts_with('-') && !path.starts_with("mode "))
    });
    is_file || read_hunk(line).is_some() || (line.starts_with("commit ") && line.contains("; "))
}

/// Expands all short forms of a text.
pub fn unfold_text(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut long: Vec<Cow<str>> = Vec::with_capacity(lines.len());
    let mut author = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if !is_short(line) {
            let is_escaped = line.starts_with(ESCAPE) && is_short(line.trim_start_matches(ESCAPE));
            long.push(Cow::Borrowed(&line[usize::from(is_escaped)..]));
            at += 1;
            continue;
        }
        let (unfolded, taken) = if line.starts_with("commit ") {
            let (unfolded, by) = unfold_commit(line, author)?;
            author = Some(by);
            (unfolded.into_iter().map(Cow::Owned).collect(), 1)
        } else {
            unfold_hunk(&lines[at..]).or_else(|| unfold_file(&lines[at..]))?
        };
        long.extend(unfolded);
        at += taken;
    }
    Some(long.join("\n"))
}

/// Reads a number that prints back unchanged; returns it and the rest of the text.
pub fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_plain = (1..=18).contains(&digits) && (digits == 1 || !text.starts_with('0'));
    is_plain.then(|| text[..digits].parse().ok().map(|number| (number, &text[digits..])))?
}

/// Returns the number of old and of new lines of a hunk.
pub fn sizes(lines: &[&str]) -> (u64, u64) {
    let count = |signs: [char; 2]| lines.iter().filter(|line| line.starts_with(signs)).count() as u64;
    (count([' ', '-']), count([' ', '+']))
}

/// Returns true if a line may belong to a hunk.
pub fn is_signed(line: &str) -> bool {
    line.starts_with([' ', '+', '-', '\\'])
}
