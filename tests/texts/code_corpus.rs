//! Tests of the code stages on real files: the savings, and that the result is still valid code. The tables are printed
//! with `--nocapture`.

use std::collections::BTreeMap;
use std::ops::Range;

use concertina::config::{Encoding, Preset};
use concertina::content::{ContentType, Language, Segment};
use concertina::pipeline::{Edit, FusionContext, Stage, fold};
use concertina::tokens::count;
use concertina_grammars as grammars;

use crate::corpus;
use crate::stages::{edited, stage};

/// Returns the stage's edits that save tokens, checked against its contract.
fn edits(stage: &dyn Stage, text: &str, language: Language, preset: Preset) -> Vec<Edit> {
    let segments = [Segment::whole(text, ContentType::Code, Some(language))];
    let context = FusionContext { preset, ..FusionContext::of(text, &segments) };
    if !stage.should_apply(&context) {
        return Vec::new();
    }
    let edits = stage.apply(&context);
    let mut end = 0;
    for edit in &edits {
        assert!(edit.range.start >= end && edit.range.end <= text.len(), "sorted and apart");
        end = edit.range.end;
    }
    edits.into_iter().filter(|edit| saves(text, edit)).collect()
}

fn saves(text: &str, edit: &Edit) -> bool {
    let start = text.floor_char_boundary(edit.range.start.saturating_sub(16));
    let end = text.ceil_char_boundary((edit.range.end + 16).min(text.len()));
    let after = [&text[start..edit.range.start], &edit.text, &text[edit.range.end..end]].concat();
    count(&after, Encoding::O200kBase) < count(&text[start..end], Encoding::O200kBase)
}

fn grammar(language: Language, name: &str) -> &'static tree_sitter::Language {
    let grammar = match language {
        Language::Python => &grammars::PYTHON,
        Language::JavaScript => &grammars::JAVASCRIPT,
        Language::TypeScript if name.ends_with("tsx") => &grammars::TSX,
        Language::TypeScript => &grammars::TYPESCRIPT,
        Language::Java => &grammars::JAVA,
        Language::C => &grammars::C,
        Language::Cpp => &grammars::CPP,
        Language::CSharp => &grammars::C_SHARP,
        Language::Go => &grammars::GO,
        Language::Rust => &grammars::RUST,
        Language::Ruby => &grammars::RUBY,
        Language::Php => &grammars::PHP,
        Language::Swift => &grammars::SWIFT,
        Language::Kotlin => &grammars::KOTLIN,
        Language::Scala => &grammars::SCALA,
        Language::Shell => &grammars::BASH,
        Language::Sql => &grammars::SQL,
    };
    grammar.language()
}

/// The number of errors in a piece of code, and the names and imports that its definitions bind, in order.
struct Facts {
    errors: usize,
    named: Vec<String>,
}

fn facts(code: &str, language: Language, name: &str) -> Facts {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar(language, name)).expect("a compatible grammar");
    let tree = parser.parse(code, None).expect("no limits are set");
    let mut facts = Facts { errors: 0, named: Vec::new() };
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        facts.errors += usize::from(node.is_error() || node.is_missing());
        let kind = node.kind();
        let text = |range: Range<usize>| code[range].split_whitespace().collect::<Vec<_>>().join(" ");
        let defines = ["function", "method", "class", "struct", "enum", "trait", "interface", "type"];
        if node.is_named()
            && defines.iter().any(|word| kind.starts_with(word))
            && let Some(name) = node.child_by_field_name("name")
        {
            facts.named.push(text(name.byte_range()));
        }
        if [
            "import_statement",
            "import_declaration",
            "import_from_statement",
            "use_declaration",
            "preproc_include",
            "import",
        ]
        .contains(&kind)
        {
            facts.named.push(tokens(node, code));
        }
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        stack.extend(children.into_iter().rev());
    }
    facts
}

/// Returns the text of a node without comments.
fn tokens(node: tree_sitter::Node, code: &str) -> String {
    if node.kind().contains("comment") {
        return String::new();
    }
    let mut cursor = node.walk();
    let below: Vec<String> = node.children(&mut cursor).map(|child| tokens(child, code)).collect();
    if below.is_empty() { code[node.byte_range()].trim().to_owned() } else { below.concat() }
}

#[derive(Default)]
struct Row {
    files: usize,
    fired: usize,
    before: usize,
    after: usize,
    parsed: usize,
    still: usize,
}

fn code_inputs() -> Vec<(Language, corpus::Input)> {
    let inputs = corpus::inputs("code").into_iter();
    let labelled = inputs.filter_map(|input| {
        let language = Language::parse(input.name.split('/').nth(1)?)?;
        input.text().is_some().then_some((language, input))
    });
    labelled.collect()
}

fn print_table(title: &str, rows: &BTreeMap<&str, Row>) {
    println!("\n{title}\n| language | files | fired | tokens before | after | saved | parsed | still parse |");
    let mut sum = Row::default();
    for (language, row) in rows {
        println!(
            "| {language} | {} | {} | {} | {} | {:.1} % | {} | {} |",
            row.files,
            row.fired,
            row.before,
            row.after,
            100.0 - 100.0 * row.after as f64 / row.before as f64,
            row.parsed,
            row.still
        );
        sum.files += row.files;
        sum.fired += row.fired;
        sum.before += row.before;
        sum.after += row.after;
        sum.parsed += row.parsed;
        sum.still += row.still;
    }
    println!(
        "| all | {} | {} | {} | {} | {:.1} % | {} | {} |",
        sum.files,
        sum.fired,
        sum.before,
        sum.after,
        100.0 - 100.0 * sum.after as f64 / sum.before as f64,
        sum.parsed,
        sum.still
    );
}

#[test]
fn code_without_comments_still_parses_and_shows_every_definition() {
    let neurosyntax = stage("neurosyntax");
    for preset in [Preset::Balanced, Preset::Max] {
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        for (language, input) in code_inputs() {
            let (name, text) = (&input.name, input.text().expect("code is text"));
            let edits = edits(neurosyntax, text, language, preset);
            let after = edited(text, &edits);
            let again = self::edits(neurosyntax, &after, language, preset);
            assert!(again.is_empty(), "{name} at {preset:?}: more to do in its own output: {again:?}");
            let row = rows.entry(language.as_str()).or_default();
            let (old, new) = (facts(text, language, name), facts(&after, language, name));
            row.files += 1;
            row.fired += usize::from(!edits.is_empty());
            row.before += count(text, Encoding::O200kBase);
            row.after += count(&after, Encoding::O200kBase);
            row.parsed += usize::from(old.errors == 0);
            row.still += usize::from(old.errors == 0 && new.errors == 0);
            if old.errors == 0 {
                assert_eq!(new.errors, 0, "{name} at {preset:?} no longer parses");
                assert!(preset == Preset::Max || old.named == new.named, "{name}: {:?} {:?}", old.named, new.named);
            }
        }
        print_table(&format!("neurosyntax at {}", preset.as_str()), &rows);
    }
}

#[test]
fn folded_code_comes_back_byte_for_byte() {
    let collapse = stage("structuralCollapse");
    for preset in [Preset::Balanced, Preset::Lossless] {
        let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
        for (language, input) in code_inputs() {
            let (name, text) = (&input.name, input.text().expect("code is text"));
            let all = edits(collapse, text, language, preset);
            let (mut restored, mut at) = (String::new(), 0);
            for edit in &all {
                let replaced = &text[edit.range.clone()];
                let (fold, len) = fold::parse(&edit.text).expect("a fold");
                assert_eq!(len, edit.text.len(), "{name}");
                let unfolded = concertina_format::unfold(&fold).unwrap_or_else(|| panic!("{name}: {fold}"));
                assert_eq!(unfolded, replaced, "{name}: {fold}");
                restored.push_str(&text[at..edit.range.start]);
                restored.push_str(&unfolded);
                at = edit.range.end;
            }
            restored.push_str(&text[at..]);
            assert_eq!(restored, text, "{name}");
            let after = edited(text, &all);
            let row = rows.entry(language.as_str()).or_default();
            row.files += 1;
            row.fired += usize::from(!all.is_empty());
            row.before += count(text, Encoding::O200kBase);
            row.after += count(&after, Encoding::O200kBase);
        }
        print_table(&format!("structuralCollapse at {}", preset.as_str()), &rows);
    }
}

/// The cost of the runner's marker line.
const MARKER_TOKENS: usize = 20;

#[test]
fn the_python_benchmark_is_a_fifth_shorter_and_still_parses() {
    let Some(text) = corpus::peer("tc1_python.py") else { return };
    let before = count(&text, Encoding::O200kBase);
    for (preset, least) in [(Preset::Balanced, 20.0), (Preset::Max, 25.3)] {
        let after = edited(&text, &edits(stage("neurosyntax"), &text, Language::Python, preset));
        let tokens = count(&after, Encoding::O200kBase) + MARKER_TOKENS;
        let saved = 100.0 - 100.0 * tokens as f64 / before as f64;
        println!("tc1 at {}: {before} -> {tokens}, {saved:.1} % saved", preset.as_str());
        assert!(saved >= least, "{saved}");
        assert_eq!(facts(&after, Language::Python, "tc1.py").errors, 0);
    }
}
