//! Tests with facts that have no keyword in large, uniform outputs: none is lost with any preset, and with the default
//! preset they stay visible.

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine};

use crate::sight::{Outcome, Shelf};

/// Returns numbers that look random and are the same in every run.
fn dice(n: usize) -> usize {
    n.wrapping_mul(2_654_435_761).wrapping_add(0x9e37_79b9) >> 7 & 0xffff
}

/// A large input with its needle, among similar lines.
struct Haystack {
    name: &'static str,
    text: String,
    needle: &'static str,
}

fn lines(count: usize, at: usize, needle: &'static str, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| if n == at { format!("{needle}\n") } else { line(n) + "\n" }).collect()
}

fn haystacks() -> Vec<Haystack> {
    let stamp = |n: usize| format!("2026-11-21T10:{:02}:{:02}.{:03}Z", n / 600 % 60, n / 10 % 60, n * 97 % 1000);
    let service = |n: usize| match dice(n) % 3 {
        0 => format!("{} INFO [http] GET /items/{} 200 {} ms", stamp(n), dice(n + 1), dice(n + 2) % 90),
        1 => format!("{} INFO [cache] hit for key user:{}", stamp(n), dice(n + 3)),
        _ => format!("{} INFO [worker-{}] job {} done", stamp(n), dice(n) % 8, dice(n + 4)),
    };
    let key = "2026-11-21T10:03:20.100Z INFO [kms] signing key 7f3a9c took over from 51bd02";
    let abi = "-- Selected interface version 5 instead of 6";
    let build = |n: usize| format!("[{:4}/4000] Building CXX object lib/CMakeFiles/core.dir/part_{}.cpp.o", n, dice(n));
    let moved = "10.0.3.7 - - [21/Nov/2026:10:04:11 +0000] \"GET /account HTTP/1.1\" 302 219";
    let access = |n: usize| {
        let (host, item) = (dice(n) % 250, dice(n + 5) % 500);
        format!(
            "10.0.3.{host} - - [21/Nov/2026:10:{:02}:{:02} +0000] \"GET /items/{item} HTTP/1.1\" 200 {}",
            n / 60 % 60,
            n % 60,
            dice(n + 6) % 900
        )
    };
    let user = |n: usize, odd: bool| {
        format!("  {{\"id\": {n}, \"name\": \"user-{}\", \"mfa\": {}, \"role\": \"member\"}}", dice(n), !odd)
    };
    let users: Vec<String> = (0..600).map(|n| user(n, n == 411)).collect();
    let sample = |n: usize| match n {
        377 => "    {\"host\": \"db-377\", \"latency_ms\": 9731}".to_owned(),
        _ => format!("    {{\"host\": \"db-{n}\", \"latency_ms\": {}}}", 10 + dice(n) % 9),
    };
    let samples: Vec<String> = (0..500).map(sample).collect();
    let import = |n: usize| format!("from app.models.part{} import Model{n}, Model{n}Form", n % 9);
    let functions: String = (0..60)
        .map(|n| {
            format!(
                "\n\ndef view_{n}(request):\n    # Shows one of them.\n    return render(Model{n}, request, {})\n",
                dice(n)
            )
        })
        .collect();
    vec![
        Haystack { name: "a key rotation", text: lines(3000, 2001, key, service), needle: key },
        Haystack { name: "an older interface", text: lines(2500, 1200, abi, build), needle: abi },
        Haystack { name: "a 302 among 200s", text: lines(2500, 1800, moved, access), needle: moved },
        Haystack {
            name: "a flag that is off",
            text: format!("[\n{}\n]\n", users.join(",\n")),
            needle: "\"mfa\": false",
        },
        Haystack {
            name: "an outlier",
            text: format!("{{\n  \"samples\": [\n{}\n  ]\n}}\n", samples.join(",\n")),
            needle: "9731",
        },
        Haystack {
            name: "one changed digit",
            text: lines(800, 533, "disk 17 of rack 4 holds 3000592982016 bytes", |_| {
                "disk 17 of rack 4 holds 3000592982026 bytes".to_owned()
            }),
            needle: "disk 17 of rack 4 holds 3000592982016 bytes",
        },
        Haystack {
            name: "a lone import",
            text: lines(80, 44, "from legacy.models.part8 import Model44, Model44Form", import) + &functions,
            needle: "from legacy.models.part8 import Model44, Model44Form",
        },
    ]
}

#[test]
fn no_needle_is_lost() {
    let (shelf, engine) = (Shelf::new(), FusionEngine::default());
    for preset in [Preset::Lossless, Preset::Balanced, Preset::Max] {
        for Haystack { name, text, needle } in haystacks() {
            assert_eq!(text.matches(needle).count(), 1, "{name}");
            let shown = shelf.show(&engine, &text, &CompressOptions { preset, ..CompressOptions::default() });
            let outcome = shown.find(|text| text.contains(needle));
            let (before, after) = (shown.compressed.tokens_before, shown.compressed.tokens_after);
            println!("{:8} {name}: {outcome:?}, {before} -> {after} tokens", preset.as_str());
            assert!(after < before, "{name}: it is a haystack, so it folds");
            let worst = if preset == Preset::Max { Outcome::Addressable } else { Outcome::Reformatted };
            assert!(outcome <= worst, "{name}, {}: {outcome:?}", preset.as_str());
        }
    }
}
