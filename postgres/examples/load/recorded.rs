//! Reads recorded sessions from files and folders, and derives variants of them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom as _;
use serde_json::Value;

/// The folders with the recorded sessions of the repository.
const OURS: [&str; 2] = ["fixtures/demo", "fixtures/sessions"];

/// Returns every file that may be a session, the largest first, by unpacked size. If no files are named, those of the
/// repository are used.
pub(crate) fn find(named: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let ours = || {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        OURS.iter().map(|dir| project.join(dir)).collect::<Vec<_>>()
    };
    let named = if named.is_empty() { ours() } else { named.to_vec() };
    let mut files = Vec::new();
    for path in named {
        let unreadable = |error: std::io::Error| format!("{}: {error}", path.display());
        if path.is_dir() {
            for entry in path.read_dir().map_err(unreadable)? {
                let file = entry.map_err(unreadable)?.path();
                files.extend(Some(file).filter(|file| is_session(file)));
            }
        } else {
            files.push(path);
        }
    }
    let mut sized = Vec::new();
    for file in files {
        sized.push((text(&file)?.len(), file));
    }
    sized.sort_by(|one, other| other.cmp(one));
    if sized.is_empty() {
        return Err("there are no recorded sessions: name files or folders with .json, .jsonl or .gz of these".into());
    }
    Ok(sized.into_iter().map(|(_, file)| file).collect())
}

fn is_session(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.ends_with(".json") || name.ends_with(".jsonl")
}

fn text(file: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", file.display());
    let mut text = String::new();
    let opened = File::open(file).map_err(unreadable)?;
    if file.extension().is_some_and(|ending| ending == "gz") {
        GzDecoder::new(opened).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        std::io::BufReader::new(opened).read_to_string(&mut text).map_err(unreadable)?;
    }
    Ok(text)
}

/// Returns the messages of a session from a JSON array, or from lines that are messages or contain one.
pub(crate) fn read(file: &Path) -> Result<Vec<Value>, String> {
    let text = text(file)?;
    let rows: Result<Vec<Value>, _> = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text)
    } else {
        text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
    };
    let rows = rows.map_err(|error| format!("{}: {error}", file.display()))?;
    let message = |mut row: Value| if row["message"].is_object() { row["message"].take() } else { row };
    let messages: Vec<Value> = rows.into_iter().map(message).filter(|message| message["role"].is_string()).collect();
    if messages.iter().any(|message| message["role"] == "assistant") {
        return Ok(messages);
    }
    Err(format!("{} holds no model call", file.display()))
}

/// Replaces digits in tool results consistently, so that a variant has different originals of the same length that fold
/// equally well. The variant 0 is the recording itself.
pub(crate) fn vary(messages: &mut [Value], variant: u64) {
    if variant == 0 {
        return;
    }
    let mut digits: Vec<char> = ('0'..='9').collect();
    digits.shuffle(&mut SmallRng::seed_from_u64(variant));
    let other = |text: &str| -> String {
        text.chars().map(|char| char.to_digit(10).map_or(char, |digit| digits[digit as usize])).collect()
    };
    for message in messages.iter_mut().filter(|message| message["role"] == "toolResult") {
        let Some(parts) = message["content"].as_array_mut() else { continue };
        for part in parts {
            if let Some(text) = part["text"].as_str() {
                part["text"] = Value::String(other(text));
            }
        }
    }
}
