//! Real inputs for tests: the corpus directory (`CONCERTINA_CORPUS`, or else `../shared/corpus`) if it exists, and
//! always the project's own fixtures, so that no test passes without any input.

#![allow(dead_code, reason = "not every binary uses every part")]

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One real input.
pub(crate) struct Input {
    /// Path below its root, for messages.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

impl Input {
    /// Returns the text of the input if it is UTF-8.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// Returns the project's directory, whichever of its crates this is compiled into.
fn project() -> &'static Path {
    let mut ancestors = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    ancestors.find(|dir| dir.join("fixtures").is_dir()).expect("the project has fixtures")
}

/// Returns the corpus directory, if this machine has one.
pub(crate) fn root() -> Option<PathBuf> {
    let root = std::env::var_os("CONCERTINA_CORPUS").map_or_else(|| project().join("../shared/corpus"), PathBuf::from);
    root.is_dir().then_some(root)
}

/// Returns all inputs of a kind (`json`, `logs`, `sessions`, ...): the corpus's, then those of `fixtures/<kind>`,
/// sorted by name.
pub(crate) fn inputs(kind: &str) -> Vec<Input> {
    let fixtures = project().join("fixtures");
    let mut found = Vec::new();
    for root in root().into_iter().chain([fixtures]) {
        collect(&root, &root.join(kind), &mut found);
    }
    if root().is_none() {
        eprintln!("no corpus directory: testing {kind} on the project's own fixtures only");
    }
    found
}

/// Returns the files below the directory that an environment variable names, or nothing if it is not set.
pub(crate) fn below(variable: &str) -> Vec<Input> {
    let mut found = Vec::new();
    if let Some(dir) = std::env::var_os(variable).map(PathBuf::from) {
        collect(&dir, &dir, &mut found);
    }
    found
}

/// Returns the recorded sessions, which are the inputs that are an array of messages, with their names.
pub(crate) fn sessions() -> impl Iterator<Item = (String, Vec<Value>)> {
    let inputs = inputs("sessions").into_iter();
    inputs.filter_map(|input| Some((input.name, serde_json::from_slice::<Vec<Value>>(&input.bytes).ok()?)))
}

/// Returns one of the fusion reference's own inputs, if they are stored next to the corpus.
pub(crate) fn peer(name: &str) -> Option<String> {
    std::fs::read_to_string(root()?.join("../peers/inputs").join(name)).ok()
}

/// Returns every string in a JSON value.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

fn collect(root: &Path, dir: &Path, found: &mut Vec<Input>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable directory").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(root, &path, found);
        } else {
            let bytes = std::fs::read(&path).expect("a readable file");
            let name = path.strip_prefix(root).expect("below its root").display().to_string();
            found.push(Input { name, bytes });
        }
    }
}
