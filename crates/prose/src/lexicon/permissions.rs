//! What an entry asks of a selection, as bits: it applies where all of them are permitted.

use super::{Category, Entry, Intensity, Profile};

/// A set of things asked or permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permissions(u16);

const LEVELS: u32 = 8;
const COSTS: u32 = LEVELS + 3;
const OTHER_PROFILES: u32 = COSTS + 1;

impl Permissions {
    /// Its category, its level, that it may cost tokens, and that no text is meant which it is not for.
    pub(super) fn required_by(entry: &Entry) -> Self {
        let others = Profile::ALL.into_iter().filter(|profile| !entry.profiles.contains(profile)).map(other);
        let costs = (!entry.saves_tokens()).then_some(COSTS);
        let named = [entry.category as u32, LEVELS + entry.level as u32];
        Self::of(named.into_iter().chain(costs).chain(others))
    }

    /// Entries of these categories, up to a level, only those that save tokens or all, for one kind of text or any.
    pub(crate) fn new(categories: &[Category], level: Intensity, only_saving: bool, profile: Option<Profile>) -> Self {
        let categories = categories.iter().map(|&category| category as u32);
        let levels = Intensity::ALL.into_iter().filter(|&lower| lower <= level).map(|lower| LEVELS + lower as u32);
        let costs = (!only_saving).then_some(COSTS);
        let others = Profile::ALL.into_iter().filter(|&other| profile != Some(other)).map(other);
        Self::of(categories.chain(levels).chain(costs).chain(others))
    }

    /// Everything, whatever an entry requires.
    pub(crate) fn all() -> Self {
        Self(u16::MAX)
    }

    fn of(bits: impl Iterator<Item = u32>) -> Self {
        Self(bits.fold(0, |set, bit| set | 1 << bit))
    }

    /// Whether all that is required is permitted.
    pub(super) fn include(self, required: Self) -> bool {
        required.0 & !self.0 == 0
    }
}

/// The bit of texts that are not of this kind.
fn other(profile: Profile) -> u32 {
    OTHER_PROFILES + profile as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::lexicon;

    #[test]
    fn an_entry_applies_where_category_level_worth_and_profile_do() {
        let profiles = [None].into_iter().chain(Profile::ALL.map(Some));
        let cases = profiles.flat_map(|profile| {
            Intensity::ALL.into_iter().flat_map(move |level| [false, true].map(|saving| (level, saving, profile)))
        });
        for (level, only_saving, profile) in cases {
            let categories = [Category::Phrase, Category::Abbreviation];
            let permitted = Permissions::new(&categories, level, only_saving, profile);
            for entry in &lexicon().entries {
                let applies = categories.contains(&entry.category)
                    && entry.level <= level
                    && (!only_saving || entry.saves_tokens())
                    && profile.is_none_or(|profile| entry.profiles.contains(&profile));
                assert_eq!(
                    permitted.include(Permissions::required_by(entry)),
                    applies,
                    "{} {level:?} {profile:?}",
                    entry.long
                );
            }
        }
    }
}
