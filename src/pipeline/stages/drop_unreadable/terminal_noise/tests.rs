use crate::config::Preset;
use crate::content::Hints;
use crate::pipeline::{CompressOptions, Compressed, FusionEngine, restore};

/// A recorded output, the facts that must stay visible, and the maximum percentage of tokens left at `balanced`.
struct Case {
    name: &'static str,
    text: &'static str,
    in_sight: &'static [&'static str],
    percent: usize,
}

macro_rules! case {
    ($name:literal, $percent:literal, $in_sight:expr) => {
        Case {
            name: $name,
            text: include_str!(concat!("../../../../../fixtures/terminal/", $name, ".txt")),
            in_sight: &$in_sight,
            percent: $percent,
        }
    };
}

const CASES: &[Case] = &[
    case!("git-clone", 20, ["Resolving deltas: 100% (2644/2644), done.", "remote: Enumerating objects: 4053, done."]),
    case!("pip-download", 60, ["Successfully downloaded", "Successfully downloaded six numpy"]),
    case!("rich-two-bars", 60, ["a note in between", "download ", "100%", "unpack ", " 50%"]),
    case!("node-test", 80, ["✖ adds 13 (10.646307ms)", "ℹ pass 24", "14 !== 15"]),
    case!(
        "man-page",
        70,
        ["NAME\n       foldup - fold bulky output", "--preset NAME", "2      an option is not known"]
    ),
    case!("ls-color", 85, ["abbrev.rs", "token_opt"]),
    case!("rg-color", 60, ["rle/sigils.rs", "(text: &str, encoding: Encoding) -> Option<Fold> {"]),
    case!(
        "git-diff-color",
        90,
        [
            "            let found = secrets_in(text);",
            "-    use super::super::find_secrets;",
            "src/store/secrets/header.rs"
        ]
    ),
];

fn compress(text: &str, preset: Preset, hints: Hints) -> Compressed {
    let options = CompressOptions { preset, hints, ..CompressOptions::default() };
    let compressed = FusionEngine::default().compress(text, &options, &|| 0.0);
    assert_eq!(restore(&compressed.text, &compressed.originals), text);
    let again = FusionEngine::default().compress(&compressed.text, &options, &|| 0.0);
    assert_eq!(again.text, compressed.text);
    compressed
}

#[test]
fn recorded_output_shows_what_the_terminal_showed() {
    for Case { name, text, in_sight, percent } in CASES {
        let compressed = compress(text, Preset::Balanced, Hints::default());
        let shown = &compressed.text;
        println!("{name} balanced: {} -> {}", compressed.tokens_before, compressed.tokens_after);
        assert!(!shown.contains(['\x1b', '\x08']), "{name}: {shown}");
        let unfolded = restore(shown, &[]);
        for fact in *in_sight {
            assert!(shown.contains(fact) || unfolded.contains(fact), "{name}: {fact} is not in {shown}");
        }
        assert!(compressed.tokens_after * 100 <= compressed.tokens_before * percent, "{name}: {shown}");
    }
}

#[test]
fn colours_of_lines_that_count_go_with_the_lines() {
    let text: String = (0..120).map(|n| format!("\x1b[32mservice-{n}\x1b[0m running\n")).collect();
    for (preset, most) in [(Preset::Lossless, 300), (Preset::Balanced, 100)] {
        let compressed = compress(&text, preset, Hints::default());
        assert!(compressed.tokens_after <= most, "{}: {}", compressed.tokens_after, compressed.text);
    }
}

#[test]
fn words_that_only_their_colour_tells_apart_keep_it() {
    let text = include_str!("../../../../../fixtures/terminal/git-word-diff.txt");
    let shown = compress(text, Preset::Balanced, Hints::default()).text;
    assert!(shown.contains("\x1b[31mread)\x1b[m\x1b[32mread, the budgets of turns)\x1b[m"), "{shown}");
    assert!(shown.contains("\x1b[32mtests/power/"), "{shown}");
}

#[test]
fn code_from_a_file_has_its_escapes_itself() {
    let code = "#!/bin/sh\nset -e\n".to_owned()
        + &"printf '\x1b[1;31m%s\x1b[0m\\n' \"$1\"\nif [ -n \"$2\" ]; then\n  exit 1\nfi\n".repeat(12);
    let read = Hints { path: Some("warn.sh".to_owned()), ..Hints::default() };
    assert!(compress(&code, Preset::Balanced, read).text.contains("\x1b[1;31m%s\x1b[0m"));
    let printed = Hints { command: Some("bat --color=always warn.sh".to_owned()), ..Hints::default() };
    assert!(!compress(&code, Preset::Balanced, printed).text.contains('\x1b'));
}

#[test]
fn old_line_ends_are_no_progress() {
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    let text: String = words.iter().cycle().take(64).map(|word| format!("{word} is a line of an old file\r")).collect();
    let shown = compress(&text, Preset::Balanced, Hints::default()).text;
    assert!(words.iter().all(|word| shown.contains(word)), "{shown}");
    let bar: String = (0..64).map(|n| format!("fetching {n}%\r")).collect();
    assert_eq!(compress(&bar, Preset::Balanced, Hints::default()).text.lines().next(), Some("fetching 63%"));
}

#[test]
fn carets_and_bars_keep_their_lengths() {
    let carets = "    price = net(order) + net(order.tax_of_last_year)\n            ~~~~~~~~~~~^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n            ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n";
    let chart = "checkout of the shop\n\n====================================\n======================\n==================\n\nlogin ━━━━━━━━━━━━━━━━━━━━━━━━━━\ncart ━━━━━━━━━━━━━━━\n";
    let text = format!("{carets}\n{chart}\n\n\n\nend   \n");
    let shown = compress(&text, Preset::Balanced, Hints::default()).text;
    assert!(shown.contains(carets) && shown.contains(chart), "{shown}");
}

#[test]
fn printed_rules_and_blank_lines_are_short_and_those_of_files_stay() {
    let part = "\n\n\n\nstep: all of it   \n==================================\n────────────────────────────────────────────\n  a: 1  \n";
    let text = part.repeat(20);
    let shown = compress(&text, Preset::Balanced, Hints::default());
    assert!(shown.tokens_after * 3 <= shown.tokens_before, "{}", shown.text);
    let file = Hints { path: Some("a.txt".to_owned()), ..Hints::default() };
    assert!(compress(&text, Preset::Balanced, file).lossless);
}
