//! Texts on which an algorithm that looks back, looks ahead or compares pairs is slow.

use super::{Dice, text};

/// A generator of a text of about this many bytes.
type Make = fn(usize) -> String;

/// Units that are repeated until the text is long enough. A unit is also its name.
const UNITS: [&str; 64] = [
    // No place to split.
    "x",
    " ",
    "\n",
    "\0",
    "漢字かな",
    "word ",
    // Separators and quotes.
    ",",
    "a,b\r\n",
    "\"",
    "\"'",
    "`` ` ``` ",
    "\\\"",
    "\"x\\\"y\",",
    // Brackets that are never closed.
    "[",
    "{\"a\":[",
    "[({< a",
    "f(a, ",
    "/*",
    "<div>",
    "<!-- a\n",
    "```\n~~~\n",
    "**a** ",
    "$a$ ",
    "` ",
    "'a ",
    "<h1><h1 ",
    "|",
    "R\"(",
    "<<END\n",
    // Patterns that detection and stages look for.
    "# x\n",
    "---\n",
    "===\na\n===\nb\n",
    "=== a ===\nb c\n",
    "a\n b\n",
    "a-1",
    "a/b:1:",
    "a.rs:1:x\n",
    "     1\ta\n     2\tb\n",
    "web | a b\n",
    "@@ -1,9999999 +1,9999999 @@\n",
    " a | 1 +\n",
    "2026-01-01T00:00:00Z ERROR x\n",
    "# Subtest: a\n",
    "ok 1 - a\n  ---\n",
    "data:;base64,",
    "-----BEGIN PRIVATE KEY-----",
    "token=\"a1B2",
    "curl -u a:' \"",
    "never the ",
    "sure, ",
    "in order in order in order to to to ",
    "SELECT ",
    "May 5, 2024 ",
    "[1/3] > x: a\n",
    ">> {\"a\":[\n",
    "web-1  | {\"a\": 1}\nweb-1  | {\n",
    "2026-01-01T00:00:00Z {\"a\": 1}\n",
    // Terminals.
    "\x1b[1;",
    "a\r",
    "\x1b[200Cx\n",
    "\x1b[A\n\n",
    "漢\r",
    "\x1b]",
    "a\x08",
];

/// Generated shapes with their names.
const MADE: [(&str, Make); 24] = [
    ("nested brackets", |bytes| nested(bytes, "[", "]")),
    ("nested objects", |bytes| nested(bytes, "{\"k\":", "}")),
    ("nested tags", |bytes| nested(bytes, "<div>", "</div>")),
    ("one gap", |bytes| format!("a{}b", " ".repeat(bytes))),
    ("indentation", |bytes| lines(bytes, |n| format!("{}a{n}:\n", " ".repeat(n % 500)))),
    ("deeper and deeper", |bytes| lines(bytes, |n| format!("{}- a{n}\n", " ".repeat(n)))),
    ("longer and longer paths", |bytes| lines(bytes, |n| format!("{}/f\n", "/dir".repeat(n)))),
    ("unique names", |bytes| lines(bytes, |n| format!("name_{:06}x ", scattered(n)))),
    ("steps", |bytes| lines(bytes, |n| format!("step {n}\n"))),
    ("near-equal lines", |bytes| {
        lines(bytes, |n| format!("the worker {} said that unit {n} was done in {} ms\n", n % 7, n * 7919 % 977))
    }),
    ("near-equal long lines", |bytes| {
        lines(bytes, |n| format!("{}{n}{}\n", "a b c d e f g ".repeat(20), " x y z".repeat(20)))
    }),
    ("two lines in any order", |bytes| lines(bytes, |n| ["ab ab ab\n", "cd cd cd\n"][scattered(n) % 2].to_owned())),
    ("columns that change", |bytes| lines(bytes, |n| format!("k{} v{}=w{n}\n", "ab".repeat(n % 50), n * 7919))),
    ("frames", |bytes| lines(bytes, |n| format!("┌{0}┐\n│{1}│\n└{0}┘\n", "─".repeat(n % 40), " ".repeat(n % 40)))),
    ("hits in many files", |bytes| lines(bytes, |n| format!("{}/x.rs:{n}:{}\n", n % 1000, "()".repeat(n % 9)))),
    ("keys of many objects", |bytes| {
        format!("[{}{{}}]", lines(bytes, |n| format!("{{\"k{n}\":{n},\"same\":\"{}\"}},\n", n % 3)))
    }),
    ("one object", |bytes| format!("{{{}\"z\":0}}", lines(bytes, |n| format!("\"key {n}\": [{n}, {{}}],\n")))),
    ("wide table", |bytes| {
        let row = |n: usize| (0..1000).map(|column| (n * column % 7).to_string()).collect::<Vec<_>>().join(",");
        lines(bytes, |n| row(n) + "\n")
    }),
    ("tests and modules", |bytes| lines(bytes, |n| format!("m{n}::test{n} ... ok\ntest m{n}::a ... FAILED\n"))),
    ("look-alikes of folds", |bytes| {
        lines(bytes, |n| format!("[[FOLD:semanticDedup {n} abcdef]] repeats {n} lines above; line 1: \"x\"\n"))
    }),
    ("look-alikes of markers", |bytes| {
        "[REF_ID: 0123456789abcdef] [[REWIND:sha256:0123456789abcdef]] [[FOLD:rle 1]] x\n[[FOLD:".repeat(bytes / 88)
    }),
    ("statements without end", |bytes| format!("{}\n FROM a; )", "SELECT [a](".repeat(bytes / 11))),
    ("up the screen", |bytes| format!("{}{}", "\n".repeat(bytes / 5), "\x1b[1A".repeat(bytes / 5))),
    ("everything", |bytes| {
        let mut dice = Dice(7);
        lines(bytes, |_| UNITS[dice.roll(UNITS.len())].repeat(1 + dice.roll(9)))
    }),
];

/// Returns every shape, by name.
pub(super) fn all() -> impl Iterator<Item = (String, Box<dyn Fn(usize) -> String>)> {
    let units = UNITS.iter().map(|unit| {
        let make: Box<dyn Fn(usize) -> String> = Box::new(|bytes| unit.repeat(bytes / unit.len()));
        (format!("{unit:?}"), make)
    });
    let made = MADE.iter().map(|&(name, make)| {
        let make: Box<dyn Fn(usize) -> String> = Box::new(make);
        (name.to_owned(), make)
    });
    let ordinary = super::TYPES.iter().map(|&(name, piece)| {
        let make: Box<dyn Fn(usize) -> String> = Box::new(move |bytes| text(piece, bytes, 1));
        (name.to_owned(), make)
    });
    units.chain(made).chain(ordinary)
}

/// Returns a number of at most seven digits that looks random.
fn scattered(n: usize) -> usize {
    n * 7_919_993 % 9_999_991
}

fn lines(bytes: usize, mut line: impl FnMut(usize) -> String) -> String {
    let mut text = String::new();
    for n in 0.. {
        text.push_str(&line(n));
        if text.len() >= bytes {
            break;
        }
    }
    text
}

fn nested(bytes: usize, open: &str, close: &str) -> String {
    let depth = bytes / (open.len() + close.len());
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}
