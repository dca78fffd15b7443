//! `[[16,-5],[3,7]]` -> `[#16,-5 3,7]`, and in long lists of points `[=016-005003007]`: every number one group of three digits.
//!
//! A vocabulary has a token for every three digits, so a group needs no mark before the next. Only whole numbers as JSON
//! writers spell them are packed, and only where a text has many: a few are easier to read with their commas.

use super::scan::{Id, Node, Tree, is_number};

/// Fewest numbers in a text's points for which they are packed.
const MANY: usize = 200;

/// Whether the points of a tree are packed.
pub(super) fn is_packed(tree: &Tree<'_>) -> bool {
    let mut numbers = 0;
    for node in &tree.nodes {
        if let Node::Array(items) = node
            && let Some(rows) = rows(tree, items)
        {
            numbers += rows.iter().map(Vec::len).sum::<usize>();
            if numbers >= MANY {
                return true;
            }
        }
    }
    false
}

/// Prints an array of arrays of numbers, all of the same length.
pub(super) fn write(tree: &Tree<'_>, items: &[Id], packed: bool) -> Option<String> {
    let rows = rows(tree, items)?;
    if packed && rows[0].len() == 2 && rows.iter().flatten().all(|raw| is_whole(raw)) {
        let mut out = String::from("[=");
        for raw in rows.iter().flatten() {
            let (sign, digits) = raw.strip_prefix('-').map_or(("", *raw), |digits| ("-", digits));
            if digits.len() > 3 {
                out.push_str(&format!(" {raw} "));
            } else {
                out.push_str(&format!("{sign}{digits:0>3}"));
            }
        }
        out.push(']');
        return Some(out);
    }
    let mut out = String::from("[#");
    for (index, row) in rows.iter().enumerate() {
        out.push_str(if index > 0 { " " } else { "" });
        for (index, raw) in row.iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            out.push_str(raw);
        }
    }
    out.push(']');
    Some(out)
}

/// The numbers of an array of at least two arrays of numbers of one length above one.
fn rows<'t>(tree: &'t Tree<'_>, items: &[Id]) -> Option<Vec<Vec<&'t str>>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    for item in items {
        let Node::Array(row) = &tree.nodes[*item] else { return None };
        if row.len() < 2 || found.first().is_some_and(|first| first.len() != row.len()) {
            return None;
        }
        let numbers = row.iter().map(|id| match &tree.nodes[*id] {
            Node::Scalar { quoted: false, text } if is_number(text) => Some(&**text),
            _ => None,
        });
        found.push(numbers.collect::<Option<_>>()?);
    }
    (found.len() > 1).then_some(found)
}

/// Whether a number is whole and spelt in the usual way.
fn is_whole(raw: &str) -> bool {
    raw != "-0" && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use concertina_format::ionizer::matrix::read;

    use super::super::escapes::Escapes;
    use super::super::scan::scan;
    use super::*;

    fn both_ways(json: &str, packed: bool) -> Option<String> {
        let scan = scan(json, Escapes::default())?;
        let Node::Array(items) = &scan.tree.nodes[scan.tree.root] else { return None };
        let shown = write(&scan.tree, items, packed)?;
        let mut tree = Tree::default();
        let items = read(&mut tree, &shown[2..shown.len() - 1], shown.starts_with("[="))?;
        let tree = tree.finish(Node::Array(items));
        let inner = |id: Id| match &tree.nodes[id] {
            Node::Scalar { text, .. } => text.to_string(),
            _ => String::new(),
        };
        let rows: Vec<String> = tree.nodes[tree.root]
            .children()
            .map(|row| format!("[{}]", tree.nodes[row].children().map(inner).collect::<Vec<_>>().join(",")))
            .collect();
        assert_eq!(format!("[{}]", rows.join(",")), json);
        Some(shown)
    }

    #[test]
    fn points_come_back_as_they_were() {
        for (json, packed, shown) in [
            ("[[16,-5],[3,7]]", false, "[#16,-5 3,7]"),
            ("[[16,-5],[3,7]]", true, "[=016-005003007]"),
            ("[[33452,-1234],[0,999]]", true, "[= 33452  -1234 000999]"),
            ("[[1.50,2],[-0,1e5]]", true, "[#1.50,2 -0,1e5]"),
            ("[[1,2,3],[4,5,6]]", true, "[#1,2,3 4,5,6]"),
        ] {
            assert_eq!(both_ways(json, packed).as_deref(), Some(shown));
        }
        for json in ["[[1,2]]", "[[1],[2]]", "[[1,2],[3]]", "[[1,\"2\"],[3,4]]", "[1,2]"] {
            assert_eq!(both_ways(json, true), None, "{json}");
        }
    }
}
