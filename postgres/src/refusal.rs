//! Translates the errors of the schema's function `refuse`, which ends a transaction whose assumptions proved false.

use concertina_base::error::Error;

use crate::failure::Failure;
use crate::version::program_too_old_failure;

/// The SQLSTATE of those errors.
const CODE: &str = "CT001";

/// Converts a failure that is a refusal into its meaning. Other failures are returned unchanged.
pub(crate) fn interpret_refusal(failure: Failure) -> Failure {
    let Failure::Sql(error) = &failure else { return failure };
    let Some(refusal) = error.as_db_error().filter(|error| error.code().code() == CODE) else { return failure };
    let subject = refusal.detail().unwrap_or_default();
    match refusal.message() {
        "replaced" => Failure::Replaced,
        "too old" => program_too_old_failure(subject),
        "no room" => Failure::NoRoom,
        "outdated" => Failure::Outdated,
        "taken" => Error::bad_argument("id", subject, "longer, because another original has it").into(),
        "not granted" => Error::bad_argument("original", subject, "in the batch or stored for this agent").into(),
        _ => failure,
    }
}
