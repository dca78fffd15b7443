//! The fusion pipeline as JavaScript sees it: texts, messages, and stages that JavaScript itself runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use concertina::content::Language;
use concertina::error::Result;
use concertina::pipeline::{
    BlockAction, BlockReport, CompressOptions, Compressed, FusionEngine, FusionPipeline, Job, MessagesOptions,
    Progress, Role, StageReport, compress_messages, restore,
};
use concertina::reference::{ContentHash, Media, Original};
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi_derive::napi;
use serde_json::{Map, Value, json};

use crate::guard::guard;
use crate::handover::Handover;
use crate::pure::options;
use crate::work::{Outcome, Work, to_json};

/// Milliseconds since some moment, for reports.
fn clock() -> impl Fn() -> f64 {
    let start = Instant::now();
    move || start.elapsed().as_secs_f64() * 1e3
}

/// One text on its way through the pipeline. Stages that JavaScript runs are answered between calls of `advance`.
#[napi]
pub struct CompressJob(Arc<Course>);

struct Course {
    engine: FusionEngine,
    options: CompressOptions,
    text: String,
    /// Answers to the questions so far, in the order in which they were asked; asking is deterministic.
    answers: Mutex<Vec<Option<String>>>,
}

#[napi]
impl CompressJob {
    /// A job for a text.
    #[napi(constructor)]
    pub fn new(text: String, options_json: String) -> napi::Result<Self> {
        guard(|| {
            let (compress, stages) = CompressOptions::from_json(&options(&options_json)?)?;
            let engine = FusionEngine::new(FusionPipeline::build(&stages, Vec::new())?);
            Ok(Self(Arc::new(Course { engine, options: compress, text, answers: Mutex::default() })))
        })
    }

    /// Works on a worker until a stage of JavaScript's must be asked (`report` holds the question) or all is done.
    #[napi]
    pub fn advance(&self) -> AsyncTask<Work> {
        let course = Arc::clone(&self.0);
        Work::queue(move || Ok(course.advance()))
    }

    /// The same on the calling thread.
    #[napi]
    pub fn advance_sync(&self) -> napi::Result<Outcome> {
        guard(|| Ok(self.0.advance()))
    }

    /// The answer to the last question: the text as the stage would have it, or null when it does not apply.
    #[napi]
    pub fn answer(&self, text: Option<String>) {
        self.0.answers.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

impl Course {
    fn advance(&self) -> Outcome {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut known = answers.into_iter();
        let mut job = Job::new(&self.engine, &self.text, &self.options);
        loop {
            match job.advance(&clock()) {
                Progress::Done(compressed) => return compressed_outcome(*compressed),
                Progress::Ask(question) => match known.next() {
                    Some(answer) => job.answer(answer),
                    None => {
                        let asked = json!({
                            "stage": question.stage, "contentType": question.content_type.as_str(),
                            "language": question.language.map(Language::as_str), "role": role_word(question.role),
                        });
                        return Outcome { text: Some(question.text), ..Outcome::report(&json!({ "question": asked })) };
                    }
                },
            }
        }
    }
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool | Role::Other => "tool",
    }
}

fn compressed_outcome(compressed: Compressed) -> Outcome {
    let report = json!({
        "tokensBefore": compressed.tokens_before, "tokensAfter": compressed.tokens_after,
        "contentType": compressed.content_type.as_str(), "language": compressed.language.map(Language::as_str),
        "lossless": compressed.lossless, "stages": stage_rows(&compressed.stages),
        "originals": original_rows(&compressed.originals),
    });
    let buffers = compressed.originals.into_iter().map(|original| original.bytes.into()).collect();
    Outcome { text: Some(compressed.text), buffers, ..Outcome::report(&report) }
}

fn stage_rows(stages: &[StageReport]) -> Vec<Value> {
    stages
        .iter()
        .map(|stage| {
            json!({
                "name": stage.name, "fired": stage.fired, "tokensBefore": stage.tokens_before,
                "tokensAfter": stage.tokens_after, "gateMs": stage.gate_ms, "workMs": stage.work_ms,
                "notes": stage.notes.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<String, Value>>(),
            })
        })
        .collect()
}

fn original_rows(originals: &[Original]) -> Vec<Value> {
    originals.iter().map(|original| json!({ "refId": original.hash.to_hex(), "label": original.label })).collect()
}

/// `compressMessages(messages, options)`.
#[napi(js_name = "compressMessages")]
pub fn compress_messages_on_worker(messages: &mut Handover, options_json: String) -> AsyncTask<Work> {
    let slices = messages.take();
    Work::queue(move || compressed_messages(&slices.read()?, &options_json))
}

/// The same on the calling thread.
#[napi]
pub fn compress_messages_sync(messages: &mut Handover, options_json: String) -> napi::Result<Outcome> {
    let slices = messages.take();
    guard(|| compressed_messages(&slices.read()?, &options_json))
}

fn compressed_messages(messages: &[Value], options_json: &str) -> Result<Outcome> {
    let (asked, stages) = MessagesOptions::from_json(&options(options_json)?)?;
    let engine = FusionEngine::new(FusionPipeline::build(&stages, Vec::new())?);
    let done = compress_messages(&engine, messages, &asked, &clock());
    let blocks: Vec<Value> = done.blocks.iter().map(block_row).collect();
    let report = json!({
        "tokensBefore": done.tokens_before, "tokensAfter": done.tokens_after, "blocks": blocks,
        "originals": original_rows(&done.originals),
    });
    let buffers = done.originals.into_iter().map(|original| original.bytes.into()).collect();
    Ok(Outcome { buffers, ..Outcome::rewrite(&done.rewrite, &report) })
}

fn block_row(block: &BlockReport) -> Value {
    let action = match block.action {
        BlockAction::Repeat => "repeat",
        BlockAction::Delta => "delta",
        BlockAction::Runs => "runs",
        BlockAction::Compressed => "compressed",
        BlockAction::Shrunk => "shrunk",
    };
    json!({
        "message": block.message, "block": block.block, "action": action, "tokensBefore": block.tokens_before,
        "tokensAfter": block.tokens_after, "stages": stage_rows(&block.stages),
    })
}

/// `restore(text, originals)`; the originals are UTF-8 texts.
#[napi(js_name = "restore")]
pub fn restore_text(text: String, originals: Vec<Buffer>) -> napi::Result<String> {
    guard(|| {
        let originals: Vec<Original> = originals
            .into_iter()
            .map(|bytes| {
                let bytes = bytes.to_vec();
                Original { hash: ContentHash::of(&bytes), bytes, media: Media::Text, label: String::new() }
            })
            .collect();
        Ok(restore(&text, &originals))
    })
}

/// `stages()`, as JSON.
#[napi(js_name = "stages")]
pub fn list_stages() -> napi::Result<String> {
    guard(|| {
        let rows: Vec<Value> = FusionPipeline::default()
            .stages()
            .iter()
            .map(|stage| {
                let types: Vec<&str> = stage.content_types.iter().map(|kind| kind.as_str()).collect();
                json!({ "name": stage.name, "order": stage.order, "lossless": stage.lossless, "contentTypes": types })
            })
            .collect();
        Ok(to_json(&rows))
    })
}
