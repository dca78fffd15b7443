use super::*;

fn summary(text: &str, max_chars: usize) -> String {
    let mut sheet = Sheet::new(max_chars);
    assert!(summarize(text, &mut sheet));
    sheet.finish()
}

#[test]
fn the_ending_and_the_error_lines_are_quoted() {
    let mut text = String::from("> app@1.0.0 test\n> vitest run\n\n");
    for i in 0..120 {
        text += &format!(" ✓ tests/unit/case{i}.test.ts (3 tests) {i}ms\n");
    }
    text += " ✗ tests/unit/login.test.ts > rejects a bad token\n";
    text += "AssertionError: expected 401 to equal 403\n";
    text += " Test Files  1 failed | 120 passed (121)\n   Start at  10:22:01\n   Duration  4.31s\n";
    let summary = summary(&text, 300);
    assert!(summary.starts_with("log, 128 lines\nTest Files 1 failed | 120 passed (121)\n"), "{summary}");
    for line in [
        "Test Files 1 failed | 120 passed (121)",
        "✗ tests/unit/login.test.ts > rejects a bad token",
        "AssertionError: expected 401 to equal 403",
        "Duration 4.31s",
    ] {
        assert!(summary.contains(line), "{line}\n{summary}");
    }
}

#[test]
fn levels_are_counted_and_times_span_the_log() {
    let mut text = String::new();
    for i in 0..90 {
        text += &format!("2026-03-01T10:{:02}:00.120Z INFO  http request id={i} status=200\n", i % 60);
    }
    text += "2026-03-01T11:30:01.001Z WARN  pool is 91% full\n";
    text += "2026-03-01T11:30:09.532Z ERROR db connect ECONNREFUSED 10.0.0.7:5432\n";
    text += "2026-03-01T11:30:10.000Z CRIT volume sdb7 is gone\n";
    text += "2026-03-01T11:31:00.000Z INFO  signing key rotated to kid-7f3a\n";
    let summary = summary(&text, 600);
    assert!(summary.starts_with("log, 94 lines, fatal 1, error 1, warn 1, info 91\n"), "{summary}");
    assert!(summary.contains("2026-03-01T11:30:09.532Z ERROR db connect ECONNREFUSED 10.0.0.7:5432"), "{summary}");
    assert!(summary.contains("CRIT volume sdb7 is gone"), "{summary}");
    assert!(summary.contains("from 2026-03-01T10:00:00.120Z to 2026-03-01T11:31:00.000Z"), "{summary}");
    assert!(summary.contains("signing key rotated to kid-7f3a"), "{summary}");
}

#[test]
fn repeats_of_one_error_are_counted_not_quoted_again() {
    let text = (0..40)
        .map(|i| format!("src/a{i}.ts({i},8): error TS2307: Cannot find module './x{i}'.\n"))
        .collect::<String>();
    let summary = summary(&text, 200);
    assert!(summary.contains("40 like: src/a0.ts(0,8): error TS2307: Cannot find module './x0'."), "{summary}");
    assert_eq!(summary.matches("TS2307").count(), 2, "{summary}");
}

#[test]
fn zero_errors_are_no_error() {
    let summary = summary("compiling\nFinished with 0 errors, 2 warnings in 3.1s\n", 200);
    assert_eq!(summary, "log, 2 lines\nFinished with 0 errors, 2 warnings in 3.1s");
}

/// So many lines `start`, a number, `end`.
fn many(start: &str, end: &str) -> String {
    (0..60).map(|i| format!("{start}{i}{end}\n")).collect()
}

#[test]
fn the_totals_of_each_runner_are_told_in_300_characters_and_nothing_else_is_counted() {
    let details = "      at Test.run (node:internal/test_runner/test:797:25)\n".repeat(90);
    for (runner, text, counted, told) in [
        (
            "cargo test",
            many("test parse::error::told_", " ... ok")
                + "test cart::total ... FAILED\n\nfailures:\n    cart::total\n\n\
                   test result: FAILED. 60 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n\n\
                   error: test failed, to rerun pass `--lib`\n",
            "",
            &["test result: FAILED. 60 passed; 1 failed;", "error: test failed"] as &[&str],
        ),
        (
            "unittest",
            many("test_error_", " (t.T.test_error) ... ok")
                + "test_fail (t.T.test_fail) ... FAIL\n\nFAIL: test_fail (t.T.test_fail)\n----------\n\
                   AssertionError: 1 != 2\n\n----------\nRan 61 tests in 0.002s\n\nFAILED (failures=1)\n",
            "",
            &["\nFAILED (failures=1)\nRan 61 tests in 0.002s\n", "AssertionError: 1 != 2"],
        ),
        (
            "pytest",
            many("tests/test_cart.py::test_error_", " PASSED    [ 98%]")
                + "tests/test_cart.py::test_tax FAILED     [100%]\n======= FAILURES =======\nE       KeyError: 'xx'\n\n\
                   shop/tax.py:9: KeyError\n===== short test summary info =====\n\
                   FAILED tests/test_cart.py::test_tax - KeyError: 'xx'\n\
                   ========================= 1 failed, 60 passed in 0.31s =========================\n",
            "",
            &["\n1 failed, 60 passed in 0.31s\n", "KeyError: 'xx'"],
        ),
        (
            "go test",
            many("--- PASS: TestErrorCase", " (0.00s)")
                + "--- FAIL: TestTotal (0.00s)\n    a_test.go:43: got 3, want 4\nFAIL\nFAIL\texample.com/shop\t0.004s\nFAIL\n",
            ", --- FAIL ×1, FAIL ×1, --- PASS ×60",
            &["\nFAIL\n--- FAIL: TestTotal (0.00s)\nFAIL example.com/shop 0.004s"],
        ),
        (
            "jest",
            many("    ✓ returns an error for bad input ", " (2 ms)")
                + "    ✕ sums the cart (4 ms)\n\nTest Suites: 1 failed, 30 passed, 31 total\n\
                   Tests:       1 failed, 60 passed, 61 total\nSnapshots:   0 total\nTime:        2.114 s\n\
                   Ran all test suites.\n",
            "",
            &["\nTests: 1 failed, 60 passed, 61 total\n", "✕ sums the cart (4 ms)"],
        ),
        (
            "vitest",
            many(" ✓ tests/error", ".test.ts (3 tests) 4ms")
                + "   × total > sums the cart 4ms\n\n Test Files  1 failed | 60 passed (61)\n      \
                   Tests  1 failed | 183 passed (184)\n   Start at  10:22:01\n   Duration  4.31s (tests 301ms)\n\n",
            "",
            &[
                "\nTests 1 failed | 183 passed (184)\nTest Files 1 failed | 60 passed (61)\n",
                "× total > sums the cart 4ms",
            ],
        ),
        (
            "node:test",
            "▶ math\n".to_owned()
                + &many("  ✔ tells the error ", " (0.1ms)")
                + "  ✖ divides (0.98ms)\n  ▶ inner\n    ✖ adds (0.11ms)\n  ✖ inner (0.22ms)\n✖ math (16.3ms)\n\
                   ℹ tests 62\nℹ suites 2\nℹ pass 60\nℹ fail 2\nℹ skipped 0\nℹ duration_ms 189.5\n\n\
                   ✖ failing tests:\n\ntest at a.test.mjs:2:80\n✖ divides (0.98ms)\n  AssertionError: 1 == 2\n"
                + &details
                + "\ntest at a.test.mjs:2:150\n✖ adds (0.11ms)\n  Error: boom\n"
                + &details,
            "",
            &["\nℹ fail 2\nℹ pass 60\nℹ tests 62\n", "✖ divides (0.98ms)"],
        ),
    ] {
        let summary = summary(&text, 300);
        let (headline, _) = summary.split_once('\n').unwrap();
        let (_, counts) = headline.split_once(" lines").unwrap();
        assert_eq!(counts, counted, "{runner}\n{summary}");
        for told in told {
            assert!(summary.contains(told), "{runner}: {told}\n{summary}");
        }
        for line in summary.lines() {
            assert_eq!(summary.lines().filter(|other| *other == line).count(), 1, "{runner}: {line}\n{summary}");
        }
    }
}

#[test]
fn tests_that_went_well_mention_no_failure() {
    let text = many("✓ logs ERROR when the error is fatal ", " (3 ms)") + &many("test parse::error::", " ... ok");
    assert!(summary(&text, 300).starts_with("log, 120 lines, ok ×60\n"), "{}", summary(&text, 300));
}

#[test]
fn a_package_that_does_not_build_has_failed() {
    let text = many("ok  \texample.com/shop/p", "\t0.4s")
        + "FAIL\texample.com/shop/cart [build failed]\n?   \texample.com/shop/json\t[no test files]\nFAIL\n";
    assert!(summary(&text, 300).starts_with("log, 63 lines, FAIL ×1, ok ×60\n"), "{}", summary(&text, 300));
}

#[test]
fn a_bracket_is_no_ending() {
    let text = many("step ", " of the build") + "OSError: disk is full {\n  code: 28\n}\n\n";
    assert!(summary(&text, 300).starts_with("log, 64 lines\ncode: 28\nOSError: disk is full {"));
}

#[test]
fn times_of_access_logs_keep_their_date() {
    let text: String = (10..50)
        .map(|i| format!("10.0.0.1 - - [10/Oct/2026:00:55:{i} +0200] \"GET /health HTTP/1.1\" 200 17\n"))
        .collect();
    let summary = summary(&text, 300);
    assert!(summary.contains("\nfrom 10/Oct/2026:00:55:10 +0200 to 10/Oct/2026:00:55:49 +0200\n"), "{summary}");
}
