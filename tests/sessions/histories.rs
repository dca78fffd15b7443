//! Random histories of the four shapes, as hosts make them: duplicates, dropped and edited messages, branches,
//! compactions, restarts, two writers, moving cache breakpoints, originals that the model fetches, clocks that jump
//! (also backwards), tools that print their arguments, arguments that look like rows of the ledger, duplicates of one
//! image, thinking, results that are folded at birth, hosts that store what was shown, and people and agents who pin,
//! restore, fold and release. After each step: every text is visible or can be fetched byte for byte, sent messages do
//! not change unless an epoch is logged, no placeholder stands for a block that no epoch folded, nothing pinned is
//! folded, every wish is carried out, no call with a breakpoint loses a part of its arguments, and what was shown can
//! be unfolded to the original.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use concertina::assemble::{AssembleOptions, Engine, FETCH_TOOL, Fetch, FetchedBlock, Reply};
use concertina::config::{Config, Schedule};
use concertina::history::{Reason, fates};
use concertina::reference::{ContentHash, Marker, RefId, find_markers};
use concertina::store::{MarkKind, Retention, SqliteStore, Store, StoreOptions};
use concertina::transcript::{Arguments, BlockKind, Transcript, is_cache_point};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, directory, scope};

/// The default number of steps. `CONCERTINA_STEPS` overrides it. `CONCERTINA_SEED` is the seed of the first session; it
/// is incremented for each further session.
const STEPS: usize = 20_000;

/// The number of steps of one session.
const SESSION: usize = 250;

/// The models that a session switches between. Their providers treat reasoning in different ways.
const MODELS: [Option<&str>; 6] = [
    Some("claude-opus-4-5"),
    Some("claude-opus-5-5"),
    Some("claude-haiku-4.5"),
    Some("gpt-6.2"),
    Some("gemini-2.5-pro"),
    None,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    OpenClaw,
    Anthropic,
    OpenAi,
    Responses,
}

/// A small random generator: the same histories on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.next(100) < percent
    }
}

#[derive(Clone, Debug)]
struct Call {
    id: String,
    name: &'static str,
    arguments: Value,
    output: String,
    is_error: bool,
}

#[derive(Clone, Debug)]
enum Said {
    User(String),
    Assistant(String),
    /// Calls with their results, after thinking if the number is not 0.
    Calls(Vec<Call>, usize),
    /// Two copies of one image with different names.
    Images(usize),
    Summary(String),
}

/// One step of a conversation. The serial number distinguishes equal ones.
#[derive(Clone, Debug)]
struct Item {
    serial: usize,
    time: i64,
    said: Said,
    /// Its messages as they were shown, if the host stores those.
    kept: Option<Vec<Value>>,
}

/// Returns the original messages of an item.
fn messages_of(item: &Item, shape: Shape) -> Vec<Value> {
    let mut messages = match (&item.said, shape) {
        (Said::Images(number), _) => {
            let image = |name: &str| image_part(shape, name, *number);
            vec![json!({ "role": "user", "content": [image("before"), image("after")] })]
        }
        (Said::User(text), _) => vec![json!({ "role": "user", "content": text })],
        (Said::Summary(text), Shape::OpenClaw) => vec![json!({ "role": "compactionSummary", "summary": text })],
        (Said::Summary(text), _) => vec![json!({ "role": "user", "content": format!("Summary so far: {text}") })],
        (Said::Assistant(text), _) => vec![json!({ "role": "assistant", "content": text })],
        (Said::Calls(calls, thought), Shape::OpenClaw) => {
            let thinking = thinking_part(shape, *thought);
            let parts: Vec<Value> = (thinking.into_iter())
                .chain(calls.iter().map(
                    |call| json!({ "type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments }),
                ))
                .collect();
            let results = calls.iter().map(|call| {
                json!({ "role": "toolResult", "toolCallId": call.id, "toolName": call.name, "isError": call.is_error,
                    "content": [{ "type": "text", "text": call.output }] })
            });
            [json!({ "role": "assistant", "content": parts })].into_iter().chain(results).collect()
        }
        (Said::Calls(calls, thought), Shape::Anthropic) => {
            let thinking = thinking_part(shape, *thought);
            let calls_of =
                |call: &Call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments });
            let parts: Vec<Value> = thinking.into_iter().chain(calls.iter().map(calls_of)).collect();
            let results: Vec<Value> = (calls.iter())
                .map(|call| {
                    json!({ "type": "tool_result", "tool_use_id": call.id, "is_error": call.is_error, "content": call.output })
                })
                .collect();
            vec![json!({ "role": "assistant", "content": parts }), json!({ "role": "user", "content": results })]
        }
        (Said::Calls(calls, _), Shape::OpenAi) => {
            let parts: Vec<Value> = (calls.iter())
                .map(|call| {
                    json!({ "id": call.id, "type": "function",
                        "function": { "name": call.name, "arguments": call.arguments.to_string() } })
                })
                .collect();
            let results =
                calls.iter().map(|call| json!({ "role": "tool", "tool_call_id": call.id, "content": call.output }));
            [json!({ "role": "assistant", "content": null, "tool_calls": parts })].into_iter().chain(results).collect()
        }
        (Said::Calls(calls, _), Shape::Responses) => {
            let items = calls.iter().map(|call| {
                json!({ "type": "function_call", "call_id": call.id, "name": call.name,
                    "arguments": call.arguments.to_string() })
            });
            let outputs = (calls.iter())
                .map(|call| json!({ "type": "function_call_output", "call_id": call.id, "output": call.output }));
            items.chain(outputs).collect()
        }
    };
    if shape == Shape::OpenClaw {
        messages.iter_mut().for_each(|message| message["timestamp"] = json!(item.time));
    }
    messages
}

/// Returns thinking before calls, in the shapes whose messages carry it.
fn thinking_part(shape: Shape, number: usize) -> Option<Value> {
    let signature = if shape == Shape::OpenClaw { "thinkingSignature" } else { "signature" };
    let thought = format!("step {number}: read the file, then run the tests again and look at what failed");
    (number > 0).then(|| json!({ "type": "thinking", "thinking": thought, signature: format!("signed {number}") }))
}

/// Returns an image with its host's other fields.
fn image_part(shape: Shape, name: &str, number: usize) -> Value {
    let data = &IMAGES[number % IMAGES.len()];
    let url = || format!("data:image/png;base64,{}", data.as_str());
    let detail = if name == "before" { "low" } else { "high" };
    match shape {
        Shape::OpenClaw => json!({ "type": "image", "fileName": name, "data": data.as_str(), "mimeType": "image/png" }),
        Shape::Anthropic => json!({ "type": "image", "fileName": name,
            "source": { "type": "base64", "media_type": "image/png", "data": data.as_str() } }),
        Shape::OpenAi => json!({ "type": "image_url", "fileName": name,
            "image_url": { "url": url(), "detail": detail } }),
        Shape::Responses => json!({ "type": "input_image", "fileName": name, "image_url": url(), "detail": detail }),
    }
}

/// Two images of arbitrary size.
static IMAGES: LazyLock<[String; 2]> = LazyLock::new(|| {
    [(640, 480), (800, 600)].map(|(width, height)| {
        let mut png = std::io::Cursor::new(Vec::new());
        let image = image::RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, 7]));
        image.write_to(&mut png, image::ImageFormat::Png).expect("an image in memory");
        base64_simd::STANDARD.encode_to_string(png.into_inner())
    })
});

/// Adds a prompt-cache breakpoint to a message: to the whole message, or to the last of its parts that may carry one.
fn marked(mut message: Value, on_part: bool) -> Value {
    let part = ["content", "tool_calls"].into_iter().find(|key| message[key].is_array()).filter(|_| on_part);
    let last = part.and_then(|key| message[key].as_array_mut()?.last_mut());
    let place = if last.is_some() { last } else { Some(&mut message) };
    if let Some(place) = place {
        place[MARK] = json!({ "type": "ephemeral" });
    }
    message
}

const MARK: &str = "cache_control";

/// Returns a value without its breakpoints.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(unmarked).collect(),
        Value::Object(fields) => {
            fields.iter().filter(|(key, _)| *key != MARK).map(|(key, value)| (key.clone(), unmarked(value))).collect()
        }
        other => other.clone(),
    }
}

/// Returns a message without its thinking, which does not identify it: the provider may drop it.
fn without_thinking(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(parts) = message["content"].as_array_mut() {
        parts.retain(|part| part["type"] != "thinking");
    }
    message
}

fn has_thinking(message: &Value) -> bool {
    without_thinking(message) != *message
}

/// A host with its history, the engines that fold it, and its last request.
struct Host {
    seed: u64,
    random: Random,
    shape: Shape,
    dir: TempDir,
    engines: Vec<Engine>,
    /// A connection to the store that only reads.
    store: SqliteStore,
    schedule: Schedule,
    items: Vec<Item>,
    serial: usize,
    now: i64,
    /// The original messages with the serial numbers of their items, and the messages that were sent for them, at the
    /// last call.
    sent: (Vec<(Value, usize)>, Vec<Value>),
    /// Blocks that an epoch has folded.
    folded: HashSet<String>,
    /// Placeholders that were fetched, with the text that each stands for.
    fetched: HashSet<(String, String)>,
    /// The messages that lost thinking, by all messages until them, without thinking.
    thinkers: HashMap<ContentHash, HashSet<String>>,
    /// Ids that were visible, for the model to fetch.
    ids: Vec<String>,
    /// The last shown messages of each item, by its serial number, without breakpoints.
    shown: HashMap<usize, Vec<Value>>,
    /// The item that carries a breakpoint, and true if it is on a part.
    mark: Option<(usize, bool)>,
    model: Option<&'static str>,
    epochs: usize,
    /// The numbers of results that were changed at birth, and of removed thinking blocks.
    births: usize,
    thoughts_gone: usize,
    /// The number of results in sight because they are pinned.
    pinned: usize,
    log: Vec<String>,
}

fn open(dir: &TempDir, schedule: Schedule) -> Engine {
    let options = StoreOptions { retention: Retention::Held, ..StoreOptions::default() };
    engines::open_with(dir, config(schedule), options)
}

fn config(schedule: Schedule) -> Config {
    Config {
        schedule,
        stale_turns: 2,
        stale_calls: 5,
        min_tokens_to_squeeze: 50,
        min_tokens_to_fold: 50,
        keep_preview_chars: 20,
        keep_names: 3,
        ..Config::default()
    }
}

/// The end of the texts of [`pooled`].
const POOLED: &str = "as it should be\n";

/// Returns one of a few texts, so that equal ones are common.
fn pooled(pool: usize) -> String {
    (0..12).map(|line| format!("output {pool}: line {line} says that all is {POOLED}")).collect()
}

impl Host {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let shape = [Shape::OpenClaw, Shape::Anthropic, Shape::OpenAi, Shape::Responses][random.next(4)];
        let schedule = if random.chance(70) { Schedule::EveryTurn } else { Schedule::CacheAware };
        let dir = directory();
        let engines = (0..2).map(|_| open(&dir, schedule)).collect();
        let store = SqliteStore::open(dir.path(), StoreOptions::default()).expect("a directory of ours opens");
        Self {
            seed,
            random,
            shape,
            dir,
            engines,
            store,
            schedule,
            items: Vec::new(),
            serial: 0,
            now: 1_000_000,
            sent: Default::default(),
            folded: HashSet::new(),
            fetched: HashSet::new(),
            thinkers: HashMap::new(),
            ids: Vec::new(),
            shown: HashMap::new(),
            mark: None,
            model: MODELS[0],
            epochs: 0,
            births: 0,
            thoughts_gone: 0,
            pinned: 0,
            log: Vec::new(),
        }
    }

    fn say(&mut self, said: Said) {
        self.serial += 1;
        self.items.push(Item { serial: self.serial, time: self.now, said, kept: None });
    }

    fn call(&mut self) -> Call {
        let id = match self.random.next(4) {
            0 => String::new(),
            1 => "call".to_owned(),
            _ => format!("call{}", self.serial),
        };
        let file = format!("{}.rs", ["a", "b"][self.random.next(2)]);
        let version = self.random.next(3);
        let is_error = self.random.chance(10);
        let (name, arguments, output) = match self.random.next(10) {
            0 => ("read", json!({ "path": file }), format!("{}// {file}\n", pooled(version))),
            1 => ("read", json!({ "path": file, "limit": 4 }), format!("{}\n[8 more lines in file]", pooled(version))),
            2 => ("write", json!({ "path": file, "content": pooled(version) }), "written".to_owned()),
            3 => ("edit", json!({ "path": file, "oldText": "a", "newText": pooled(version) }), "edited".to_owned()),
            8 => {
                let body = pooled(version);
                let alike = [
                    json!({ "removedAt": 1, "neighbour_hash": body }),
                    json!({ "shown": { "type": "text", "text": body }, "frame": { "data": "" } }),
                    json!({ "text": body }),
                    json!({ "thinking": { "index": 0, "neighbour_hash": body } }),
                ];
                ("note", alike[self.random.next(4)].clone(), "noted".to_owned())
            }
            9 => {
                let arguments = json!({ "text": pooled(version) });
                ("echo", arguments.clone(), arguments.to_string())
            }
            4 if !self.ids.is_empty() => {
                let id = self.ids[self.random.next(self.ids.len())].clone();
                let asked = Fetch { ref_ids: vec![id.clone()], max_chars: usize::MAX, ..Fetch::default() };
                let answer = self.engines[self.random.next(2)].fetch(&scope(), &asked, self.now).expect("a fetch");
                let [FetchedBlock::Text(text)] = answer.blocks.as_slice() else { panic!("{answer:?}") };
                (FETCH_TOOL, json!({ "ref_ids": [id] }), text.clone())
            }
            _ => ("exec", json!({ "command": format!("make {}", self.random.next(2)) }), pooled(self.random.next(4))),
        };
        Call { id, name, arguments, output, is_error }
    }

    /// Makes one random change at the host.
    fn act(&mut self) {
        self.now += 1 + self.random.next(60_000) as i64;
        // Histories stay short, because failures occur in short ones.
        let what = if self.items.len() > 16 { 83 + self.random.next(5) } else { self.random.next(108) };
        self.log.push(format!("{what}"));
        match what {
            0..4 => self.say(Said::Images(self.serial)),
            4..25 => {
                let words = if self.random.chance(50) { "go on".to_owned() } else { format!("do {}", self.serial) };
                self.say(Said::User(words));
            }
            25..75 => {
                let calls = 1 + self.random.next(3);
                let mut calls: Vec<Call> = (0..calls).map(|_| self.call()).collect();
                if self.random.chance(20) {
                    let twin = calls[0].clone();
                    calls.push(twin);
                }
                let thought = if self.random.chance(40) { self.serial + 1 } else { 0 };
                self.say(Said::Calls(calls, thought));
                if self.random.chance(30) {
                    self.bear();
                }
            }
            75..83 => self.say(Said::Assistant("That is done.".into())),
            // Compaction: a summary replaces the oldest items.
            83..86 => {
                let gone = self.random.next(self.items.len() + 1);
                self.items.drain(..gone);
                self.say(Said::Summary("it went well".into()));
                let summary = self.items.pop().expect("just said");
                self.items.insert(0, summary);
            }
            // The oldest items are dropped without a summary.
            86..88 => {
                let gone = self.random.next(self.items.len() + 1).min(4);
                self.items.drain(..gone);
            }
            // An item in the middle is removed.
            88..90 if !self.items.is_empty() => {
                let gone = self.random.next(self.items.len());
                self.items.remove(gone);
            }
            // A branch, or an edited prompt that is sent again.
            90..94 if !self.items.is_empty() => {
                let kept = self.random.next(self.items.len());
                self.items.truncate(kept + 1);
                if let Some(Item { said: Said::User(text), kept, .. }) = self.items.last_mut() {
                    text.push_str(" please");
                    *kept = None;
                }
            }
            94 => self.items.clear(),
            95 => self.engines = (0..2).map(|_| open(&self.dir, self.schedule)).collect(),
            96 => self.now += 7_200_000,
            // A fast clock is corrected.
            97 => self.now = (self.now - 1 - self.random.next(100_000_000) as i64).max(1),
            98 => self.now += 30 * 86_400_000,
            // From now on the host has only what was shown last of some messages.
            99 => {
                for item in &mut self.items {
                    if let Some(kept) = self.shown.get(&item.serial).filter(|_| self.random.chance(70)) {
                        item.kept = Some(kept.clone());
                    }
                }
            }
            100..108 => self.wish(what),
            _ => {}
        }
    }

    /// Makes a person or the agent ask for something.
    fn wish(&mut self, what: usize) {
        let ids: Vec<RefId> = (0..self.random.next(3).min(self.ids.len()))
            .map(|_| RefId::parse(&self.ids[self.random.next(self.ids.len())]).expect("an id of ours"))
            .collect();
        let (engine, now) = (&self.engines[self.random.next(2)], self.now);
        match what {
            100 | 101 => engine.pin_last(&scope(), now).expect("pins"),
            102 | 103 => drop(engine.restore(&scope(), &ids, now).expect("restores")),
            104 => engine.fold_all(&scope(), now).expect("asks"),
            105 => {
                let done = ids.iter().map(RefId::to_string).collect();
                let asked = Fetch { done, max_chars: usize::MAX, ..Fetch::default() };
                engine.fetch(&scope(), &asked, now).expect("releases");
            }
            106 => drop(engine.unpin(&scope(), now).expect("takes back")),
            _ => self.say(Said::User(format!("<keep> what you find {}", self.serial))),
        }
    }

    /// Admits the results of the newest item before the host stores them.
    fn bear(&mut self) {
        let item = self.items.last().expect("just said");
        let messages = messages_of(item, self.shape);
        let engine = &self.engines[self.random.next(2)];
        let (call, results) = messages.split_first().expect("a call");
        // In the Responses API a result is not a message.
        if self.shape == Shape::Responses {
            return;
        }
        let mut kept = vec![call.clone()];
        for result in results {
            let reply = engine.admit(&scope(), Some(call), result, self.now);
            assert_eq!(reply.report.warning, None, "{}", self.context());
            kept.extend(reply.rewrite.apply(std::slice::from_ref(result)));
        }
        self.births += usize::from(kept != messages);
        self.items.last_mut().expect("just said").kept = Some(kept);
    }

    /// Returns the host's messages, and each original message with the serial number of its item.
    fn messages(&self) -> (Vec<Value>, Vec<(Value, usize)>) {
        let of = |item: &Item| -> Vec<(Value, (Value, usize))> {
            let mark = self.mark.filter(|(serial, _)| *serial == item.serial);
            let with_mark = |message: Value| match mark {
                Some((_, on_part)) => marked(message, on_part),
                None => message,
            };
            let truth = messages_of(item, self.shape);
            let host = item.kept.clone().unwrap_or_else(|| truth.clone());
            let both = host.into_iter().zip(truth);
            both.map(|(host, truth)| (with_mark(host), (with_mark(truth), item.serial))).collect()
        };
        self.items.iter().flat_map(of).unzip()
    }

    /// Makes the next call, by one engine or by both concurrently.
    fn step(&mut self) {
        self.act();
        if self.random.chance(30) {
            let items = &self.items[self.items.len().saturating_sub(1 + self.random.next(8))..];
            self.mark = items.first().map(|item| (item.serial, item.serial % 3 > 0));
        }
        let (messages, truth) = self.messages();
        if self.random.chance(3) {
            self.model = MODELS[self.random.next(MODELS.len())];
        }
        let options = AssembleOptions { model: self.model.map(str::to_owned), ..AssembleOptions::default() };
        let (now, engines) = (self.now, &self.engines);
        let mut replies: Vec<Reply> = if self.random.chance(4) {
            let (messages, options) = (&messages, &options);
            std::thread::scope(|threads| {
                let run = |engine| threads.spawn(move || Engine::assemble(engine, &scope(), messages, options, now));
                let running: Vec<_> = engines.iter().map(run).collect();
                running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            })
        } else {
            let engine = &engines[self.random.next(2)];
            vec![engine.assemble(&scope(), &messages, &options, now)]
        };
        // Of two concurrent calls the one without an epoch counts as the first: it did not know the other's.
        replies.sort_by_key(|reply| reply.report.epoch.is_some());
        for reply in replies {
            assert_eq!(reply.report.warning, None, "{:?}", self.log);
            self.check(&messages, &truth, &reply);
        }
    }

    fn check(&mut self, messages: &[Value], truth: &[(Value, usize)], reply: &Reply) {
        let shown = reply.rewrite.apply(messages);
        self.shown.clear();
        for (shown, (_, serial)) in shown.iter().zip(truth) {
            self.shown.entry(*serial).or_default().push(unmarked(shown));
        }
        let truth_alone: Vec<Value> = truth.iter().map(|(message, _)| message.clone()).collect();
        let plain: [Vec<Value>; 2] = [&truth_alone, &shown].map(|messages| messages.iter().map(unmarked).collect());
        // What the engine knows of a message without a time: its content and everything before it, without thinking.
        let mut past = ContentHash::of(b"");
        let pasts: Vec<ContentHash> = (plain[0].iter())
            .map(|message| {
                past = ContentHash::of(format!("{past:?}{}", without_thinking(message)).as_bytes());
                past
            })
            .collect();
        if self.random.chance(20) {
            let engine = &self.engines[self.random.next(2)];
            let unfolded = engine.unfold(Some(&scope()), "main", &shown, self.now).expect("unfolds");
            let back = unfolded.rewrite.apply(&shown);
            for (at, (back, (was, _))) in back.iter().zip(truth).enumerate() {
                // Thinking whose position has changed, because the host stored what was shown, is reported as missing.
                let is_named = |part: &Value| {
                    let id = ContentHash::of(part.to_string().as_bytes()).to_ref_id(64);
                    part["type"] == "thinking" && unfolded.missing.contains(&id)
                };
                // What is shown of a message that the host holds without thinking is equal to what was shown of an
                // earlier one that lost it, after equal messages. No engine can tell them apart.
                let has_twin = !has_thinking(&messages[at])
                    && (self.thinkers.get(&pasts[at])).is_some_and(|twins| twins.contains(&unmarked(back).to_string()));
                if has_twin {
                    continue;
                }
                let mut was = was.clone();
                if back != &was
                    && let Some(parts) = was["content"].as_array_mut()
                {
                    parts.retain(|part| !is_named(part));
                }
                assert_eq!(back.to_string(), was.to_string(), "message {at} unfolds: {}", self.context());
            }
        }
        let ledger = self.store.ledger(&scope()).expect("a ledger");
        for kind in [MarkKind::PinLast, MarkKind::FoldAll] {
            assert_eq!(ledger.marked_at(kind), None, "{kind:?} is carried out: {}", self.context());
        }
        let pinned: HashSet<ContentHash> = ledger.marked(MarkKind::Pinned).collect();
        let epochs = ledger.epochs.len();
        let is_logged = reply.report.epoch.is_some() || epochs > self.epochs;
        self.epochs = epochs;
        for (at, (message, shown)) in messages.iter().zip(&shown).enumerate() {
            let marks = |message: &Value| message.to_string().matches(MARK).count();
            assert_eq!(marks(message), marks(shown), "breakpoints stay, message {at}: {}", self.context());
        }
        let numbered: Vec<(Value, usize)> =
            plain[0].iter().cloned().zip(truth.iter().map(|(_, serial)| *serial)).collect();
        let same = numbered.iter().zip(&self.sent.0).take_while(|(now, then)| now == then).count();
        if !is_logged {
            for (at, (now, then)) in plain[1].iter().zip(&self.sent.1).enumerate().take(same) {
                assert_eq!(now, then, "what was sent stays, message {at}: {}", self.context());
            }
        }

        let (host, view) = (Transcript::read(messages), Transcript::read(&shown));
        let fates = fates(&host, &config(self.schedule)).by_message;
        // Texts that were evicted for their age alone, or that the agent released, even if they had been evicted for
        // another reason before.
        let released: HashSet<ContentHash> = ledger.marked(MarkKind::Released).collect();
        let mut old: HashSet<&str> = HashSet::new();
        let mut copies: HashMap<&str, bool> = HashMap::new();
        let was = Transcript::read(&truth_alone);
        // The number of thinking blocks of each message so far, and of those that were removed.
        let (mut thoughts, mut gone) = (vec![0; messages.len()], vec![0; messages.len()]);
        for (message, index, block) in host.indexed_blocks() {
            let other = view.messages[message].blocks.get(index - gone[message]);
            if matches!(block.kind, BlockKind::Thinking(_)) {
                thoughts[message] += 1;
                if !other.is_some_and(|other| matches!(other.kind, BlockKind::Thinking(_))) {
                    gone[message] += 1;
                    self.thoughts_gone += 1;
                    let left = format!("thinking {}", truth[message].1);
                    assert!(self.folded.contains(&left) || is_logged, "no epoch took {left}: {}", self.context());
                    self.folded.insert(left);
                    self.thinkers.entry(pasts[message]).or_default().insert(plain[0][message].to_string());
                }
                continue;
            }
            let other = other.unwrap_or_else(|| panic!("message {message} lost a block: {}", self.context()));
            let identity = match self.shape {
                Shape::OpenClaw => format!("{} {message_part}", truth[message].1, message_part = key_of(&block.kind)),
                _ => format!("{:?} {}", pasts[message], index - thoughts[message]),
            };
            let (before, after) = (words(&block.kind), words(&other.kind));
            // A message that the host has without its thinking has fewer blocks.
            let original = was.messages[message].blocks.get(index).map_or_else(String::new, |block| words(&block.kind));
            // A pinned original stands in the place of the placeholder that the host has.
            let is_folded = before != after && after != original;
            assert!(before == after || is_folded || is_logged || self.folded.contains(&identity), "{}", self.context());
            let is_text = matches!(block.kind, BlockKind::Text(_));
            if is_text
                && block.result.is_some()
                && [&before, &original].iter().any(|text| pinned.contains(&ContentHash::of(text.as_bytes())))
            {
                self.pinned += 1;
                assert!(!is_folded, "{before} is pinned and became {after}: {}", self.context());
            }
            if before != after {
                self.folded.insert(identity.clone());
            }
            if is_folded {
                let may_shrink =
                    !matches!(block.kind, BlockKind::Call(_)) || !is_cache_point(&messages[message], &block.path);
                assert!(may_shrink || self.folded.contains(&identity), "a part of {before} left: {}", self.context());
                assert!(self.folded.contains(&identity) || is_logged, "no epoch folded {before}: {}", self.context());
                self.folded.insert(identity);
                if !before.is_empty() {
                    self.fetch(&before, &original, &after);
                }
            }
            let tool = block.result.and_then(|result| result.tool_name);
            // No file supersedes these texts, so only a copy can keep them visible.
            if let (BlockKind::Text(text), Some("exec" | FETCH_TOOL)) = (block.kind, tool)
                && text.ends_with(POOLED)
            {
                *copies.entry(text).or_default() |= !is_folded;
                let is_old = fates[message][index].permission().is_some_and(|permission| permission.is_old);
                if is_old || released.contains(&ContentHash::of(text.as_bytes())) {
                    old.insert(text);
                }
            }
        }
        if copies.values().any(|in_sight| !in_sight) {
            for (text, _) in copies.iter().filter(|(text, in_sight)| !**in_sight && !old.contains(*text)) {
                let hash = ContentHash::of(text.as_bytes());
                let mut rows = ledger.projections.iter().filter(|row| row.block.hash == hash);
                assert!(
                    rows.any(|row| !Reason::needs_successor(&row.reason)),
                    "no copy in sight of {text}: {}",
                    self.context()
                );
            }
        }
        let [_, sent] = plain;
        self.sent = (numbered, sent);
    }

    fn context(&self) -> String {
        format!("seed {}, {:?} {:?}\n{:?}", self.seed, self.shape, self.log, self.items)
    }

    /// Checks that the replacement of a text leads to it, or to what the host had before its birth.
    fn fetch(&mut self, before: &str, original: &str, after: &str) {
        if !self.fetched.insert((before.to_owned(), after.to_owned())) {
            return;
        }
        let id = find_markers(after).find_map(|(_, marker)| match marker {
            Marker::Reference(id) => Some(id.to_string()),
            _ => None,
        });
        let id = id.unwrap_or_else(|| panic!("{after} names nothing in the place of {before}"));
        self.ids.push(id.clone());
        let asked = Fetch { ref_ids: vec![id], max_chars: usize::MAX, ..Fetch::default() };
        let answer = self.engines[0].fetch(&scope(), &asked, self.now).expect("a fetch");
        let [FetchedBlock::Text(text)] = answer.blocks.as_slice() else { panic!("{answer:?}") };
        assert!(text == before || text == original, "{after} leads to {text}: {}", self.context());
    }
}

fn words(kind: &BlockKind) -> String {
    match kind {
        BlockKind::Text(text) => (*text).to_owned(),
        BlockKind::Call(call) => match call.arguments {
            Arguments::Value(value) => value.to_string(),
            Arguments::Json(json) => json.to_owned(),
        },
        _ => String::new(),
    }
}

fn key_of(kind: &BlockKind) -> String {
    ContentHash::of(words(kind).as_bytes()).to_hex()
}

fn add(a: [usize; 5], b: [usize; 5]) -> [usize; 5] {
    std::array::from_fn(|nth| a[nth] + b[nth])
}

#[test]
fn whatever_a_host_does_nothing_is_lost_and_nothing_changes_without_an_epoch() {
    let steps = std::env::var("CONCERTINA_STEPS").map_or(STEPS, |steps| steps.parse().expect("a number of steps"));
    let seed = std::env::var("CONCERTINA_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let sessions = steps.div_ceil(SESSION) as u64;
    let run = |session| {
        let mut host = Host::new(seed + session);
        (0..SESSION).for_each(|_| host.step());
        [host.folded.len(), host.epochs, host.births, host.thoughts_gone, host.pinned]
    };
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    let sums = std::thread::scope(|threads| {
        let lane = |first: usize| (first as u64..sessions).step_by(lanes).map(run).fold([0; 5], add);
        let running: Vec<_> = (0..lanes).map(|first| threads.spawn(move || lane(first))).collect();
        running.into_iter().map(|thread| thread.join().expect("a lane holds")).fold([0; 5], add)
    });
    let [folded, epochs, births, thoughts, pinned] = sums;
    println!(
        "{sessions} sessions of {SESSION} steps, {folded} blocks folded, {epochs} epochs, {births} births, thinking gone {thoughts} times, {pinned} results pinned"
    );
    assert!(sums.iter().all(|&sum| sum as u64 > sessions), "{sums:?}");
}
