//! Generates texts: pieces of real inputs and of earlier results, spliced, mutated, or raw.

use super::corpus;

const KINDS: [&str; 9] = ["code", "diffs", "html", "json", "logs", "prose", "rules", "search", "tables"];

/// The number of earlier results that are kept for reuse.
const KEPT: usize = 64;

/// The maximum length of a piece, in lines and in bytes.
const PIECE: (usize, usize) = (60, 6_000);

/// Strings that stages and the runner examine.
pub(super) const SIGNS: [&str; 29] = [
    "[[FOLD:semanticDedup 0 aeinxy]] repeats 1 line above; line 1: \"x\"",
    "[[FOLD:semanticDedup 0]] repeats 1 line above; line 1: \"x\"",
    "[[FOLD:rle 1]] x",
    "[[FOLD:",
    "[[REWIND:sha256:0123456789abcdef]] original: 5 lines",
    "[REF_ID: 0123456789abcdef]",
    "[[DEDUP_REF:1:0]] same as read a.rs",
    "[… 3 lines 4-6]",
    "[[changes with each call: 1,3]]",
    "\0",
    "\r",
    "\u{200b}",
    "\u{a0}",
    "\u{feff}",
    "🦀",
    "世界",
    "\\",
    "\"",
    "\"\"\"",
    "```",
    "{",
    "]",
    "~",
    "\t",
    "-- ",
    "@@ -1,3 +1,3 @@",
    "<div>",
    "2026-11-21T10:00:00Z ERROR it failed",
    "99999999999999999999",
];

/// Random numbers that follow from the seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64, name: &str) -> Self {
        Self(name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))))
    }

    /// Returns a number from 0 up to, but not including, `sides`, or 0 if `sides` is 0.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    pub(super) fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}

pub(super) struct Texts {
    real: Vec<String>,
    kept: Vec<String>,
}

impl Texts {
    /// Loads all text files of the corpus, or of the fixtures if there is no corpus.
    pub(super) fn load() -> Self {
        let files = KINDS.iter().flat_map(|kind| corpus::inputs(kind));
        let real = files.filter_map(|input| input.text().map(str::to_owned)).filter(|text| !text.is_empty()).collect();
        Self { real, kept: Vec::new() }
    }

    /// Removes the kept results: how many another target made depends on the machine.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
    }

    /// Keeps a result, because an input may be folded already.
    pub(super) fn keep(&mut self, text: String, dice: &mut Dice) {
        if self.kept.len() < KEPT {
            self.kept.push(text);
        } else if dice.one_in(8) {
            self.kept[dice.roll(KEPT)] = text;
        }
    }

    pub(super) fn next(&self, dice: &mut Dice) -> String {
        if dice.one_in(12) {
            return raw(dice);
        }
        let joint = ["", "\n", "\n\n", "\r\n"][dice.roll(4)];
        let pieces: Vec<String> = (0..=dice.roll(4)).map(|_| self.piece(dice)).collect();
        let mut text = pieces.join(joint);
        if dice.one_in(3) {
            text = [&*text, joint, &pieces[dice.roll(pieces.len())]].concat();
        }
        if dice.one_in(8) {
            text = text.replace('\n', "\r\n");
        }
        for _ in 0..dice.roll(6) {
            change(&mut text, dice);
        }
        text
    }

    /// Returns some lines of a file or of an earlier result, or all of it if it is small.
    fn piece(&self, dice: &mut Dice) -> String {
        let from = if dice.one_in(4) && !self.kept.is_empty() { &self.kept } else { &self.real };
        let Some(text) = from.get(dice.roll(from.len())) else { return raw(dice) };
        let lines: Vec<&str> = text.split('\n').collect();
        let start = dice.roll(lines.len().saturating_sub(PIECE.0) + 1);
        let count = if dice.one_in(2) { PIECE.0 } else { 1 + dice.roll(PIECE.0) };
        let mut piece = lines[start..(start + count).min(lines.len())].join("\n");
        piece.truncate(piece.floor_char_boundary(PIECE.1));
        piece
    }
}

fn raw(dice: &mut Dice) -> String {
    let letters = [256, 128, 4][dice.roll(3)];
    let bytes: Vec<u8> = (0..dice.roll(400)).map(|_| b" \n{a"[dice.roll(4)].max(dice.roll(letters) as u8)).collect();
    String::from_utf8_lossy(&bytes).repeat(1 + dice.roll(8))
}

/// Makes one change at a random place.
fn change(text: &mut String, dice: &mut Dice) {
    let at = text.floor_char_boundary(dice.roll(text.len() + 1));
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    match dice.roll(8) {
        0 => text.truncate(at),
        1 => text.insert_str(at, SIGNS[dice.roll(SIGNS.len())]),
        2 => text.insert_str(line, &format!("{}\n", SIGNS[dice.roll(SIGNS.len())])),
        3 => text.replace_range(line..line_end, ""),
        4 => {
            let again = text[line..line_end].repeat(1 + dice.roll(12));
            text.insert_str(line, &again);
        }
        5 => text.replace_range(at..text.ceil_char_boundary((at + dice.roll(20)).min(text.len())), ""),
        6 => {
            let digit = text[at..].find(|c: char| c.is_ascii_digit()).map(|digit| at + digit);
            if let Some(digit) = digit {
                text.replace_range(digit..=digit, &dice.roll(12).to_string());
            }
        }
        _ => {
            let moved = text[line..line_end].to_owned();
            text.replace_range(line..line_end, "");
            let to = text.floor_char_boundary(dice.roll(text.len() + 1));
            text.insert_str(text[..to].rfind('\n').map_or(0, |end| end + 1), &moved);
        }
    }
}
