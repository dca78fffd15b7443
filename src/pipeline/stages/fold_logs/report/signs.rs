//! The table of the lines that tools print about successes: one row for each form.
//!
//! The first row whose pattern matches a line applies. A pattern covers the whole line; one that does not begin with
//! `^` may follow blanks. The groups of a pattern fill the fields of a [`Sign`] that have the same names.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::sign::Part::{Done, Step};
use super::sign::{Line, Part, Sign, Tool, seconds};

/// A row of the table, which describes one form of line: the tool, the part (`None` if the line must stay), the label,
/// and the pattern. A row with an empty label counts nothing.
struct Row(Tool, Option<Part>, &'static str, &'static str);

/// The rows. `<COUNT>`, `<PACKAGE>` and `<CHECK>` in a pattern stand for the constants of these names.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row(Tool::Go, Some(Done), "passed", r"--- PASS: .* \((?<time>.*s)\)$"),
    Row(Tool::Go, Some(Step), "", r"=== (?:RUN|PAUSE|CONT|NAME) "),
    Row(Tool::Go, Some(Done), "without test files", r"\?[ \t]+(?<name>[^ \t]+)[ \t]+\[no test files\]$"),
    Row(Tool::CargoTest, Some(Done), "passed", r"test (?:(?<name>[^ ]+)::)?[^ ]+(?: - should panic)? \.\.\. ok$"),
    Row(Tool::CargoTest, Some(Done), "passed", r"test (?<name>.+?) - .*\.\.\. ok$"),
    Row(Tool::Nextest, Some(Done), "passed", r"PASS \[ *(?<time>[^\]]*s)\] +(?:\([^)]*\) +)?(?<name>[^ ]+) ."),
    Row(Tool::Cargo, Some(Step), "compiled", "Compiling <PACKAGE>"),
    Row(Tool::Cargo, Some(Step), "checked", "Checking <PACKAGE>"),
    Row(Tool::Cargo, Some(Step), "fresh", "Fresh <PACKAGE>"),
    Row(Tool::Cargo, Some(Step), "documented", "Documenting <PACKAGE>"),
    Row(Tool::Cargo, Some(Step), "downloaded", "Downloaded <PACKAGE>"),
    // Lines of pytest: one test each, from one worker or several, or a row of dots.
    Row(Tool::Pytest, Some(Done), "passed", r"(?<name>[^ ]+?)::.+ PASSED(?: +\[ *[0-9]+%\])?$"),
    Row(Tool::Pytest, Some(Done), "passed", r"\[gw[0-9]+\] (?:\[[^%]*%\] )?PASSED (?<name>[^ ]+?)::."),
    Row(Tool::Dots, Some(Done), "passed",
        r"(?:(?<name>[^ ]*\.[^ ]*) +)?(?<dots>\.+)(?: *\[ *[0-9]+%\]| *[0-9]+ */ *[0-9]+(?: \( *[0-9]+%\))?)$"),
    // Fewer dots without a percentage may be an ellipsis.
    Row(Tool::Dots, Some(Done), "passed", r"(?:(?<name>[^ ]*\.[^ ]*) +)?(?<dots>\.{20,})$"),
    // Lines of the Test Anything Protocol. A test with a remark may have failed or did not run.
    Row(Tool::Tap, Some(Step), "", r"# Subtest: (?<title>.*)"),
    Row(Tool::Tap, Some(Done), "", r"^[ \t]+1\.\.[0-9]+$"),
    Row(Tool::Tap, None, "", r"ok [0-9]+.* # "),
    Row(Tool::Tap, Some(Done), "passed", r"ok [0-9]+[ -]*(?<title>.*)"),
    // Rows of pip precede those of Maven, which match some of the same lines about downloads.
    Row(Tool::Pip, Some(Done), "already satisfied",
        r"Requirement already satisfied: (?<name>[^<>=!~; ]*)(?:.* \((?<detail>[0-9][^)]*)\)$)?"),
    Row(Tool::Pip, Some(Step), "collected",
        r"Collecting [A-Za-z0-9_.\[\],-]+(?:$|[<>=!~; ].*\)$|[<>=!~;][^ ]*$)"),
    Row(Tool::Pip, Some(Step), "", r"Download(?:ing|ed) (?:.*\.whl|.*\.tar\.gz|.*B\)$|.*\.metadata$)"),
    Row(Tool::Pip, Some(Step), "", r"Using cached |Found existing installation: |Attempting uninstall: "),
    Row(Tool::Pip, Some(Step), "",
        concat!(r"(?:Preparing|Getting|Installing|Building) .*(?:metadata|build|requirements).*",
            r"(?:\.\.\.| started| done|status 'done')$")),
    Row(Tool::Pip, Some(Done), "", r"━━━━[━╸╺]*(?:.*/.*B|.*B.*/)"),
    Row(Tool::Apt, Some(Step), "set up", r"Setting up (?<name>.*?) \((?<detail>.*)\) \.\.\.$"),
    // No other line may state the previous version.
    Row(Tool::Apt, Some(Step), "unpacked", r"Unpacking (?<name>.*?) \((?<detail>.*\) over \(.*)\) \.\.\.$"),
    Row(Tool::Apt, Some(Step), "unpacked", r"Unpacking (?<name>.*?) \(.*\) \.\.\.$"),
    Row(Tool::Apt, Some(Step), "", r"(?:Get|Hit|Ign):[0-9].* http"),
    Row(Tool::Apt, Some(Step), "", r"Selecting previously unselected package |Preparing to unpack .* \.\.\.$"),
    Row(Tool::Apt, Some(Step), "", r"Processing triggers for .*\) \.\.\.$|\(Reading database \.\.\. "),
    Row(Tool::Git, Some(Done), "new tags", r"\* \[new tag\] *(?<name>.*?) * -> "),
    Row(Tool::Git, Some(Done), "new branches", r"\* \[new [^\]]*\] *(?<name>.*?) * -> "),
    Row(Tool::Git, Some(Done), "",
        concat!(r"(?:remote: )?(?:(?:Counting|Compressing|Receiving|Writing) objects|Resolving deltas|",
            r"Updating files|Filtering content): +[0-9]{1,2}% \([^\r]*$")),
    Row(Tool::Node, Some(Step), "fetched", r"npm http [^ ]+ GET (?:200|304) [^ ]*(?: (?<time>[^ ]*))?"),
    Row(Tool::Node, Some(Step), "fetched", r"npm http cache |➤ YN0013: .*the cache"),
    Row(Tool::Node, Some(Done), "", r"Progress: resolved "),
    Row(Tool::Docker, Some(Step), "", r"#[0-9]+ (?:(?<instant>CACHED)$|CACHED|DONE (?<time>.*)|\.\.\.$)"),
    Row(Tool::Docker, Some(Step), "",
        r"#[0-9]+ (?:sha256:|extracting sha256:|transferring |resolve |exporting |writing )"),
    Row(Tool::Docker, Some(Step), "build steps", r"#[0-9]+ \[(?:[^\]]* )?(?:internal|auth|[0-9]+/[0-9]+)\] ."),
    Row(Tool::Docker, Some(Done), "", r"=> => (?:[^#].*)?$"),
    Row(Tool::Docker, Some(Step), "cached steps", r"=> CACHED \["),
    Row(Tool::Docker, Some(Step), "",
        r"---> (?:Using cache$|Running in |[0-9a-fA-F]{12}$)|Removing intermediate container "),
    Row(Tool::Docker, Some(Done), "layers", r"[0-9a-f]{12}: (?:Pull complete|Already exists)$"),
    Row(Tool::Docker, Some(Step), "",
        concat!(r"[0-9a-f]{12}: (?:Pulling fs layer|Waiting|Verifying Checksum|Download complete|Pull complete|",
            r"Already exists|Downloading)")),
    Row(Tool::Configure, Some(Step), "checks: yes", r"checking .*\.\.\. (?:yes|\(cached\) yes|ok)$"),
    Row(Tool::Configure, Some(Step), "checks: none needed", r"checking (?<name>.*)\.\.\. none needed$"),
    Row(Tool::Configure, Some(Step), "checks: yes", r"^-- <CHECK>.* - (?:found|Success|done|works)$"),
    Row(Tool::Configure, Some(Step), "checks: skipped", r"^-- <CHECK>(?<name>.*) - skipped$"),
    Row(Tool::Configure, None, "", r"^-- <CHECK>.* - "),
    Row(Tool::Configure, Some(Step), "", r"^-- <CHECK>"),
    Row(Tool::Build, Some(Done), "built", r"\[<COUNT>\] Built target (?<name>.*)"),
    Row(Tool::Build, Some(Step), "build steps",
        r"\[<COUNT>\] (?:Building|Linking|Generating|Compiling|Copying|Installing|Creating|Automatic|Scanning) "),
    Row(Tool::Build, Some(Step), "", r"Scanning dependencies of target "),
    Row(Tool::Build, Some(Step), "",
        concat!(r"(?<quiet>make)\[[0-9]{1,2}\]: ",
            r"(?:Leaving directory |Entering directory |Nothing to be done for |.* is up to date\.$)")),
    Row(Tool::Maven, Some(Step), "downloaded", r"(?:\[INFO\] )?Downloaded(?: from |: http)"),
    Row(Tool::Maven, Some(Step), "",
        r"(?:\[INFO\] )?(?:Downloading(?: from |: http)|Progress \(|Running [^ ]*\.[^ ]*$)"),
    Row(Tool::Maven, Some(Done), "passed",
        concat!(r"(?:\[INFO\] )?Tests run: (?<count>[0-9]+), (?<quiet>Failures: 0, Errors: 0, Skipped: 0), ",
            r"Time elapsed: (?<time>.*) in (?<name>.*)")),
    // A skipped test task is not a success.
    Row(Tool::Gradle, None, "", r"> Task :[^ ]*(?i:test).* (?:SKIPPED|NO-SOURCE)$|> Task :.*FAILED$"),
    Row(Tool::Gradle, Some(Step), "tasks", r"> Task :"),
    Row(Tool::Gradle, Some(Done), "passed", r"(?<name>[^>].*?) > .+ PASSED$"),
    Row(Tool::Dotnet, Some(Done), "passed",
        r"Passed (?:(?<name>[^ (\[]+)\.)?[^ .(\[]+ ?(?:\(.*\) ?)?\[(?<time>.*s)\]$"),
    Row(Tool::Terraform, Some(Done), "known after apply", r"\+ (?<name>[^=]*?) *= *\(known after apply\)$"),
    Row(Tool::Terraform, Some(Step), "refreshed", r"^[^ ]*\.[^ ]*: Refreshing state\.\.\. \["),
    Row(Tool::Terraform, Some(Step), "",
        r"^[^ ]*\.[^ ]*: (?:Reading\.\.\.|Creating\.\.\.|Destroying\.\.\. \[|Modifying\.\.\. \[|Still .*elapsed\]$)"),
    // No other line may state the id of a new resource.
    Row(Tool::Terraform, Some(Done), "created",
        r"^(?<name>[^ ]*\.[^ ]*): Creation complete after (?<time>.*?)(?: \[id=(?<detail>.*)\])?$"),
    Row(Tool::Terraform, Some(Done), "destroyed", r"^(?<name>[^ ]*\.[^ ]*): Destruction complete after (?<time>.*)"),
    Row(Tool::Terraform, Some(Done), "modified", r"^(?<name>[^ ]*\.[^ ]*): Modifications complete after (?<time>.*)"),
    Row(Tool::Terraform, Some(Step), "read", r"^[^ ]*\.[^ ]*: Read complete after (?<time>.*)"),
];

/// A step number with the total, or a percentage.
const COUNT: &str = r"(?: *[0-9]+%|[0-9]+/[0-9]+)";

/// The words with which cmake announces a check.
const CHECK: &str = "(?:Looking for |Performing Test |Check |Detecting )";

/// A package with its version. A package from another source than the default registry has a detail and is named in the
/// note. Packages of the workspace are named without their paths.
const PACKAGE: &str =
    concat!(r"(?:[^ ]+ v[0-9][^ ]*$|", r"(?<name>[^ ]+) v[0-9][^ ]* \((?:(?<detail>registry .*|.*://.*)\)$|.*))");

static FORMS: LazyLock<Forms> = LazyLock::new(Forms::of);

/// All patterns as one set, which finds the matching row, and each pattern alone, for its groups.
struct Forms {
    set: RegexSet,
    each: Vec<Regex>,
}

impl Forms {
    fn of() -> Self {
        let pattern = |Row(.., pattern): &Row| {
            let pattern = pattern.replace("<COUNT>", COUNT).replace("<CHECK>", CHECK).replace("<PACKAGE>", PACKAGE);
            if pattern.starts_with('^') { pattern } else { format!(r"^[ \t]*(?:{pattern})") }
        };
        let patterns: Vec<String> = ROWS.iter().map(pattern).collect();
        let each = patterns.iter().map(|pattern| Regex::new(pattern).expect("the patterns are fixed and valid"));
        Self { set: RegexSet::new(&patterns).expect("the patterns are fixed and valid"), each: each.collect() }
    }
}

/// Reads a line by the table. Returns `None` for an unknown line and for one that must be kept.
pub(super) fn read<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let text = line.text.trim_end();
    let at = FORMS.set.matches(text).into_iter().next()?;
    let &Row(tool, part, label, _) = &ROWS[at];
    let found = FORMS.each[at].captures(text)?;
    let group = |name| found.name(name).map(|group| group.as_str());
    let count = match (group("count"), group("dots")) {
        (Some(count), _) => count.parse().ok()?,
        (None, Some(dots)) => dots.len(),
        (None, None) => usize::from(!label.is_empty()),
    };
    Some(Sign {
        name: group("name").unwrap_or_default(),
        detail: group("detail").unwrap_or_default(),
        title: group("title").unwrap_or_default(),
        seconds: group("time").and_then(seconds).or(group("instant").map(|_| 0.0)),
        quiet: group("quiet").is_some(),
        ..Sign::new(tool, part?, label, count)
    })
}

/// Reads a line of a known tool that docker prints within a step: `#7 1.234 Unpacking a (1) ...`.
pub(super) fn read_in_step<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (number, rest) = line.trimmed.strip_prefix('#')?.split_once(' ')?;
    let (time, output) = rest.split_once(' ')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let sign = read(&Line::of(line.start, output)).filter(|sign| matches!(sign.tool, Tool::Apt | Tool::Pip));
    sign.filter(|_| is_number(number) && is_number(time))
}
