//! Moments and days.

/// Milliseconds since 1970.
pub type Millis = i64;

/// Milliseconds of a day.
pub const DAY_MS: Millis = 86_400_000;

/// Returns the date of a day since 1970 in the Gregorian calendar (H. Hinnant, `civil_from_days`).
pub fn date(day: i64) -> String {
    let shifted = day.saturating_add(719_468);
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (20_484, "2026-01-31"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
            (2_932_897, "10000-01-01"),
        ] {
            assert_eq!(date(day), expected);
        }
    }
}
