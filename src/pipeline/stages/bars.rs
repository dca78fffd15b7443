//! Detects bar charts: consecutive rules of the same stroke but different lengths. Their lengths carry information, so
//! they must not be shortened.

/// Returns for each line whether it is a bar. `rules` holds stroke and length of each line that is a rule.
pub(super) fn bars(rules: impl Iterator<Item = Option<(char, usize)>>) -> Vec<bool> {
    let rules: Vec<Option<(char, usize)>> = rules.collect();
    let stroke = |rule: &Option<(char, usize)>| rule.map(|(stroke, _)| stroke);
    rules
        .chunk_by(|a, b| stroke(a) == stroke(b))
        .flat_map(|run| vec![run.iter().any(|rule| *rule != run[0]); run.len()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_of_one_stroke_are_bars() {
        let rules = [Some(('=', 20)), Some(('=', 14)), Some(('-', 14)), None, Some(('=', 20)), Some(('=', 20))];
        assert_eq!(bars(rules.into_iter()), [true, true, false, false, false, false]);
    }
}
