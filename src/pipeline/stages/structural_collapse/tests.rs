use super::*;
use crate::content::Segment;
use crate::pipeline::fold;

fn edits(text: &str, preset: Preset) -> Vec<Edit> {
    let segments = [Segment::whole(text, ContentType::Code, None)];
    let context = FusionContext { preset, ..FusionContext::of(text, &segments) };
    StructuralCollapse.apply(&context)
}

/// The text with its folds in it, after checking that each comes back and folds the same way alone.
fn folded(text: &str) -> String {
    let mut folded = String::new();
    let mut at = 0;
    for edit in edits(text, Preset::Lossless) {
        let replaced = &text[edit.range.clone()];
        let (fold, len) = fold::parse(&edit.text).expect("a fold");
        assert_eq!(len, edit.text.len());
        assert_eq!(StructuralCollapse.unfold(&fold).as_deref(), Some(replaced));
        let alone = edits(replaced, Preset::Lossless);
        assert_eq!(alone.first().map(|edit| (&edit.text, edit.range.clone())), Some((&edit.text, 0..replaced.len())));
        folded.push_str(&text[at..edit.range.start]);
        folded.push_str(&edit.text);
        at = edit.range.end;
    }
    folded + &text[at..]
}

#[test]
fn imports_keep_every_name_and_alias() {
    let names = ["android.content.Context", "android.content.Intent", "android.net.Uri", "java.util.List as L", "x"];
    let imports: String = names.iter().map(|name| format!("import {name}\n")).collect();
    // An alias is another shape: it ends the run.
    assert_eq!(folded(&imports), imports);
    let java: String = (0..12).map(|n| format!("import com.example.app.feature{n}.Thing{n};\n")).collect();
    let folded = folded(&java);
    assert!(folded.starts_with("[[FOLD:structuralCollapse 2]] 1 line for each of $1\nimport com.example.app.$1;\n"));
    assert!(folded.contains("feature0.Thing0 feature1.Thing1 ") && folded.ends_with("feature11.Thing11\n"), "{folded}");
}

#[test]
fn assertions_and_tests_keep_every_value_and_name() {
    let text = "    assert parse_amount(\"1,5 EUR\") == Money(15, \"EUR\")\n    assert parse_amount(\"7 USD\") == Money(70, \"USD\")\n    assert parse_amount(\"9 CHF\") == Money(90, \"CHF\")\n    assert parse_amount(\"0 JPY\") == Money(0, \"JPY\")\n";
    assert_eq!(
        folded(text),
        "[[FOLD:structuralCollapse 5]] 1 line for each row of $1 | $2 | $3\n    assert parse_amount(\"$1\") == Money($2, \"$3\")\n1,5 EUR | 15 | EUR\n7 USD | 70 | USD\n9 CHF | 90 | CHF\n0 JPY | 0 | JPY\n"
    );
    let test = |name: &str, at: u32| {
        format!("\n    def test_{name}(self):\n        self.assertEqual(lookup(\"{name}\"), {at})\n")
    };
    let text = format!("class T:\n{}{}{}{}", test("alpha", 1), test("beta", 2), test("gamma", 3), test("delta", 4));
    assert_eq!(
        folded(&text),
        "class T:\n[[FOLD:structuralCollapse 7]] 3 lines for each row of $1 $2 $3\n\n    def $1(self):\n        self.assertEqual(lookup(\"$2\"), $3)\ntest_alpha alpha 1\ntest_beta beta 2\ntest_gamma gamma 3\ntest_delta delta 4\n"
    );
}

#[test]
fn what_the_text_has_marks_and_separates_nothing() {
    let text: String = ["a b", "c | d", "e", "", " f "]
        .iter()
        .map(|value| format!("  check_the_price_of_item(\"{value}\", in_currency=\"$\")\n"))
        .collect();
    let folded = folded(&text);
    assert!(folded.contains("1 line for each row of %1\n"), "{folded}");
    let crlf: String = (0..9).map(|n| format!("  register_the_handler(h{n}, {n});\r\n")).collect();
    assert!(self::folded(&crlf).contains("[[FOLD:"));
}

#[test]
fn folds_of_others_are_not_undone() {
    for text in [
        "[[FOLD:structuralCollapse 2]] 1 line for each of $1\nx $2\na b",
        "[[FOLD:structuralCollapse 2]] 9 lines for each of $1\nx $1\na b",
        "[[FOLD:structuralCollapse 3]] 1 line for each row of $1 $2\nx $1 $2\na b\nc",
        "[[FOLD:structuralCollapse 2]] 1 line for each of !1\nx !1\na b",
        "[[FOLD:structuralCollapse 0]] 1 line for each of $1",
        "[[FOLD:structuralCollapse 2]] 99999999999999999999 lines for each of $1\nx $1\na b",
    ] {
        let (fold, _) = fold::parse(text).expect("a fold by its form");
        assert_eq!(StructuralCollapse.unfold(&fold), None, "{text}");
    }
}

#[test]
fn little_gain_is_no_fold_and_code_stays_code_unless_much_goes() {
    let few = "a = 1\nb = 2\nc = 3\n";
    assert!(edits(few, Preset::Lossless).is_empty());
    let some = "    assert_the_amount(\"one\", 1)\n    assert_the_amount(\"two\", 2)\n    assert_the_amount(\"three\", 3)\n    assert_the_amount(\"four\", 4)\n    assert_the_amount(\"five\", 5)\n";
    assert_eq!(edits(some, Preset::Lossless).len(), 1);
    assert!(edits(some, Preset::Balanced).is_empty());
    let much: String = (0..40).map(|n| format!("    registry.register_handler(Handler(name=\"h{n}\"))\n")).collect();
    assert_eq!(edits(&much, Preset::Balanced).len(), 1);
}

#[test]
fn hostile_texts_are_looked_at_once() {
    for text in [
        "\n".repeat(40_000),
        "a".repeat(1_000_000),
        "a = 1\n".repeat(40_000),
        "\"\n".repeat(40_000),
        "a \0\r\n".repeat(20_000),
        "世界 = 1\n".repeat(20_000),
        "a b c\nd e\n".repeat(20_000),
    ] {
        folded(&text);
    }
}
