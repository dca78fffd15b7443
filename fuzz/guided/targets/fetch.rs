//! Requests to the fetch tool: ranges, a pattern, a length and ids, one per line.

use std::sync::LazyLock;

use concertina::assemble::{Engine, Fetch, FetchedBlock};
use concertina::config::Config;
use concertina::reference::{Original, find_markers};
use concertina::store::{Batch, Scope};
use tempfile::TempDir;

use super::{chosen, engine, signs};

fn scope() -> Scope {
    Scope { agent_id: "main".into(), session_id: String::new() }
}

fn originals() -> [Original; 3] {
    let lines = (0..60).map(|line| format!("{line} unit 漢 took {} ms\r\n", line * 7919 % 977)).collect();
    [lines, "x é 漢 ".repeat(700), "short\n".to_owned()].map(|text: String| Original::text(&text, "test"))
}

static ENGINE: LazyLock<(Engine, TempDir)> = LazyLock::new(|| {
    let (engine, dir) = engine(Config::default());
    let originals = originals().map(|original| (original.hash.to_ref_id(16), original)).to_vec();
    let scope = Scope { session_id: "s".into(), ..scope() };
    engine.store().commit(&scope, &Batch { originals, ..Batch::default() }, 1).expect("a new store");
    (engine, dir)
});

pub(super) fn run(data: &[u8]) {
    let Some(([], asked)) = chosen(data) else { return };
    let _ = find_markers(&asked).count();
    let mut asked = asked.split('\n');
    let mut next = || asked.next().filter(|line| !line.is_empty());
    let fetch = Fetch {
        lines: next().and_then(|line| Fetch::parse_range("lines", line).ok()),
        characters: next().and_then(|line| Fetch::parse_range("chars", line).ok()),
        pattern: next().map(str::to_owned),
        query: None,
        max_chars: next().and_then(|line| line.parse().ok()).unwrap_or(4000),
        done: next().map(str::to_owned).into_iter().collect(),
        ref_ids: asked
            .map(str::to_owned)
            .chain(originals().map(|original| original.hash.to_ref_id(16).to_string()))
            .collect(),
    };
    let Ok(answer) = ENGINE.0.fetch(&scope(), &fetch, 2) else { return };
    let chars = answer.blocks.iter().map(|block| match block {
        FetchedBlock::Text(text) => text.chars().count(),
        FetchedBlock::Exact(_) | FetchedBlock::Image(..) => panic!("only Unicode text was stored"),
    });
    assert!(chars.sum::<usize>() <= fetch.max_chars.max(1), "{fetch:?} {answer:?}");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let asked = [
        "3-9\n\n\n\n",
        "\n5-\n\n500\n",
        "\n\nunit (1|2).*ms$\n900\n",
        "40-\n\n(?i)x+é\n\n",
        "\n\n\\p{Han}{2,9}\n300\nffffffffffffffff",
        "\n\n\n900\nffffffffffffffff:41-80\n[REF_ID: ffffffffffffffff:c3-9]\nffffffffffffffff:7-:/x+/",
    ];
    asked.map(|asked| asked.as_bytes().to_vec()).to_vec()
}

pub(super) fn words() -> Vec<String> {
    let patterns = ["(?i)", "(?s-m:", "[^", "[[:alpha:]]", "\\p{L}", "\\b", "{2,9}", "*?", "|", "18446744073709551615"];
    signs().into_iter().chain(patterns.map(str::to_owned)).collect()
}
