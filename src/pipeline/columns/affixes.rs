//! The prefix and suffix that the values of a column share.

/// Splits values into the shared prefix, the part of each between, and the shared suffix.
pub(in super::super) fn split_affixes<'v>(values: &[&'v str]) -> (&'v str, Vec<&'v str>, &'v str) {
    let (prefix, suffix) = shared_affixes(values);
    let first = values.first().copied().unwrap_or_default();
    let between = values.iter().map(|value| &value[prefix..value.len() - suffix]).collect();
    (&first[..prefix], between, &first[first.len() - suffix..])
}

/// Returns the bytes that all values share at the start and at the end, cut at the edges of runs of letters or digits.
fn shared_affixes(values: &[&str]) -> (usize, usize) {
    let Some((first, others)) = values.split_first() else { return (0, 0) };
    let mut prefix = first.len();
    for value in others {
        prefix = value.bytes().zip(first.bytes()).take(prefix).take_while(|(a, b)| a == b).count();
    }
    let is_cut = |at: usize| values.iter().all(|value| is_boundary(value.as_bytes(), at));
    while prefix > 0 && !is_cut(prefix) {
        prefix -= 1;
        // All values are equal up to the first difference, so this stops at the next boundary of the first value.
        while prefix > 0 && !is_boundary(first.as_bytes(), prefix) {
            prefix -= 1;
        }
    }
    let shortest = values.iter().map(|value| value.len()).min().unwrap_or(0);
    let mut suffix = shortest - prefix;
    for value in others {
        suffix = value.bytes().rev().zip(first.bytes().rev()).take(suffix).take_while(|(a, b)| a == b).count();
    }
    let is_cut = |from_end: usize| values.iter().all(|value| is_boundary(value.as_bytes(), value.len() - from_end));
    while suffix > 0 && !is_cut(suffix) {
        suffix -= 1;
    }
    (prefix, suffix)
}

/// Returns true if a cut falls between runs of letters (including everything beyond ASCII), of digits, or other
/// characters.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    let kind = |b: u8| match b {
        b'0'..=b'9' => 0,
        b if b.is_ascii_alphabetic() || !b.is_ascii() => 1,
        _ => 2,
    };
    at == 0 || at >= bytes.len() || kind(bytes[at - 1]) == 2 || kind(bytes[at - 1]) != kind(bytes[at])
}

/// Returns true if all values are equal.
pub(in super::super) fn is_constant(column: &[&str]) -> bool {
    column.iter().all(|value| *value == column[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affixes_cut_at_the_edges_of_runs() {
        for (values, expected) in [
            (["blk_388", "blk_-695"], (4, 0)),
            (["12ms", "4ms"], (0, 2)),
            (["0100", "0199"], (0, 0)),
            (["Interface", "Internet"], (0, 0)),
            (["10.251.73.220:50010", "10.251.43.115:50010"], (7, 6)),
            (["a/b", "a/b/c"], (3, 0)),
            (["é1é", "é2é"], (2, 2)),
        ] {
            assert_eq!(shared_affixes(&values), expected, "{values:?}");
        }
    }
}
