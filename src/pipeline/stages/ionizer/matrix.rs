//! `[[16,-5],[3,7]]` -> `[=016-005003007]`: in long lists of points, every number is one group of three digits.
//!
//! A vocabulary has a token for every three digits, so a group needs no mark before the next. Only whole numbers as
//! JSON writers spell them are packed, and only where a text has many: a few are easier to read with their commas.

use super::scan::{Id, Node, Tree};

/// The fewest numbers in a text's points that are packed.
const MANY: usize = 200;

/// Returns true if the points of a tree are packed.
pub(super) fn is_packed(tree: &Tree<'_>) -> bool {
    let mut numbers = 0;
    tree.nodes.iter().any(|node| {
        if let Node::Array(items) = node {
            numbers += points(tree, items).map_or(0, |numbers| numbers.len());
        }
        numbers >= MANY
    })
}

/// Prints an array of points.
pub(super) fn write(tree: &Tree<'_>, items: &[Id]) -> Option<String> {
    let mut out = String::from("[=");
    for raw in points(tree, items)? {
        let (sign, digits) = raw.strip_prefix('-').map_or(("", raw), |digits| ("-", digits));
        if digits.len() > 3 {
            out.push_str(&format!(" {raw} "));
        } else {
            out.push_str(&format!("{sign}{digits:0>3}"));
        }
    }
    out.push(']');
    Some(out)
}

/// Returns the numbers of an array of at least two pairs of whole numbers.
fn points<'t>(tree: &'t Tree<'_>, items: &[Id]) -> Option<Vec<&'t str>> {
    let mut found: Vec<&str> = Vec::new();
    for item in items {
        let Node::Array(pair) = &tree.nodes[*item] else { return None };
        if pair.len() != 2 {
            return None;
        }
        for number in pair {
            match &tree.nodes[*number] {
                Node::Scalar { quoted: false, text } if is_whole(text) => found.push(text),
                _ => return None,
            }
        }
    }
    (items.len() > 1).then_some(found)
}

/// Returns true for a whole number in its usual spelling.
fn is_whole(raw: &str) -> bool {
    raw != "-0" && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use concertina_format::ionizer::matrix::read;

    use super::super::scan::scan;
    use super::*;

    fn both_ways(json: &str) -> Option<String> {
        let scan = scan(json)?;
        let Node::Array(items) = &scan.tree.nodes[scan.tree.root] else { return None };
        let shown = write(&scan.tree, items)?;
        let mut tree = Tree::default();
        let items = read(&mut tree, &shown[2..shown.len() - 1])?;
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
        for (json, shown) in
            [("[[16,-5],[3,7]]", "[=016-005003007]"), ("[[33452,-1234],[0,999]]", "[= 33452  -1234 000999]")]
        {
            assert_eq!(both_ways(json).as_deref(), Some(shown));
        }
        for json in [
            "[[1,2]]",
            "[[1],[2]]",
            "[[1,2],[3]]",
            "[[1,\"2\"],[3,4]]",
            "[1,2]",
            "[[1.5,2],[-0,1]]",
            "[[1,2,3],[4,5,6]]",
        ] {
            assert_eq!(both_ways(json), None, "{json}");
        }
    }
}
