//! How messages cross from JavaScript: light JSON in slices, long strings beside it, each crossing once.
//!
//! JavaScript replaces a long string by `{ "\0text": index }` and what JSON cannot carry exactly (lone surrogates, exotic
//! objects) by `{ "\0opaque": … }`. Here the long strings are put back; opaque values stay, and the core leaves whatever
//! holds one untouched.

use concertina::error::{Error, Result};
use concertina::transcript::{Rewrite, Slot, Step};
use napi_derive::napi;
use serde_json::{Value, json};

/// The key that stands for a lifted string.
const LIFTED: &str = "\0text";

/// Messages on their way into the addon. JavaScript pushes slices between turns of the event loop.
#[napi]
#[derive(Default)]
pub struct Handover {
    slices: Vec<(String, Vec<String>)>,
    /// Lifted strings of the slice that is not closed yet.
    texts: Vec<String>,
}

#[napi]
impl Handover {
    /// An empty handover.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a string that was lifted out of the messages to come, or, when it `continues`, a further piece of the last one.
    #[napi]
    pub fn text(&mut self, piece: String, continues: bool) {
        match self.texts.last_mut() {
            Some(last) if continues => last.push_str(&piece),
            _ => self.texts.push(piece),
        }
    }

    /// Adds some messages: a JSON array, without the strings that were added before it.
    #[napi]
    pub fn push(&mut self, light: String) {
        self.slices.push((light, std::mem::take(&mut self.texts)));
    }

    /// Takes the slices out, for the worker.
    pub(crate) fn take(&mut self) -> Slices {
        Slices(std::mem::take(&mut self.slices))
    }
}

/// What crossed, not yet read. Reading is the worker's job.
pub(crate) struct Slices(Vec<(String, Vec<String>)>);

impl Slices {
    /// The messages, in order.
    pub(crate) fn read(self) -> Result<Vec<Value>> {
        let mut messages = Vec::new();
        for (light, texts) in self.0 {
            let slice: Vec<Value> = serde_json::from_str(&light)
                .map_err(|error| Error::bad_argument("messages", error, "an array of JSON messages"))?;
            let mut texts: Vec<Option<String>> = texts.into_iter().map(Some).collect();
            messages.extend(slice.into_iter().map(|mut message| {
                put_back(&mut message, &mut texts);
                message
            }));
        }
        Ok(messages)
    }
}

/// Puts lifted strings back. The depth is bounded by the JSON parser's own limit of 128.
fn put_back(value: &mut Value, texts: &mut [Option<String>]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| put_back(item, texts)),
        Value::Object(fields) => {
            let lifted = fields.get(LIFTED).and_then(Value::as_u64).and_then(|index| texts.get_mut(index as usize));
            match lifted {
                Some(text) if fields.len() == 1 => *value = Value::String(text.take().unwrap_or_default()),
                _ => fields.values_mut().for_each(|item| put_back(item, texts)),
            }
        }
        _ => {}
    }
}

/// One string of patches grows to about this many bytes: few strings cross quickly, and none takes long to parse.
const PATCHES_BYTES: usize = 4 * 1024;

/// A rewrite as JavaScript applies it: its patches as JSON arrays of `[message, path, value]`, a few in each, and the new order,
/// if any, as JSON of indexes and inserted messages.
pub(crate) fn encode(rewrite: &Rewrite) -> (Vec<String>, Option<String>) {
    let mut patches: Vec<String> = Vec::new();
    for patch in &rewrite.patches {
        let path: Vec<Value> = patch
            .path
            .steps()
            .iter()
            .map(|step| match step {
                Step::Key(key) => json!(key),
                Step::Index(index) => json!(index),
            })
            .collect();
        let patch = json!([patch.message, path, patch.value]).to_string();
        match patches.last_mut() {
            Some(last) if last.len() + patch.len() < PATCHES_BYTES => {
                last.push(',');
                last.push_str(&patch);
            }
            _ => patches.push(format!("[{patch}")),
        }
    }
    patches.iter_mut().for_each(|some| some.push(']'));
    let slots = rewrite.slots.as_ref().map(|slots| {
        let slots: Vec<Value> = slots
            .iter()
            .map(|slot| match slot {
                Slot::Keep(index) => json!(index),
                Slot::Insert(message) => json!([message]),
            })
            .collect();
        json!(slots).to_string()
    });
    (patches, slots)
}
