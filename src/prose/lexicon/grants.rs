//! What an entry asks of a selection, as bits: it applies where all of them are granted.

use super::{Category, Entry, Intensity, Profile};

/// A set of things asked or granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grants(u16);

const LEVELS: u32 = 8;
const COSTS: u32 = LEVELS + 3;
const OTHER_PROFILES: u32 = COSTS + 1;

impl Grants {
    /// Its category, its level, its costs, and that no text is meant which it is not for.
    pub(super) fn asked_by(entry: &Entry) -> Self {
        let costs = u16::from(!entry.saves_tokens()) << COSTS;
        let others = Profile::ALL.into_iter().filter(|profile| !entry.profiles.contains(profile));
        let profiles = others.map(|profile| 1 << (OTHER_PROFILES + profile as u32)).sum::<u16>();
        Self(1 << entry.category as u32 | 1 << (LEVELS + entry.level as u32) | costs | profiles)
    }

    /// Entries of these categories, up to a level, only those that save tokens or all, for one kind of text or any.
    pub(crate) fn new(categories: &[Category], level: Intensity, only_saving: bool, profile: Option<Profile>) -> Self {
        let categories = categories.iter().fold(0, |bits, &category| bits | 1 << category as u32);
        let levels = Intensity::ALL.into_iter().filter(|&lower| lower <= level);
        let levels = levels.map(|level| 1 << (LEVELS + level as u32)).sum::<u16>();
        let costs = u16::from(!only_saving) << COSTS;
        let others = Profile::ALL.into_iter().filter(|&other| profile != Some(other));
        let profiles = others.map(|profile| 1 << (OTHER_PROFILES + profile as u32)).sum::<u16>();
        Self(categories | levels | costs | profiles)
    }

    /// Whether all that is asked is granted.
    pub(super) fn cover(self, asked: Self) -> bool {
        asked.0 & !self.0 == 0
    }
}
