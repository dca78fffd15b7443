//! What holds for every report.

use std::fs;
use std::path::Path;

use super::speaks_of_failure;
use super::*;
use crate::config::Preset;
use crate::content::Hints;
use crate::pipeline::{CompressOptions, FusionEngine, Stage, restore};

/// The text with the notes in it.
fn shown(text: &str) -> String {
    let segments = [Segment::whole(text, ContentType::Log, None)];
    with_edits(text, &find(&FusionContext::of(text, &segments), 0..text.trim_end_matches('\n').len()))
}

fn with_edits(text: &str, edits: &[Edit]) -> String {
    let mut shown = text.to_owned();
    edits.iter().rev().for_each(|edit| shown.replace_range(edit.range.clone(), &edit.text));
    shown
}

/// Names and texts, in order.
fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// A note: how many lines it says are gone, the first, the last, and what it tells.
fn notes(shown: &str) -> Vec<(usize, usize, usize, &str)> {
    let note = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let (range, _) = line.strip_prefix("[… ")?.split_once(']')?;
        let (count, range) = range.split_once(" lines ")?;
        let (first, last) = range.split_once('-')?;
        Some((count.parse().ok()?, first.parse().ok()?, last.parse().ok()?))
    };
    shown.lines().filter_map(|line| note(line).map(|(count, first, last)| (count, first, last, line))).collect()
}

#[test]
fn notes_of_real_outputs() {
    let told: String = fixtures()
        .iter()
        .map(|(name, text)| {
            let notes: String = notes(&shown(text)).iter().map(|(.., line)| format!("  {line}\n")).collect();
            format!("{name}\n{notes}")
        })
        .collect();
    insta::assert_snapshot!(told);
}

#[test]
fn what_speaks_of_errors_stays_and_so_do_the_last_lines() {
    for (name, text) in fixtures() {
        let shown = shown(&text);
        let mut kept = shown.lines();
        // Nothing but lines of the text and notes.
        assert!(kept.all(|line| line.starts_with("[… ") || text.lines().any(|one| one == line)), "{name}");
        for line in text.lines().filter(|line| speaks_of_failure(line)) {
            let times = |text: &str| text.lines().filter(|one| *one == line).count();
            assert_eq!(times(&text), times(&shown), "{name}: {line}");
        }
        let last = |text: &str| text.lines().rev().take(LAST_LINES).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(last(&text), last(&shown), "{name}");
    }
}

#[test]
fn the_counts_of_lines_are_exact() {
    for (name, text) in fixtures() {
        let shown = shown(&text);
        let notes = notes(&shown);
        let gone: usize = notes.iter().map(|(count, ..)| count).sum();
        assert_eq!(text.lines().count(), shown.lines().count() - notes.len() + gone, "{name}");
        for (count, first, last, note) in notes {
            assert!(first + count <= last + 1, "{name}: {note}");
        }
    }
}

#[test]
fn every_passed_test_is_counted_or_in_sight() {
    for (name, mark, total) in [
        ("cargo_test_builds_first", " ... ok", 98),
        ("jest_verbose", "    ✓ ", 98),
        ("mocha_spec", "    ✔ ", 98),
        ("node_spec_nested", "  ✔ ", 98),
        ("phpunit_testdox", " ✔ ", 98),
        ("pytest_verbose_two_failures", " PASSED ", 196),
        ("unittest_with_descriptions", " ... ok", 98),
        ("go_test_subtests", "--- PASS: ", 138),
    ] {
        let text = &fixtures().into_iter().find(|(one, _)| one == name).unwrap().1;
        let shown = shown(text);
        let passed = |note: &str| -> usize {
            let (before, _) = note.split_once(" passed").unwrap_or_default();
            before.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
        };
        let counted: usize = notes(&shown).iter().map(|(.., note)| passed(note)).sum();
        let in_sight = shown.lines().filter(|line| !line.starts_with("[… ") && line.contains(mark)).count();
        assert_eq!(counted + in_sight, total, "{name}\n{shown}");
    }
}

#[test]
fn a_report_has_nothing_more_to_leave_out() {
    for (name, text) in fixtures() {
        let once = shown(&text);
        assert_eq!(shown(&once), once, "{name}");
    }
}

#[test]
fn whatever_was_left_out_comes_back() {
    let engine = FusionEngine::default();
    for (name, text) in fixtures() {
        for preset in [Preset::Balanced, Preset::Max] {
            let options = CompressOptions { preset, ..CompressOptions::default() };
            let once = engine.compress(&text, &options, &|| 0.0);
            assert_eq!(restore(&once.text, &once.originals), text, "{name}");
            let again = engine.compress(&once.text, &options, &|| 0.0);
            assert_eq!(again.text, once.text, "{name}");
        }
        let options = CompressOptions { preset: Preset::Lossless, ..CompressOptions::default() };
        assert!(engine.compress(&text, &options, &|| 0.0).lossless, "{name}");
    }
}

#[test]
fn lossless_leaves_nothing_out() {
    for (name, text) in fixtures() {
        let segments = [Segment::whole(&text, ContentType::Log, None)];
        let context = FusionContext { preset: Preset::Lossless, ..FusionContext::of(&text, &segments) };
        assert!(super::super::LogCrunch.apply(&context).iter().all(|edit| edit.lossless), "{name}");
    }
}

#[test]
fn look_alikes_stay() {
    let numbered = |line: &dyn Fn(usize) -> String| (1..20).map(line).collect::<String>();
    for text in [
        numbered(&|n| format!("- ✓ step {n} of the plan is done and was shown to all\n")),
        numbered(&|n| format!("✓ step {n} of the plan is done and was shown to all\n")),
        numbered(&|n| format!("    gcc -O2 -c -o \"$out/{n}.o\" \"$src/{n}.c\" || exit 1\n")),
        numbered(&|n| format!("src/log.txt:{n}:test ledger::adds_{n} ... ok\n")),
        numbered(&|n| format!("  {n}\ttest ledger::adds_{n} ... ok\n")),
        numbered(&|n| format!("Collecting stamps is what I did in the year {n} after the war\n")),
        numbered(&|n| format!("Downloading the internet, part {n} of many more to come\n")),
        numbered(&|n| format!("test {n} of the motor went well, and the noise is ... ok\n")),
        numbered(&|n| format!("[{n}/20] a page that I read on this day of the year\n")),
        numbered(&|n| format!("gcc: note {n} of the manual says nothing about this option\n")),
        numbered(&|n| format!("#{n} [open] the button does not work on small screens\n")),
        format!(
            "{}\n3 examples, 0 failures\n",
            numbered(&|n| format!("Chapter {n}\n  words that are no example of anything\n"))
        ),
        numbered(&|n| format!("/usr/lib/python3/dist-packages/module_{n}.py\n")),
    ] {
        assert_eq!(shown(&text), text);
    }
}

#[test]
fn what_terraform_creates_keeps_id_and_content() {
    let plan = |sign: &str| {
        let attributes: String = (0..12).map(|n| format!("        setting_{n} = {n}\n")).collect();
        let text = format!("      + data = <<-EOT\n{}        EOT\n", attributes.replace("        ", "            "));
        let head = "Terraform will perform the following actions:\n\n  # a.b will be made\n";
        format!("{head}  {sign} resource \"a\" \"b\" {{\n{attributes}{text}    }}\n\nPlan: 1 to add.\nend\n")
    };
    assert_eq!(shown(&plan("+")), plan("+"));
    let changed = shown(&plan("~"));
    assert!(
        changed.contains("] 12 unchanged: setting_0, ") && changed.contains("            setting_3 = 3\n"),
        "{changed}"
    );
    let apply: String = (0..12).map(|n| format!("a.b[{n}]: Creation complete after 1s [id=subnet-{n}]\n")).collect();
    assert!(shown(&format!("{apply}\nend\nend\n")).contains("a.b[3] (subnet-3), a.b[4] (subnet-4)"));
}

#[test]
fn installed_packages_keep_name_and_version() {
    let pip: String =
        (0..12).map(|n| format!("Requirement already satisfied: a{n}<4 in ./lib (from b) ({n}.1)\n")).collect();
    assert!(shown(&format!("{pip}end\nend\n")).contains("already satisfied: a0 (0.1), a1 (1.1), "));
    let apt: String = (0..12).map(|n| format!("Setting up a{n} (1:{n}.1-2) ...\n")).collect();
    assert!(shown(&format!("{apt}\nend\nend\n")).contains("set up: a0 (1:0.1-2), a1 (1:1.1-2), "));
}

#[test]
fn the_version_that_an_unpacked_package_replaces_stays() {
    let line =
        |n| if n == 7 { "Unpacking a7 (1.2) over (1.9) ...\n".into() } else { format!("Unpacking a{n} (1.2) ...\n") };
    let apt: String = (0..12).map(line).collect();
    let shown = shown(&format!("{apt}\nend\nend\n"));
    assert!(shown.contains("unpacked: a0, a1, a2, a3, a4, a5, a6, a7 (1.2) over (1.9), a8"), "{shown}");
}

#[test]
fn packages_from_elsewhere_keep_their_source() {
    let line = |n: usize| match n {
        5 => "   Compiling ssl v0.9.1 (https://example.org/fork?branch=old#deadbeef)\n".to_owned(),
        6 => "   Compiling kept v0.1.0 (registry `own`)\n".to_owned(),
        7 => "   Compiling books v0.1.0 (/home/dev/books)\n".to_owned(),
        _ => format!("   Compiling a{n} v1.0.{n}\n"),
    };
    let shown = shown(&format!("{}\nend\nend\n", (0..40).map(line).collect::<String>()));
    let expected = "40 compiled: ssl (https://example.org/fork?branch=old#deadbeef), kept (registry `own`), books\n";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn checks_that_were_not_answered_with_yes_are_not_counted_as_such() {
    let asked = |n: usize| match n {
        5 => "checking for the option to accept C11... none needed\n".to_owned(),
        _ => format!("checking for a{n}.h... yes\n"),
    };
    let configure = shown(&format!("{}\nend\nend\n", (0..20).map(asked).collect::<String>()));
    let expected = "19 checks: yes; 1 checks: none needed: for the option to accept C11\n";
    assert!(configure.contains(expected), "{configure}");
    let answer = |n| if n == 5 { "skipped" } else { "Success" };
    let tested = |n| format!("-- Performing Test HAVE_{n}\n-- Performing Test HAVE_{n} - {}\n", answer(n));
    let cmake = shown(&format!("{}\nend\nend\n", (0..20).map(tested).collect::<String>()));
    assert!(cmake.contains("19 checks: yes; 1 checks: skipped: HAVE_5\n"), "{cmake}");
}

#[test]
fn the_slow_one_among_many_quick_ones_stays_in_sight() {
    for (usual, slow) in [
        ("--- PASS: TestA{n} (0.00s)", "--- PASS: TestA17 (58.21s)"),
        ("        PASS [   0.005s] books ledger::a{n}", "        PASS [  58.210s] books ledger::a17"),
        ("#{n} [{n}/90] RUN step\n#{n} CACHED", "#17 [17/90] RUN step\n#17 DONE 912.3s"),
        ("a.b[{n}]: Creation complete after 2s [id=i-{n}]", "a.b[17]: Creation complete after 9m41s [id=i-17]"),
        (
            "npm http fetch GET 200 https://a.org/a{n} 31ms (cache miss)",
            "npm http fetch GET 200 https://a.org/b 31002ms (cache miss)",
        ),
        ("  Passed A.BTest.Adds{n} [< 1 ms]", "  Passed A.BTest.Adds17 [1 m 3 s]"),
        ("ok {n} - a{n}\n  ---\n  duration_ms: 0.4\n  ...", "ok 17 - a17\n  ---\n  duration_ms: 58210.1\n  ..."),
        (
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in a.B{n}Test",
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 58.2 s -- in a.B17Test",
        ),
    ] {
        let line = |n: usize| if n == 17 { slow.to_owned() } else { usual.replace("{n}", &n.to_string()) } + "\n";
        let text = format!("{}\nend\nend\n", (10..50).map(line).collect::<String>());
        let shown = shown(&text);
        let told: Vec<&str> = slow.lines().filter(|line| !line.ends_with(['-', '.'])).collect();
        let (note, stays) = shown.split_once('\n').unwrap();
        assert!(note.starts_with("[… ") && stays == format!("{}\n\nend\nend\n", told.join("\n")), "{shown}");
    }
}

#[test]
fn times_that_are_much_alike_and_all_but_the_slowest_are_left_out() {
    let line = |n: usize| format!("--- PASS: TestA{n} ({}s)\n", if n < 10 { 2 } else { 3 });
    assert_eq!(shown(&format!("{}\nend\nend\n", (0..30).map(line).collect::<String>())).lines().count(), 4);
    let line = |n: usize| format!("--- PASS: TestA{n} ({}s)\n", if n.is_multiple_of(3) { n + 2 } else { 0 });
    let shown = shown(&format!("{}\nend\nend\n", (0..30).map(line).collect::<String>()));
    assert!(
        shown.contains("] 27 passed\n--- PASS: TestA21 (23s)\n--- PASS: TestA24 (26s)\n--- PASS: TestA27 (29s)\n\nend"),
        "{shown}"
    );
}

#[test]
fn durations_are_read() {
    for (text, expected) in [
        ("58.21s", Some(58.21)),
        ("9m41s [id=i-0]", Some(581.0)),
        ("1h2m3s", Some(3723.0)),
        ("31002ms", Some(31.002)),
        ("< 1 ms", Some(0.001)),
        ("1 m 3 s", Some(63.0)),
        ("   0.005s", Some(0.005)),
        ("0.05 s -- ", Some(0.05)),
        ("", None),
        (".s", None),
        ("12", None),
        ("fast", None),
    ] {
        assert_eq!(odd::seconds(text), expected, "{text}");
    }
}

#[test]
fn the_command_unlike_those_around_it_stays_in_sight() {
    let cc = |n: usize| format!("cc -m64 -Wp,-MD,deps/file{n}.d -c src/file{n}.c -o out/file{n}.o");
    for odd in [
        cc(15).replace("-m64", "-m32"),
        format!("{} -O0 -fsanitize=address", cc(15)),
        cc(15).replace("-o out/", "-o ../wrong/"),
        cc(15).replace("cc ", "/opt/old/cc "),
    ] {
        let line = |n: usize| if n == 15 { odd.clone() } else { cc(n) } + "\n";
        let text: String = (0..40).map(line).collect();
        assert_eq!(
            shown(&format!("{text}\nend\nend\n")),
            format!("[… 39 lines 1-40] 39 build steps\n{odd}\n\nend\nend\n")
        );
        let numbered: String = text.lines().enumerate().map(|(n, line)| format!("[{n}/90] {line}\n")).collect();
        assert!(shown(&format!("{numbered}\nend\nend\n")).contains(&format!("39 build steps\n[15/90] {odd}\n\nend")));
    }
}

#[test]
fn commands_of_several_targets_or_in_turns_are_all_left_out() {
    let targets = |n: usize| format!("cc -DTARGET={} -Iinclude/{} -c a{n}.c -o {}/a{n}.o\n", n / 8, n / 8, n / 8);
    let turns =
        |n: usize| format!("cc {}-c a{}.c -o a{}.o\n", if n.is_multiple_of(2) { "-fPIC " } else { "" }, n / 2, n / 2);
    let links =
        |n: usize| format!("cc -c test{n}.c -o test{n}.o\ncc {} -o test{n}\n", format!("test{n}.o ").repeat(n % 4 + 1));
    let each = |n: usize| format!("cc -DNUMBER={n} -c a{n}.c -o a{n}.o\n");
    for text in [targets, turns, links, each].map(|line: fn(usize) -> String| (0..40).map(line).collect::<String>()) {
        assert_eq!(shown(&format!("{text}\nend\nend\n")).lines().count(), 4, "{text}");
    }
}

#[test]
fn rows_of_dots_are_tests_only_beside_a_runners_summary() {
    let dots = format!("{}\n", ".".repeat(24)).repeat(20);
    let grid = format!("Generation 5\n#...........#..##...#.#.\n{dots}#..#..............#.....\nalive: 42\n");
    assert_eq!(shown(&grid), grid);
    let run = format!(
        "{dots}\n----------------------------------------------------------------------\nRan 480 tests in 0.1s\n\nOK\n"
    );
    assert!(shown(&run).starts_with("[… 20 lines 1-20] 480 passed\n"), "{}", shown(&run));
}

#[test]
fn check_marks_count_only_beside_a_runners_summary() {
    let steps: String = (0..12).map(|n| format!("✔ functions/handler{n} deployed (3.{n}s)\n")).collect();
    let text = format!("Deploying\n{steps}✖ functions/session failed (30.1s)\nDeploy finished with 1 problem\nLogs\n");
    assert_eq!(shown(&text), text);
    let containers: String = (0..12)
        .map(|n| format!(" ✔ Container shop-{n}   {}   1{n}.2s\n", if n == 7 { "Exited" } else { "Started" }))
        .collect();
    let text = format!("[+] Running 12/12\n{containers}end\nend\n");
    assert_eq!(shown(&text), text);
}

#[test]
fn tests_that_are_yet_to_do_are_not_passed() {
    let note = |n: usize| match n {
        5 => " # TODO",
        6 => " # not yet",
        _ => "",
    };
    let line = |n: usize| format!("✔ case {n} (0.2ms){}\n", note(n));
    let text = format!("{}ℹ tests 30\nℹ pass 29\n", (0..30).map(line).collect::<String>());
    let shown = shown(&text);
    assert!(
        shown.contains("✔ case 5 (0.2ms) # TODO\n✔ case 6 (0.2ms) # not yet\n") && shown.contains(" 23 passed"),
        "{shown}"
    );
}

#[test]
fn sources_and_manuals_that_quote_a_run_stay() {
    let text: String = (0..40).map(|n| format!("test ledger::adds_{n} ... ok\n")).collect();
    let segments = [Segment::whole(&text, ContentType::Log, None)];
    for (path, is_free) in [("docs/testing.md", true), ("src/a.rs", true), ("run.log", false), ("out.txt", false)] {
        let hints = Hints { path: Some(path.to_owned()), ..Hints::default() };
        let context = FusionContext { hints: &hints, ..FusionContext::of(&text, &segments) };
        let edits = super::super::LogCrunch.apply(&context);
        assert_eq!(edits.iter().all(|edit| edit.lossless), is_free, "{path}");
    }
}

#[test]
fn commands_that_were_only_to_be_shown_stay() {
    let text: String = (0..40).map(|n| format!("gcc -O2 -c -o {n}.o {n}.c\n")).collect();
    let segments = [Segment::whole(&text, ContentType::Unknown, None)];
    for (command, is_free) in [
        ("make -n all", true),
        ("cd x && make --dry-run", true),
        ("make -nj4", true),
        ("make -sn all", true),
        ("make VERBOSE=1 2>&1 | tail -50", true),
        ("V=1 make", true),
        ("ninja -C out -n -v", true),
        ("ninja -t commands", true),
        ("cmake --build out -v", true),
        ("make -j2", false),
        ("make -C nn -fn", false),
        ("make && pytest -v", false),
        ("ninja -C out", false),
    ] {
        let hints = Hints { command: Some(command.to_owned()), ..Hints::default() };
        let context = FusionContext { hints: &hints, ..FusionContext::of(&text, &segments) };
        assert_eq!(super::super::LogCrunch.apply(&context).is_empty(), is_free, "{command}");
    }
}

#[test]
fn few_lines_stay() {
    let few: String = (0..MIN_RUN).map(|n| format!("test a_rather_long_name_of_a_test_{n} ... ok\n")).collect();
    let (head, tail) = ("words of no tool\n".repeat(20), "more words\n".repeat(2));
    let text = format!("{head}{few}{tail}");
    assert_ne!(shown(&text), text);
    let fewer = text.replacen("test a_rather_long_name_of_a_test_0 ... ok\n", "", 1);
    assert_eq!(shown(&fewer), fewer);
}

#[test]
fn notes_and_markers_of_earlier_rounds_stay() {
    let text: String = (0..40)
        .map(|n| match n % 9 {
            3 => format!("test ledger::[… 3 lines 1-3]_{n} ... ok\n"),
            5 => format!("Setting up [[REWIND:sha256:0123456789abcdef]] ({n}) ...\n"),
            _ => format!("test ledger::adds_{n} ... ok\n"),
        })
        .collect();
    let shown = shown(&text);
    for word in ["[… 3 lines 1-3]", "[[REWIND:"] {
        assert_eq!(shown.matches(word).count(), text.matches(word).count(), "{shown}");
    }
}

#[test]
fn the_suite_of_a_failure_stays_in_sight() {
    let suite = |name: &str, bad: usize| {
        let line = |n| match n == bad {
            true => format!("  ✖ case {n} (1.2ms)\n    Error: no\n"),
            false => format!("  ✔ case {n} (0.2ms)\n"),
        };
        format!("▶ {name}\n{}▶ {name} (9.1ms)\n", (0..14).map(line).collect::<String>())
    };
    let text = format!("{}{}{}ℹ tests 42\nℹ pass 41\n", suite("first", 99), suite("second", 9), suite("third", 99));
    let expected = "[… 16 lines 1-16] 14 passed: first\n▶ second\n[… 9 lines 18-26] 9 passed: second\n  ✖ case 9 (1.2ms)\n    Error: no\n\
                    [… 21 lines 29-49] 18 passed: second 4, third 14\nℹ tests 42\nℹ pass 41\n";
    assert_eq!(shown(&text), expected);
}

#[test]
fn lines_of_many_tools_are_known() {
    for (line, expected) in [
        ("tests/a.py::ATest::test_x[a b] PASSED   [  3%]", Some(("passed", 1, "tests/a.py"))),
        ("tests/a.py::test_x FAILED               [  3%]", None),
        ("tests/a.py::test_x SKIPPED (slow)       [  3%]", None),
        ("[gw12] [  3%] PASSED tests/a.py::test_x", Some(("passed", 1, "tests/a.py"))),
        ("tests/a.py ........                     [ 40%]", Some(("passed", 8, "tests/a.py"))),
        ("tests/a.py ...F....                     [ 40%]", None),
        ("...............................................................  63 / 100 ( 63%)", Some(("passed", 63, ""))),
        ("...................................................................... 70/100", Some(("passed", 70, ""))),
        ("test_x (a.ATest) ... ok", Some(("passed", 1, "a.ATest"))),
        ("test_x (a.ATest) ... FAIL", None),
        ("test src/lib.rs - a::b (line 12) ... ok", Some(("passed", 1, "src/lib.rs"))),
        ("test a::b ... FAILED", None),
        ("test a::b ... ignored", None),
        ("        PASS [   0.005s] books ledger::adds", Some(("passed", 1, "books"))),
        ("        PASS [   0.005s] (  7/100) books::it ledger::adds", Some(("passed", 1, "books::it"))),
        ("   Compiling serde v1.0.229", Some(("compiled", 1, ""))),
        ("   Compiling books v0.1.0 (/home/dev/books)", Some(("compiled", 1, "books"))),
        ("   Compiling ssl v0.1.0 (https://a.org/b#12)", Some(("compiled", 1, "ssl"))),
        ("Compiling the list", None),
        ("    --- PASS: TestA/short (0.00s)", Some(("passed", 1, ""))),
        ("?   \texample.org/books\t[no test files]", Some(("without test files", 1, "example.org/books"))),
        (
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in a.BTest",
            Some(("passed", 5, "a.BTest")),
        ),
        (
            "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in a.BTest",
            None,
        ),
        ("BTest > adds() PASSED", Some(("passed", 1, "BTest"))),
        ("BTest > adds() FAILED", None),
        ("> Task :compileJava UP-TO-DATE", Some(("tasks", 1, ""))),
        ("> Task :compileJava FAILED", None),
        ("> Task :processResources NO-SOURCE", Some(("tasks", 1, ""))),
        ("> Task :app:test SKIPPED", None),
        ("> Task :compileTestJava NO-SOURCE", None),
        ("  Passed A.BTest.Adds(a: 1) [< 1 ms]", Some(("passed", 1, "A.BTest"))),
        ("  Failed A.BTest.Adds [< 1 ms]", None),
        (
            "Requirement already satisfied: idna<4,>=2.5 in ./lib (from requests) (3.1)",
            Some(("already satisfied", 1, "idna")),
        ),
        ("Collecting idna<4,>=2.5 (from requests)", Some(("collected", 1, ""))),
        ("Unpacking libc6:amd64 (2.36-9) over (2.36-8) ...", Some(("unpacked", 1, "libc6:amd64"))),
        ("Setting up libc6:amd64 (2.36-9) ...", Some(("set up", 1, "libc6:amd64"))),
        ("npm http fetch GET 200 https://registry.npmjs.org/a 69ms", Some(("fetched", 1, ""))),
        ("npm http fetch GET 404 https://registry.npmjs.org/a 69ms", None),
        ("npm warn deprecated a@1: no", None),
        ("➤ YN0013: │ a@npm:1.0.0 can't be found in the cache and will be fetched", Some(("fetched", 1, ""))),
        (" * [new branch]      topic -> origin/topic", Some(("new branches", 1, "topic"))),
        ("0123456789ab: Pull complete", Some(("layers", 1, ""))),
        ("#7 [2/8] RUN make", Some(("build steps", 1, ""))),
        ("#7 1.234 Unpacking a (1) ...", Some(("unpacked", 1, "a"))),
        ("#7 ERROR: process did not complete", None),
        (" => CACHED [2/8] RUN make", Some(("cached steps", 1, ""))),
        (" => => extracting sha256:0123 1.2s", Some(("", 0, ""))),
        (" => => # 4123 modules transformed.", None),
        ("[12/300] Building C object a.o", Some(("build steps", 1, ""))),
        ("[ 20%] Built target a", Some(("built", 1, "a"))),
        ("[12/300] FAILED: a.o", None),
        ("gcc -O2 -c -o a.o a.c", Some(("build steps", 1, ""))),
        ("/usr/bin/cc: error: no input files -", None),
        ("cc1: all warnings being treated as errors", None),
        ("checking for stdint.h... yes", Some(("checks: yes", 1, ""))),
        ("checking for stdint.h... no", None),
        ("checking for an option... none needed", Some(("checks: none needed", 1, "for an option"))),
        ("-- Looking for stdint.h - found", Some(("checks: yes", 1, ""))),
        ("-- Looking for stdint.h - not found", None),
        ("-- Performing Test HAVE_A - skipped", Some(("checks: skipped", 1, "HAVE_A"))),
        ("a.b[\"c\"]: Refreshing state... [id=1]", Some(("refreshed", 1, ""))),
        ("a.b: Creation complete after 3s [id=1]", Some(("created", 1, "a.b"))),
        ("  + arn = (known after apply)", Some(("known after apply", 1, "arn"))),
    ] {
        let found = judge(&[Line::of(0, line)], 0);
        assert_eq!(found.map(|sign| (sign.label, sign.count, sign.name)), expected, "{line}");
    }
}

/// Neighbours: five messages right above the first test of two runners, and the same below a suite.
#[test]
fn no_message_gives_passed_tests_their_name() {
    let playwright = |at: usize| {
        format!("  ✓  {at} [desktop] › e2e/{}.spec.ts:{at}:7 › shop › case {at} (1.2s)\n", ["cart", "search"][at % 2])
    };
    let mocha = |at: usize| format!("    ✔ case {at} (12ms)\n");
    for message in [
        "(node:4711) Warning: x is ignored.\n(Use `node --trace-warnings ...` to show where the warning was created)\n",
        "(node:4711) Warning: x is ignored.\n",
        "Running 14 tests using 1 worker\n",
        "npm warn config x is old\n",
        "Opened the store.\nWaiting for the server\n",
    ] {
        for (runner, tests, total) in [
            ("playwright", (0..14).map(playwright).collect::<String>(), "\n  14 passed (24.1s)\n"),
            ("mocha", (0..14).map(mocha).collect(), "\n  14 passing (54ms)\n"),
        ] {
            let text = format!("\n{message}{tests}{total}end\nof it\n");
            let shown = shown(&text);
            let note = notes(&shown).into_iter().find(|(.., line)| line.contains("14 passed")).map(|(.., line)| line);
            let note = note.unwrap_or_else(|| panic!("{runner}: {shown}"));
            assert!(message.lines().all(|line| !note.contains(line) && shown.contains(line)), "{runner}: {shown}");
            assert_eq!(note.contains("e2e/cart.spec.ts 7"), runner == "playwright", "{shown}");
        }
        let below =
            format!("\n  the cart\n{}\n  14 passing (54ms)\nend\nof it\n", (0..14).map(mocha).collect::<String>());
        assert!(shown(&below).contains("14 passed: the cart"), "{}", shown(&below));
    }
}
