//! Tests of SearchCrunch and DiffCrunch on generated and hostile texts: folds can be restored, folding is idempotent,
//! foreign folds are data, and time is linear.

use concertina::config::Preset;
use concertina::pipeline::fold::Fold;
use proptest::prelude::*;
use proptest::sample::select;

use crate::search_diff::{crunched, diff_changes, edits, folded};
use crate::stages::{edited, stage};

const PATHS: &[&str] = &[
    "src/a.rs",
    "src/b c.rs",
    "src/deep/er/x.rs",
    "src/deep/er/y.rs",
    "/abs/src/a.rs",
    "/abs/src/deep/er/x.rs",
    "C:\\x\\y.cs",
    "C:\\x\\z.cs",
    "a-1-b.go",
    "12/x.rs",
    "12/y.rs",
    "ü/ß.py",
    "x:y.rs",
    ">q/w",
    "(z).ts",
    "Makefile",
    "~/p.q",
    "./.x",
    "a//b",
];

const TEXTS: &[&str] = &[
    "",
    " ",
    "\tfoo(bar) {",
    "\treturn foo(bar) {",
    "    let x = \"12:30:45\";",
    ":12:",
    "5:x",
    "-3-",
    "…",
    "…x…",
    "--",
    "\\",
    "~",
    "12,13 y",
    "[[FOLD:searchCrunch 1]] hits by file: line text",
    "世界",
    "x\r",
    "commit a; b",
];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (1u64..40).prop_map(|number| number.to_string()),
        1 => select(vec!["0", "007", "999999999999999999", "18446744073709551615", "99999999999999999999"]).prop_map(str::to_owned),
    ]
}

fn grep_line() -> impl Strategy<Value = String> {
    let path = || select(PATHS);
    let text = || select(TEXTS);
    prop_oneof![
        8 => (path(), number(), text()).prop_map(|(path, number, text)| format!("{path}:{number}:{text}")),
        4 => (path(), number(), text()).prop_map(|(path, number, text)| format!("{path}-{number}-{text}")),
        1 => (path(), number(), number(), text()).prop_map(|(path, line, column, text)| format!("{path}:{line}:{column}:{text}")),
        1 => (path(), number(), text()).prop_map(|(path, line, text)| format!("{path}({line},3): {text}")),
        1 => (path(), text()).prop_map(|(path, text)| format!("{path}:{text}")),
        1 => (number(), text()).prop_map(|(line, text)| format!("{line}:{text}")),
        1 => path().prop_map(str::to_owned),
        1 => text().prop_map(str::to_owned),
        1 => Just("--".to_owned()),
        1 => "\\PC{0,12}",
    ]
}

/// Generates a run of hits in one file with ascending numbers, as grep prints them: context is always next to a hit.
fn grep_run() -> impl Strategy<Value = Vec<String>> {
    let line = (1u64..4, any::<bool>(), select(TEXTS));
    (select(PATHS), proptest::collection::vec(line, 1..12), any::<bool>()).prop_map(|(path, lines, context)| {
        let (mut number, last) = (0, lines.len() - 1);
        let mut out = Vec::new();
        for (index, (step, hit, text)) in lines.into_iter().enumerate() {
            number += step;
            if step > 1 && context && number > step {
                out.push("--".to_owned());
            }
            let separator = if hit || !context || index == last { ':' } else { '-' };
            out.push(format!("{path}{separator}{number}{separator}{text}"));
        }
        out
    })
}

fn hunk(lines: &[(char, &str)], at: u64, wrong: u64, section: &str) -> String {
    let count = |signs: [char; 2]| lines.iter().filter(|(sign, _)| signs.contains(sign)).count() as u64;
    let (old, new) = (count([' ', '-']) + wrong, count([' ', '+']));
    let span = |count: u64| if count == 1 { String::new() } else { format!(",{count}") };
    let body: String = lines.iter().map(|(sign, text)| format!("{sign}{text}\n")).collect();
    format!("@@ -{at}{} +{at}{} @@{section}\n{body}", span(old), span(new))
}

const BODIES: &[&str] = &[
    "",
    "-- a/x",
    "++ b/x",
    "@ -1 +1 @@",
    "    some longer line of code, which nobody changed",
    "diff x",
    "x\r",
    "世界",
    "\\ No newline",
];

fn any_hunk(wrong: std::ops::Range<u64>) -> impl Strategy<Value = String> {
    let line = (select(vec![' ', ' ', ' ', '-', '+']), select(BODIES));
    let lines = proptest::collection::vec(line, 1..30);
    (lines, 1u64..500, wrong, select(vec!["", " fn x()", " @@ -1 +1", "x"]))
        .prop_map(|(lines, at, wrong, section)| hunk(&lines, at, wrong, section))
}

fn file_header() -> impl Strategy<Value = String> {
    let path = select(vec!["src/a.rs", "b c", "mode 1", "-x", "q b/q"]);
    (path, 0..6).prop_map(|(path, kind)| match kind {
        0 => format!("diff --git a/{path} b/{path}\nindex 0123456..789abcd 100644\n--- a/{path}\n+++ b/{path}\n"),
        1 => format!("diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..789abcd\n--- /dev/null\n+++ b/{path}\n"),
        2 => format!("diff --git a/{path} b/{path}\ndeleted file mode 100644\nindex 789abcd..0000000\n--- a/{path}\n+++ /dev/null\n"),
        3 => format!("--- a/{path}\t2020-01-01\n+++ b/{path}\t2020-01-02\n"),
        4 => format!("diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\nindex 0123456..789abcd\n--- a/{path}\n+++ b/{path}\n"),
        _ => format!("diff --git a/{path} b/other\nsimilarity index 90%\nrename from {path}\nrename to other\nindex 0123456..789abcd 100755\n--- a/{path}\n+++ b/other\n"),
    })
}

/// Generates a diff with correct counts.
fn diff() -> impl Strategy<Value = String> {
    let file = (file_header(), proptest::collection::vec(any_hunk(0..1), 1..4));
    proptest::collection::vec(file, 1..4)
        .prop_map(|files| files.into_iter().map(|(header, hunks)| header + &hunks.concat()).collect())
}

/// Generates anything that may occur in or between diffs.
fn diff_piece() -> impl Strategy<Value = String> {
    let commit = "commit 0123456789012345678901234567890123456789\n";
    prop_oneof![
        4 => file_header(),
        6 => any_hunk(0..3),
        1 => Just(format!("{commit}Author: A <a@b>\nDate:   Mon\n\n    Subject\n\n    - body\n\n")),
        1 => Just(format!("{commit}Merge: a b\nAuthor: A; B\nDate:   Mon\n\n    Subject\n")),
        1 => Just(" src/a.rs   | 3 ++-\n src/bbb.rs | 1 +\n 2 files changed\n".to_owned()),
        1 => Just(" a | 1 +\n 1 file changed, 1 insertion(+)\n".to_owned()),
        1 => Just("diff --cc x\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n++b\n +c\n".to_owned()),
        1 => Just("Binary files a/x and b/x differ\n".to_owned()),
        1 => select(vec!["\n", "\n\n", "-- \n2.39\n", "diff x\n", ">diff x\n", "@@ -1 +1\n", "x +1\n", "/y -2\n", "commit a; b\n", "\\ No newline at end of file\n", "x"]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hits_of_any_look_come_back(lines in proptest::collection::vec(grep_line(), 0..40), end in select(vec!["", "\n", "\r\n", "\n\n"])) {
        let text = lines.join("\n") + end;
        folded(stage("searchCrunch"), &text);
        crunched(stage("searchCrunch"), &text, Preset::Max);
    }

    #[test]
    fn grep_output_comes_back(runs in proptest::collection::vec(grep_run(), 1..8), crlf in any::<bool>()) {
        let text = runs.concat().join(if crlf { "\r\n" } else { "\n" });
        folded(stage("searchCrunch"), &text);
        prop_assert!(text.lines().count() < 3 || text.contains(">q") || !edits(stage("searchCrunch"), &text, Preset::Lossless).is_empty());
    }

    #[test]
    fn listings_come_back(words in proptest::collection::vec(("[a-c]{1,2}(/[a-c>.]{1,2}){0,4}", select(vec!["", ".rs", ".rs", ".d.ts", "."])), 0..40)) {
        let text: Vec<String> = words.into_iter().map(|(path, suffix)| path + suffix).collect();
        folded(stage("searchCrunch"), &text.join("\n"));
    }

    #[test]
    fn headed_hits_come_back(files in proptest::collection::vec((select(PATHS), proptest::collection::vec((1u64..30, any::<bool>(), select(TEXTS)), 1..6)), 1..6)) {
        let hit = |(number, is_hit, text): (u64, bool, &str)| if is_hit { format!("{number}:{text}") } else { format!("{number}-{text}") };
        let files: Vec<String> = files.into_iter().map(|(path, lines)| format!("{path}\n{}", lines.into_iter().map(hit).collect::<Vec<_>>().join("\n"))).collect();
        folded(stage("searchCrunch"), &files.join("\n\n"));
    }

    #[test]
    fn diffs_come_back(pieces in proptest::collection::vec(diff_piece(), 0..12), cut in 0usize..40) {
        let mut text = pieces.concat();
        text.truncate(text.floor_char_boundary(text.len().saturating_sub(cut / 4)));
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            folded(stage("diffCrunch"), &text);
            crunched(stage("diffCrunch"), &text, Preset::Max);
        }
    }

    #[test]
    fn every_changed_line_keeps_sign_text_and_number(text in diff(), preset in select(vec![Preset::Balanced, Preset::Max])) {
        let stage = stage("diffCrunch");
        let changes: Vec<_> = edits(stage, &text, preset).into_iter().filter(|edit| !edit.lossless).collect();
        let shortened = edited(&text, &changes);
        prop_assert!(shortened.len() <= text.len());
        prop_assert_eq!(diff_changes(&shortened), diff_changes(&text));
        let is_plain = text.contains("diff --git a/src/a.rs b/src/a.rs\nindex");
        prop_assert!(!is_plain || !edits(stage, &text, Preset::Lossless).is_empty());
    }

    #[test]
    fn tampered_folds_are_bounded_and_harmless(lines in proptest::collection::vec(grep_line(), 2..30), pieces in proptest::collection::vec(diff_piece(), 1..8), at in 0usize..60, junk in "[0-9,\\-: ~\\t/*.\\\\a…]{0,12}") {
        for (name, text) in [("searchCrunch", lines.join("\n")), ("diffCrunch", pieces.concat())] {
            let stage = stage(name);
            for edit in edits(stage, &text, Preset::Lossless) {
                let (fold, _) = concertina::pipeline::fold::parse(&edit.text).expect("a fold");
                let mut body: Vec<&str> = fold.body.as_deref().unwrap_or_default().split('\n').collect();
                let at = at % body.len();
                body[at] = &junk;
                body.insert(at / 2, &junk);
                let tampered = Fold::new(name, fold.legend.clone(), Some(body.join("\n")));
                if let Some(text) = concertina_format::unfold(&tampered) {
                    prop_assert!(text.len() <= 8192 + 1024 * tampered.to_string().len());
                }
            }
        }
    }
}

#[test]
fn a_range_from_outside_does_not_blow_up() {
    for body in ["a.rs\n1-999999999999 x", "a.rs\n1-900000 x", "a/ b\n~\t", "\t", "1 x"] {
        for legend in
            ["hits by file: line text", "by file: line:hit; line or tab, then context", "paths: a/ b c = a/b a/c"]
        {
            let fold = Fold::new("searchCrunch", legend, Some(body.to_owned()));
            assert!(concertina_format::unfold(&fold).is_none_or(|text| text.len() < 100_000), "{legend} {body}");
        }
    }
}

#[test]
fn a_sealed_text_is_left_alone() {
    use concertina::content::Segment;
    use concertina::pipeline::FusionContext;
    let text = "src/a.rs:1:x\nsrc/a.rs:2:x\nsrc/a.rs:3:x\n";
    let stage = stage("searchCrunch");
    let (content_type, sealed) = (stage.content_types()[0], 0..12);
    let segments = [Segment::whole(text, content_type, None)];
    let context = FusionContext {
        sealed: std::slice::from_ref(&sealed),
        preset: Preset::Max,
        ..FusionContext::of(text, &segments)
    };
    assert_eq!(stage.apply(&context), []);
}
