//! Tests the severity of lines that real tools print. To add a tool, add a file to `severity/`; to add a test, add a
//! line `level|line` below `# tool`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use concertina_readers::severity::{Severity, severity};

/// A line of a file: the tool that printed it, its level, and its text.
struct Case {
    tool: String,
    level: Severity,
    line: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/severity");
    let mut cases = Vec::new();
    for file in fs::read_dir(folder).expect("the folder of lines") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a text");
        let mut tool = String::new();
        for row in text.lines() {
            if let Some(name) = row.strip_prefix("# ") {
                tool = name.to_owned();
                continue;
            }
            let (level, line) = row.split_once('|').unwrap_or_else(|| panic!("no level: {row}"));
            let level = match level {
                "none" => Severity::None,
                "notice" => Severity::Notice,
                "warning" => Severity::Warning,
                "error" => Severity::Error,
                "fatal" => Severity::Fatal,
                other => panic!("no such level: {other}"),
            };
            cases.push(Case { tool: tool.clone(), level, line: line.to_owned() });
        }
    }
    cases
}

#[test]
fn lines_of_many_tools_are_as_grave_as_their_tools_mean_them() {
    let cases = cases();
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| severity(&case.line) != case.level)
        .map(|case| format!("{}: {:?}, not {:?}: {}", case.tool, severity(&case.line), case.level, case.line))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let tools: BTreeSet<&str> = cases.iter().map(|case| &*case.tool).collect();
    assert!(tools.len() >= 60, "{} tools", tools.len());
}

#[test]
fn blanks_behind_a_line_change_nothing() {
    for case in cases() {
        assert_eq!(severity(&format!("{}  ", case.line)), case.level, "{}: {}", case.tool, case.line);
        assert_eq!(severity(&format!("{}\r", case.line)), case.level, "{}: {}", case.tool, case.line);
    }
}
