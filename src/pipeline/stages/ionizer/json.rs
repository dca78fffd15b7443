//! A JSON text <-> legend and body.

use super::escapes::Escapes;
use super::layout::Setting;
use super::records::Plan;
use super::scan::{Node, Scan, Tree};
use super::{read, write};
use crate::tokens::Encoding;

/// Says how to read rows, for a reader who sees only the fold.
const HOW_TO_READ: &str =
    "; A:.. names the columns of rows A; those with =rule are implied (^: as above, {x}: cell x), ;k=v overrides, k? is absent";

/// Folds a scanned text.
pub(super) fn fold(text: &str, scan: &Scan<'_>, lines: bool, encoding: Encoding) -> (String, String) {
    let setting = Setting::detect(scan, lines);
    let escapes = Escapes::of(text);
    let plan = Plan::of(&scan.tree, encoding);
    let body = write::write(&scan.tree, &plan, escapes, encoding);
    let how = if plan.classes.is_empty() { "" } else { HOW_TO_READ };
    (format!("json {}{}{how}", setting.to_words(), escapes.to_words()), body)
}

/// Undoes [`fold`].
pub(super) fn unfold(legend: &str, body: &str) -> Option<String> {
    let (setting, rest) = Setting::parse(legend.strip_prefix("json ")?)?;
    let (escapes, rest) = Escapes::parse(rest);
    if !rest.is_empty() && rest != HOW_TO_READ {
        return None;
    }
    let tree = read::read(body, escapes)?;
    if setting.lines && !matches!(&tree.nodes[tree.root], Node::Array(_)) {
        return None;
    }
    Some(setting.print(&tree))
}

/// Several scans, one after another, as one array.
pub(super) fn join<'a>(scans: Vec<(Scan<'a>, &'a str)>) -> Scan<'a> {
    let mut tree = Tree::default();
    let mut gaps = Vec::new();
    let mut items = Vec::new();
    let mut end = 0;
    for (index, (scan, before)) in scans.into_iter().enumerate() {
        let base = tree.nodes.len();
        tree.nodes.extend(scan.tree.nodes.into_iter().map(|node| match node {
            Node::Scalar(raw) => Node::Scalar(raw),
            Node::Array(items) => Node::Array(items.into_iter().map(|item| item + base).collect()),
            Node::Object(items) => Node::Object(items.into_iter().map(|(key, item)| (key, item + base)).collect()),
        }));
        items.push(base + scan.tree.root);
        if index > 0 {
            gaps.push(before);
        }
        gaps.extend(scan.gaps);
        end += scan.end;
    }
    Scan { tree: tree.finish(Node::Array(items)), gaps, missing: 0, end }
}
