use super::*;
use crate::content::Segment;
use crate::pipeline::fold::{self, Fold};
use crate::pipeline::restore;

fn edits(text: &str, content_type: ContentType, preset: Preset) -> Vec<Edit> {
    let segments = [Segment::whole(text, content_type, None)];
    let context = FusionContext { preset, ..FusionContext::of(text, &segments) };
    StructuralCollapse.apply(&context)
}

/// Returns the text with its folds in it, after checking that each restores its lines.
fn folded(text: &str) -> String {
    let mut folded = String::new();
    let mut at = 0;
    for edit in edits(text, ContentType::Unknown, Preset::Lossless) {
        let replaced = &text[edit.range.clone()];
        let (fold, len) = fold::parse(&edit.text).expect("a fold");
        assert_eq!(len, edit.text.len());
        assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(replaced));
        folded.push_str(&text[at..edit.range.start]);
        folded.push_str(&edit.text);
        at = edit.range.end;
    }
    folded + &text[at..]
}

/// Returns the body of the single fold that the whole text becomes.
fn body(text: &str) -> String {
    let folded = folded(text);
    let (fold, len) = fold::parse(&folded).unwrap_or_else(|| panic!("no fold: {folded}"));
    assert_eq!(len, folded.trim_end().len(), "{folded}");
    fold.body.unwrap_or_default()
}

#[test]
fn a_listing_says_once_what_all_rows_share() {
    let files = [(120, "a.rs"), (20_480, "long-name.rs"), (7, "b"), (99_999, "c.txt"), (3, "mod.rs"), (12, "x y.md")];
    let row = |(size, name): (u32, &str)| format!("-rw-r--r-- 1 root root {size:>6} Nov 22 19:32 {name}\n");
    let text: String = files.into_iter().map(row).collect();
    assert_eq!(
        body(&text),
        "a: -rw-r--r-- 1 root root  {>5} Nov 22 19:32 {}\n120 a.rs\n20480 long-name.rs\n7 b\n99999 c.txt\n3 mod.rs\n12 x y.md"
    );
}

#[test]
fn of_a_listing_only_numbers_go_where_its_lines_have_no_shape() {
    let words = ["use std::fmt;", "", "fn one() {", "    let a = 12;", "}", "// the end", "struct B(u8);"];
    let text: String = (1..40).map(|number| format!("{number:>6}\t{}\n", words[number * number % 7])).collect();
    let body = body(&text);
    assert!(body.starts_with("     1\t\n}\n"), "{body}");
    assert_eq!(body.lines().filter(|line| line.contains('\t')).count(), 4, "{body}");
}

#[test]
fn records_of_several_lines_are_rows() {
    let record = |(file, size): (&str, u32)| {
        format!("  File: /usr/bin/{file}\n  Size: {size} Blocks: 8\nAccess: (0755/-rwxr-xr-x) Uid: (0/root)\n\n")
    };
    let files = [("cat", 100), ("ls", 200), ("id", 311), ("wc", 41)].into_iter().cycle();
    let text: String = files.take(24).map(record).collect();
    let folded = folded(&text);
    assert!(
        folded.contains("\n  File: /usr/bin/{}\n  Size: {} Blocks: 8\nAccess: (0755/-rwxr-xr-x) Uid: (0/root)\n"),
        "{folded}"
    );
    assert!(folded.contains(" 200\na id 311\n") || folded.contains(" 200\nid 311\n"), "{folded}");
}

#[test]
fn steps_folders_and_what_is_as_above_are_not_said_again() {
    let text: String = (0..12)
        .map(|at| {
            format!("{:08}: copied src/module/part{}/file_{}.txt ok\n", at * 10, at / 4, ["x", "yy", "z"][at % 3])
        })
        .collect();
    let body = body(&text);
    assert!(body.starts_with("a: {+10}: copied src/module/part"), "{body}");
    assert!(body.len() * 2 < text.len(), "{body}");
}

#[test]
fn single_words_stand_side_by_side() {
    let names = "adduser appstream bash binutils bzip2 clang cmake coreutils cron curl dash debianutils dialog diffutils dpkg fakeroot file \
                 findutils fontconfig gawk gettext git gnupg grep gzip hostname init iproute2 kmod less login make mawk mount nano \
                 ncurses netbase openssl passwd patch perl procps python ruby sed sudo systemd tar tzdata udev unzip util vim wget";
    let text = names.replace(' ', "\n");
    assert!(body(&text).starts_with("a*: {}\nadduser appstream bash"));
}

#[test]
fn values_that_look_like_notation_are_quoted() {
    let odd = [
        ".", "", "$1", "^x", "\"q\"", "a", "b:", ".4", "|", "*2", "a b", "{}", "b/2:", " x", "x ", "a $1 b", "$", "@10",
    ];
    for at in 0..odd.len() {
        let rows =
            (0..30).map(|row| format!("value {} of the row number {row} is fine\n", odd[(row + at) % odd.len()]));
        folded(&rows.collect::<String>());
        let rows = (0..30).map(|row| format!("the row number {row} says {}\n", odd[(row * at) % odd.len()]));
        folded(&rows.collect::<String>());
        let rows = (0..30).map(|row| format!("{} {row} is of the rows\n", odd[(row * 7 + at) % odd.len()]));
        folded(&rows.collect::<String>());
    }
}

#[test]
fn long_words_of_sentences_have_names() {
    let ids: Vec<String> = (1..=20u64).map(|n| format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let words = "a slow disk was found behind the rack where nobody looks after noon and then it moved";
    let some =
        |from: usize, count: usize| words.split(' ').cycle().skip(from).take(count).collect::<Vec<_>>().join(" ");
    let text: String = (0..40)
        .map(|row| {
            format!(
                "{:02} compute {} {} {}\n",
                row * row % 60,
                some(row * row, 1 + row % 3),
                ids[row * 7 % 20],
                some(row * 3, 2 + row % 5)
            )
        })
        .collect();
    let body = body(&text);
    assert!(ids.iter().all(|id| body.matches(id.as_str()).count() == 1), "{body}");
    let spoken: String = (0..40)
        .map(|row| format!("{:02} compute says costs ${} of {}\n", row * row % 60, row % 4, ids[row % 2]))
        .collect();
    folded(&spoken);
}

#[test]
fn values_are_cut_where_all_of_them_begin_alike() {
    let cases = ["plain", "with-hyphens-in-it", "of[brackets]", "a.b.c", "x"];
    let text: String = (0..30)
        .map(|row| format!("tests/unit_{}.py::test_{}_{}\n", ["parse", "render"][row / 15], cases[row % 5], row * row))
        .collect();
    let body = body(&text);
    assert!(body.matches("tests/unit_").count() <= 2 && body.matches("::test_").count() <= 2, "{body}");
}

#[test]
fn lines_that_begin_alike_are_parted_from_others() {
    let others = ["raise OSError('the disk is full')", "broken pipe (32) while reading", "no route to the host"];
    let text: String = (0..60)
        .map(|row| match row % 6 {
            5 => format!("{}\n", others[row / 6 % 3]),
            _ => format!("app_durations.service.lookup({row}) took {} steps of {}\n", row * 7 % 31, row * 13 % 17),
        })
        .collect();
    let body = body(&text);
    assert!(body.matches("app_durations.service.lookup(").count() == 1, "{body}");
}

#[test]
fn prose_stays_and_code_folds_only_by_a_lot() {
    let prose = "It is a truth universally acknowledged, that a single man\nin possession of a good fortune, must be in want of a wife.\nHowever little known the feelings or views of such a man may be\non his first entering a neighbourhood, this truth is so well fixed\n";
    assert_eq!(folded(prose), prose);
    let code = |rows: usize| -> String {
        (0..rows).map(|at| format!("    let value_{at} = compute(input[{at}], {}, scale);\n", at * at)).collect()
    };
    for preset in [Preset::Lossless, Preset::Balanced] {
        assert!(edits(&code(8), ContentType::Code, preset).is_empty(), "{preset:?}");
        assert!(!edits(&code(60), ContentType::Code, preset).is_empty(), "{preset:?}");
    }
}

#[test]
fn foreign_folds_are_refused() {
    for body in [
        "a: {}\n*9",
        "b: x\nb",
        "a: {\nx",
        "a: {>99999}\nx",
        "a/9: x\n1",
        "x y",
        "a: {=2}\nx",
        "a: {}\n$2",
        "a: {/}\n^x",
    ] {
        let fold = Fold::new("structuralCollapse", "{}: values, row by row", Some(body.to_owned()));
        let folded = fold.sealed("the text that it was made from").to_string();
        assert_eq!(restore(&folded, &[]), folded, "{body}");
    }
}

#[test]
fn what_counts_through_all_rows_is_said_once() {
    let text: String =
        (0..900).map(|row| format!("step {} of 900 took place in room {}\n", row + 7, 3 * row)).collect();
    assert_eq!(body(&text), "a: step {+1} of 900 took place in room {+3}\n7 0\n.\n*898");
    for body in ["a: {+x}\n1", "a: {+1 from 2}\n", "a: {+-3}\n1"] {
        assert_eq!(unfolded(body), None, "{body}");
    }
    assert_eq!(unfolded("a: {+1}\n009\n\n*2").as_deref(), Some("009\n010\n011\n012"));
}

fn unfolded(body: &str) -> Option<String> {
    concertina_format::unfold(&Fold::new("structuralCollapse", "{}: values, row by row", Some(body.into())))
}

#[test]
fn the_legend_says_what_stands_for_values_that_are_expected() {
    let host = |row: usize| if row.is_multiple_of(6) { format!("10.0.{}.1", row / 6) } else { "x".to_owned() };
    let words = |row| if row < 12 { "a=alpha b=gam c=one" } else { "a=beta b=del c=two" };
    let row = |row: usize| format!("conn src={} {} v=.{}\n", host(row), words(row), row * 7 % 10);
    let text: String = (0..24).map(row).collect();
    let text = text.trim_end();
    let (fold, _) = fold::parse(&folded(text)).unwrap();
    assert!(fold.legend.contains("; {+1} counts, . is the next; . as above;"), "{}", fold.legend);
    assert!(fold.body.as_ref().unwrap().contains("\na 1 . . . 2\n"), "{fold}");
    assert!(fold.body.as_ref().unwrap().contains(" v=.{-3}\n7 . . 8 .\n"), "{fold}");
    // The words of a legend are for readers: another choice of them is the same fold.
    for (words, other) in [(", . is the next", ""), (". as above", ". the same")] {
        let reworded = Fold { legend: fold.legend.replace(words, other), ..fold.clone() };
        assert_eq!(restore(&reworded.sealed(text).to_string(), &[]), text);
    }
}

#[test]
fn the_legend_says_what_is_missing_at_the_end_of_rows() {
    let row = |row: usize| format!("conn id={} state={} from=10.0.{}.1\n", row * row * 31 % 977, row / 6, row / 6 * 5);
    let text: String = (0..24).map(row).collect();
    let text = text.trim_end();
    let (fold, _) = fold::parse(&folded(text)).unwrap();
    assert!(fold.legend.ends_with("; . as above; missing at the end: as above"), "{fold}");
    assert!(fold.body.as_ref().unwrap().contains("\n31\n124\n"), "{fold}");
}

#[test]
fn a_uuid_is_one_value() {
    let id = |row: u64| {
        let part = |at: u64| (row * 2_654_435_761 + at * 40_503).wrapping_mul(11_400_714_819_323_198_485) >> 16;
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            part(1) as u32,
            part(2) as u16,
            part(3) & 0xfff,
            part(4) & 0xfff,
            part(5)
        )
    };
    let text: String = (0..40).map(|row| format!("attached volume {} to vm-{}\n", id(row / 2), row % 3)).collect();
    let text = text.trim_end();
    let folded = folded(text);
    assert!(folded.contains(&format!("\n{} ", id(3))), "{folded}");
    assert_eq!(concertina_format::unfold(&fold::parse(&folded).unwrap().0).as_deref(), Some(text));
}

#[test]
fn what_counts_is_told_every_fourth_row() {
    let word = |row: usize| ["amber", "birch", "cedar", "delta"][row * row % 7 % 4];
    let counts = |say: &dyn Fn(usize) -> String| body(&(0..60).map(say).collect::<String>());
    let rows =
        counts(&|row| format!("request {} of {} took {} ms\n", 100 + row, word(row), (row * row * 31 + row) % 523));
    assert!(rows.starts_with("a: request {+1} of {} took {} ms\n100 "), "{rows}");
    let told: Vec<usize> = (1..60).filter(|row| rows.contains(&format!("\n{} ", 100 + row))).collect();
    assert_eq!(told, (4..60).step_by(4).collect::<Vec<_>>(), "{rows}");
    // Where most numbers are one more than the one above, every fourth of those is printed, too.
    let skipping = counts(&|row| {
        format!("request {} of {} took {} ms\n", row + row / 25, word(row), (row * row * 31 + row) % 523)
    });
    assert!(skipping.contains("\n12 ") && skipping.contains("\n30 ") && skipping.contains("\n52 "), "{skipping}");
}

/// The cases cover six pairs of words for the verdict of a test, at the start and at the end of its line, with one
/// failure in 3 to 12 lines.
#[test]
fn a_verdict_stands_in_each_line_that_has_one() {
    for (good, bad) in
        [("✓", "×"), ("✔", "✖"), ("PASS", "FAIL"), ("PASSED", "FAILED"), ("ok", "FAILED"), ("OK", "ERROR")]
    {
        for every in 3..13 {
            let verdict = |at: usize| if at % every == every - 1 { bad } else { good };
            let front: String = (0..40)
                .map(|at| format!(" {} v.test.js > invoice > renders number {at} {}ms\n", verdict(at), at * 7 % 31))
                .collect();
            let end: String = (0..40)
                .map(|at| format!("test invoice::renders_number_{at} took {} ms {}\n", at * 7 % 31, verdict(at)))
                .collect();
            for text in [front, end] {
                let folded = folded(&text);
                // If a template contains the verdict, its rows need not.
                let templates: Vec<&str> =
                    folded.lines().filter(|line| line.contains("{") && line.contains(": ")).collect();
                let is_named = |word: &str| templates.iter().any(|line| line.contains(word));
                let told = folded.lines().filter(|line| line.split_whitespace().any(|word| word == bad)).count();
                let failed = (0..40).filter(|&at| verdict(at) == bad).count();
                assert!(is_named(bad) || told >= failed, "{good} {bad} {every}\n{folded}");
            }
        }
    }
}

/// The cases cover ids that grow by 11 to 60, with one to four states among the rows.
#[test]
fn ids_that_do_not_grow_by_a_round_step_are_in_sight() {
    for step in [11, 14, 21, 35, 60] {
        for kinds in 1..5 {
            let row = |at: usize| {
                format!(
                    "| order {} | {} | {} |\n",
                    100 + at * step,
                    ["open", "paid", "void", "sent", "lost"][at % kinds],
                    at * 7919 % 911
                )
            };
            let text: String = (0..60).map(row).collect();
            let folded = folded(&text);
            let missing: Vec<usize> =
                (0..60).map(|at| 100 + at * step).filter(|id| !folded.contains(&id.to_string())).collect();
            assert!(missing.is_empty(), "{missing:?}\n{folded}");
        }
    }
}
