//! The three printed forms of a reference: a replaced output, a fold inside a text, and a repeat across messages.
//!
//! A marker in a text proves nothing, because text from outside may quote one. Only the ledger of a session records
//! which markers were issued.

use std::sync::LazyLock;

use regex::Regex;

use super::RefId;
use crate::error::Result;

/// A printed reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// `[REF_ID: <id>]`: a whole output was replaced.
    Reference(RefId),
    /// `[[REWIND:sha256:<id>]]`: part of a text was folded.
    Rewind(RefId),
    /// `[[DEDUP_REF:<message>:<block>]]`: a repeat of an earlier block in the context.
    Repeat {
        /// The index of the message with the first copy.
        message: usize,
        /// The index of the block in that message.
        block: usize,
    },
}

impl std::fmt::Display for Marker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reference(id) => write!(f, "[REF_ID: {id}]"),
            Self::Rewind(id) => write!(f, "[[REWIND:sha256:{id}]]"),
            Self::Repeat { message, block } => write!(f, "[[DEDUP_REF:{message}:{block}]]"),
        }
    }
}

static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\[REF_ID: ([0-9a-f]{16,64})\]|\[\[REWIND:sha256:([0-9a-f]{16,64})\]\]|\[\[DEDUP_REF:([0-9]{1,9}):([0-9]{1,9})\]\]",
    )
    .expect("the marker pattern is valid")
});

/// Returns every marker in a text with its byte range, in order.
pub fn find_markers(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, Marker)> {
    MARKER.captures_iter(text).map(|found| {
        let id = |group: usize| found.get(group).and_then(|digits| RefId::parse(digits.as_str()).ok());
        let number = |group: usize| found.get(group).and_then(|digits| digits.as_str().parse().ok()).unwrap_or(0);
        let marker = match (id(1), id(2)) {
            (Some(id), _) => Marker::Reference(id),
            (_, Some(id)) => Marker::Rewind(id),
            _ => Marker::Repeat { message: number(3), block: number(4) },
        };
        (found.get(0).expect("group 0 always matches").range(), marker)
    })
}

/// Parses an id as a model may write it: bare digits, or exactly one `[REF_ID: …]` or `[[REWIND:sha256:…]]` marker.
/// Upper-case digits are accepted, because hosts print them in their summaries.
///
/// # Errors
/// [`crate::error::Error::BadRefId`] for anything else.
pub fn parse_ref(text: &str) -> Result<RefId> {
    let digits = text
        .strip_prefix("[REF_ID: ")
        .and_then(|rest| rest.strip_suffix(']'))
        .or_else(|| text.strip_prefix("[[REWIND:sha256:")?.strip_suffix("]]"))
        .unwrap_or(text);
    let is_hexadecimal = digits.len() <= 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal { RefId::parse(&digits.to_ascii_lowercase()) } else { RefId::parse(digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_print_and_parse_back() {
        let id = RefId::parse("0123456789abcdef").unwrap();
        let markers =
            [Marker::Reference(id.clone()), Marker::Rewind(id.clone()), Marker::Repeat { message: 3, block: 0 }];
        let text = markers.iter().map(Marker::to_string).collect::<Vec<_>>().join(" and ");
        let found: Vec<Marker> = find_markers(&text).map(|(_, marker)| marker).collect();
        assert_eq!(found, markers);
        for written in [
            "0123456789abcdef",
            "0123456789ABCDEF",
            "[REF_ID: 0123456789abcdef]",
            "[REF_ID: 0123456789ABCDEF]",
            "[[REWIND:sha256:0123456789abcdef]]",
        ] {
            assert_eq!(parse_ref(written).unwrap(), id);
        }
    }

    #[test]
    fn a_marker_with_blanks_or_company_is_no_id() {
        for bad in [
            "[REF_ID:  0123456789abcdef]",
            "[REF_ID: 0123456789abcdef ]",
            "see [REF_ID: 0123456789abcdef]",
            "[REF_ID: ]",
        ] {
            assert!(parse_ref(bad).is_err(), "{bad}");
        }
        let told = |result: Result<RefId>| result.unwrap_err().to_string();
        assert_eq!(told(parse_ref("The Key")), told(RefId::parse("The Key")), "as it was written");
    }
}
