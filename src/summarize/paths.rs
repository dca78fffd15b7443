//! Finds the common directory of paths, so that it is written once.

/// Returns the directory that all paths are in, with its separator; empty if naming it once saves nothing.
pub(super) fn common_directory<'t>(mut paths: impl Iterator<Item = &'t str>) -> &'t str {
    let Some(first) = paths.next() else { return "" };
    let directory = |path: &str| path.rfind(['/', '\\']).map_or(0, |at| at + 1);
    let mut common = &first[..directory(first)];
    let mut others = 0;
    for path in paths {
        others += 1;
        let mut same = common.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
        while !common.is_char_boundary(same) {
            same -= 1;
        }
        common = &common[..directory(&common[..same])];
    }
    if others > 0 && common.len() > 3 { common } else { "" }
}
