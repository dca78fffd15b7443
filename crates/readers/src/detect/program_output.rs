//! Lines of builds, test runs, installers and stack traces: log lines without time stamps.
//!
//! The lines of a stack trace inside a log are log lines, whatever language they name.

use std::sync::LazyLock;

use crate::lines::head;
use crate::word_set::{WordSet, is_number};

/// Returns true if a line belongs to a stack trace: a frame, or the words that open one.
pub fn is_frame(line: &str) -> bool {
    let bare = head(line.trim_start(), 300);
    let indented = bare.len() < line.len();
    match bare.as_bytes().first() {
        Some(b'a') => indented && bare.starts_with("at ") && bare.contains(['(', ':', '.']),
        Some(b'F') => bare.starts_with("File \"") && bare.contains("\", line "),
        Some(b'T') => bare.starts_with("Traceback (most recent call last)"),
        Some(b'C') => bare.starts_with("Caused by: ") && bare.contains(['.', ':']),
        Some(b'E') => bare.starts_with("Exception in thread "),
        Some(b't') => bare.starts_with("thread '") && bare.contains("panicked at"),
        Some(b'p') => bare.starts_with("panic: "),
        Some(b'g') => bare.starts_with("goroutine ") && bare.ends_with("]:"),
        Some(b'f') => indented && bare.starts_with("from ") && bare.contains(":in "),
        Some(b'.') => indented && bare.starts_with("... ") && bare.ends_with(" more"),
        Some(b'#') => {
            let call = bare[1..].trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
            let is_native = || call.starts_with("0x") || call.contains(" (") && call.contains(") at ");
            bare.len() > 3 && bare.as_bytes()[1].is_ascii_digit() && (bare.contains("): ") || is_native())
        }
        // Lines of valgrind and sanitizers about a process.
        Some(b'=') => bare.strip_prefix("==").is_some_and(|rest| {
            let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            name.len() < rest.len() && name.starts_with("==")
        }),
        Some(b'0'..=b'9') => {
            let name = bare.trim_start_matches(|c: char| c.is_ascii_digit());
            indented && name.starts_with(": ") && name.contains("::")
        }
        Some(b'/') => indented && bare.contains(".go:") && bare.contains(" +0x"),
        _ => false,
    }
}

/// Beginnings of lines of builds, test runs and installers, separated by bars.
const STARTS: &str = "ok  \t|?   \t|FAIL|PASS|--- PASS|--- FAIL|--- SKIP|=== RUN|=== CONT|=== PAUSE|=== NAME|ok |not ok |# tests |RUN |\
    npm |yarn |pnpm |added |audited |found 0 vuln|Compiling |Finished |Running |Checking |Doc-tests |Fresh |test result:|running |\
    Downloading |Downloaded |Collecting |Installing |Installed |Requirement already |Successfully |Building |Built |Fetching |Unpacking |\
    Setting up |Preparing |Selecting |Processing |Using cached |Obtaining file:|Getting requirements|checking |configure:|\
    Attempting uninstall|Uninstalling |Found existing installation|Get:|Hit:|Ign:|Step |---> |warning:|warning[|error:|error[|error TS|\
    Error:|Warning:|note:|help: |Exit code |exit status |exit code |BUILD |> Task |make:|make[|gcc |g++ |cc |clang |cargo |\
    Tests:|Test Suites:|Test Files|Snapshots:|Time:|Duration|✓|✔|✗|✖|❯|×|PASSED|FAILED|collected |platform |rootdir:|plugins:|=====|_____|\
    Checked |Fixed |Skipped |Skipping |Committed |Created |Started |Stopped |Removed |Deleted |Updated |Cloning into|remote: |\
    Receiving objects|Resolving deltas|Linking |Generating |Bundling |transforming |rendering |vite v|webpack |asset |Debugger attached|\
    Waiting for the debugger|Process exited|Command exited|[INFO]|[WARNING]|[ERROR]|E   |>   |Parsed |Staging |Staged |Copied |--- SKIP|# Subtest: |▶ |ℹ |➤ YN|✕|○|↓|✘|[gw|Hit:|Progress: resolved |Scanning dependencies |\
    ninja: |cmake: |-- Detecting |-- Looking for |-- Check for |-- Performing Test |-- Configuring done|-- Generating done|\
    Updating files|Updating crates|Locking |Documenting |Tests run:|Passed |Unable to find image|Plan: |Apply complete! |--> |= note: |= help: |::: ";

/// Words that occur inside lines of builds and test runs.
#[rustfmt::skip]
const WITHIN: &[&str] = &[
    " ... ok", " ... FAIL", " ... ERROR", "... done", "(cached)", " PASSED", " FAILED", ": error", ": warning",
    "[no test files]", " error TS", "[build failed]", " ms)", " SKIPPED (", " XFAIL", ": Refreshing state... [",
    ": Creation complete after ", ": Pull complete", ": Still creating... [", "%] Building ", "%] Built target ",
];

/// Returns true if a line looks like one of a build, a test run, an installer or a stack trace.
///
/// This is weak evidence: a single such line proves nothing.
pub(super) fn is_output_line(line: &str) -> bool {
    let bare = head(line.trim_start(), 400);
    static STARTING: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(STARTS.split('|')));
    static INSIDE: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(WITHIN.iter().copied()));
    if bare.is_empty() {
        return false;
    }
    is_frame(line)
        || STARTING.start(bare)
        || INSIDE.are_in(bare)
        || is_script_banner(bare)
        || is_bracketed_tag(bare)
        || is_code_frame(line)
        || is_image_step(bare)
}

/// Returns true for a step of an image build: `#12 [2/8] RUN make`, `#12 sha256:… 1.2MB / 3MB`, `#12 0.345 text`, `#12
/// DONE 1.2s`.
fn is_image_step(bare: &str) -> bool {
    bare.strip_prefix('#').and_then(|bare| bare.split_once(' ')).is_some_and(|(number, rest)| {
        let is_time = |word: &str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_number(number)
            && (["[", "sha256:", "extracting ", "transferring ", "DONE ", "CACHED", "ERROR"]
                .iter()
                .any(|word| rest.starts_with(word))
                || rest.split(' ').next().is_some_and(is_time))
    })
}

/// Returns true for `> package@1.2.3 build`, which npm prints before a script.
fn is_script_banner(bare: &str) -> bool {
    bare.strip_prefix("> ").and_then(|rest| rest.split(' ').next()).is_some_and(|word| {
        word.rsplit_once('@').is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Returns true for `[entire] ...` or `[12/45] ...`: a short word or a fraction in brackets, then a blank, but no
/// assignment.
fn is_bracketed_tag(bare: &str) -> bool {
    bare.strip_prefix('[').and_then(|rest| rest.split_once("] ")).is_some_and(|(tag, rest)| {
        !rest.starts_with('=')
            && tag.len() <= 24
            && tag.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'%' | b'-' | b'_' | b':' | b'.' | b' ')
            })
            && tag.len() > 1
    })
}

/// Returns true for a line of the excerpt that a compiler or linter prints below its message: `  > 12 │ let x`, or the
/// line of marks `   |     ^^^ expected u8`.
fn is_code_frame(line: &str) -> bool {
    let bare = line.trim_start_matches([' ', '>']);
    let (digits, rest) = behind_number(bare);
    let is_bar = rest.starts_with(['│', '┃']);
    let marks = rest.strip_prefix('|').map(str::trim_start).filter(|_| digits == 0);
    let is_marked = marks.is_some_and(|marks| marks.is_empty() || marks.starts_with(['^', '~', '_', '|']));
    line.len() > bare.len() && (digits > 0 || rest.len() == bare.len()) && (is_bar || is_marked)
}

/// Returns true for a numbered line of such an excerpt, which may also be a row of a table: `12 |     let x = 1;`.
pub(super) fn is_numbered_frame(line: &str) -> bool {
    let (digits, rest) = behind_number(line.trim_start());
    digits > 0 && rest.starts_with('|')
}

/// Returns the length of the number at the start of a text, and what is behind it and its blanks.
fn behind_number(text: &str) -> (usize, &str) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits, text[digits..].trim_start_matches(' '))
}
