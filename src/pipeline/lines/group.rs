//! Lines -> groups of one shape, found in a tree over the kinds of their cells.
//!
//! Every line is a path through the tree, one step per cell. At a branch, the lines may form one group whose last field
//! is the rest of the line: the name at the end of a listing, the message at the end of a log line.

use super::cells::Lines;
use crate::pipeline::columns::tells_verdict;
use concertina_base::hashing::{FastHasher, FastMap};
use std::hash::{Hash, Hasher};

/// The fewest lines of a group.
pub(super) const MIN_ROWS: usize = 3;

/// The depth of the tree.
pub(super) const MAX_DEPTH: usize = 24;

/// Lines of one shape.
#[derive(Debug)]
pub(super) struct Group {
    /// The line numbers, ascending.
    pub(super) lines: Vec<usize>,
    /// The number of fields of each line.
    pub(super) fields: usize,
    /// True if the last field is the rest of the line.
    pub(super) has_rest: bool,
}

/// A node of the tree: lines whose first cells agree in kind.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The number of cells that agree.
    pub(super) depth: usize,
    /// The numbers of all these lines.
    pub(super) lines: Vec<usize>,
    /// The lines that have no more cells.
    pub(super) ends: Vec<usize>,
    pub(super) children: Vec<usize>,
}

/// Returns the tree of some lines. The root is the first node, and every node precedes its children. With `exact`, the
/// blanks of lines must agree too.
pub(super) fn tree(lines: &Lines, of: &[usize], exact: bool) -> Vec<Node> {
    let mut seen: Vec<Word> = vec![Word::default(); lines.numbers()];
    for &line in of {
        for (cell, &word) in lines.words(line).iter().take(MAX_DEPTH).enumerate() {
            let seen = &mut seen[word as usize];
            if seen.kind == Kind::Unknown {
                seen.kind = Kind::of(lines.cell(line, cell));
            }
            seen.firsts += usize::from(cell == 0);
            seen.later += usize::from(cell > 0);
        }
    }
    let kind = |line: usize, cell: usize| -> u64 {
        let word = lines.words(line)[cell];
        let seen = &seen[word as usize];
        let is_itself = match seen.kind {
            Kind::Mark => true,
            Kind::Label if seen.later >= MIN_ROWS => true,
            Kind::Number => false,
            _ => cell == 0 && seen.firsts >= MIN_ROWS,
        };
        let mut hasher = FastHasher::default();
        hasher.write_u64(match seen.kind {
            Kind::Number => 1,
            _ if is_itself => u64::from(word) + 3,
            _ => 2,
        });
        let start = lines.cells(line)[cell].0 as usize;
        if exact {
            let end = cell.checked_sub(1).map_or(0, |before| lines.cells(line)[before].1 as usize);
            match &lines.texts[line][end..start] {
                " " => hasher.write_u8(1),
                blanks => blanks.hash(&mut hasher),
            }
        } else if cell == 0 {
            hasher.write_u8(u8::from(start > 0));
        }
        hasher.finish()
    };
    let mut nodes = vec![Node::default()];
    let mut children: FastMap<(usize, u64), usize> = FastMap::with_capacity_and_hasher(of.len(), <_>::default());
    for &line in of {
        let mut node = 0;
        nodes[0].lines.push(line);
        for cell in 0..lines.cells(line).len().min(MAX_DEPTH) {
            let next = nodes.len();
            let child = *children.entry((node, kind(line, cell))).or_insert(next);
            if child == next {
                nodes.push(Node { depth: cell + 1, ..Node::default() });
                nodes[node].children.push(child);
            }
            nodes[child].lines.push(line);
            node = child;
        }
        nodes[node].ends.push(line);
    }
    nodes
}

/// The properties of a cell's text.
#[derive(Debug, Clone, Default)]
struct Word {
    kind: Kind,
    /// The number of lines that begin with it.
    firsts: usize,
    /// The number of times that it occurs elsewhere.
    later: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unknown,
    Number,
    /// A few characters of punctuation, or a verdict.
    Mark,
    Label,
    Other,
}

impl Kind {
    fn of(cell: &str) -> Self {
        match cell {
            _ if is_number(cell) => Self::Number,
            _ if tells_verdict(cell) => Self::Mark,
            _ if cell.len() <= 3 && cell.bytes().all(|byte| byte.is_ascii_punctuation()) => Self::Mark,
            // A process with its number, `sshd[24200]:`, is one of many and no label.
            _ if cell.ends_with([':', '=']) && !cell.ends_with("]:") => Self::Label,
            _ => Self::Other,
        }
    }
}

/// Returns true for a number or hexadecimal bytes.
fn is_number(cell: &str) -> bool {
    let bytes = cell.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let word = bytes.split(|byte| *byte == b' ').next().unwrap_or(bytes);
    digit(0)
        || matches!(bytes[0], b'-' | b'+' | b'.') && digit(1)
        || word.len() % 2 == 0 && word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
