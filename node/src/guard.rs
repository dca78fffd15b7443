//! The guard around every exported function. An unguarded panic in a task aborts the whole host process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use concertina::error::{Error, Result};
use napi::Status;

/// Runs `body`. Errors and panics become JavaScript errors whose message is the JSON `{ code, message, misuse }`.
/// `node/lib` turns that into an `Error` or `TypeError` with that `code`.
pub(crate) fn guard<T>(body: impl FnOnce() -> Result<T>) -> napi::Result<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(to_napi(&error)),
        Err(panic) => {
            let words = panic
                .downcast_ref::<&str>()
                .map(|words| (*words).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no message".to_owned());
            Err(raise("CONCERTINA_PANIC", &format!("internal error: {words}"), false))
        }
    }
}

/// Converts a core error to the JavaScript error that [`guard`] describes.
pub(crate) fn to_napi(error: &Error) -> napi::Error {
    raise(error.code(), &error.to_string(), error.is_misuse())
}

fn raise(code: &str, message: &str, misuse: bool) -> napi::Error {
    let json = serde_json::json!({ "code": code, "message": message, "misuse": misuse });
    napi::Error::new(Status::GenericFailure, json.to_string())
}
