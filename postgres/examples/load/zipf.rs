//! Few are chosen often, and many now and then.

use rand::Rng;
use rand::distr::Distribution as _;
use rand::distr::weighted::WeightedIndex;

/// Ranks that are drawn; what is beyond is as rare as the last.
const RANKS: usize = 4096;

/// Draws the n-th of some things with a probability that falls as 1 / n^s.
#[derive(Debug, Clone)]
pub(crate) struct Zipf(WeightedIndex<f64>);

impl Zipf {
    pub(crate) fn new(exponent: f64) -> Self {
        let weights = (1..=RANKS).map(|rank| (rank as f64).powf(-exponent));
        Self(WeightedIndex::new(weights).expect("all weights are above 0"))
    }

    /// A number below `count`; `None` where that is 0.
    pub(crate) fn below(&self, count: usize, random: &mut impl Rng) -> Option<usize> {
        // What is too large is drawn again: the first rank is drawn often enough.
        (count > 0).then(|| {
            loop {
                let rank = self.0.sample(random);
                if rank < count {
                    return rank;
                }
            }
        })
    }
}
