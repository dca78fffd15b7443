//! Extracts the parse tables from the grammars. The rest of each is compiled, and the compressed tables are stored next
//! to it.
//!
//! A generated `parser.c` is two percent lexer and the rest tables. The tables are parsed from its text and not
//! compiled.

mod parser;
mod scanner;
mod sources;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use parser::Parser;
use sources::{GRAMMARS, Grammar, VISIBLE};

/// Slow to compress, as fast to decompress as any level.
const COMPRESSION_LEVEL: i32 = 19;

fn main() {
    for watched in ["build", "../Cargo.lock"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    assert_eq!(variable("CARGO_CFG_TARGET_ENDIAN"), "little", "the tables are written with the low byte first");
    let out = PathBuf::from(variable("OUT_DIR"));
    let roots = sources::roots(&PathBuf::from(variable("CARGO_MANIFEST_DIR")), &variable("TARGET"));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..variable("NUM_JOBS").parse().unwrap_or(1) {
            scope.spawn(|| {
                while let Some(grammar) = GRAMMARS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    build(grammar, &roots[grammar.package].join(grammar.dir), &out);
                }
            });
        }
    });
    let list = GRAMMARS.iter().map(|grammar| fs::read_to_string(out.join(grammar.file("rs"))).expect("just written"));
    fs::write(out.join("grammars.rs"), list.collect::<String>()).expect("cargo's directory can be written");
}

/// Writes `NAME.zst` and `NAME.rs`, and compiles `libgrammar_NAME.a`.
fn build(grammar: &Grammar, dir: &Path, out: &Path) {
    let name = grammar.name;
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let path = dir.join("parser.c");
    let parser = Parser::read(&read(&path), name).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let compressed = zstd::bulk::compress(&parser.tables, COMPRESSION_LEVEL).expect("zstd takes any bytes");
    let write = |extension, bytes: &[u8]| {
        let file = out.join(grammar.file(extension));
        fs::write(&file, bytes).expect("cargo's directory can be written");
        file
    };
    write("zst", &compressed);
    let row = format!("grammar!({}, \"{name}\", {});\n", name.to_uppercase(), parser.tables.len());
    write("rs", row.as_bytes());

    let mut c = cc::Build::new();
    // A scanner's assertion must not end the process of a program that reads a file.
    c.define("NDEBUG", None);
    // Half the size, and 5 to 10 % less parsing time. Other levels take compilers a minute.
    if parser.large {
        c.opt_level_str("s");
    }
    c.std("c11").warnings(false).include(dir).file(write("c", parser.rest.as_bytes()));
    let scanner = dir.join("scanner.c");
    if scanner.exists() {
        c.file(write("scanner.c", scanner::mended(&read(&scanner), name).as_bytes()));
    }
    // Allows a program to link the grammar's own crate too.
    let language = format!("tree_sitter_{}", parser.name);
    let functions = ["create", "destroy", "reset", "scan", "serialize", "deserialize"];
    let functions = functions.map(|function| format!("{language}_external_scanner_{function}"));
    for theirs in functions.iter().map(String::as_str).chain(VISIBLE.iter().copied()) {
        c.define(theirs, format!("concertina_{name}_{theirs}").as_str());
    }
    c.define(&language, format!("concertina_{name}").as_str());
    // Without this flag compilers for Windows assume the system's encoding.
    c.flag_if_supported("-utf-8");
    c.compile(&format!("grammar_{name}"));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("cargo sets {name}: {error}"))
}
