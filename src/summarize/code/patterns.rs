//! The patterns of a definition and an import on a line, for each of the sixteen languages.
//!
//! A pattern matches one line with its indentation and captures the name. The keyword has to open the line, so that
//! comments and strings that mention it do not match.

use std::sync::OnceLock;

use regex::Regex;

use super::super::line_pattern;
use crate::content::Language;

/// The line patterns of a language.
pub(super) struct Patterns {
    definition: Regex,
    import: Regex,
    /// True for Go, which has `import ( ... )`.
    pub(super) has_import_block: bool,
}

impl Patterns {
    /// Returns the name and the signature of the definition on a line.
    pub(super) fn definition_in<'t>(&self, line: &'t str) -> Option<(&'t str, &'t str)> {
        let (name, signature) = (captured(&self.definition, line)?, line.trim());
        // `type master;` of a configuration defines nothing.
        let is_setting = signature.starts_with("type ") && signature.ends_with(';') && !signature.contains('=');
        (!is_setting && !KEYWORDS.contains(&name)).then_some((name, signature))
    }

    /// Returns the path or module that a line imports.
    pub(super) fn import_in<'t>(&self, line: &'t str) -> Option<&'t str> {
        captured(&self.import, line).map(str::trim)
    }
}

/// Returns the text of the first group that takes part in a match.
fn captured<'t>(pattern: &Regex, line: &'t str) -> Option<&'t str> {
    Some(pattern.captures(line)?.iter().skip(1).flatten().next()?.as_str())
}

/// Words that may precede a parenthesis and are never names of methods.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "if", "for", "while", "switch", "catch", "return", "else", "new", "throw", "await", "function", "do", "try",
    "sizeof", "using", "lock", "foreach", "elseif", "endforeach", "endfunction", "endif", "endmacro", "endwhile",
    "with", "super", "constructor_of", "typeof", "yield", "assert", "case", "defined", "when",
];

const TYPE_WORD: &str = r"(?:class|interface|enum|struct|record|trait|object|protocol|extension|actor|namespace|union|annotation class|enum class|case class|case object|data class|sealed class)";

const MODIFIERS: &str = r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|async|virtual|partial|readonly|export|default|declare|implicit|lazy|case|data|inline|suspend|mutating|fileprivate|native|synchronized|unsafe|extern|operator|tailrec|external|inner|companion|nonisolated|convenience|required|strictfp|constexpr|explicit|const|@\w+(?:\([^)]*\))?)\s+)*";

/// Returns a pattern that matches the first of these alternatives. Alternatives that need not match at the start of a
/// line come last.
fn first_of(patterns: &[String]) -> Regex {
    line_pattern(&format!("(?:{})", patterns.join(")|(?:")))
}

fn build(definition: &[String], import: &[&str], has_import_block: bool) -> Patterns {
    let import: Vec<String> = import.iter().map(|pattern| (*pattern).to_owned()).collect();
    Patterns { definition: first_of(definition), import: first_of(&import), has_import_block }
}

/// A method of the C family: type, name, parameters, and no semicolon at the end.
const C_METHOD: &str =
    r"^\s*(?:[A-Za-z_][\w:<>\[\],.?*& ]*[\s*&>\]])(~?[A-Za-z_][\w:~]*)\s*\([^;={}]*(?:\)[^;=]*\{?|,)\s*(?:\{.*|=>.*)?$";

fn of(language: Language) -> Patterns {
    let typed = format!(r"^\s*{MODIFIERS}{TYPE_WORD}\s+([A-Za-z_][\w.]*)");
    let own = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<String>>();
    let keyword = |word: &str| format!(r"^\s*{MODIFIERS}{word}\s+(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?([A-Za-z_`]\w*|init\b)");
    match language {
        Language::Python => build(
            &own(&[r"^\s*(?:async\s+)?def\s+(\w+)\s*\(", r"^\s*class\s+(\w+)\s*[(:]", r"^([A-Z][A-Z0-9_]{2,})\s*(?::[^=]+)?=[^=]"]),
            &[r"^\s*from\s+([\w.]+)\s+import\b", r"^\s*import\s+([\w.]+)"],
            false,
        ),
        Language::JavaScript | Language::TypeScript => build(
            &[
                format!(r"^\s*{MODIFIERS}(?:function\*?|class|interface|enum|namespace|type)\s+([A-Za-z_$][\w$]*)"),
                r"^\s*(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)?\s*(?::[^=]+)?(?:=>|$)|[\w$]+\s*=>|\($)".to_owned(),
                r"^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\b".to_owned(),
                r"^\s+(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract)\s+|\*)*([A-Za-z_$#][\w$]*)\s*(?:<[^>]*>)?\([^;]*\)?\s*(?::\s*[^{;=]+)?\{\s*$".to_owned(),
            ],
            &[r#"^\s*import\s.*?from\s+["']([^"']+)["']"#, r#"^\s*import\s+["']([^"']+)["']"#, r#"^\s*\}\s*from\s+["']([^"']+)["']"#, r#"^\s*(?:return\s+|await\s+)?(?:[^=(:"']+[=:]\s*)?(?:await\s+)?(?:[\w$.]+\()*require\(["']([^"']+)["']\)"#],
            false,
        ),
        Language::Java => build(&[typed, C_METHOD.to_owned()], &[r"^\s*import\s+(?:static\s+)?([\w.*]+)"], false),
        Language::CSharp => build(&[typed, C_METHOD.to_owned()], &[r"^\s*(?:global\s+)?using\s+(?:static\s+)?([\w.]+)\s*;"], false),
        Language::C | Language::Cpp => build(
            &[
                r"^\s*(?:typedef\s+)?(?:template\s*<[^>]*>\s*)?(?:struct|class|enum class|enum|union|namespace)\s+([A-Za-z_]\w*)[^;]*$".to_owned(),
                r"^\s*#\s*define\s+([A-Za-z_]\w*)\(".to_owned(),
                C_METHOD.to_owned(),
            ],
            &[r#"^\s*#\s*include\s*[<"]([^>"]+)[>"]"#],
            false,
        ),
        Language::Go => build(
            &own(&[r"^func\s*(?:\([^)]*\)\s*)?(\w+)\s*[(\[]", r"^type\s+(\w+)", r"^(?:const|var)\s+([A-Za-z_]\w*)", r"^\t([A-Z]\w+)\s+=\s"]),
            &[r#"^import\s+(?:\w+\s+)?"([^"]+)""#],
            true,
        ),
        Language::Rust => build(
            &own(&[
                r#"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*(?:fn|struct|enum|trait|type|mod|union|static|const)\s+(?:mut\s+)?([A-Za-z_]\w*)"#,
                r"^\s*(?:unsafe\s+)?impl(?:<.*?>)?\s+(?:.*\bfor\s+)?([A-Za-z_]\w*)",
                r"^\s*macro_rules!\s*(\w+)",
            ]),
            &[r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;{]*[^;{:\s](?:::\{[^;]*\})?)"],
            false,
        ),
        Language::Ruby => build(
            &own(&[r"^\s*def\s+([\w.?!=]+)", r"^\s*(?:class|module)\s+([A-Z][\w:]*)", r"^\s*([A-Z][A-Z0-9_]{2,})\s*="]),
            &[r#"^\s*require(?:_relative)?\s+["']([^"']+)["']"#],
            false,
        ),
        Language::Php => build(&[typed, format!(r"^\s*{MODIFIERS}function\s+&?([A-Za-z_]\w*)")], &[r"^\s*use\s+([\w\\]+)", r#"^\s*(?:require|include)(?:_once)?\s*\(?\s*["']([^"']+)["']"#], false),
        Language::Swift => build(
            &[typed, keyword("(?:func|typealias)"), r"^\s*(?:public |private |required |convenience |override )*(init)\b\s*[?(]".to_owned()],
            &[r"^\s*import\s+([\w.]+)"],
            false,
        ),
        Language::Kotlin => build(&[typed, keyword("(?:fun|typealias)")], &[r"^\s*import\s+([\w.*]+)"], false),
        Language::Scala => build(&[typed, keyword("(?:def|type|given)")], &[r"^\s*import\s+(\S+)"], false),
        Language::Shell => build(
            &own(&[r"^\s*(?:function\s+)?([A-Za-z_][\w:.-]*)\s*\(\)", r"^\s*function\s+([A-Za-z_][\w:.-]*)", r"^(?:export\s+|readonly\s+)?([A-Z][A-Z0-9_]{2,})="]),
            &[r"^\s*(?:source|\.)\s+(\S+)"],
            false,
        ),
        Language::Sql => build(
            &own(&[
                r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:global\s+|temp(?:orary)?\s+|unique\s+|materialized\s+|unlogged\s+)*(?:table|view|function|procedure|index|trigger|type|schema|sequence|domain|extension|policy|aggregate|database|role)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?([^\s(;]+)",
                r"(?i)^\s*alter\s+table\s+(?:only\s+|if\s+exists\s+)*([^\s(;]+)",
                r"(?i)\{%-?\s*(?:macro|materialization)\s+(\w+)",
            ]),
            &[r"(?i)^\s*\\i(?:r|nclude)?\s+(\S+)"],
            false,
        ),
    }
}

/// The patterns of a language, compiled once.
pub(super) fn patterns(language: Language) -> &'static Patterns {
    static ALL: [OnceLock<Patterns>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
    ALL[language as usize].get_or_init(|| of(language))
}
