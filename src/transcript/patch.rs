//! A change to a transcript: values to set at paths, parts to remove, and optionally a new sequence of messages.

use serde::Serialize;
use serde_json::{Value, json};

/// One step into a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A field of an object.
    Key(&'static str),
    /// An element of an array.
    Index(usize),
}

impl Step {
    /// Returns the value that this step leads to, if there is one.
    pub(super) fn follow(self, value: &Value) -> Option<&Value> {
        match self {
            Self::Key(key) => value.get(key),
            Self::Index(index) => value.get(index),
        }
    }
}

/// The path of a value, from the message inwards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    /// Returns the path of the message itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a field.
    #[must_use]
    pub fn key(mut self, key: &'static str) -> Self {
        self.0.push(Step::Key(key));
        self
    }

    /// Appends an element.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// Returns the path of the containing value; the path of the message itself stays.
    #[must_use]
    pub fn parent(mut self) -> Self {
        self.0.pop();
        self
    }

    /// Returns the steps, outermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Returns the last index, if the path leads to an element.
    pub fn last_index(&self) -> Option<usize> {
        match self.0.last() {
            Some(Step::Index(index)) => Some(*index),
            _ => None,
        }
    }

    /// Returns the value at this path, if the message has one.
    pub fn follow<'a>(&self, message: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(message, |value, step| step.follow(value))
    }

    fn follow_mut<'a>(&self, message: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(message, |value, step| match step {
            Step::Key(key) => value.get_mut(key),
            Step::Index(index) => value.get_mut(index),
        })
    }
}

/// The key of a placeholder in a new list for an unchanged part of a message: `{ "\0part": [message, ...path] }`.
const PART: &str = "\0part";

/// Returns a placeholder for an existing part of a message, to be used as an element of a list that a patch sets or of
/// an inserted message's content. The part is moved unchanged, because JSON does not carry every part exactly.
pub fn part_of(message: usize, path: &Path) -> Value {
    let steps = path.steps().iter().map(|step| json!(step));
    json!({ PART: std::iter::once(json!(message)).chain(steps).collect::<Vec<_>>() })
}

/// Replaces the part placeholders among a value's elements by the parts of the messages.
fn with_parts(value: &Value, messages: &[Value]) -> Value {
    let part = |element: &Value| {
        let (message, path) = element.get(PART)?.as_array()?.split_first()?;
        let index = |step: &Value| usize::try_from(step.as_u64()?).ok();
        path.iter().try_fold(messages.get(index(message)?)?, |value, step| match step.as_str() {
            Some(key) => value.get(key),
            None => value.get(index(step)?),
        })
    };
    match value {
        Value::Array(elements) => elements.iter().map(|element| part(element).unwrap_or(element).clone()).collect(),
        other => other.clone(),
    }
}

/// One replaced value.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// Index of the message in the input.
    pub message: usize,
    /// The path in the message.
    pub path: Path,
    /// The new value.
    pub value: Value,
}

/// The source of one message of a changed transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageSource {
    /// The input message with this index, patched if a patch names it.
    Keep(usize),
    /// A new message.
    Insert(Value),
}

/// A change to a transcript. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rewrite {
    /// Values to set. Every path exists in its message.
    pub patches: Vec<Patch>,
    /// Parts to remove: the message's index, and the path of an array element in it. Paths refer to the unchanged
    /// message.
    pub removed: Vec<(usize, Path)>,
    /// The new sequence of messages; `None` keeps all, in order.
    pub sequence: Option<Vec<MessageSource>>,
}

impl Rewrite {
    /// Returns true if the transcript stays as it is.
    pub fn is_empty(&self) -> bool {
        self.patches.is_empty() && self.removed.is_empty() && self.sequence.is_none()
    }

    /// Applies the change to a copy of the messages.
    ///
    /// # Panics
    /// If a path does not exist in its message, because the rewrite belongs to other messages.
    pub fn apply(&self, messages: &[Value]) -> Vec<Value> {
        let mut changed = messages.to_vec();
        for patch in &self.patches {
            let target = patch.path.follow_mut(&mut changed[patch.message]);
            *target.expect("a patch path exists in its message") = with_parts(&patch.value, messages);
        }
        // Backwards, so that earlier indexes stay valid.
        let mut removed: Vec<&(usize, Path)> = self.removed.iter().collect();
        removed.sort_by_key(|(message, path)| (*message, path.last_index()));
        for (message, path) in removed.into_iter().rev() {
            let parts = path.clone().parent().follow_mut(&mut changed[*message]).and_then(Value::as_array_mut);
            parts.expect("what leaves is an element").remove(path.last_index().expect("what leaves has an index"));
        }
        match &self.sequence {
            None => changed,
            Some(sequence) => sequence
                .iter()
                .map(|source| match source {
                    MessageSource::Keep(index) => changed[*index].clone(),
                    MessageSource::Insert(message) => {
                        let mut message = message.clone();
                        if let Some(content) = message.get_mut("content") {
                            *content = with_parts(content, messages);
                        }
                        message
                    }
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: usize) -> Path {
        Path::new().key("content").index(index)
    }

    #[test]
    fn parts_leave_by_the_places_that_they_had() {
        let messages = [json!({ "content": ["a", "b", "c", "d"] })];
        let patches = vec![Patch { message: 0, path: at(3), value: json!("D") }];
        let rewrite = Rewrite { patches, removed: vec![(0, at(0)), (0, at(2))], sequence: None };
        assert_eq!(rewrite.apply(&messages), [json!({ "content": ["b", "D"] })]);
    }

    #[test]
    fn parts_move_as_they_are_and_messages_take_their_places() {
        let messages = [json!({ "content": [{ "text": "a", "x": 1 }, "b"] }), json!({ "content": ["c"] })];
        let value = json!([part_of(0, &at(1)), "new", part_of(1, &at(0))]);
        let inserted = json!({ "role": "user", "content": [part_of(0, &at(0))] });
        let text = at(0).key("text");
        assert_eq!(text.clone().parent().parent().follow(&messages[0]), Some(&messages[0]["content"]));
        let rewrite = Rewrite {
            patches: vec![
                Patch { message: 1, path: Path::new().key("content"), value },
                Patch { message: 0, path: text, value: json!("A") },
            ],
            sequence: Some(vec![MessageSource::Keep(1), MessageSource::Insert(inserted), MessageSource::Keep(0)]),
            ..Rewrite::default()
        };
        let expected = [
            json!({ "content": ["b", "new", "c"] }),
            json!({ "role": "user", "content": [{ "text": "a", "x": 1 }] }),
            json!({ "content": [{ "text": "A", "x": 1 }, "b"] }),
        ];
        assert_eq!(rewrite.apply(&messages), expected);
    }
}
