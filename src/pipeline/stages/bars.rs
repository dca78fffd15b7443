//! Rules of one stroke below each other, of different lengths: bars of a chart. How long they are says how much, so
//! nobody shortens them.

/// For each line whether it is such a bar, given stroke and length of those that are rules.
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
