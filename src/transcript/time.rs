//! Message timestamps -> milliseconds since 1970.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Reads a number of milliseconds, or an RFC 3339 text: `2026-01-31T09:00:00.5+01:00`.
pub(super) fn read(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().map(|float| float as i64)).or_else(|| rfc_3339(value.as_str()?))
}

fn rfc_3339(text: &str) -> Option<i64> {
    static FORM: LazyLock<Regex> = LazyLock::new(|| {
        let form = concat!(
            r"\A([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?",
            r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))\z",
        );
        Regex::new(form).expect("the pattern is valid")
    });
    let found = FORM.captures(text)?;
    let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
    let number = |index: usize| part(index).parse::<i64>().unwrap_or(0);
    let [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(number);
    let is_in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let millis: i64 = format!("{:0<3}", part(7))[..3].parse().ok()?;
    let ahead = (number(9) * 60 + number(10)) * if part(8) == "-" { -1 } else { 1 };
    let minutes = days(year, month, day) * 1440 + hour * 60 + minute - ahead;
    is_in_range.then_some((minutes * 60 + second) * 1000 + millis)
}

/// Returns the days since 1970 of a Gregorian date. Years begin in March here, so that the leap day is the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let before_1970 = 719_469;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - before_1970
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_is_a_number_or_a_text_of_rfc_3339() {
        for (given, millis) in [
            (json!(5), 5),
            (json!(5.9), 5),
            (json!("1970-01-01T00:00:00Z"), 0),
            (json!("1970-01-01T00:00:00.25Z"), 250),
            (json!("2026-11-27T02:40:00.123456Z"), 1_795_747_200_123),
            (json!("2026-11-27T03:40:00+01:00"), 1_795_747_200_000),
            (json!("2026-11-26T21:10:00-05:30"), 1_795_747_200_000),
            (json!("2024-02-29T12:00:00Z"), 1_709_208_000_000),
            (json!("1969-12-31T23:59:59Z"), -1000),
        ] {
            assert_eq!(read(&given), Some(millis), "{given}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for given in [
            json!(null),
            json!(""),
            json!("yesterday"),
            json!("2026-11-27"),
            json!("2026-11-27T02:40:00"),
            json!("2026-13-27T02:40:00Z"),
            json!("2026-11-27T02:40:00.Z"),
            json!("2026-11-27T02:40:00+1:00"),
            json!("2026-1-27T02:40:000Z"),
            json!("2026-11-27T02:40:00Zx"),
            json!({}),
        ] {
            assert_eq!(read(&given), None, "{given}");
        }
    }
}
