//! How messages cross from JavaScript: light JSON in slices, long strings beside it, each crossing once.
//!
//! JavaScript replaces a long string by `{ "\0text": index }`, what JSON cannot carry by `{ "\0opaque": number }`, and a string with lone
//! surrogates by `{ "\0utf16": [string, unit, …] }`, with the unit of every U+FFFD in the string. Here the long strings are put back. The other
//! marks stay: wherever the core copies one to, JavaScript puts the value itself when the change comes back.
//!
//! Messages are the one thing that crosses as JSON where napi could hand over objects. Objects would cross on the event loop in one
//! go, in 7.2 ms for the 473 messages of the shipped session; light JSON takes 3.6 ms of the loop, in slices, and 2.5 ms of a worker.
//! For 1,344 messages of 3.1 MB it is 18.5 ms against 9.5 and 7.8. And napi makes `1700000000000.0` of the time 1700000000000, and
//! other characters of lone surrogates: blocks would no longer be known by their bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use concertina::error::{Error, Result};
use concertina::transcript::{MessageSource, Rewrite};
use napi_derive::napi;
use serde_json::{Value, json};

use crate::work::aside;

/// The key that stands for a lifted string.
const LIFTED: &str = "\0text";

/// So many bytes of JSON are worth reading while the rest crosses.
const READ_AHEAD_BYTES: usize = 32 * 1024;

/// Messages on their way into the addon. JavaScript pushes slices between turns of the event loop.
#[napi]
#[derive(Default)]
pub struct Handover {
    slices: Arc<Slices>,
    /// Lifted strings of the slice that is not closed yet.
    texts: Vec<String>,
    /// Bytes of JSON that nobody was told to read.
    unread: usize,
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
    pub fn push(&mut self, light: String) -> napi::Result<()> {
        self.unread += light.len();
        lock(&self.slices.crossed).push_back((light, std::mem::take(&mut self.texts)));
        if self.unread >= READ_AHEAD_BYTES {
            self.unread = 0;
            let slices = Arc::clone(&self.slices);
            // Who reads already reads this, too. What fails stays, and fails for the worker.
            aside(move || drop(slices.messages.try_lock().map(|mut messages| slices.read_on(&mut messages))))?;
        }
        Ok(())
    }

    /// What crossed, for the worker.
    pub(crate) fn slices(&self) -> Arc<Slices> {
        Arc::clone(&self.slices)
    }
}

/// What crossed, and what of it is read. Reading is the worker's job, and begins on other threads before that.
#[derive(Default)]
pub(crate) struct Slices {
    crossed: Mutex<VecDeque<(String, Vec<String>)>>,
    messages: Mutex<Vec<Value>>,
}

impl Slices {
    /// The messages, in order.
    pub(crate) fn read(&self) -> Result<Vec<Value>> {
        let mut messages = lock(&self.messages);
        self.read_on(&mut messages)?;
        Ok(std::mem::take(&mut messages))
    }

    /// Takes messages back that will be read once more.
    pub(crate) fn keep(&self, messages: Vec<Value>) {
        *lock(&self.messages) = messages;
    }

    fn read_on(&self, messages: &mut Vec<Value>) -> Result<()> {
        let next = || lock(&self.crossed).pop_front();
        while let Some((light, texts)) = next() {
            let slice: Vec<Value> = match serde_json::from_str(&light) {
                Ok(slice) => slice,
                Err(error) => {
                    lock(&self.crossed).push_front((light, texts));
                    return Err(Error::bad_argument("messages", error, "an array of JSON messages"));
                }
            };
            let mut texts: Vec<Option<String>> = texts.into_iter().map(Some).collect();
            messages.extend(slice.into_iter().map(|mut message| {
                put_back(&mut message, &mut texts);
                message
            }));
        }
        Ok(())
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("nothing panics while it reads, and what is half read must not be used")
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

/// What becomes of messages. JSON, as the way in: see the head of this file.
#[napi(object, object_from_js = false)]
pub struct Change {
    /// JSON arrays of patches, each `[message, path, value]`, or `[message, path]` for a part that leaves.
    pub patches: Vec<String>,
    /// JSON array of kept indexes and `[inserted message]`, where the order changes.
    pub slots: Option<String>,
}

impl From<&Rewrite> for Change {
    fn from(rewrite: &Rewrite) -> Self {
        let mut patches: Vec<String> = Vec::new();
        let set = rewrite.patches.iter().map(|patch| json!([patch.message, patch.path.steps(), patch.value]));
        let removed = rewrite.removed.iter().map(|(message, path)| json!([message, path.steps()]));
        for patch in set.chain(removed).map(|patch| patch.to_string()) {
            match patches.last_mut() {
                Some(last) if last.len() + patch.len() < PATCHES_BYTES => {
                    last.push(',');
                    last.push_str(&patch);
                }
                _ => patches.push(format!("[{patch}")),
            }
        }
        patches.iter_mut().for_each(|some| some.push(']'));
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
