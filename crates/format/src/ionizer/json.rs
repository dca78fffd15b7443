//! Legend and body -> a JSON text.

use super::layout::Setting;
use super::read;
use super::tree::Node;

/// The legend words that explain rows to a reader who sees only the fold.
pub const HOW_TO_READ: &str =
    "; A: columns of rows A, =rule: implied (^ as above, {x} cell x), ;k=v instead, k? absent";

/// Returns the text of a fold with this legend and body.
pub(super) fn unfold(legend: &str, body: &str, is_naive: bool) -> Option<String> {
    let (setting, rest) = Setting::parse(legend.strip_prefix("json ")?)?;
    if !rest.is_empty() && rest != HOW_TO_READ {
        return None;
    }
    let (body, tail) = if setting.tail { body.rsplit_once('\n')? } else { (body, "") };
    let tree = read::read(body, is_naive)?;
    if setting.lines && !matches!(&tree.nodes[tree.root], Node::Array(_)) {
        return None;
    }
    Some(setting.print_from(&tree, tree.root, read::MOST_BYTES)? + tail)
}
