use super::*;

#[test]
fn definitions_are_found_without_a_language_and_none_is_named() {
    let mut sheet = Sheet::new(200);
    assert!(summarize("use std::io;\nfn main() {}\nimpl Store {}\nstruct Store;\n", None, &mut sheet));
    assert!(sheet.finish().starts_with("code, 4 lines\ndefines: fn main()"));
    let mut sheet = Sheet::new(200);
    assert!(summarize_other("import 'dart:io';\nclass Store {\n}\nabstract class Disk {\n}\n", "Dart", &mut sheet));
    assert!(sheet.finish().starts_with("Dart, 5 lines\ndefines: class Store, abstract class Disk"));
    assert!(!summarize("Only words,\nline after line.\n", None, &mut Sheet::new(200)));
}
