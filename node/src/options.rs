//! The options of a host's user, checked before the store is opened.

use concertina::assemble::over_defaults;
use concertina::config::Config;
use napi_derive::napi;
use serde_json::Value;

use crate::guard::guard;
use crate::pure::options;

/// The complete options in force, and one line for each option that was wrong.
#[napi(object, object_from_js = false)]
pub struct OptionsInForce {
    /// The options as `open` takes them.
    #[napi(ts_type = "Required<Options>")]
    pub options: Value,
    /// The errors in the options, one line each.
    pub warnings: Vec<String>,
}

/// Reads unchecked options over the defaults of a host. An unknown key or a bad value is ignored and reported; the
/// other options still apply.
#[napi]
pub fn options_in_force(options_json: String, defaults_json: String) -> napi::Result<OptionsInForce> {
    guard(|| {
        let (defaults, _) = Config::from_json(&options(&defaults_json)?)?;
        let (config, warnings) = over_defaults(defaults, &options(&options_json)?);
        Ok(OptionsInForce { options: Value::Object(config.to_json()), warnings })
    })
}
