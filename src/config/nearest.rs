//! Finds the option that a mistyped or renamed one most likely means.

use super::settings::SQUEEZE_ONLY;
use super::table::option_table;

/// The weight of the distance to the closest part of a name, relative to the distance to the whole: a part of a long
/// name should win over a short name.
const OF_PART: usize = 4;

/// Returns the host option that is nearest to `name` by edit distance, to its whole name and to the closest part of it.
/// Case is ignored.
pub(super) fn nearest(name: &str) -> &'static str {
    let typed: Vec<char> = name.to_lowercase().chars().take(100).collect();
    let options = option_table().into_iter().map(|row| row.name).filter(|name| !SQUEEZE_ONLY.contains(name));
    let distance = |option: &&'static str| {
        let letters: Vec<char> = option.to_lowercase().chars().collect();
        OF_PART * edits(&typed, &letters, true) + edits(&typed, &letters, false)
    };
    options.min_by_key(distance).unwrap_or_default()
}

/// Returns the edit distance between two texts, or between the first and the closest part of the second.
fn edits(name: &[char], known: &[char], in_part: bool) -> usize {
    let mut row: Vec<usize> = (0..=known.len()).map(|at| if in_part { 0 } else { at }).collect();
    for (taken, typed) in name.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], taken + 1);
        for (at, letter) in known.iter().enumerate() {
            let replaced = diagonal + usize::from(typed != letter);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    if in_part { row.into_iter().min().unwrap_or(0) } else { row[known.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variants: each option's name with each letter left out, doubled or replaced, with each two letters swapped, and
    /// in lower case.
    #[test]
    fn a_typo_of_each_option_names_that_option() {
        for row in option_table().into_iter().filter(|row| !SQUEEZE_ONLY.contains(&row.name)) {
            let letters: Vec<char> = row.name.chars().collect();
            let mut typos = vec![row.name.to_lowercase()];
            for at in 0..letters.len() {
                let with = |change: &dyn Fn(&mut Vec<char>)| {
                    let mut typed = letters.clone();
                    change(&mut typed);
                    typed.into_iter().collect::<String>()
                };
                typos.push(with(&|typed| _ = typed.remove(at)));
                typos.push(with(&|typed| typed.insert(at, letters[at])));
                typos.push(with(&|typed| typed[at] = '~'));
                if at > 0 {
                    typos.push(with(&|typed| typed.swap(at - 1, at)));
                }
            }
            for typo in typos {
                assert_eq!(nearest(&typo), row.name, "{typo}");
            }
        }
    }

    #[test]
    fn a_part_of_a_name_is_nearer_than_a_short_name() {
        for (typed, means) in
            [("treshold", "sccsCompressThreshold"), ("storageDir", "sccsStorageDir"), ("level", "rules.level")]
        {
            assert_eq!(nearest(typed), means, "{typed}");
        }
    }
}
