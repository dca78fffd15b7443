//! Splits a generated `parser.c` into the bytes of its parse tables and the rest of the source, with uninitialized
//! space for them.

use std::collections::HashMap;
use std::fmt::Write;

use crate::tables::{self, Names, Result};

/// A table: its name in C, and the function that returns its bytes.
type Table = (&'static str, fn(&str, &Names) -> Result<Vec<u8>>);

/// The tables in their order in memory: by descending alignment, so that there are no gaps.
const TABLES: &[Table] = &[
    ("ts_small_parse_table_map", |text, names| tables::numbers::<4>(text, names)),
    ("ts_parse_actions", tables::actions),
    ("ts_parse_table", tables::rows),
    ("ts_small_parse_table", |text, names| tables::numbers::<2>(text, names)),
    ("ts_lex_modes", tables::lex_modes),
    ("ts_primary_state_ids", |text, names| tables::numbers::<2>(text, names)),
];

/// The lines that switch optimization off in large parsers, because compilers take long for their tables.
const UNOPTIMIZED: &str = "\
#ifdef _MSC_VER
#pragma optimize(\"\", off)
#elif defined(__clang__)
#pragma clang optimize off
#elif defined(__GNUC__)
#pragma GCC optimize (\"O0\")
#endif
";

/// A parser without its tables.
pub(crate) struct Parser {
    /// The language name in the source.
    pub(crate) name: String,
    /// The tables, one after the other, as a compiler lays them out.
    pub(crate) tables: Vec<u8>,
    /// The source with empty tables, in one variable of the size of [`tables`](Self::tables).
    pub(crate) rest: String,
    /// True for a large parser, whose source switches optimization off. `rest` does not.
    pub(crate) large: bool,
}

impl Parser {
    /// Splits a parser. The symbol of its tables is `concertina_NAME_tables`.
    pub(crate) fn read(text: &str, name: &str) -> Result<Self> {
        let names = names(text)?;
        let mut bytes = Vec::new();
        let (mut fields, mut defines) = (String::new(), String::new());
        let mut cuts = Vec::new();
        for (table, read) in TABLES {
            let declared = Declaration::find(text, table)?;
            let table_bytes = read(declared.body, &names).map_err(|error| format!("{table}: {error}"))?;
            let (element, size) = (declared.element, table_bytes.len());
            writeln!(fields, "  {element} {table}_[{size} / sizeof({element})];").expect("a string takes all");
            writeln!(defines, "#define {table} (concertina_{name}_tables.{table}_)").expect("a string takes all");
            bytes.extend(table_bytes);
            cuts.push((declared.start, declared.end));
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let room = format!(
            "struct {{\n{fields}}} concertina_{name}_tables = {{0}};\n_Static_assert(sizeof concertina_{name}_tables == {}, \"no gaps\");\n{defines}",
            bytes.len()
        );
        cuts.sort_unstable();
        let mut rest = String::new();
        let mut at = 0;
        for (start, end) in cuts {
            rest.push_str(&text[at..start]);
            if at == 0 {
                rest.push_str(&room);
            }
            at = end;
        }
        rest.push_str(&text[at..].replace("&ts_parse_table[0][0]", "ts_parse_table"));
        let large = rest.contains(UNOPTIMIZED);
        let rest = rest.replace(UNOPTIMIZED, "");
        if rest.contains("#pragma optimize") {
            return Err("optimization is switched off in words that are not known".into());
        }
        let language = between(text, "const TSLanguage *tree_sitter_", "(").ok_or("no function gives the language")?;
        Ok(Self { name: language.to_owned(), tables: bytes, rest, large })
    }
}

/// The declaration of a table.
struct Declaration<'a> {
    element: &'a str,
    body: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Declaration<'a> {
    fn find(text: &'a str, table: &str) -> Result<Self> {
        let named = text.find(&format!(" {table}[")).ok_or_else(|| format!("no {table}"))?;
        let start = text[..named].rfind('\n').map_or(0, |at| at + 1);
        let element =
            text[start..named].strip_prefix("static const ").ok_or_else(|| format!("{table} is not static"))?;
        let open = named + text[named..].find(" = {\n").ok_or_else(|| format!("{table} is empty"))? + 5;
        let close = open + text[open..].find("\n};\n").ok_or_else(|| format!("{table} has no end"))?;
        Ok(Self { element, body: &text[open..close], start, end: close + 4 })
    }
}

/// Returns the values of the names in the tables.
fn names(text: &str) -> Result<Names<'_>> {
    let mut values = HashMap::from([("ts_builtin_sym_end", 0), ("true", 1), ("false", 0)]);
    let symbols = between(text, "enum ts_symbol_identifiers {\n", "};").ok_or("no symbols")?;
    let defines = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
    let symbols = symbols.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(" = "));
    for (name, value) in defines.chain(symbols) {
        if let Ok(value) = value.parse() {
            values.insert(name, value);
        }
    }
    let count = |name| values.get(name).copied().ok_or_else(|| format!("no {name}"));
    let [states, large_states, symbols] = [count("STATE_COUNT")?, count("LARGE_STATE_COUNT")?, count("SYMBOL_COUNT")?];
    Ok(Names { values, states, large_states, symbols })
}

fn between<'a>(text: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    let start = text.find(before)? + before.len();
    Some(&text[start..start + text[start..].find(behind)?])
}
