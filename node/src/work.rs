//! The execution of jobs, always guarded. Jobs that rewrite texts run on libuv workers, and a Node environment waits
//! for those before it ends. Jobs that wait for the store run on our own threads, so that a slow disk or database
//! delays neither file reads nor the end of the host.
//!
//! A Node thread may end at any moment, and its JavaScript objects with it. So a job must own everything that it needs
//! before its promise exists. A future of `&self` would not, and napi's own runtime, which polls such futures, is not
//! compiled in.

use std::sync::LazyLock;

use concertina::error::Result;
use napi::bindgen_prelude::{
    AsyncTask, JsValue, Object, PromiseRaw, ToNapiValue, TypeName, retain_current_module_for_unload_safety, sys,
};
use napi::{Env, Task};
use napi_derive::napi;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::guard::guard;

/// Keeps the addon loaded. Node unloads an addon with the last environment that loaded it, but our threads and those
/// of the core outlive that environment.
#[napi(module_exports)]
pub fn stay_loaded(_exports: Object) -> napi::Result<()> {
    retain_current_module_for_unload_safety();
    Ok(())
}

/// A slot for a heavy job. Dropping it admits the next job.
pub(crate) type JobSlot = SemaphorePermit<'static>;

/// The slots for heavy jobs. libuv has four workers by default: two stay free for the host's file reads. The limit
/// holds for the whole process, however many Node threads and copies of `node/lib` there are.
static JOB_SLOTS: Semaphore = Semaphore::const_new(2);

/// The slots for jobs that alternate between rewriting texts and the store. They are slots of their own: jobs that wait
/// for a silent database must not delay those that need none.
static STORE_JOB_SLOTS: Semaphore = Semaphore::const_new(4);

/// The runtime lives as long as the process: a thread that waits for a disk outlives the environment that called it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("concertina").build();
    runtime.expect("the process may start a thread")
});

/// Runs a job that mostly waits for a disk or a database.
pub(crate) fn blocking<T: ToNapiValue + Send + 'static>(
    env: &Env,
    body: impl FnOnce() -> Result<T> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    let (deferred, promise) = env.create_deferred()?;
    run_in_background(move || match guard(body) {
        Ok(done) => deferred.resolve(move |_| Ok(done)),
        Err(error) => deferred.reject(error),
    })?;
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// Runs a heavy job on a libuv worker, in a slot. Its result `D` becomes a `T` in JavaScript: either the same type,
/// or [`ThenBlocking`], which continues with the store.
pub(crate) fn heavy<D: ToNapiValue + TypeName + Send + 'static, T: ToNapiValue>(
    env: &Env,
    job: impl FnOnce() -> Result<D> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    heavy_with_slot(env, move |slot| {
        let done = job();
        drop(slot);
        done
    })
}

/// Runs a job like [`heavy`], but the job may keep its slot after it returns.
pub(crate) fn heavy_with_slot<D: ToNapiValue + TypeName + Send + 'static, T: ToNapiValue>(
    env: &Env,
    job: impl FnOnce(JobSlot) -> Result<D> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    with_slot(env, &JOB_SLOTS, move |slot| AsyncTask::new(Job(Some(move || job(slot)))))
}

/// Runs a heavy job that alternates between rewriting texts and the store, in a slot for such jobs, on one of our own
/// threads.
pub(crate) fn heavy_blocking<T: ToNapiValue + Send + 'static>(
    env: &Env,
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    with_slot(env, &STORE_JOB_SLOTS, move |slot| {
        ThenBlocking(move || {
            let done = job();
            drop(slot);
            done
        })
    })
}

/// Runs a job on a libuv worker at once. The caller already has the slot.
pub(crate) fn run_in_slot<T: ToNapiValue + TypeName + Send + 'static>(
    env: &Env,
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    env.spawn(Job(Some(job))).map(|work| work.promise_object())
}

/// Runs a job on one of our own threads and does not wait for it.
pub(crate) fn run_in_background(body: impl FnOnce() + Send + 'static) -> napi::Result<()> {
    guard(|| {
        drop(RUNTIME.spawn_blocking(body));
        Ok(())
    })
}

/// Calls `start` with a slot on the JavaScript thread, in the order in which slots were requested. Until then nothing
/// is queued in libuv. If the environment has ended meanwhile, `start` and its slot are dropped.
fn with_slot<'env, T: ToNapiValue, D: ToNapiValue + 'static>(
    env: &'env Env,
    slots: &'static Semaphore,
    start: impl FnOnce(JobSlot) -> D + Send + 'static,
) -> napi::Result<PromiseRaw<'env, T>> {
    let (deferred, promise) = env.create_deferred()?;
    guard(|| {
        drop(RUNTIME.spawn(async move {
            let slot = slots.acquire().await.expect("nobody closes the places");
            deferred.resolve(move |_| Ok(start(slot)));
        }));
        Ok(())
    })?;
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// A job on a libuv worker.
pub(crate) struct Job<F>(Option<F>);

impl<T, F> Task for Job<F>
where
    T: ToNapiValue + TypeName + Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<T> {
        let job = self.0.take();
        guard(|| job.map_or_else(|| unreachable!("a task is computed once"), |job| job()))
    }

    fn resolve(&mut self, _: Env, done: T) -> napi::Result<T> {
        Ok(done)
    }
}

/// The remaining work with the store. As a JavaScript value it is the promise of its result.
pub(crate) struct ThenBlocking<F>(pub(crate) F);

impl<T, F> ToNapiValue for ThenBlocking<F>
where
    T: ToNapiValue + Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    unsafe fn to_napi_value(env: sys::napi_env, Self(body): Self) -> napi::Result<sys::napi_value> {
        Ok(blocking(&Env::from_raw(env), body)?.raw())
    }
}

impl<F> TypeName for ThenBlocking<F> {
    fn type_name() -> &'static str {
        "Promise"
    }

    fn value_type() -> napi::ValueType {
        napi::ValueType::Object
    }
}
