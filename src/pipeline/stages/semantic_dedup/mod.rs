//! A passage that stands earlier in the text -> `repeats 12 lines above; line 1: "…"`, with what differs.
//!
//! Exact repeats (whole lines) and near repeats (paragraphs or fences whose 64-bit simhashes differ in at most three bits) become
//! folds: the reference names the earlier place by words that stand there, for the reader as for the inverse, and a near repeat
//! lists every differing line. A repeat that differs only in white space needs the original to be undone.

mod passages;
mod reference;
mod simhash;

use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Prior, Stage};
use passages::Passages;
use reference::{Reference, delta, patch};

/// Shorter texts have no room for a repeat that pays.
const TEXT_MIN_BYTES: usize = 256;

/// The stage's name.
const NAME: &str = "semanticDedup";

const TYPES: &[ContentType] = &[ContentType::Text, ContentType::Html, ContentType::Unknown];

/// See the module.
pub(super) struct SemanticDedup;

impl Stage for SemanticDedup {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        12
    }

    fn content_types(&self) -> &'static [ContentType] {
        TYPES
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= TEXT_MIN_BYTES && TYPES.contains(&context.content_type)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut text = Passages::new(context);
        let exact = text.exact();
        let near = text.near(&exact);
        let mut edits: Vec<Edit> = exact.iter().map(|(_, edit)| edit.clone()).chain(near).collect();
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn unfold_after(&self, fold: &Fold, before: &mut Prior) -> Option<String> {
        let reference = Reference::parse(&fold.legend)?;
        let quoted = before.find_quoted(reference.quote)?;
        let earlier = reference.lines_at(before.text(), quoted)?;
        match &fold.body {
            None => Some(earlier.to_owned()),
            Some(delta) => patch(earlier, delta),
        }
    }

    fn is_canonical(&self, fold: &Fold, text: &str, before: &mut Prior) -> bool {
        let Some(earlier) = self.unfold_after(&Fold { body: None, ..fold.clone() }, before) else { return false };
        let Some(reference) = Reference::parse(&fold.legend) else { return false };
        fold.body == delta(&earlier, text) && reference.to_string() == fold.legend
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::config::Preset;
    use crate::content::Segment;

    fn edits(text: &str, preset: Preset) -> Vec<Edit> {
        let content_type = ContentType::Text;
        let segments = [Segment::whole(text, content_type, None)];
        let context = FusionContext { preset, ..FusionContext::of(text, &segments) };
        assert!(SemanticDedup.should_apply(&context));
        SemanticDedup.apply(&context)
    }

    /// The only edit of a text, undone.
    fn folded(text: &str) -> Fold {
        let edits = edits(text, Preset::Lossless);
        assert_eq!(edits.len(), 1, "{edits:#?}");
        let (fold, _) = crate::pipeline::fold::parse(&edits[0].text).unwrap();
        let mut before = Prior::of(&text[..edits[0].range.start]);
        let undone = SemanticDedup.unfold_after(&fold, &mut before).unwrap();
        assert_eq!(undone, text[edits[0].range.clone()]);
        assert!(SemanticDedup.is_canonical(&fold, &undone, &mut before));
        fold
    }

    fn manual(section: &str) -> String {
        let steps =
            (1..30).map(|n| format!("{n}. In step {n} of {section}, turn knob {} until the lamp is on.\n", n * 7));
        format!("## {section}\n\nFollow the steps below with care, one after the other.\n{}", steps.collect::<String>())
    }

    #[test]
    fn a_passage_that_comes_again_refers_to_the_first() {
        let text = format!("# Manual\n\n{}\nSomething else.\n\n{}", manual("Setup"), manual("Setup"));
        let fold = folded(&text);
        assert_eq!((fold.legend.as_str(), fold.body), ("repeats 32 lines above; line 1: \"## Setup\"", None));
    }

    #[test]
    fn a_paragraph_on_one_line_that_comes_again_refers_to_the_first() {
        let paragraph = "The store keeps every original that a marker stands for, and gives it back byte for byte when the agent \
            asks for it; nothing is thrown away before the host has deleted the session that was granted it, however long \
            that rested.";
        let text = format!("{paragraph}\n\nSomething else.\n\n{paragraph}\n");
        assert!(text.len() < 600 && paragraph.split(' ').count() <= 45);
        assert_eq!(folded(&text).body, None);
        let engine = crate::pipeline::FusionEngine::default();
        let options = crate::pipeline::CompressOptions { preset: Preset::Lossless, ..Default::default() };
        let short = engine.compress(&text, &options, &|| 0.0);
        assert!(short.text.contains("[[FOLD:semanticDedup 0]] repeats 1 line above"), "{}", short.text);
        assert_eq!(crate::pipeline::restore(&short.text, &[]), text);
        let spaced = format!("{paragraph}\n\nSomething else.\n\n{}\n", paragraph.replace("; nothing", ";  nothing"));
        assert!(edits(&spaced, Preset::Balanced)[0].text.starts_with("[… 1 lines 5-5 but for spaces"));
    }

    #[test]
    fn the_reference_quotes_a_line_that_stands_nowhere_before() {
        let fence = format!(
            "```sh\n{}```\n",
            (1..12).map(|n| format!("run --step {n} --wait {}\n", n * 3)).collect::<String>()
        );
        let text = format!(
            "```sh\nls\n```\n\n{fence}\nAnd again, after a while, the very same commands:\n\n{fence}{}",
            "x\n".repeat(9)
        );
        assert_eq!(folded(&text).legend, "repeats 13 lines above; line 2: \"run --step 1 --wait 3\"");
    }

    #[test]
    fn a_near_repeat_lists_every_differing_line() {
        let long = manual("Setup") + &manual("Use").replace("## Use\n\n", "");
        let first = long.replace("\n\n", "\n");
        let second = first.replace("knob 49 until", "knob 50 until");
        let (fold, text) = (|text: &str| edits(text, Preset::Lossless), format!("{first}\nother\n\n{second}"));
        let edits = fold(&text);
        let shown: Vec<&str> = edits.iter().map(|edit| edit.text.as_str()).collect();
        // As exact runs around the changed line, or as one passage with its change: the new line is in sight either way.
        let mut seen = text.clone();
        for edit in edits.iter().rev() {
            seen.replace_range(edit.range.clone(), &edit.text);
        }
        assert!(seen.contains("knob 50 until") && seen.len() < first.len() + 400, "{shown:#?}");
    }

    #[test]
    fn spaces_alone_are_a_reversible_repeat() {
        let first = "Some words that stand here in three lines,\nso that they are a passage worth to be looked at twice,\nand then some more words to make it long enough for that, indeed.\n";
        let second = first.replace(", ", ",  ").replace("\n", " \n");
        let text = format!("{first}\n{}\n{second}", (0..30).map(|n| format!("filler {n}\n")).collect::<String>());
        assert_eq!(edits(&text, Preset::Lossless), []);
        let edits = edits(&text, Preset::Balanced);
        assert_eq!(edits.len(), 1, "{edits:?}");
        assert!(
            edits[0].text.starts_with("[… 3 lines 36-38 but for spaces like those above from \"Some words that"),
            "{}",
            edits[0].text
        );
    }
}
