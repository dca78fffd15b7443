//! Holds the map of `src/lib.rs` against the imports: a module uses only modules of its own row or of rows above it, and none
//! of the rows that propose (`pipeline`, `summarize`, `plan`, `rules`) names the store.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

const ROWS: &[&[&str]] = &[
    &["error", "config", "foreign", "parallel", "private"],
    &["transcript", "reference", "tokens", "content"],
    &["prose", "store", "history"],
    &["plan", "pipeline", "summarize", "rules"],
    &["squeeze", "assemble"],
];

/// Rows whose modules do not use each other.
const SEPARATE: &[&str] = &["plan", "pipeline", "summarize", "rules"];

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn modules_use_only_the_rows_above() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let row: HashMap<&str, usize> =
        ROWS.iter().enumerate().flat_map(|(row, names)| names.iter().map(move |name| (*name, row))).collect();
    let uses = regex::Regex::new(r"crate::(\w+)").expect("the pattern is valid");
    let mut all = Vec::new();
    files(&src, &mut all);
    assert!(all.len() > 10, "the walk found the sources");
    let mut wrong = Vec::new();
    for file in all {
        let below = file.strip_prefix(&src).expect("below src");
        let first = below.components().next().expect("a file").as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = *row.get(module).unwrap_or_else(|| panic!("{module} has no row in the map"));
        let text = std::fs::read_to_string(&file).expect("src is readable");
        for used in uses.captures_iter(&text).map(|found| found[1].to_owned()).filter(|used| used != module) {
            let Some(&theirs) = row.get(used.as_str()) else { continue };
            let mixes = SEPARATE.contains(&module) && SEPARATE.contains(&used.as_str());
            let stores = used == "store" && module != "assemble";
            if theirs > own || mixes || stores {
                wrong.push(format!("{} uses {used}", below.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
