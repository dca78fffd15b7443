//! What a sentence or a clause holds of the words that decide about others.

use crate::lexicon::{Class, Classes};

/// What is counted.
const COUNTED: [Class; 5] = [Class::Negation, Class::Modal, Class::Action, Class::Verdict, Class::Failure];

#[derive(Default)]
pub(super) struct ClassCounts {
    counts: [u32; COUNTED.len()],
    pub(super) is_question: bool,
}

impl ClassCounts {
    pub(super) fn has(&self, class: Class) -> bool {
        self.count(class) > 0
    }

    pub(super) fn count(&self, class: Class) -> u32 {
        let index = COUNTED.iter().position(|&counted| counted == class).expect("the class is counted");
        self.counts[index]
    }

    pub(super) fn add(&mut self, classes: Classes) {
        for (count, _) in self.counted(classes) {
            *count += 1;
        }
    }

    /// Returns whether one of the classes is now gone.
    pub(super) fn remove(&mut self, classes: Classes) -> bool {
        let mut ends = false;
        for (count, _) in self.counted(classes) {
            *count -= 1;
            ends |= *count == 0;
        }
        ends
    }

    fn counted(&mut self, classes: Classes) -> impl Iterator<Item = (&mut u32, Class)> {
        let all = self.counts.iter_mut().zip(COUNTED);
        all.filter(move |(_, class)| classes.has(*class))
    }
}
