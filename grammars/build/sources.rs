//! The list of grammars, and their locations in cargo's registry.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A grammar in its crate.
pub(crate) struct Grammar {
    /// Its name in this crate, in lower case.
    pub(crate) name: &'static str,
    /// The crate that contains its source.
    pub(crate) package: &'static str,
    /// The directory of its `parser.c` in that crate.
    pub(crate) dir: &'static str,
}

impl Grammar {
    /// Returns the name of one of its files.
    pub(crate) fn file(&self, extension: &str) -> String {
        format!("{}.{extension}", self.name)
    }
}

const fn grammar(name: &'static str, package: &'static str, dir: &'static str) -> Grammar {
    Grammar { name, package, dir }
}

/// Symbols that scanners export needlessly.
pub(crate) const VISIBLE: &[&str] = &[
    "DIRECTIVES",
    "DIRECTIVE_SYMBOLS",
    "NON_CONSUMING_CROSS_SEMI_CHARS",
    "NON_IDENTIFIER_CHARS",
    "OPERATORS",
    "OP_ILLEGAL_TERMINATORS",
    "OP_SYMBOLS",
    "OP_SYMBOL_SUPPRESSOR",
    "RESERVED_OPS",
    "token_name",
];

/// All grammars, those that take longest to compile first.
pub(crate) const GRAMMARS: &[Grammar] = &[
    grammar("c_sharp", "tree-sitter-c-sharp", "src"),
    grammar("scala", "tree-sitter-scala", "src"),
    grammar("swift", "tree-sitter-swift", "src"),
    grammar("kotlin", "tree-sitter-kotlin-ng", "src"),
    grammar("sql", "tree-sitter-sequel", "src"),
    grammar("cpp", "tree-sitter-cpp", "src"),
    grammar("ruby", "tree-sitter-ruby", "src"),
    grammar("bash", "tree-sitter-bash", "src"),
    grammar("tsx", "tree-sitter-typescript", "tsx/src"),
    grammar("typescript", "tree-sitter-typescript", "typescript/src"),
    grammar("php", "tree-sitter-php", "php/src"),
    grammar("rust", "tree-sitter-rust", "src"),
    grammar("c", "tree-sitter-c", "src"),
    grammar("python", "tree-sitter-python", "src"),
    grammar("javascript", "tree-sitter-javascript", "src"),
    grammar("java", "tree-sitter-java", "src"),
    grammar("go", "tree-sitter-go", "src"),
];

/// Returns the directories of the grammars' crates by name, in the versions of the lock file.
pub(crate) fn roots(manifest_dir: &Path, target: &str) -> HashMap<String, PathBuf> {
    let cargo = std::env::var_os("CARGO").expect("cargo says where it is");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target, "--manifest-path"])
        .arg(manifest_dir.join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let root = |package: &serde_json::Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some((package["name"].as_str()?.to_owned(), manifest.parent()?.to_owned()))
    };
    packages.iter().filter_map(root).collect()
}
