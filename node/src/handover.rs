//! The transfer of messages from JavaScript: light JSON in slices, with long strings beside it, each transferred once.
//!
//! JavaScript replaces a long string by `{ "\0text": index }`, a value that JSON cannot carry by
//! `{ "\0opaque": number }`, and a string with lone surrogates by `{ "\0utf16": [string, unit, …] }`, with the UTF-16
//! unit of every U+FFFD in the string. This module puts the long strings back. The other marks stay: wherever the core
//! copies one, JavaScript puts the value back when it applies the change.
//!
//! Messages are the only values that cross as JSON although napi could pass objects. Objects would be converted on the
//! event loop without a pause: 7.2 ms for the 473 messages of the shipped session. Light JSON takes 3.6 ms of the event
//! loop, in slices, and 2.5 ms of a worker. For 1,344 messages of 3.1 MB the times are 18.5 ms, 9.5 ms and 7.8 ms.
//! Also, napi turns the timestamp 1700000000000 into `1700000000000.0` and replaces lone surrogates, so the bytes of a
//! block would no longer identify it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use concertina::error::{Error, Result};
use concertina::transcript::{MessageSource, Rewrite};
use napi_derive::napi;
use serde_json::{Value, json};

use crate::work::run_in_background;

/// The key that stands for a lifted string.
const LIFTED_STRING_KEY: &str = "\0text";

/// Slices are parsed in the background once this many bytes of JSON have arrived.
const PARSE_AHEAD_BYTES: usize = 32 * 1024;

/// Messages on their way into the addon. JavaScript pushes slices between turns of the event loop.
#[napi]
#[derive(Default)]
pub struct Handover {
    slices: Arc<Slices>,
    /// The lifted strings of the slice that is still open.
    texts: Vec<String>,
    /// Bytes of JSON that no background thread was told to parse.
    unparsed_bytes: usize,
}

#[napi]
impl Handover {
    /// Creates an empty handover.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a string that was lifted out of the messages of the next slice. If `continues` is true, adds a further
    /// piece of the last string instead.
    #[napi]
    pub fn text(&mut self, piece: String, continues: bool) {
        match self.texts.last_mut() {
            Some(last) if continues => last.push_str(&piece),
            _ => self.texts.push(piece),
        }
    }

    /// Adds a slice: a JSON array of messages, without the strings that were added before it.
    #[napi]
    pub fn push(&mut self, light: String) -> napi::Result<()> {
        self.unparsed_bytes += light.len();
        lock(&self.slices.arrived).push_back((light, std::mem::take(&mut self.texts)));
        if self.unparsed_bytes >= PARSE_AHEAD_BYTES {
            self.unparsed_bytes = 0;
            let slices = Arc::clone(&self.slices);
            // If another thread holds the lock, that thread parses this slice too. A slice that fails to parse stays in
            // the queue, and the worker reports the error.
            run_in_background(move || {
                drop(slices.messages.try_lock().map(|mut messages| slices.parse_arrived(&mut messages)))
            })?;
        }
        Ok(())
    }

    /// Returns the slices for the worker.
    pub(crate) fn slices(&self) -> Arc<Slices> {
        Arc::clone(&self.slices)
    }
}

/// The slices that have arrived and the messages that were parsed from them. The worker parses them; background
/// threads may begin before it.
#[derive(Default)]
pub(crate) struct Slices {
    arrived: Mutex<VecDeque<(String, Vec<String>)>>,
    messages: Mutex<Vec<Value>>,
}

impl Slices {
    /// Parses the remaining slices and takes all messages out, in order.
    pub(crate) fn read(&self) -> Result<Vec<Value>> {
        let mut messages = lock(&self.messages);
        self.parse_arrived(&mut messages)?;
        Ok(std::mem::take(&mut messages))
    }

    /// Puts messages back that will be read once more.
    pub(crate) fn put_back(&self, messages: Vec<Value>) {
        *lock(&self.messages) = messages;
    }

    fn parse_arrived(&self, messages: &mut Vec<Value>) -> Result<()> {
        let next = || lock(&self.arrived).pop_front();
        while let Some((light, texts)) = next() {
            let slice: Vec<Value> = match serde_json::from_str(&light) {
                Ok(slice) => slice,
                Err(error) => {
                    lock(&self.arrived).push_front((light, texts));
                    return Err(Error::bad_argument("messages", error, "an array of JSON messages"));
                }
            };
            let mut texts: Vec<Option<String>> = texts.into_iter().map(Some).collect();
            messages.extend(slice.into_iter().map(|mut message| {
                restore_strings(&mut message, &mut texts);
                message
            }));
        }
        Ok(())
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("nothing panics while it reads, and what is half read must not be used")
}

/// Puts lifted strings back. The depth of recursion is bounded by the JSON parser's own limit of 128.
fn restore_strings(value: &mut Value, texts: &mut [Option<String>]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| restore_strings(item, texts)),
        Value::Object(fields) => {
            let lifted =
                fields.get(LIFTED_STRING_KEY).and_then(Value::as_u64).and_then(|index| texts.get_mut(index as usize));
            match lifted {
                Some(text) if fields.len() == 1 => *value = Value::String(text.take().unwrap_or_default()),
                _ => fields.values_mut().for_each(|item| restore_strings(item, texts)),
            }
        }
        _ => {}
    }
}

/// The size in bytes to which a string of patches grows. Few strings cross quickly, and none takes long to parse.
const PATCH_STRING_BYTES: usize = 4 * 1024;

/// The changes to messages, as JSON for the reason that the module documentation of `handover.rs` gives.
#[napi(object, object_from_js = false)]
pub struct Change {
    /// JSON arrays of patches, each `[message, path, value]`, or `[message, path]` for a removed part.
    pub patches: Vec<String>,
    /// If the order changes, a JSON array of the indexes of kept messages and `[message]` for inserted ones.
    pub slots: Option<String>,
}

impl From<&Rewrite> for Change {
    fn from(rewrite: &Rewrite) -> Self {
        let mut patches: Vec<String> = Vec::new();
        let set = rewrite.patches.iter().map(|patch| json!([patch.message, patch.path.steps(), patch.value]));
        let removed = rewrite.removed.iter().map(|(message, path)| json!([message, path.steps()]));
        for patch in set.chain(removed).map(|patch| patch.to_string()) {
            match patches.last_mut() {
                Some(last) if last.len() + patch.len() < PATCH_STRING_BYTES => {
                    last.push(',');
                    last.push_str(&patch);
                }
                _ => patches.push(format!("[{patch}")),
            }
        }
        patches.iter_mut().for_each(|patch| patch.push(']'));
        let slots = rewrite.sequence.as_ref().map(|slots| {
            let slots = slots.iter().map(|slot| match slot {
                MessageSource::Keep(index) => json!(index),
                MessageSource::Insert(message) => json!([message]),
            });
            Value::from_iter(slots).to_string()
        });
        Self { patches, slots }
    }
}
