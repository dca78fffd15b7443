//! Reads the top level of a document: failures, its scalars by what they tell, and the keys of its containers.
//!
//! An answer often wraps its content: the members of its `data` or `result` are reported like its own.

use super::super::keys::{NAMING, is_one_of, last_word};
use super::super::sheet::quote;
use super::rows::{failed_fields, is_explaining, is_failure, is_state};
use super::{VALUE_ROOM, is_labelled, member, scalar};
use crate::content::json_tree::Node;

/// Keys under which an answer wraps its content.
const WRAPPED: &[&str] = &["data", "result", "results", "response", "payload"];

/// The most reasons of a failure that are reported.
const REASONS: usize = 12;

/// The facts of the top level; each is `key: value`, or `key` with the contents of a container.
#[derive(Default)]
pub(super) struct Members {
    /// The members that report a failure, then those that explain it.
    pub(super) failure: Vec<String>,
    /// The other scalars: names and states first, addresses last.
    pub(super) scalars: Vec<String>,
    pub(super) containers: Vec<String>,
}

impl Members {
    /// Returns the members of an object, of the only object in an array, or of an array of scalars.
    pub(super) fn of(root: &Node<'_>) -> Self {
        match root {
            Node::Object(fields, _) => Self::of_object(root, fields),
            Node::Array(items, 1) => items.first().map(Self::of).unwrap_or_default(),
            Node::Array(items, _) => Self { scalars: items.iter().filter_map(scalar).collect(), ..Self::default() },
            other => Self { scalars: scalar(other).into_iter().collect(), ..Self::default() },
        }
    }

    fn of_object(root: &Node<'_>, fields: &[(&str, Node<'_>)]) -> Self {
        let is_list = is_labelled(fields);
        let is_wrapped = |key: &str| !is_list && is_one_of(key, WRAPPED);
        let mut told = vec![(String::new(), root)];
        told.extend(
            fields
                .iter()
                .filter(|(key, _)| is_wrapped(key))
                .take(WRAPPED.len())
                .map(|(key, value)| (format!("{}.", quote(key, VALUE_ROOM)), value)),
        );
        let failure = failure(&told);
        let mut scalars = scalars(&told);
        scalars.retain(|(_, said)| !failure.contains(said));
        let mut containers = Vec::new();
        for (key, value) in fields {
            let name = quote(key, VALUE_ROOM);
            match value {
                Node::Object(..) if is_list => {}
                Node::Array(_, len) => containers.push(format!("{name}[{len}]")),
                Node::Object(inner, len) => {
                    if !is_wrapped(key) && !is_failure(key, value) {
                        scalars.extend(inner.iter().filter_map(|(key, value)| {
                            Some((Rank::of_inner(key, value)?, format!("{name}.{}", member(key, value)?)))
                        }));
                    }
                    let names: Vec<String> = inner.iter().take(8).map(|(key, _)| quote(key, VALUE_ROOM)).collect();
                    let more = if *len > names.len() { ", …" } else { "" };
                    containers.push(format!("{name}{{{}{more}}}", names.join(", ")));
                }
                _ => {}
            }
        }
        scalars.sort_by_key(|(rank, _)| *rank);
        Self { failure, scalars: scalars.into_iter().map(|(_, said)| said).collect(), containers }
    }
}

/// Returns the failures of some objects and their explanations, or nothing if none failed. Each object comes with the
/// prefix of its keys.
fn failure(told: &[(String, &Node<'_>)]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for (prefix, object) in told {
        reasons.extend(failed_fields(object, &[]).iter().take(REASONS).map(|reason| format!("{prefix}{reason}")));
    }
    if !reasons.is_empty() {
        for (prefix, object) in told {
            let says = |value: &Node<'_>| !matches!(value, Node::Null | Node::Text(""));
            let explaining = fields_of(object).filter(|(key, value)| is_explaining(key) && says(value));
            let explanations = explaining.filter_map(|(key, value)| Some(format!("{prefix}{}", member(key, value)?)));
            let new: Vec<String> = explanations.filter(|said| !reasons.contains(said)).take(REASONS).collect();
            reasons.extend(new);
        }
    }
    reasons
}

/// The rank of a scalar of the top level, the most telling first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A failed state of an object in it.
    Failed,
    /// Its name, its state, an explanation, or a count.
    Telling,
    /// A telling scalar of an object in it.
    Inner,
    Other,
    /// Addresses and nulls.
    Last,
}

impl Rank {
    fn of(key: &str, value: &Node<'_>) -> Self {
        match value {
            Node::Null => Self::Last,
            _ if is_telling(key) || is_explaining(key) => Self::Telling,
            Node::Text(words) if words.starts_with("http") => Self::Last,
            _ => Self::Other,
        }
    }

    /// Returns the rank of a member of an object in the top level, or `None` if it is not reported.
    fn of_inner(key: &str, value: &Node<'_>) -> Option<Self> {
        match value {
            _ if is_state(key) && is_failure(key, value) => Some(Self::Failed),
            Node::Null => is_telling(key).then_some(Self::Last),
            _ if is_telling(key) => Some(Self::Inner),
            Node::Bool(true) => Some(Self::Other),
            _ => None,
        }
    }
}

fn scalars(told: &[(String, &Node<'_>)]) -> Vec<(Rank, String)> {
    let mut scalars = Vec::new();
    for (prefix, object) in told {
        scalars.extend(
            fields_of(object)
                .filter_map(|(key, value)| Some((Rank::of(key, value), format!("{prefix}{}", member(key, value)?)))),
        );
    }
    scalars
}

/// Returns the fields of an object; nothing for other nodes.
fn fields_of<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = &'n (&'a str, Node<'a>)> {
    let fields = match node {
        Node::Object(fields, _) => fields.as_slice(),
        _ => &[],
    };
    fields.iter()
}

/// Returns true if a field names its object or gives its state, its size or its position: `total_count`, `endCursor`.
fn is_telling(key: &str) -> bool {
    let is_name = is_one_of(key, NAMING) && !key.eq_ignore_ascii_case("url");
    let is_paging = is_one_of(last_word(key), &["count", "cursor", "total", "truncated"]);
    is_name || is_paging || is_state(key) || is_one_of(key, &["identifier", "namespace", "version"])
}
