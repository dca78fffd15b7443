//! Holds the map in ARCHITECTURE.md against the imports: a module uses only modules of its own row or of rows above it, nothing but
//! `assemble` names the store, and what proposes is separate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules that do not use each other.
const SEPARATE: &[&str] = &["plan", "pipeline", "summarize", "rules"];

/// The row of each module: the lines of the map below `src/`, each with names before what it says of them.
fn rows() -> BTreeMap<String, usize> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(file).expect("ARCHITECTURE.md is readable");
    let (_, map) = text.split_once("\nsrc/ ").expect("the map has the line of src/");
    let lines = map.lines().skip(1).map_while(|line| line.strip_prefix("  "));
    let names = lines.map(|line| line.split("  ").next().unwrap_or_default());
    names.enumerate().flat_map(|(row, names)| names.split(' ').map(move |name| (name.to_owned(), row))).collect()
}

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
    let row = rows();
    let uses = regex::Regex::new(r"crate::(\w+)").expect("the pattern is valid");
    let mut all = Vec::new();
    files(&src, &mut all);
    assert!(all.len() > 10, "the walk found the sources");
    let mut modules = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in all {
        let below = file.strip_prefix(&src).expect("below src");
        let first = below.components().next().expect("a file").as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = *row.get(module).unwrap_or_else(|| panic!("{module} has no row in the map"));
        modules.insert(module.to_owned());
        let text = std::fs::read_to_string(&file).expect("src is readable");
        for used in uses.captures_iter(&text).map(|found| found[1].to_owned()).filter(|used| used != module) {
            let Some(&theirs) = row.get(&used) else { continue };
            let mixes = SEPARATE.contains(&module) && SEPARATE.contains(&used.as_str());
            let stores = used == "store" && module != "assemble";
            if theirs > own || mixes || stores {
                wrong.push(format!("{} uses {used}", below.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(row.into_keys().collect::<BTreeSet<_>>(), modules, "the map names what there is");
}
