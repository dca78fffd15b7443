//! A JSON text <-> legend and body.

use super::escapes::Escapes;
use super::layout::Setting;
use super::records::Plan;
use super::scan::{Node, Scan};
use super::{read, write};
use crate::tokens::Encoding;

/// Says how to read rows, for a reader who sees only the fold.
pub(super) const HOW_TO_READ: &str =
    "; A: columns of rows A, =rule: implied (^ as above, {x} cell x), ;k=v instead, k? absent";

/// Folds a scanned text; `tail` is what follows a cut one on its line. `None` where the text is set without any rule.
pub(super) fn fold(
    scan: &Scan<'_>,
    lines: bool,
    tail: &str,
    escapes: Escapes,
    encoding: Encoding,
) -> Option<(String, String)> {
    let mut setting = Setting::detect(scan, lines)?;
    setting.tail = !tail.is_empty();
    let plan = Plan::of(&scan.tree, encoding);
    let mut body = write::write(&scan.tree, &plan, escapes, encoding);
    if setting.tail {
        body.push('\n');
        body.push_str(tail);
    }
    let how = if plan.classes.is_empty() { "" } else { HOW_TO_READ };
    Some((format!("json {}{}{how}", setting.to_words(), escapes.to_words()), body))
}

/// Undoes [`fold`].
pub(super) fn unfold(legend: &str, body: &str) -> Option<String> {
    let (setting, rest) = Setting::parse(legend.strip_prefix("json ")?)?;
    let (escapes, rest) = Escapes::parse(rest);
    if !rest.is_empty() && rest != HOW_TO_READ {
        return None;
    }
    let (body, tail) = if setting.tail { body.rsplit_once('\n')? } else { (body, "") };
    let tree = read::read(body, escapes)?;
    if setting.lines && !matches!(&tree.nodes[tree.root], Node::Array(_)) {
        return None;
    }
    Some(setting.print_from(&tree, tree.root, read::MOST_BYTES)? + tail)
}
