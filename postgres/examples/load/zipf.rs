//! Random choices by Zipf's law.

use rand::Rng;
use rand::distr::Distribution as _;
use rand::distr::weighted::WeightedIndex;

/// The number of ranks that are drawn. Higher ranks are never drawn.
const RANKS: usize = 4096;

/// Draws a rank n with a probability proportional to 1 / n^s.
#[derive(Debug, Clone)]
pub(crate) struct Zipf(WeightedIndex<f64>);

impl Zipf {
    pub(crate) fn new(exponent: f64) -> Self {
        let weights = (1..=RANKS).map(|rank| (rank as f64).powf(-exponent));
        Self(WeightedIndex::new(weights).expect("all weights are above 0"))
    }

    /// Returns a number below `count`, or `None` if that is 0.
    pub(crate) fn below(&self, count: usize, random: &mut impl Rng) -> Option<usize> {
        // A number that is too large is drawn again. The first rank is frequent enough for this to end soon.
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
