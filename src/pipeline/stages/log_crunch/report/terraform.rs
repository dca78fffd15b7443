//! `terraform plan` and `apply`.

use super::{Line, Sign, Tool};

/// `a.b: Refreshing state... [id=…]`, `a.b: Still creating... [10s elapsed]`, `a.b: Creation complete after 3s [id=…]`.
pub(super) fn judge<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (resource, rest) = line.bare.split_once(": ")?;
    if line.indent > 0 || resource.contains(' ') || !resource.contains('.') {
        return None;
    }
    let is = |start: &str| rest.starts_with(start);
    if is("Refreshing state... [") {
        Some(Sign::step(Tool::Terraform, "refreshed"))
    } else if is("Reading...")
        || is("Creating...")
        || is("Destroying... [")
        || is("Modifying... [")
        || is("Still ") && rest.ends_with("elapsed]")
    {
        Some(Sign::opening(Tool::Terraform))
    } else if is("Creation complete after ") {
        Some(Sign::done(Tool::Terraform, "created", resource))
    } else if is("Destruction complete after ") {
        Some(Sign::done(Tool::Terraform, "destroyed", resource))
    } else if is("Modifications complete after ") {
        Some(Sign::done(Tool::Terraform, "modified", resource))
    } else if is("Read complete after ") {
        Some(Sign::step(Tool::Terraform, "read"))
    } else {
        None
    }
}

/// `+ arn = (known after apply)`.
pub(super) fn unknown<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (name, value) = line.bare.strip_prefix("+ ")?.split_once('=')?;
    (value.trim() == "(known after apply)").then(|| Sign::done(Tool::Terraform, "known after apply", name.trim()))
}

/// Leaves out the attributes of a plan that stay as they are, but for those that say which resource it is.
pub(super) fn attach<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    let is_start = |line: &Line| line.indent == 0 && line.bare.ends_with(" will perform the following actions:");
    let Some(start) = lines.iter().position(is_start) else { return };
    for (line, sign) in lines.iter().zip(signs).skip(start) {
        if sign.is_none() {
            *sign = unchanged(line);
        }
    }
}

/// `instance_type = "t3.micro"` without a sign of what happens to it.
fn unchanged<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (name, value) = line.bare.split_once(" = ")?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-\".".contains(&byte));
    (line.indent >= 8
        && is_name
        && !matches!(name, "id" | "name")
        && !value.contains("->")
        && !value.ends_with(['{', '[', '(']))
    .then(|| Sign::done(Tool::Terraform, "unchanged", name))
}
