//! Where work runs, always guarded. What rewrites texts runs on libuv workers, whose end an environment awaits before
//! it goes. What waits for the store runs on threads of our own, so that a slow disk or database holds up neither
//! file reads nor a host that ends.
//!
//! A thread of Node's may end at any moment, and its JavaScript objects with it. So a body owns all that it needs
//! before its promise exists. A future of `&self` would not: napi's own runtime, which polls such futures, is not
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

/// Node unloads an addon with the last environment that loaded it. Threads of ours, and those of the core, outlast
/// that: this one stays.
#[napi(module_exports)]
pub fn stay_loaded(_exports: Object) -> napi::Result<()> {
    retain_current_module_for_unload_safety();
    Ok(())
}

/// A place among the heavy jobs. Whoever drops it lets the next job in.
pub(crate) type Place = SemaphorePermit<'static>;

/// Places for heavy jobs. libuv has four workers unless told otherwise: two stay free for the host's file reads, and
/// the host keeps the rest of its cores, however many threads of Node's and copies of the JavaScript face ask.
static PLACES: Semaphore = Semaphore::const_new(2);

/// Lives as long as the process: a thread that waits for a disk outlasts the environment that asked.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("concertina").build();
    runtime.expect("the process may start a thread")
});

/// Runs a body that waits for a disk or a database rather than works.
pub(crate) fn blocking<T: ToNapiValue + Send + 'static>(
    env: &Env,
    body: impl FnOnce() -> Result<T> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    let (deferred, promise) = env.create_deferred()?;
    aside(move || match guard(body) {
        Ok(done) => deferred.resolve(move |_| Ok(done)),
        Err(error) => deferred.reject(error),
    })?;
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// Runs a heavy job on a libuv worker, in a place. What it comes to (`D`) is a `T` to JavaScript: the same, or
/// [`Then`].
pub(crate) fn heavy<D: ToNapiValue + TypeName + Send + 'static, T: ToNapiValue>(
    env: &Env,
    job: impl FnOnce() -> Result<D> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    placed(env, move |place| {
        let done = job();
        drop(place);
        done
    })
}

/// [`heavy`] for a job that may keep its place for longer than it runs.
pub(crate) fn placed<D: ToNapiValue + TypeName + Send + 'static, T: ToNapiValue>(
    env: &Env,
    job: impl FnOnce(Place) -> Result<D> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    in_turn(env, move |place| AsyncTask::new(Job(Some(move || job(place)))))
}

/// Runs a job that goes to and fro between texts and the store: in a place, but on a thread of ours.
pub(crate) fn heavy_blocking<T: ToNapiValue + Send + 'static>(
    env: &Env,
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    in_turn(env, move |place| {
        Then(move || {
            let done = job();
            drop(place);
            done
        })
    })
}

/// Runs a job on a libuv worker at once: for whoever has its place already.
pub(crate) fn in_place<T: ToNapiValue + TypeName + Send + 'static>(
    env: &Env,
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    env.spawn(Job(Some(job))).map(|work| work.promise_object())
}

/// Runs a body on a thread of ours, and forgets it.
pub(crate) fn aside(body: impl FnOnce() + Send + 'static) -> napi::Result<()> {
    guard(|| {
        drop(RUNTIME.spawn_blocking(body));
        Ok(())
    })
}

/// Starts something with a place, back on the thread of JavaScript, in the order in which places were asked for.
/// Until then nothing of it waits in libuv's queue. Where the environment has gone meanwhile it is dropped, and the
/// place with it.
fn in_turn<T: ToNapiValue, D: ToNapiValue + 'static>(
    env: &Env,
    start: impl FnOnce(Place) -> D + Send + 'static,
) -> napi::Result<PromiseRaw<'_, T>> {
    let (deferred, promise) = env.create_deferred()?;
    guard(|| {
        drop(RUNTIME.spawn(async move {
            let place = PLACES.acquire().await.expect("nobody closes the places");
            deferred.resolve(move |_| Ok(start(place)));
        }));
        Ok(())
    })?;
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

/// A body on a libuv worker.
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

/// What is left to be done with the store: as a value, the promise of it.
pub(crate) struct Then<F>(pub(crate) F);

impl<T, F> ToNapiValue for Then<F>
where
    T: ToNapiValue + Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    unsafe fn to_napi_value(env: sys::napi_env, Self(body): Self) -> napi::Result<sys::napi_value> {
        Ok(blocking(&Env::from_raw(env), body)?.raw())
    }
}

impl<F> TypeName for Then<F> {
    fn type_name() -> &'static str {
        "Promise"
    }

    fn value_type() -> napi::ValueType {
        napi::ValueType::Object
    }
}
