//! Computes percentiles of times and prints tables.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::messages::{Job, Timed};

/// Times of one kind, in microseconds.
pub(crate) struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        Self(Histogram::new(3).expect("three digits can be kept"))
    }
}

impl Times {
    pub(crate) fn add(&mut self, micros: u64) {
        self.0.record(micros).expect("it grows with what is recorded");
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns a quantile in milliseconds.
    pub(crate) fn at(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1e3
    }

    /// Returns the median, the 99th percentile and the maximum, in milliseconds.
    pub(crate) fn three(&self) -> [String; 3] {
        [self.at(0.5), self.at(0.99), self.0.max() as f64 / 1e3].map(shown)
    }

    /// Returns the ratio of the 99th percentile to the median.
    pub(crate) fn spread(&self) -> f64 {
        self.at(0.99) / self.at(0.5).max(0.001)
    }
}

/// Formats a number with three significant digits.
pub(crate) fn shown(number: f64) -> String {
    match number {
        number if number >= 99.95 => format!("{number:.0}"),
        number if number >= 9.995 => format!("{number:.1}"),
        number => format!("{number:.2}"),
    }
}

/// The times of all jobs of one kind.
#[derive(Default)]
pub(crate) struct Took {
    pub(crate) whole: Times,
    pub(crate) turn: Times,
    pub(crate) store: Times,
    pub(crate) engine: Times,
    /// Processor time in calls of the store, in microseconds.
    store_cpu: u64,
    calls: u64,
}

/// The times of all jobs, by kind.
#[derive(Default)]
pub(crate) struct AllTook(pub(crate) BTreeMap<Job, Took>);

impl AllTook {
    pub(crate) fn add(&mut self, timed: &Timed) {
        let took = self.0.entry(timed.job).or_default();
        took.whole.add(timed.whole);
        took.turn.add(timed.turn);
        took.store.add(timed.store);
        took.engine.add(timed.engine);
        took.store_cpu += timed.store_cpu;
        took.calls += timed.calls;
    }

    pub(crate) fn print(&self, seconds: f64) {
        let head = "job count per_s p50 p99 max | p50 p99 max | p50 p99 max | p50 p99 max | calls cpu";
        let mut rows = vec![
            ",,,whole,,,,its turn,,,,in the store,,,,engine's CPU,,,,,store's".split(',').map(str::to_owned).collect(),
            head.split(' ').map(|word| word.replace('_', "/")).collect::<Vec<_>>(),
        ];
        for (job, took) in &self.0 {
            let count = took.whole.count();
            let mut row = vec![name(*job).to_owned(), count.to_string(), shown(count as f64 / seconds)];
            for times in [&took.whole, &took.turn, &took.store, &took.engine] {
                row.extend(times.three());
                row.push("|".to_owned());
            }
            row.push(shown(took.calls as f64 / count.max(1) as f64));
            row.push(shown(took.store_cpu as f64 / 1e3 / count.max(1) as f64));
            rows.push(row);
        }
        print_table(&rows);
    }
}

fn name(job: Job) -> &'static str {
    match job {
        Job::Admit => "admit, left alone",
        Job::AdmitFolded => "admit, folded",
        Job::Assemble => "assemble",
        Job::Visit => "assemble, visited",
        Job::Fetch => "fetch",
        Job::CommitTurn => "commit_turn",
    }
}

/// Prints a table, with the first column aligned left and the others right.
pub(crate) fn print_table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let width = |column| rows.iter().map(|row| cell(row, column).chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = format!("{:width$}", cell(row, 0), width = widths[0]);
        for (column, width) in widths.iter().enumerate().skip(1) {
            line.push_str(&format!("  {:>width$}", cell(row, column)));
        }
        println!("{}", line.trim_end());
    }
}
