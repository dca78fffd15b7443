//! The table by command: `npm run bench:probes -- --by-file DIR`, for a folder that `bench:everyday` recorded or for
//! any other.
//!
//! The host knows the command of an output, so it is passed as the hint. `folded` is what the lossless preset alone
//! saves.

use std::collections::BTreeMap;
use std::path::Path;

use concertina::config::Preset;
use concertina::content::{ContentType, Hints};
use concertina::pipeline::{CompressOptions, FusionEngine};
use serde_json::{Value, json};

use crate::sight::Shelf;
use crate::{Sum, ask, files, progress, progress_ends};

/// The savings in percent below which a command is counted in its half's line.
const LITTLE: f64 = 3.0;

/// An output with its properties.
struct Recording {
    name: String,
    half: String,
    command: Option<String>,
    text: String,
}

/// The results of an output.
struct Row {
    name: String,
    half: String,
    kind: &'static str,
    /// True if the output can be restored from the text alone.
    is_lossless: bool,
    /// The percentage of tokens that the lossless preset saves.
    folded: f64,
    sum: Sum,
}

/// Returns the outputs that a folder's manifest names, or every file if there is no manifest.
fn recordings(dir: &Path, half: Option<&str>) -> Result<Vec<Recording>, String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let manifest = dir.join("manifest.json");
    let mut found = Vec::new();
    if manifest.exists() {
        let rows: Vec<Value> =
            serde_json::from_str(&read(&manifest)?).map_err(|error| format!("manifest.json: {error}"))?;
        for row in rows {
            let word =
                |key: &str| row[key].as_str().map(str::to_owned).ok_or(format!("manifest.json: a row without {key}"));
            if half.is_none_or(|half| row["half"] == half) {
                let text = read(&dir.join(word("file")?))?;
                found.push(Recording {
                    name: word("name")?,
                    half: word("half")?,
                    command: Some(word("command")?),
                    text,
                });
            }
        }
    } else {
        let mut paths = Vec::new();
        files(dir, &mut paths);
        for path in paths {
            let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
            match std::fs::read_to_string(&path) {
                Ok(text) => found.push(Recording { name, half: "all".into(), command: None, text }),
                Err(error) => eprintln!("{name} is left out: {error}"),
            }
        }
    }
    Ok(found)
}

/// Returns the class whose facts are checked in addition to those of everyday outputs.
fn class_of(kind: ContentType) -> Option<&'static str> {
    match kind {
        ContentType::Json => Some("json"),
        ContentType::Log => Some("logs"),
        ContentType::Diff => Some("diffs"),
        ContentType::Search => Some("search"),
        _ => None,
    }
}

/// The total results of the outputs of one half.
struct Half<'r> {
    name: &'r str,
    rows: Vec<&'r Row>,
}

impl Half<'_> {
    fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        self.rows.iter().for_each(|row| sum.add(&row.sum));
        sum
    }

    /// Returns the mean and the median of the percentages that commands save.
    fn mean_and_median(&self) -> (f64, f64) {
        let mut saved: Vec<f64> = self.rows.iter().map(|row| row.sum.saved()).collect();
        saved.sort_by(f64::total_cmp);
        let count = saved.len().max(1);
        let median =
            if saved.is_empty() { 0.0 } else { f64::midpoint(saved[(saved.len() - 1) / 2], saved[saved.len() / 2]) };
        (saved.iter().sum::<f64>() / count as f64, median)
    }

    /// Returns the percentage that the lossless preset alone saves: of all tokens, and as the mean.
    fn folded(&self) -> (f64, f64) {
        let before: f64 = self.rows.iter().map(|row| row.sum.before as f64).sum();
        let of_all: f64 = self.rows.iter().map(|row| row.sum.before as f64 * row.folded).sum();
        let mean: f64 = self.rows.iter().map(|row| row.folded).sum();
        (of_all / before.max(1.0), mean / self.rows.len().max(1) as f64)
    }

    /// Returns the percentage of the outputs that can be restored from their text alone.
    fn kept(&self) -> f64 {
        let count = self.rows.iter().filter(|row| row.is_lossless).count();
        100.0 * count as f64 / self.rows.len().max(1) as f64
    }

    /// Returns the percentage of the outputs that save less than [`LITTLE`].
    fn little(&self) -> f64 {
        let count = self.rows.iter().filter(|row| row.sum.saved() < LITTLE).count();
        100.0 * count as f64 / self.rows.len().max(1) as f64
    }

    fn worst(&self) -> Option<&Row> {
        self.rows.iter().copied().min_by(|a, b| a.sum.saved().total_cmp(&b.sum.saved()))
    }

    fn to_json(&self) -> Value {
        let ((mean, median), (folded, mean_folded)) = (self.mean_and_median(), self.folded());
        let mut found = self.sum().to_json("shell");
        found["half"] = self.name.into();
        found["meanSavedPercent"] = mean.into();
        found["medianSavedPercent"] = median.into();
        found["losslessSavedPercent"] = folded.into();
        found["meanLosslessSavedPercent"] = mean_folded.into();
        found["losslessPercentOfOutputs"] = self.kept().into();
        found["littleSavedPercentOfOutputs"] = self.little().into();
        found["leastSaved"] = self.worst().map_or("", |row| &row.name).into();
        found
    }

    fn print(&self) {
        let (sum, (mean, median), (folded, mean_folded)) = (self.sum(), self.mean_and_median(), self.folded());
        println!(
            "{}: {} outputs, {} tokens; saved {:.1} % of all, {mean:.1} % in the mean, {median:.1} % in the median; preset lossless \
             alone {folded:.1} % of all, {mean_folded:.1} % in the mean; {:.0} % of the outputs save less than {LITTLE} %, {:.0} % come \
             back from their text alone; {} probes, {:.1} % in sight, {} lost, {} false; least saved: {}",
            self.name,
            sum.files,
            sum.before,
            sum.saved(),
            self.little(),
            self.kept(),
            sum.probes(),
            sum.in_sight(),
            sum.outcomes[3],
            sum.false_claims,
            self.worst().map_or(String::new(), |row| format!("{} ({:.1} %)", row.name, row.sum.saved())),
        );
    }
}

impl Row {
    fn to_json(&self) -> Value {
        let mut found = self.sum.to_json("shell");
        found["name"] = self.name.as_str().into();
        found["half"] = self.half.as_str().into();
        found["kind"] = self.kind.into();
        found["lossless"] = self.is_lossless.into();
        found["losslessSavedPercent"] = self.folded.into();
        found
    }

    fn print(&self) {
        println!(
            "{:32} {:7} {:7} {:6.1} % {:6.1} % {:10} {:6} {:6.1} % {:5} {:5}",
            self.name,
            self.kind,
            self.sum.before,
            self.sum.saved(),
            self.folded,
            if self.is_lossless { "lossless" } else { "reversible" },
            self.sum.probes(),
            self.sum.in_sight(),
            self.sum.outcomes[3],
            self.sum.false_claims,
        );
    }
}

/// Prints the table, or its JSON. Returns the number of lost facts and of false claims.
pub(crate) fn print(
    dir: &Path,
    half: Option<&str>,
    options: &CompressOptions,
    prints_json: bool,
) -> Result<usize, String> {
    let (shelf, engine) = (Shelf::new(), FusionEngine::default());
    let recordings = recordings(dir, half)?;
    let mut rows = Vec::new();
    for (index, Recording { name, half, command, text }) in recordings.iter().enumerate() {
        progress(index + 1, recordings.len());
        let mut options = options.clone();
        options.hints = Hints { command: command.clone(), ..Hints::default() };
        let folded = engine.compress(text, &CompressOptions { preset: Preset::Lossless, ..options.clone() }, &|| 0.0);
        let classes: Vec<&str> = ["shell"].into_iter().chain(class_of(folded.content_type)).collect();
        let taken_for = match folded.content_type {
            ContentType::Text | ContentType::Html => "prose",
            _ => classes[classes.len() - 1],
        };
        let (is_lossless, sum) = ask(&shelf, &engine, &options, name, text, &classes, taken_for);
        rows.push(Row {
            name: name.clone(),
            half: half.clone(),
            kind: folded.content_type.as_str(),
            is_lossless,
            folded: 100.0 * (1.0 - folded.tokens_after as f64 / folded.tokens_before.max(1) as f64),
            sum,
        });
    }
    progress_ends();
    let mut halves: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| halves.entry(&row.half).or_default().push(row));
    let halves: Vec<Half> = halves.into_iter().map(|(name, rows)| Half { name, rows }).collect();
    if prints_json {
        let commands: Vec<Value> = rows.iter().map(Row::to_json).collect();
        let halves: Vec<Value> = halves.iter().map(Half::to_json).collect();
        println!("{}", json!({ "preset": options.preset.as_str(), "commands": commands, "halves": halves }));
    } else {
        println!(
            "command                          kind     tokens    saved   folded form       probes in sight  lost false"
        );
        for half in &halves {
            half.rows.iter().for_each(|row| row.print());
        }
        halves.iter().for_each(Half::print);
    }
    Ok(rows.iter().map(|row| row.sum.outcomes[3] + row.sum.false_claims).sum())
}
