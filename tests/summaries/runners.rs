//! Generated reports of fourteen test runners: random suites, verdicts, retries, names in several languages, lines of
//! tasks, colours and line ends, with the runner's own totals.

/// A generator of numbers that are the same in each run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len())]
    }
}

/// The output of a runner.
pub(crate) struct Report {
    pub(crate) runner: &'static str,
    pub(crate) text: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// The line with the number of failed tests, or of passed tests if none failed; empty if the runner prints none.
    pub(crate) total: String,
    /// The names of failed tests, as the runner prints them.
    pub(crate) failing: Vec<String>,
}

pub(crate) const RUNNERS: [&str; 14] = [
    "jest",
    "vitest",
    "mocha",
    "node TAP",
    "node spec",
    "pytest",
    "go test",
    "cargo test",
    "nextest",
    "phpunit",
    "swift",
    "gradle",
    "playwright",
    "rspec",
];

/// Returns a report of a runner. Every fourth one is coloured, and every third one has Windows line ends.
pub(crate) fn report(runner: &'static str, dice: &mut Dice) -> Report {
    const NAMES: &[&str] = &[
        "adds",
        "removes",
        "tells the error",
        "is 3 passing of 9",
        "rejects what failed",
        "renders",
        "opens the file",
        "加算する",
        "löscht den Eintrag",
        "возвращает ошибку",
        "ajoute 2 tests passés",
    ];
    const TASKS: &[&str] = &[
        "",
        "",
        "> shop@1.0.0 test\n> run all\n\n",
        "Building 12 targets\n✔ bundled in 2.1s\n",
        "make[1]: Entering directory '/home/ann/shop'\n",
        "  Compiling shop v0.1.0\n    Finished in 0.43s\n",
    ];
    let suites: Vec<Vec<(String, Verdict)>> = (0..1 + dice.roll(4))
        .map(|_| {
            (0..1 + dice.roll(9))
                .map(|at| {
                    let verdict = match dice.roll(8) {
                        0 | 1 => Verdict::Failed,
                        2 => Verdict::Skipped,
                        3 => Verdict::Retried,
                        _ => Verdict::Passed,
                    };
                    (format!("{} {at}", dice.pick(NAMES)), verdict)
                })
                .collect()
        })
        .collect();
    let tasks = dice.pick(TASKS);
    let mut run = Run { suites, is_coloured: dice.roll(4) == 0, total: String::new() };
    let mut text = format!("{tasks}{}", run.write(runner));
    if dice.roll(3) == 0 {
        text = text.replace('\n', "\r\n");
    }
    let (passed, failed) = (run.count(Verdict::Passed) + run.count(Verdict::Retried), run.count(Verdict::Failed));
    let failing = run.failing(runner);
    Report { runner, text, passed, failed, total: run.total, failing }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
    /// It failed at first. Only Playwright reports this.
    Retried,
}

struct Run {
    suites: Vec<Vec<(String, Verdict)>>,
    is_coloured: bool,
    total: String,
}

impl Run {
    fn count(&self, verdict: Verdict) -> usize {
        self.suites.iter().flatten().filter(|(_, own)| *own == verdict).count()
    }

    fn failing(&self, runner: &str) -> Vec<String> {
        let suites = self.suites.iter().enumerate();
        let tests = suites.flat_map(|(at, suite)| {
            suite.iter().enumerate().map(move |(number, (name, verdict))| (at, number, name, *verdict))
        });
        let failed = tests.filter(|(.., verdict)| *verdict == Verdict::Failed);
        let printed = |(at, number, name, _): (usize, usize, &String, Verdict)| match runner {
            "go test" => format!("TestS{at}N{number}"),
            "pytest" | "cargo test" | "nextest" | "phpunit" => name.replace(' ', "_"),
            _ => name.clone(),
        };
        failed.map(printed).collect()
    }

    fn colour(&self, number: u8, words: &str) -> String {
        if self.is_coloured { format!("\u{1b}[{number}m{words}\u{1b}[39m") } else { words.to_owned() }
    }

    /// Returns the numbers of suites with and without a failed test.
    fn suites_by_verdict(&self) -> (usize, usize) {
        let has_failed = |suite: &&Vec<(String, Verdict)>| suite.iter().any(|(_, verdict)| *verdict == Verdict::Failed);
        let failed = self.suites.iter().filter(has_failed).count();
        (failed, self.suites.len() - failed)
    }

    fn write(&mut self, runner: &str) -> String {
        let (failed, skipped) = (self.count(Verdict::Failed), self.count(Verdict::Skipped));
        let passed = self.count(Verdict::Passed) + self.count(Verdict::Retried);
        let all = passed + failed + skipped;
        let (bad, good) = self.suites_by_verdict();
        let named = |count: usize, word: &str| if count > 0 { format!("{count} {word}, ") } else { String::new() };
        let (mut body, end, total);
        match runner {
            "jest" => {
                body = self.marks("  ", "✓", "✕", "○", " (2 ms)", |at| format!("PASS src/s{at}.test.js"));
                total = format!(
                    "Tests: {}{}{}{all} total",
                    named(failed, "failed"),
                    named(skipped, "skipped"),
                    named(passed, "passed")
                );
                let suites =
                    format!("Test Suites: {}{}{} total", named(bad, "failed"), named(good, "passed"), bad + good);
                end = format!(
                    "{suites}\n{}\nSnapshots:   0 total\nTime:        2.1 s\nRan all test suites.\n",
                    total.replace(": ", ":       ")
                );
            }
            "vitest" => {
                body = self.marks(" ", "✓", "×", "↓", " 3ms", |at| format!(" ❯ src/s{at}.test.ts"));
                let barred = |failed: usize, passed: usize, skipped: usize| {
                    let parts = [(failed, "failed"), (passed, "passed"), (skipped, "skipped")];
                    let parts: Vec<String> = parts
                        .iter()
                        .filter(|(count, _)| *count > 0)
                        .map(|(count, word)| format!("{count} {word}"))
                        .collect();
                    parts.join(" | ")
                };
                total = format!("Tests {} ({all})", barred(failed, passed, skipped));
                end = format!(
                    " Test Files  {} ({})\n      {}\n   Start at  10:22:01\n   Duration  4.31s\n",
                    barred(bad, good, 0),
                    bad + good,
                    total.replacen(' ', "  ", 1)
                );
            }
            "mocha" => {
                body = self.marks("  ", "✔", "1)", "-", " (12ms)", |at| format!("  suite {at}"));
                total = if failed > 0 { format!("{failed} failing") } else { format!("{passed} passing (54ms)") };
                let failing = if failed > 0 {
                    format!(
                        "  {failed} failing\n\n  1) suite 0\n       adds 0:\n     AssertionError: 1 == 2\n      at a.js:3:4\n"
                    )
                } else {
                    String::new()
                };
                let pending = if skipped > 0 { format!("  {skipped} pending\n") } else { String::new() };
                end = format!("\n  {passed} passing (54ms)\n{pending}{failing}\n");
            }
            "node TAP" | "node spec" => {
                let is_tap = runner == "node TAP";
                body = if is_tap { "TAP version 13\n".to_owned() } else { String::new() };
                for (at, suite) in self.suites.iter().enumerate() {
                    let has_failed = suite.iter().any(|(_, verdict)| *verdict == Verdict::Failed);
                    body += &if is_tap { format!("# Subtest: suite {at}\n") } else { format!("▶ suite {at}\n") };
                    for (number, (name, verdict)) in suite.iter().enumerate() {
                        let ok = *verdict != Verdict::Failed;
                        let skip = if *verdict == Verdict::Skipped { " # SKIP" } else { "" };
                        body += &match (is_tap, ok) {
                            (true, _) => format!(
                                "    # Subtest: {name}\n    {}ok {} - {name}{skip}\n      ---\n      duration_ms: 0.5\n      ...\n",
                                if ok { "" } else { "not " },
                                number + 1
                            ),
                            (false, true) => format!("  ✔ {name} (0.1ms){skip}\n"),
                            (false, false) => format!("  ✖ {name} (0.1ms)\n"),
                        };
                    }
                    let ok = if has_failed { "not ok" } else { "ok" };
                    let sign = if has_failed { "✖" } else { "✔" };
                    body += &if is_tap {
                        format!("    1..{}\n{ok} {} - suite {at}\n", suite.len(), at + 1)
                    } else {
                        format!("{sign} suite {at} (3.1ms)\n")
                    };
                }
                let sign = if is_tap { '#' } else { 'ℹ' };
                total = format!("{sign} fail {failed}");
                end = format!(
                    "{sign} tests {all}\n{sign} suites {}\n{sign} pass {passed}\n{total}\n{sign} cancelled 0\n{sign} skipped {skipped}\n{sign} todo 0\n",
                    bad + good
                );
            }
            "pytest" => {
                body = "============ test session starts ============\ncollected 9 items\n\n".to_owned();
                for (at, suite) in self.suites.iter().enumerate() {
                    for (name, verdict) in suite {
                        let word = match verdict {
                            Verdict::Failed => self.colour(31, "FAILED"),
                            Verdict::Skipped => "SKIPPED (later)".to_owned(),
                            _ => self.colour(32, "PASSED"),
                        };
                        body += &format!("tests/test_s{at}.py::test_{} {word} [ 50%]\n", name.replace(' ', "_"));
                    }
                }
                total = format!(
                    "{}{}{}in 0.31s",
                    named(failed, "failed"),
                    named(passed, "passed"),
                    named(skipped, "skipped")
                )
                .replace(", in", " in");
                let short = if failed > 0 {
                    "=== short test summary info ===\nFAILED tests/test_s0.py::test_adds_0 - assert 1 == 2\n"
                } else {
                    ""
                };
                end = format!("{short}=============== {total} ===============\n");
            }
            "go test" => {
                body = String::new();
                for (at, suite) in self.suites.iter().enumerate() {
                    for (number, (_, verdict)) in suite.iter().enumerate() {
                        let word = match verdict {
                            Verdict::Failed => "FAIL",
                            Verdict::Skipped => "SKIP",
                            _ => "PASS",
                        };
                        body += &format!("=== RUN   TestS{at}N{number}\n--- {word}: TestS{at}N{number} (0.00s)\n");
                    }
                }
                total = String::new();
                end = if failed > 0 {
                    "FAIL\nFAIL\texample.org/x\t0.1s\nFAIL\n".to_owned()
                } else {
                    "PASS\nok  \texample.org/x\t0.1s\n".to_owned()
                };
            }
            "cargo test" => {
                body = format!("running {all} tests\n");
                for (at, suite) in self.suites.iter().enumerate() {
                    for (name, verdict) in suite {
                        let word = match verdict {
                            Verdict::Failed => self.colour(31, "FAILED"),
                            Verdict::Skipped => "ignored".to_owned(),
                            _ => "ok".to_owned(),
                        };
                        body += &format!("test s{at}::{} ... {word}\n", name.replace(' ', "_"));
                    }
                }
                let word = if failed > 0 { "FAILED" } else { "ok" };
                total = format!(
                    "test result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; 0 filtered out; finished in 0.02s"
                );
                end = format!(
                    "\n{total}\n\n{}",
                    if failed > 0 { "error: test failed, to rerun pass `--lib`\n" } else { "" }
                );
            }
            "nextest" => {
                body = format!("    Starting {all} tests across 3 binaries\n");
                for (at, suite) in self.suites.iter().enumerate() {
                    for (name, verdict) in suite {
                        let line = |word: &str| format!("{word} [   0.012s] shop s{at}::{}\n", name.replace(' ', "_"));
                        body += &match verdict {
                            Verdict::Failed => line(&format!("        {}", self.colour(31, "FAIL"))),
                            Verdict::Skipped => String::new(),
                            Verdict::Retried => line("  TRY 1 FAIL") + &line("  TRY 2 PASS"),
                            Verdict::Passed => line(&format!("        {}", self.colour(32, "PASS"))),
                        };
                    }
                }
                let flaky = self.count(Verdict::Retried);
                let flaky = if flaky > 0 { format!(" ({flaky} flaky)") } else { String::new() };
                let bad = if failed > 0 { format!(", {failed} failed") } else { String::new() };
                let run = passed + failed;
                total = format!("Summary [ 0.912s] {run} tests run: {passed} passed{flaky}{bad}, {skipped} skipped");
                let error = if failed > 0 { "error: test run failed\n" } else { "" };
                end = format!("────────────\n     {}\n{error}", total.replace("[ ", "[   "));
            }
            "phpunit" => {
                body = "PHPUnit 10.5.1 by Sebastian Bergmann and contributors.\n\n".to_owned();
                for (_, verdict) in self.suites.iter().flatten() {
                    body.push(match verdict {
                        Verdict::Failed => 'F',
                        Verdict::Skipped => 'S',
                        _ => '.',
                    });
                }
                body += &format!("  {all} / {all} (100%)\n\nTime: 00:00.123, Memory: 12.00 MB\n\n");
                let tests =
                    self.suites.iter().enumerate().flat_map(|(at, suite)| suite.iter().map(move |test| (at, test)));
                for (number, (at, (name, _))) in
                    tests.filter(|(_, (_, verdict))| *verdict == Verdict::Failed).enumerate()
                {
                    body += &format!("{}) App\\S{at}Test::{}\n", number + 1, name.replace(' ', "_"));
                    body += &format!(
                        "Failed asserting that 4 matches expected 3.\n\n/app/tests/S{at}Test.php:{number}\n\n"
                    );
                }
                let skips = if skipped > 0 { format!(", Skipped: {skipped}") } else { String::new() };
                total = match (failed, skipped) {
                    (0, 0) => format!("OK ({all} tests, {all} assertions)"),
                    (0, _) => format!("Tests: {all}, Assertions: {all}{skips}."),
                    _ => format!("Tests: {all}, Assertions: {all}, Failures: {failed}{skips}."),
                };
                let head = if failed > 0 {
                    "FAILURES!\n"
                } else if skipped > 0 {
                    "OK, but some tests were skipped!\n"
                } else {
                    ""
                };
                end = format!("{head}{total}\n");
            }
            "swift" => {
                body = "◇ Test run started.\n".to_owned();
                for (at, suite) in self.suites.iter().enumerate() {
                    body += &format!("◇ Suite S{at} started.\n");
                    for (name, verdict) in suite {
                        body += &match verdict {
                            Verdict::Failed => format!(
                                "✘ Test \"{name}\" recorded an issue at S{at}.swift:20:5: Expectation failed: 1 == 2\n✘ Test \"{name}\" failed after 0.002 seconds with 1 issue.\n"
                            ),
                            Verdict::Skipped => format!("➜ Test \"{name}\" skipped.\n"),
                            _ => format!("✔ Test \"{name}\" passed after 0.001 seconds.\n"),
                        };
                    }
                }
                let (sign, word) = if failed > 0 {
                    ('✘', format!("failed after 0.003 seconds with {failed} issues."))
                } else {
                    ('✔', "passed after 0.003 seconds.".to_owned())
                };
                total = format!("{sign} Test run with {all} tests {word}");
                end = format!("{total}\n");
            }
            "gradle" => {
                body = "> Task :compileJava\n".to_owned();
                for (at, suite) in self.suites.iter().enumerate() {
                    for (name, verdict) in suite {
                        let word = match verdict {
                            Verdict::Failed => self.colour(31, "FAILED"),
                            Verdict::Skipped => "SKIPPED".to_owned(),
                            _ => "PASSED".to_owned(),
                        };
                        body += &format!("S{at} > {name}() {word}\n\n");
                    }
                }
                total = if failed > 0 {
                    format!(
                        "{all} tests completed, {failed} failed{}",
                        if skipped > 0 { format!(", {skipped} skipped") } else { String::new() }
                    )
                } else {
                    String::new()
                };
                end = if failed > 0 {
                    format!(
                        "> Task :test FAILED\n\n{total}\n\nFAILURE: Build failed with an exception.\n\nBUILD FAILED in 3s\n"
                    )
                } else {
                    "BUILD SUCCESSFUL in 3s\n".to_owned()
                };
            }
            "playwright" => {
                body = format!("\nRunning {all} tests using 2 workers\n\n");
                for (at, suite) in self.suites.iter().enumerate() {
                    for (number, (name, verdict)) in suite.iter().enumerate() {
                        let line = |sign: &str, end: &str| {
                            format!(
                                "  {sign}  {number} [desktop] › e2e/s{at}.spec.ts:{number}:7 › s{at} › {name}{end} (1.2s)\n"
                            )
                        };
                        body += &match verdict {
                            Verdict::Failed => line("✘", "") + &line("✘", " (retry #1)"),
                            Verdict::Skipped => line("-", ""),
                            Verdict::Retried => line("✘", "") + &line("✓", " (retry #1)"),
                            Verdict::Passed => line("✓", ""),
                        };
                    }
                }
                let flaky = self.count(Verdict::Retried);
                let steady = passed - flaky;
                let told = |count: usize, word: &str| {
                    if count > 0 {
                        format!("  {count} {word}\n    [desktop] › e2e/s0.spec.ts:1:7 › s0\n")
                    } else {
                        String::new()
                    }
                };
                let skipped = if skipped > 0 { format!("  {skipped} skipped\n") } else { String::new() };
                total = if failed > 0 { format!("{failed} failed") } else { format!("{steady} passed (24.1s)") };
                let steady = if steady > 0 { format!("  {steady} passed (24.1s)\n") } else { String::new() };
                end = format!("\n{}{}{skipped}{steady}", told(failed, "failed"), told(flaky, "flaky"));
                if failed == 0 && steady.is_empty() {
                    self.total = String::new();
                    return body + &end;
                }
            }
            _ => {
                body = String::new();
                for (at, suite) in self.suites.iter().enumerate() {
                    body += &format!("\nSuite {at}\n");
                    for (name, verdict) in suite {
                        body += &match verdict {
                            Verdict::Failed => format!("  {name} (FAILED - 1)\n"),
                            Verdict::Skipped => format!("  {name} (PENDING: later)\n"),
                            _ => format!("  {name}\n"),
                        };
                    }
                }
                let pending = if skipped > 0 { format!(", {skipped} pending") } else { String::new() };
                total = format!("{all} examples, {failed} failures{pending}");
                end = format!("\nFinished in 0.02 seconds\n{}\n", self.colour(31, &total));
            }
        }
        self.total = total;
        body + &end
    }

    /// Writes tests with marks before their names, below headings.
    fn marks(
        &self,
        indent: &str,
        good: &str,
        bad: &str,
        none: &str,
        end: &str,
        heading: impl Fn(usize) -> String,
    ) -> String {
        let mut body = String::new();
        for (at, suite) in self.suites.iter().enumerate() {
            body += &heading(at);
            body.push('\n');
            for (name, verdict) in suite {
                let mark = match verdict {
                    Verdict::Failed => self.colour(31, bad),
                    Verdict::Skipped => self.colour(33, none),
                    _ => self.colour(32, good),
                };
                body += &format!("{indent}  {mark} {name}{end}\n");
            }
        }
        body
    }
}
