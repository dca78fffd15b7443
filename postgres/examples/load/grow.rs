use crate::place::Place;
pub(crate) fn grow(_: &Place, _: u64) -> Result<(), String> { Err("later".into()) }
