//! The fusion pipeline as JavaScript sees it: texts, messages, and stages that run in JavaScript.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use concertina::error::{Error, Result};
use concertina::pipeline::{
    self, BlockAction, CompressOptions, FusionEngine, FusionPipeline, Gone, MessagesOptions, Role, restore,
    restore_whole,
};
use concertina::reference::{self, ContentHash, Media, RefId};
use napi::Env;
use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi_derive::napi;
use serde_json::Value;

use crate::guard::guard;
use crate::handover::{Change, Handover};
use crate::pure::{language_name, options};
use crate::report::LeftAlone;
use crate::work::{JobSlot, heavy, heavy_with_slot, run_in_slot};

/// The result of one stage.
#[napi(object, object_from_js = false)]
pub struct StageRow {
    /// The name of the stage, or of a custom stage.
    #[napi(ts_type = "StageName | (string & {})")]
    pub name: String,
    /// True if the text contains an edit of this stage.
    pub fired: bool,
    /// Tokens before the stage ran.
    pub tokens_before: u32,
    /// Tokens after the stage ran.
    pub tokens_after: u32,
    /// Tokens that the stage's edits alone would have saved. If other edits of the same text save more, those are
    /// used instead.
    pub offered: u32,
    /// Milliseconds that were spent on deciding if the stage applies.
    pub gate_ms: f64,
    /// Milliseconds that were spent on proposing, measuring and verifying edits.
    pub work_ms: f64,
    /// Notes of the stage, by name.
    pub notes: BTreeMap<String, String>,
}

impl From<pipeline::StageReport> for StageRow {
    fn from(stage: pipeline::StageReport) -> Self {
        Self {
            name: stage.name,
            fired: stage.fired,
            tokens_before: stage.tokens_before as u32,
            tokens_after: stage.tokens_after as u32,
            offered: stage.offered as u32,
            gate_ms: stage.gate_ms,
            work_ms: stage.work_ms,
            notes: stage.notes.into_iter().collect(),
        }
    }
}

/// The exact bytes that a marker stands for.
#[napi(object, object_from_js = false)]
pub struct Original {
    /// All 64 digits of the SHA-256 of the bytes. Markers print the first 16.
    pub ref_id: String,
    /// The bytes.
    pub data: Buffer,
    /// The origin of the bytes, for people to read.
    pub label: String,
    /// The MIME type of an image. Absent if the bytes are text.
    pub mime_type: Option<String>,
}

impl From<reference::Original> for Original {
    fn from(original: reference::Original) -> Self {
        let mime_type = match original.media {
            Media::Text => None,
            Media::Image(mime) => Some(mime),
        };
        Self { ref_id: original.hash.to_hex(), data: original.bytes.into(), label: original.label, mime_type }
    }
}

/// A compressed text. It is the input itself if nothing saved tokens.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct CompressResult {
    /// The compressed text.
    pub text: String,
    /// Tokens of the input.
    pub tokens_before: u32,
    /// Tokens of the compressed text, with its marker.
    pub tokens_after: u32,
    /// The type of most of the input.
    #[napi(ts_type = "ContentType")]
    pub content_type: String,
    /// The language, if the type is code.
    #[napi(ts_type = "Language")]
    pub language: Option<String>,
    /// True if the input can be restored from the compressed text alone.
    pub lossless: bool,
    /// One row for each stage, in the order in which the stages ran.
    pub stages: Vec<StageRow>,
    /// The originals that must be stored before the text is shown.
    pub originals: Vec<Original>,
}

/// The input of a custom stage.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct StageContext {
    /// The text with the edits of the previous stages.
    pub text: String,
    /// The type of most of the text.
    #[napi(ts_type = "ContentType")]
    pub content_type: String,
    /// The language, if the type is code.
    #[napi(ts_type = "Language")]
    pub language: Option<String>,
    /// The role of the message that the text is from.
    #[napi(ts_type = "\"system\" | \"user\" | \"assistant\" | \"tool\"")]
    pub role: String,
}

/// A call of a stage that runs in JavaScript.
#[napi(object, object_from_js = false)]
pub struct StageCall {
    /// The name of the stage.
    pub stage: String,
    /// The input of the stage.
    pub context: StageContext,
}

/// The progress of a job: a question, or the result.
#[napi(object, object_from_js = false)]
pub struct Step {
    /// The stage to call before the job can go on.
    pub question: Option<StageCall>,
    /// The result, if the job is done.
    pub result: Option<CompressResult>,
}

/// Returns a clock that counts milliseconds from this call, for reports.
fn clock() -> impl Fn() -> f64 {
    let start = Instant::now();
    move || start.elapsed().as_secs_f64() * 1e3
}

/// A compression of one text. Stages that run in JavaScript are answered between calls of `advance`.
///
/// With such stages, a dedicated thread works on the text and waits for each answer, so that no work is repeated. It
/// keeps its slot among the heavy jobs until it is done, `end` is called, or this object is dropped.
#[napi]
pub struct CompressJob(Arc<SharedJob>);

struct SharedJob(Mutex<JobState>);

enum JobState {
    /// Nothing is done yet. The flag is true if there are stages that run in JavaScript.
    New(FusionEngine, CompressOptions, String, bool),
    /// A thread waits for an answer on the first channel, and then sends its next step on the second.
    AwaitsAnswer(Sender<Option<String>>, Receiver<thread::Result<Step>>),
    Ended,
}

#[napi]
impl CompressJob {
    /// Creates a job for a text.
    #[napi(constructor)]
    pub fn new(text: String, options_json: String) -> napi::Result<Self> {
        guard(|| {
            let (compress, stages) = CompressOptions::from_json(&options(&options_json)?)?;
            let has_custom_stages = !stages.custom.is_empty();
            let engine = FusionEngine::new(FusionPipeline::build(&stages)?);
            Ok(Self(Arc::new(SharedJob(Mutex::new(JobState::New(engine, compress, text, has_custom_stages))))))
        })
    }

    /// Works on a worker until a stage in JavaScript must be called or the job is done.
    #[napi]
    pub fn advance<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Step>> {
        let job = Arc::clone(&self.0);
        match *self.0.state() {
            JobState::AwaitsAnswer(..) => run_in_slot(env, move || job.advance(None)),
            _ => heavy_with_slot(env, move |slot| job.advance(Some(slot))),
        }
    }

    /// Does the same as `advance` on the calling thread.
    #[napi]
    pub fn advance_sync(&self) -> napi::Result<Step> {
        guard(|| self.0.advance(None))
    }

    /// Answers the last question with the text as the stage rewrote it, or with null if the stage does not apply.
    #[napi]
    pub fn answer(&self, text: Option<String>) {
        if let JobState::AwaitsAnswer(answers, _) = &*self.0.state() {
            // If the thread has ended, `advance` reports it.
            drop(answers.send(text));
        }
    }

    /// Ends the job, done or not.
    #[napi]
    pub fn end(&self) {
        *self.0.state() = JobState::Ended;
    }
}

impl SharedJob {
    fn state(&self) -> MutexGuard<'_, JobState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&self, slot: Option<JobSlot>) -> Result<Step> {
        let state = std::mem::replace(&mut *self.state(), JobState::Ended);
        let (answers, steps) = match state {
            JobState::New(engine, options, text, false) => {
                return Ok(Step::result(engine.compress(&text, &options, &clock())));
            }
            JobState::New(engine, options, text, true) => start_asking_thread(engine, options, text, slot),
            JobState::AwaitsAnswer(answers, steps) => (answers, steps),
            JobState::Ended => return Err(Error::bad_argument("the job", "ended", "one that goes on")),
        };
        let step = steps.recv().expect("a thread whose questions are answered comes to an end");
        let step = step.unwrap_or_else(|panic| resume_unwind(panic));
        if step.question.is_some() {
            *self.state() = JobState::AwaitsAnswer(answers, steps);
        }
        Ok(step)
    }
}

/// Starts a thread that works on a text and asks for the answers of the stages in JavaScript.
fn start_asking_thread(
    engine: FusionEngine,
    options: CompressOptions,
    text: String,
    slot: Option<JobSlot>,
) -> (Sender<Option<String>>, Receiver<thread::Result<Step>>) {
    let ((answers, answers_receiver), (steps_sender, steps)) = (channel(), channel());
    let work = move || {
        let caller = |question: pipeline::Question| {
            steps_sender.send(Ok(Step::ask(question))).map_err(|_| Gone)?;
            answers_receiver.recv().map_err(|_| Gone)
        };
        let compressed = catch_unwind(AssertUnwindSafe(|| engine.compress_asking(&text, &options, &caller, &clock())));
        drop(slot);
        if let Some(compressed) = compressed.map(std::result::Result::ok).transpose() {
            // The receiver may be gone.
            drop(steps_sender.send(compressed.map(Step::result)));
        }
    };
    let started = thread::Builder::new().name("concertina".into()).spawn(work);
    started.expect("the process may start a thread");
    (answers, steps)
}

impl Step {
    fn result(compressed: pipeline::Compressed) -> Self {
        Self { question: None, result: Some(compressed.into()) }
    }

    fn ask(question: pipeline::Question) -> Self {
        let context = StageContext {
            text: question.text,
            content_type: question.content_type.as_str().to_owned(),
            language: language_name(question.language),
            role: role_word(question.role).to_owned(),
        };
        Self { question: Some(StageCall { stage: question.stage, context }), result: None }
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

impl From<pipeline::Compressed> for CompressResult {
    fn from(compressed: pipeline::Compressed) -> Self {
        Self {
            text: compressed.text,
            tokens_before: compressed.tokens_before as u32,
            tokens_after: compressed.tokens_after as u32,
            content_type: compressed.content_type.as_str().to_owned(),
            language: language_name(compressed.language),
            lossless: compressed.lossless,
            stages: compressed.stages.into_iter().map(Into::into).collect(),
            originals: compressed.originals.into_iter().map(Into::into).collect(),
        }
    }
}

/// The result for one block of a conversation.
#[napi(object, object_from_js = false)]
pub struct BlockRow {
    /// The index of the message.
    pub message: u32,
    /// The index of the block among the message's blocks.
    pub block: u32,
    /// The change. `repeat`: a reference to an earlier copy of the block. `delta`: the difference from an earlier
    /// version. `runs`: references in place of lines that stand earlier. `compressed`: the pipeline's result.
    /// `shrunk`: a smaller image.
    #[napi(ts_type = "\"repeat\" | \"delta\" | \"runs\" | \"compressed\" | \"shrunk\"")]
    pub action: String,
    /// Tokens before.
    pub tokens_before: u32,
    /// Tokens after.
    pub tokens_after: u32,
    /// The pipeline's rows. Empty if the block was replaced as a whole.
    pub stages: Vec<StageRow>,
    /// The `refId` of the block's original. Absent if the block's text alone restores it.
    pub ref_id: Option<String>,
}

impl From<pipeline::BlockReport> for BlockRow {
    fn from(block: pipeline::BlockReport) -> Self {
        let action = match block.action {
            BlockAction::Repeat => "repeat",
            BlockAction::Delta => "delta",
            BlockAction::Runs => "runs",
            BlockAction::Compressed => "compressed",
            BlockAction::Shrunk => "shrunk",
        };
        Self {
            message: block.message as u32,
            block: block.block as u32,
            action: action.to_owned(),
            tokens_before: block.tokens_before as u32,
            tokens_after: block.tokens_after as u32,
            stages: block.stages.into_iter().map(Into::into).collect(),
            ref_id: block.original.map(ContentHash::to_hex),
        }
    }
}

/// The report of compressing a conversation.
#[napi(object, object_from_js = false)]
pub struct MessagesReport {
    /// Tokens of the examined blocks in the input.
    pub tokens_before: u32,
    /// Tokens of the same blocks in the output.
    pub tokens_after: u32,
    /// One row for each changed block.
    pub blocks: Vec<BlockRow>,
    /// Indexes of messages that the caller changed during the call. They are left as they are, and `blocks` does not
    /// name them.
    pub changed_meanwhile: Option<Vec<u32>>,
    /// Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
    /// that JSON does not have.
    pub left_alone: Option<Vec<LeftAlone>>,
}

/// A compressed conversation.
#[napi(object, object_from_js = false)]
pub struct CompressedMessages {
    /// The changes to the messages.
    pub change: Change,
    /// The originals that must be stored before the messages are shown.
    pub originals: Vec<Original>,
    /// The report.
    pub report: MessagesReport,
}

/// Implements `compressMessages(messages, options)`.
#[napi(js_name = "compressMessages")]
pub fn compress_messages_on_worker<'env>(
    env: &'env Env,
    messages: &Handover,
    options_json: String,
) -> napi::Result<PromiseRaw<'env, CompressedMessages>> {
    let slices = messages.slices();
    heavy(env, move || compressed_messages(&slices.read()?, &options_json))
}

/// Does the same as `compressMessages` on the calling thread.
#[napi]
pub fn compress_messages_sync(messages: &Handover, options_json: String) -> napi::Result<CompressedMessages> {
    guard(|| compressed_messages(&messages.slices().read()?, &options_json))
}

fn compressed_messages(messages: &[Value], options_json: &str) -> Result<CompressedMessages> {
    let (parsed, stages) = MessagesOptions::from_json(&options(options_json)?)?;
    let engine = FusionEngine::new(FusionPipeline::build(&stages)?);
    let result = pipeline::compress_messages(&engine, messages, &parsed, &clock());
    Ok(CompressedMessages {
        change: Change::from(&result.rewrite),
        originals: result.originals.into_iter().map(Into::into).collect(),
        report: MessagesReport {
            tokens_before: result.tokens_before as u32,
            tokens_after: result.tokens_after as u32,
            blocks: result.blocks.into_iter().map(Into::into).collect(),
            changed_meanwhile: None,
            left_alone: None,
        },
    })
}

/// Implements `restore(text, originals, { strict })`. The originals are UTF-8 texts.
#[napi(js_name = "restore")]
pub fn restore_text(text: String, originals: Vec<Buffer>, strict: bool) -> napi::Result<String> {
    guard(|| {
        let originals: Vec<_> = originals.iter().map(|bytes| kept(bytes, Media::Text)).collect();
        if strict { restore_whole(&text, &originals) } else { Ok(restore(&text, &originals)) }
    })
}

fn kept(bytes: &[u8], media: Media) -> reference::Original {
    reference::Original { hash: ContentHash::of(bytes), bytes: bytes.to_vec(), media, label: String::new() }
}

/// An original that the caller passes back.
#[napi(object, object_to_js = false)]
pub struct KeptOriginal {
    /// The bytes.
    pub data: Buffer,
    /// The MIME type of an image. Absent if the bytes are text.
    pub mime_type: Option<String>,
}

/// The fields of `BlockRow` that restoring needs.
#[napi(object, object_to_js = false)]
pub struct ChangedBlock {
    /// The index of the message.
    pub message: u32,
    /// The index of the block among the message's blocks.
    pub block: u32,
    /// The id of the block's original. Absent if the block's text alone restores it.
    pub ref_id: Option<String>,
}

/// Implements `restoreMessages({ messages, originals, report })`.
#[napi]
pub fn restore_messages(
    messages: &Handover,
    originals: Vec<KeptOriginal>,
    blocks: Vec<ChangedBlock>,
) -> napi::Result<Change> {
    guard(|| {
        let original = |KeptOriginal { data, mime_type }| kept(&data, mime_type.map_or(Media::Text, Media::Image));
        let row = |block: ChangedBlock| -> Result<pipeline::ChangedBlock> {
            let original = block.ref_id.as_deref().map(RefId::parse).transpose()?;
            Ok(pipeline::ChangedBlock { message: block.message as usize, block: block.block as usize, original })
        };
        let originals: Vec<_> = originals.into_iter().map(original).collect();
        let rows = blocks.into_iter().map(row).collect::<Result<Vec<_>>>()?;
        Ok(Change::from(&pipeline::restore_messages(&messages.slices().read()?, &originals, &rows)?))
    })
}

/// A stage of the pipeline.
#[napi(object, object_from_js = false)]
pub struct StageInfo {
    /// The name of the stage.
    #[napi(ts_type = "StageName")]
    pub name: String,
    /// The position of the stage. Stages run in ascending order, except detection, which is always first.
    pub order: u32,
    /// True if every edit of the stage can be restored from the output alone.
    pub lossless: bool,
    /// The content types that the stage works on.
    #[napi(ts_type = "Array<ContentType>")]
    pub content_types: Vec<String>,
}

/// Implements `stages()`.
#[napi(js_name = "stages")]
pub fn list_stages() -> napi::Result<Vec<StageInfo>> {
    guard(|| {
        let stages = FusionPipeline::default().stages();
        let info = |stage: pipeline::StageInfo| StageInfo {
            name: stage.name,
            order: stage.order,
            lossless: stage.lossless,
            content_types: stage.content_types.iter().map(|kind| kind.as_str().to_owned()).collect(),
        };
        Ok(stages.into_iter().map(info).collect())
    })
}
