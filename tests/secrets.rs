//! The scan for secrets on real tool outputs: silent where there is none, and not distracted by what stands around one.

#[path = "corpus/mod.rs"]
mod corpus;

use concertina::store::secrets::find_secrets;

const KINDS: [&str; 5] = ["logs", "json", "code", "search", "diffs"];

/// Put together here, so that no scanner takes this file for a leak.
fn planted() -> [String; 2] {
    [format!("AKIA{}", "Q3EGRZ5TXL7M2N4P"), format!("DEPLOY_{}=q8w7e6r5t4y3u2i1o0pA", "TOKEN")]
}

#[test]
fn real_outputs_without_secrets_are_passed_over() {
    for kind in KINDS {
        let inputs = corpus::inputs(kind);
        let mut bytes = 0;
        for input in &inputs {
            let text = input.text().unwrap_or_default();
            bytes += text.len();
            let found: Vec<&str> = find_secrets(text).into_iter().map(|range| &text[range]).collect();
            assert!(found.is_empty(), "{}: {found:?}", input.name);
        }
        println!("{kind}: {} inputs, {bytes} bytes, no hit", inputs.len());
    }
}

#[test]
fn a_secret_is_found_in_the_middle_of_any_real_output() {
    for input in KINDS.into_iter().flat_map(corpus::inputs) {
        let Some(text) = input.text() else { continue };
        for secret in planted() {
            let at = text[..text.floor_char_boundary(text.len() / 2)].rfind('\n').map_or(0, |end| end + 1);
            let leaky = format!("{}{secret}\n{}", &text[..at], &text[at..]);
            let value = secret.rsplit('=').next().unwrap_or(&secret);
            let found: Vec<&str> = find_secrets(&leaky).into_iter().map(|range| &leaky[range]).collect();
            assert_eq!(found, [value], "{}", input.name);
        }
    }
}
