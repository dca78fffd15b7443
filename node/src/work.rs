//! Where work runs: guarded, on tokio's blocking pool, so that the event loop goes on and no libuv worker of the host's is taken.

use concertina::error::Result;
use tokio::sync::Semaphore;

use crate::guard::guard;

/// Places for heavy jobs: the host keeps the rest of its cores, however many copies of the JavaScript face ask.
static PLACES: Semaphore = Semaphore::const_new(2);

/// Runs a heavy job as soon as a place is free, in the order in which they were asked for.
pub(crate) async fn heavy<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> napi::Result<T> {
    let _place = PLACES.acquire().await.map_err(|closed| napi::Error::from_reason(closed.to_string()))?;
    blocking(job).await
}

/// Runs a body that waits for the disk rather than works.
pub(crate) async fn blocking<T: Send + 'static>(body: impl FnOnce() -> Result<T> + Send + 'static) -> napi::Result<T> {
    tokio::task::spawn_blocking(move || guard(body))
        .await
        .unwrap_or_else(|error| Err(napi::Error::from_reason(error.to_string())))
}
