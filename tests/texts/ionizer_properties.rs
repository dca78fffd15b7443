//! Properties of the ionizer for any JSON, table or other text.

use concertina::config::{Encoding, Preset};
use concertina::content::{ContentType, Segment};
use concertina::pipeline::stages::ionizer::Ionizer;
use concertina::pipeline::{Edit, FusionContext, Stage, fold};
use concertina::tokens;
use proptest::prelude::*;

fn apply(text: &str, content_type: ContentType, preset: Preset, max_tokens: Option<usize>) -> Vec<Edit> {
    let segments = [Segment::whole(text, content_type, None)];
    Ionizer.apply(&FusionContext { preset, max_tokens, ..FusionContext::of(text, &segments) })
}

/// Checks every property of the folds of a text. Returns the number of folds.
fn check(text: &str, content_type: ContentType) -> usize {
    let edits = apply(text, content_type, Preset::Lossless, Some(10));
    assert_eq!(edits, apply(text, content_type, Preset::Lossless, Some(10)));
    let mut at = 0;
    for edit in &edits {
        assert!(edit.lossless && edit.sealed && edit.range.start >= at, "{edit:?}");
        at = edit.range.end;
        let old = &text[edit.range.clone()];
        let whole_lines = (edit.range.start == 0 || text[..edit.range.start].ends_with('\n'))
            && (edit.range.end == text.len() || text[edit.range.end..].starts_with('\n'));
        assert!(whole_lines, "{edit:?}");
        let (fold, length) = fold::parse(&edit.text).unwrap_or_else(|| panic!("no fold: {}", edit.text));
        assert_eq!(length, edit.text.len());
        let back = concertina_format::unfold(&fold);
        assert!(back.as_deref() == Some(old), "\n--- text\n{old}\n--- fold\n{}\n--- back\n{back:?}", edit.text);
        assert!(tokens::count(&edit.text, Encoding::O200kBase) < tokens::count(old, Encoding::O200kBase));
    }
    for edit in apply(text, content_type, Preset::Max, Some(10)) {
        assert!(
            edit.lossless || tokens::count(&edit.text, Encoding::O200kBase) < tokens::count(text, Encoding::O200kBase)
        );
    }
    edits.len()
}

/// A JSON value that preserves every spelling.
#[derive(Debug, Clone)]
enum Json {
    Raw(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

#[derive(Debug, Clone)]
enum Style {
    Minified,
    Spaced,
    Indent(String),
    Tight(String),
    Crlf(String),
    /// Each bracket is expanded or not, depending on the hash of a text, so that the layout is irregular.
    Mixed(String),
    Odd,
}

impl Json {
    fn print(&self, style: &Style, depth: usize, out: &mut String) {
        let (open, close, length) = match self {
            Self::Raw(raw) => return out.push_str(raw),
            Self::Array(items) => ('[', ']', items.len()),
            Self::Object(items) => ('{', '}', items.len()),
        };
        let line = |unit: &str, depth: usize, end: &str| format!("{end}{}", unit.repeat(depth));
        let flat = length % 3 == 1;
        let (first, next, last, colon) = match style {
            Style::Minified => (String::new(), String::new(), String::new(), ":"),
            Style::Spaced => (String::new(), " ".into(), String::new(), ": "),
            Style::Indent(unit) => {
                (line(unit, depth + 1, "\n"), line(unit, depth + 1, "\n"), line(unit, depth, "\n"), ": ")
            }
            Style::Tight(unit) => {
                (line(unit, depth + 1, "\n"), line(unit, depth + 1, "\n"), line(unit, depth, "\n"), ":")
            }
            Style::Crlf(unit) => {
                (line(unit, depth + 1, "\r\n"), line(unit, depth + 1, "\r\n"), line(unit, depth, "\r\n"), ": ")
            }
            Style::Mixed(_) if flat => (" ".into(), " ".into(), " ".into(), ": "),
            Style::Mixed(unit) => {
                (line(unit, depth + 1, "\n"), line(unit, depth + 1, "\n"), line(unit, depth, "\n"), ": ")
            }
            Style::Odd => (" ".repeat(length % 3), "\t".repeat(depth % 2), "\n".repeat(length % 2), " :  "),
        };
        out.push(open);
        for index in 0..length {
            if index > 0 {
                out.push(',');
            }
            out.push_str(if index == 0 { &first } else { &next });
            match self {
                Self::Array(items) => items[index].print(style, depth + 1, out),
                Self::Object(items) => {
                    out.push_str(&format!("\"{}\"{colon}", items[index].0));
                    items[index].1.print(style, depth + 1, out);
                }
                Self::Raw(_) => {}
            }
        }
        if length > 0 {
            out.push_str(&last);
        }
        out.push(close);
    }

    fn to_text(&self, style: &Style) -> String {
        let mut out = String::new();
        self.print(style, 0, &mut out);
        out
    }
}

/// Generates the inside of a JSON string: characters of the fold's own syntax, escapes, lone surrogates, braces,
/// numbers.
fn inner() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}",
        2 => "[a-z]{1,5}/[a-z]{1,5}/[a-z0-9]{1,6}",
        2 => "(https://api\\.example\\.com/repos/)[a-z]{1,4}(/issues)?",
        2 => proptest::string::string_regex("[ -!#-\\[\\]-~]{0,12}").unwrap(),
        1 => "[0-9]{1,12}",
        1 => Just(String::new()),
        1 => "(true|null|-1\\.50|1e5|\\[\\]|\\{\\}|&1|&1:|\\^|\\^2|\\?|`|\\||#1,2|=001|3\\.\\.9|A|\\(A|;k=v|k\\?)",
        1 => r#"(\\n|\\"|\\\\|\\u00e9|\\ud800|\\/|\\t| |é|漢|😀|\\u003c){1,9}"#,
        1 => r#"([a-z ]{3,9}(\\n|\\"|\\\\|\\t)){3,6}[a-z]{1,3}"#,
        1 => r#"\{\\"[a-z]{1,5}\\":\[1,2,\{\\"x\\":\\"[a-z]{20,30}\\"\}\]\}(\\n)?"#,
    ]
}

fn scalar() -> impl Strategy<Value = Json> {
    let raw = prop_oneof![
        3 => inner().prop_map(|text| format!("\"{text}\"")),
        2 => "-?(0|[1-9][0-9]{0,6})(\\.[0-9]{1,3})?".prop_map(String::from),
        1 => "(0|-0|1e5|1E-7|12345678901234567890123456789|1\\.10|-0\\.0)".prop_map(String::from),
        1 => "(true|false|null)".prop_map(String::from),
    ];
    raw.prop_map(Json::Raw)
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-e]", 2 => "(id|name|user|tags|a\\.b|x y)", 1 => inner()]
}

fn tree() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(5, 60, 8, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..8).prop_map(Json::Array),
            prop::collection::vec((key(), inside), 0..8).prop_map(Json::Object),
        ]
    })
}

/// Generates one column of records: its cell in each row.
fn column(rows: usize) -> impl Strategy<Value = Vec<Option<Json>>> {
    let text = |text: String| Some(Json::Raw(format!("\"{text}\"")));
    prop_oneof![
        scalar().prop_map(move |cell| vec![Some(cell); rows]),
        (0..1000_i64, -3..4_i64).prop_map(move |(from, by)| {
            (0..rows as i64).map(|row| Some(Json::Raw((from + by * row).to_string()))).collect()
        }),
        ("[a-z_]{1,5}", 90..110_i64).prop_map(move |(name, from)| {
            (0..rows as i64).map(|row| text(format!("{name}{:04}@x", from + row))).collect()
        }),
        (1..28_usize)
            .prop_map(move |day| (0..rows).map(|row| text(format!("2024-{:02}-{day:02}", row % 12 + 1))).collect()),
        prop::collection::vec(prop::option::weighted(0.7, scalar()), rows),
        prop::collection::vec(inner(), 3)
            .prop_map(move |few| (0..rows).map(|row| text(few[row * row % 3].clone())).collect()),
        prop::collection::vec(prop::option::weighted(0.8, tree()), rows),
        (inner(), prop::collection::vec("[a-z]{3,6}", rows))
            .prop_map(move |(base, own)| { own.into_iter().map(|own| text(format!("{base}/{own}.txt"))).collect() }),
    ]
}

/// Generates many records with the same keys.
fn records() -> impl Strategy<Value = Json> {
    (2..30_usize, any::<bool>(), any::<bool>()).prop_flat_map(|(rows, nested, keyed)| {
        prop::collection::vec((key(), column(rows)), 1..7).prop_map(move |columns| {
            let record = |row: usize| {
                let mut fields: Vec<(String, Json)> = Vec::new();
                for (name, cells) in &columns {
                    if let Some(cell) = &cells[row] {
                        fields.push((name.clone(), cell.clone()));
                    }
                }
                if nested && fields.len() > 2 {
                    let inside = fields.split_off(fields.len() - 2);
                    fields.push(("meta".into(), Json::Object(inside)));
                }
                Json::Object(fields)
            };
            if keyed {
                Json::Object((0..rows).map(|row| (format!("key-{row}"), record(row))).collect())
            } else {
                Json::Array((0..rows).map(record).collect())
            }
        })
    })
}

fn document() -> impl Strategy<Value = Json> {
    prop_oneof![
        tree(),
        records(),
        (records(), records(), tree()).prop_map(|(a, b, c)| {
            Json::Object(vec![("items".into(), a.clone()), ("other".into(), b), ("more".into(), a), ("rest".into(), c)])
        }),
        prop::collection::vec(("-?[0-9]{1,5}", "-?[1-9][0-9]{0,2}"), 2..150).prop_map(|points| {
            let number = |text: String| Json::Raw(text.parse::<i64>().expect("digits").to_string());
            Json::Array(points.into_iter().map(|(x, y)| Json::Array(vec![number(x), number(y)])).collect())
        }),
    ]
}

fn style() -> impl Strategy<Value = Style> {
    let unit =
        prop_oneof![Just("  ".to_owned()), Just("    ".to_owned()), Just("\t".to_owned()), Just("   ".to_owned())];
    (0..7, unit).prop_map(|(kind, unit)| match kind {
        0 => Style::Minified,
        1 => Style::Spaced,
        2 => Style::Indent(unit),
        3 => Style::Tight(unit),
        4 => Style::Crlf(unit),
        5 => Style::Mixed(unit),
        _ => Style::Odd,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 3000, ..ProptestConfig::default() })]

    #[test]
    fn any_json_in_any_layout_comes_back(document in document(), style in style()) {
        check(&document.to_text(&style), ContentType::Json);
    }

    #[test]
    fn values_on_their_lines_between_other_text_come_back(
        documents in prop::collection::vec(document(), 1..5), style in style(), noise in "[ -~]{0,20}", ends in "(\n|\r\n)",
    ) {
        let mut text = format!("{noise}{ends}");
        for document in &documents {
            text += &(document.to_text(&style) + &ends);
        }
        text += &noise;
        check(&text, ContentType::Text);
        check(&text, ContentType::Json);
    }

    #[test]
    fn json_cut_anywhere_comes_back(document in document(), style in style(), part in 0.0..1.0_f64, more in "[ -~]{0,9}") {
        let text = document.to_text(&style);
        let mut cut = (text.len() as f64 * part) as usize;
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        check(&text[..cut], ContentType::Json);
        check(&format!("{}{more}\n{more}", &text[..cut]), ContentType::Json);
    }

    #[test]
    fn any_table_comes_back(
        rows in prop::collection::vec(prop::collection::vec("([a-z]{0,6}|[0-9]{1,4}|\"?[ -~]{0,6}|é)", 3), 4..30),
        mark in "[,;|\t]", ends in "(\n|\r\n)", open in any::<bool>(),
    ) {
        let mut text: String = rows.iter().map(|row| row.join(&mark) + &ends).collect();
        if open {
            text.truncate(text.len() - ends.len());
        }
        check(&text, ContentType::Table);
        let padded: String = rows.iter().map(|row| format!("{:<12}{:>9}  {}{ends}", row[0], row[1], row[2])).collect();
        check(&padded, ContentType::Table);
    }

    #[test]
    fn damaged_folds_never_panic(document in records(), cut in 0..200_usize, put in "[ -~\n]{0,3}") {
        let text = document.to_text(&Style::Spaced);
        for edit in apply(&text, ContentType::Json, Preset::Lossless, None) {
            let mut damaged = edit.text.clone();
            let mut at = damaged.len() * cut / 200;
            while !damaged.is_char_boundary(at) {
                at -= 1;
            }
            damaged.replace_range(at..at, &put);
            if let Some((fold, _)) = fold::parse(&damaged) {
                let _ = concertina_format::unfold(&fold);
            }
        }
    }

    #[test]
    fn any_text_is_safe(text in "(\\PC|\n|\\{|\\[|\"|:|,|[0-9]){0,300}") {
        for content_type in [ContentType::Json, ContentType::Text, ContentType::Table, ContentType::Unknown] {
            check(&text, content_type);
        }
    }
}

#[test]
fn rows_that_only_count_show_a_column() {
    for columns in 1..5 {
        let row = |row: usize| -> Vec<String> { (1..=columns).map(|step| (row * step + 1).to_string()).collect() };
        let names: Vec<String> = (0..columns).map(|column| format!("column{column}")).collect();
        let rows: Vec<String> = (0..100).map(|number| row(number).join(",")).collect();
        let text = format!("{}\n{}\n", names.join(","), rows.join("\n"));
        for edit in apply(&text, ContentType::Table, Preset::Lossless, None) {
            let without_value = edit.text.lines().filter(|line| line.is_empty() || line.starts_with(';')).count();
            assert_eq!(without_value, 0, "each row begins with a value:\n{}", edit.text);
        }
    }
}

#[test]
fn a_name_with_quotes_is_no_part_of_a_template() {
    for name in ["a.b", "a,b", "{\\\"a\\\":[1,2]}"] {
        let record = |n: usize| {
            let text = format!("x{}", n * n % 7);
            format!("{{\"{name}\":\"{text}\",\"a\":\"{text}\",\"b\":\"/{text}/{n}\"}}")
        };
        let text = format!("[{}]", (0..40).map(record).collect::<Vec<_>>().join(","));
        assert_eq!(check(&text, ContentType::Json), 1, "{text}");
    }
}

#[test]
fn json_with_irregular_blanks_is_not_folded_by_a_partial_layout() {
    let blank = |n: usize| ["", " ", "\n", "\t ", "\n\n  "][n * n % 23 % 5];
    let item = |n: usize| {
        format!(
            "{}{{{}\"a\"{}:{}{n}{}}}{}",
            blank(n),
            blank(n + 1),
            blank(n + 2),
            blank(n + 3),
            blank(n + 4),
            blank(n + 5)
        )
    };
    let text = format!("[{}]", (0..400).map(item).collect::<Vec<_>>().join(","));
    check(&text, ContentType::Json);
}
