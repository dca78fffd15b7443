//! `terraform plan`: omits the unchanged attributes of a changed resource.

use super::sign::{Line, Sign, Tool};

/// Gives a sign to each unchanged attribute of a changed resource, except for those that identify the resource. Lines
/// of a here-document get none.
pub(super) fn attach<'t>(lines: &[Line<'t>], signs: &mut [Option<Sign<'t>>]) {
    let is_start = |line: &Line| line.indent == 0 && line.trimmed.ends_with(" will perform the following actions:");
    let Some(start) = lines.iter().position(is_start) else { return };
    let mut is_changed = false;
    // The word that ends the current here-document.
    let mut text_end: Option<&str> = None;
    for (line, sign) in lines.iter().zip(signs).skip(start) {
        if let Some(end) = text_end {
            text_end = Some(end).filter(|end| line.trimmed.split(' ').next() != Some(end));
            *sign = None;
            continue;
        }
        if line.trimmed.contains("resource \"") && line.trimmed.ends_with('{') {
            is_changed = ["~ ", "-/+ ", "+/- "].iter().any(|sign| line.trimmed.starts_with(sign));
        }
        text_end =
            line.trimmed.split_once("= <<").and_then(|(_, end)| end.trim_start_matches(['-', '~']).split(' ').next());
        if sign.is_none() && is_changed {
            *sign = unchanged(line);
        }
    }
}

/// Reads an attribute that does not change, such as `instance_type = "t3.micro"`.
fn unchanged<'t>(line: &Line<'t>) -> Option<Sign<'t>> {
    let (name, value) = line.trimmed.split_once(" = ")?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-\".".contains(&byte));
    (line.indent >= 8
        && is_name
        && !matches!(name, "id" | "name")
        && !value.contains("->")
        && !value.ends_with(['{', '[', '(']))
    .then(|| Sign::done(Tool::Terraform, "unchanged", name))
}
