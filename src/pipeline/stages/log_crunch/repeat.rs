//! `x y x y x y` -> `x y 2*2`: lines of a folded log that repeat as they are written.
//!
//! Because a row says only what is new, a counter or a steady beat is a repeated row.

use std::collections::HashMap;

/// The longest pattern, in lines.
const MAX_PERIOD: usize = 64;

/// Replaces repetitions of the lines before by `*times` or `lines*times`.
pub(super) fn shorten(body: Vec<String>) -> Vec<String> {
    let mut last_seen: HashMap<&str, usize> = HashMap::new();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    // Where lines may be repeated from: behind the last repetition.
    let mut floor = 0;
    while at < body.len() {
        let line = body[at].as_str();
        let period = last_seen
            .get(line)
            .map(|&before| at - before)
            .filter(|&period| period <= MAX_PERIOD && at - floor >= period);
        let times = period.map_or(0, |period| {
            let same = body[at..].iter().zip(&body[at - period..]).take_while(|(a, b)| a == b).count();
            same / period
        });
        if let Some(period) = period.filter(|period| times * period > 1) {
            out.push(if period == 1 { format!("*{times}") } else { format!("{period}*{times}") });
            for skipped in at..at + times * period {
                last_seen.insert(&body[skipped], skipped);
            }
            at += times * period;
            floor = at;
            continue;
        }
        last_seen.insert(line, at);
        out.push(body[at].clone());
        at += 1;
    }
    out
}
