//! `<private>…</private>` -> nothing.

/// Removes the text between `<private>` and `</private>`. The tags may be in any case, nested, and contain blanks. A
/// tag that is never closed removes everything to the end.
pub fn redact_private(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut at, mut depth) = (0, 0usize);
    for start in memchr::memchr_iter(b'<', text.as_bytes()) {
        // An earlier tag may reach beyond this place only by its blanks, which hold no `<`.
        let Some((opens, len)) = tag(&text[start..]) else { continue };
        if depth == 0 && opens {
            kept.push_str(&text[at..start]);
        }
        if opens {
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
            at = start + len;
        }
    }
    if depth == 0 {
        kept.push_str(&text[at..]);
    }
    kept
}

/// Returns whether the tag at the start of a text opens, and its length.
fn tag(text: &str) -> Option<(bool, usize)> {
    // A tag with more blanks is not recognised, because searching for its end at each `<` must stay cheap.
    const BLANKS_MAX: usize = 64;
    let skip = |at: usize| {
        at + text.as_bytes()[at..].iter().take(BLANKS_MAX).take_while(|byte| byte.is_ascii_whitespace()).count()
    };
    let mut at = skip(1);
    let opens = text.as_bytes().get(at) != Some(&b'/');
    if !opens {
        at = skip(at + 1);
    }
    let name = text.as_bytes().get(at..at + "private".len())?;
    at = name.eq_ignore_ascii_case(b"private").then(|| skip(at + name.len()))?;
    (text.as_bytes().get(at) == Some(&b'>')).then_some((opens, at + 1))
}
