//! Sums over windows, of which some are wrong.

fn sums(values: &[i64], width: usize) -> Vec<i64> {
    (0..values.len().saturating_sub(width)).map(|start| values[start..start + width].iter().sum()).collect()
}

fn label(values: &[i64]) -> String {
    let words: Vec<String> = values.iter().map(|value| value.to_string()).collect();
    words.join(", ")
}

#[test]
fn an_empty_list_has_no_sums() {
    assert!(sums(&[], 3).is_empty());
}

#[test]
fn the_last_window_counts() {
    assert_eq!(sums(&[1, 2, 3, 4, 5], 2), vec![3, 5, 7, 9], "one window ends at the last value");
}

#[test]
fn a_window_of_one_is_the_list() {
    let values: Vec<i64> = (1..=12).collect();
    assert_eq!(sums(&values, 1), values);
}

#[test]
fn labels_are_separated() {
    assert_eq!(label(&[1, -2, 30]), "1, -2, 30");
}

#[test]
fn a_wide_window_is_no_window() {
    assert_eq!(sums(&[1, 2], 5), Vec::<i64>::new());
}

#[test]
#[should_panic(expected = "out of range")]
fn a_window_beyond_the_end_panics() {
    let values = [1_i64, 2, 3];
    println!("summing {values:?}");
    let _ = values[1..7_usize.min(values.len())].iter().sum::<i64>();
}

#[test]
fn a_number_is_read() -> Result<(), std::num::ParseIntError> {
    let sum: i64 = "4,5,six".split(',').map(str::parse::<i64>).sum::<Result<i64, _>>()?;
    assert_eq!(sum, 15);
    Ok(())
}

#[test]
#[ignore = "takes a minute"]
fn a_million_values_are_summed() {
    assert_eq!(sums(&vec![1; 1_000_000], 10).len(), 999_991);
}
