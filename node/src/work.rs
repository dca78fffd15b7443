//! One kind of task for all heavy work: a guarded closure on a libuv worker thread.

use concertina::error::Result;
use concertina::transcript::Rewrite;
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Task};
use napi_derive::napi;

use crate::guard::guard;
use crate::handover::encode;

/// What a job hands back. The JavaScript face knows which parts a job fills.
#[napi(object)]
#[derive(Default)]
pub struct Outcome {
    /// JSON arrays of patches, each `[message, path, value]`, or `[message, path]` for a part that leaves.
    pub patches: Vec<String>,
    /// JSON array of kept indexes and `[inserted message]`.
    pub slots: Option<String>,
    /// The report, as JSON.
    pub report: String,
    /// A text result.
    pub text: Option<String>,
    /// Bytes that the report refers to by position.
    pub buffers: Vec<Buffer>,
}

impl Outcome {
    /// A rewrite with its report.
    pub(crate) fn rewrite(rewrite: &Rewrite, report: &impl serde::Serialize) -> Self {
        let (patches, slots) = encode(rewrite);
        Self { patches, slots, ..Self::report(report) }
    }

    /// A report alone.
    pub(crate) fn report(report: &impl serde::Serialize) -> Self {
        Self { report: to_json(report), ..Self::default() }
    }
}

/// JSON of a report. Reports are plain data and always serialize.
pub(crate) fn to_json(report: &impl serde::Serialize) -> String {
    serde_json::to_string(report).expect("reports are plain data")
}

type Job = Box<dyn FnOnce() -> Result<Outcome> + Send>;

/// A job on its way to a worker.
pub struct Work(Option<Job>);

impl Work {
    /// Queues a job. JavaScript keeps at most two in flight, so that the host's own file and DNS work finds free workers.
    pub(crate) fn queue(job: impl FnOnce() -> Result<Outcome> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(job))))
    }
}

impl Task for Work {
    type Output = Outcome;
    type JsValue = Outcome;

    fn compute(&mut self) -> napi::Result<Outcome> {
        let job = self.0.take();
        guard(|| job.map_or_else(|| Ok(Outcome::default()), |job| job()))
    }

    fn resolve(&mut self, _env: Env, output: Outcome) -> napi::Result<Outcome> {
        Ok(output)
    }
}
