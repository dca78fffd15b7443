//! The options of a host's user, judged before the store is opened.

use concertina::assemble::over_defaults;
use concertina::config::Config;
use napi_derive::napi;
use serde_json::Value;

use crate::guard::guard;
use crate::pure::options;

/// The options in force, all of them, and one line for each that was wrong.
#[napi(object, object_from_js = false)]
pub struct OptionsInForce {
    /// As `open` takes them.
    #[napi(ts_type = "Required<Options>")]
    pub options: Value,
    /// What was wrong.
    pub warnings: Vec<String>,
}

/// Reads options that nobody has checked over a host's own defaults. An unknown key and a bad value cost that option only.
#[napi]
pub fn options_in_force(options_json: String, defaults_json: String) -> napi::Result<OptionsInForce> {
    guard(|| {
        let (defaults, _) = Config::from_json(&options(&defaults_json)?)?;
        let (config, warnings) = over_defaults(defaults, &options(&options_json)?);
        Ok(OptionsInForce { options: Value::Object(config.to_json()), warnings })
    })
}
