// Tests of the command line as scripts use it: its output and its exit status.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { Concertina } from "openclaw-concertina";

import { cli, run, runWith } from "./cli.mjs";
import { freshDir, noise, staleConversation, toolRound, user, written } from "./conversation.mjs";

test("the command line prints its help and its version", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.deepEqual([run("--version").stdout, run("--version").status], [`${version}\n`, 0]);
  for (const args of [[], ["--help"], ["help"]]) {
    const { stdout, status } = run(...args);
    assert.equal(status, 0);
    for (const name of [
      "analyze",
      "compress",
      "restore",
      "squeeze",
      "fetch",
      "search",
      "stats",
      "unfold",
      "sweep",
      "purge",
      "migrate",
    ])
      assert.match(stdout, new RegExp(`^  ${name} ?`, "m"));
  }
  assert.match(run("compress", "--help").stdout, /--originals FILE/);
  assert.equal(run("help", "compress").stdout, run("compress", "--help").stdout);
  for (const option of ["--lines", "--chars", "--pattern", "--query", "--max-chars", "--agent", "--json"])
    assert.match(run("fetch", "--help").stdout, new RegExp(`${option} ?`));
});

test("wrong usage is reported on standard error with exit status 2", () => {
  const session = written("session.json", JSON.stringify(staleConversation()));
  for (const [args, says] of [
    [["bogus"], /unknown command "bogus"/],
    [["toString"], /unknown command "toString"/],
    [["analyze"], /an argument is missing/],
    [["analyze", session, "--read", "cheap"], /--read is "cheap"; it must be a number of at least 0/],
    [["analyze", session, "--read", ""], /--read is ""/],
    [["analyze", session, "--options", "[]"], /--options is "\[\]"; it must be a JSON object/],
    [["analyze", session, "--options", '{"bogus":1}'], /bogus is not an option/],
    [["stats", "extra", "--dir", "."], /stats takes no argument; "extra" is one too many/],
    [["squeeze", session, session], /squeeze takes 1 argument/],
    [["stats"], /name the store with either --dir or --url/],
    [["stats", "--url", "env:CONCERTINA_NO_SUCH"], /CONCERTINA_NO_SUCH is not set/],
    [["stats", "--url", "somewhere"], /--url is not the address of a database/],
    [["stats", "--dir", ""], /the place of the store is empty/],
    [["stats", "--dir", ".", "--namespace", "team"], /a directory has none/],
    [["compress", session, "--lines", "1-2"], /Unknown option '--lines'/],
    [["compress", session, "--preset", "max"], /--preset needs --originals/],
  ]) {
    const { stdout, stderr, status } = run(...args);
    assert.deepEqual([stdout, status], ["", 2], args.join(" "));
    assert.match(stderr, says);
  }
});

test("an address of another scheme than postgresql is rejected and not printed", () => {
  const dir = freshDir();
  for (const args of [
    ["migrate", dir, "mysql://user:secret@host/db"],
    ["migrate", "postgress://user:secret@host/db", dir],
    ["stats", "--dir", "mysql://user:secret@host/db"],
  ]) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [cli, ...args], { cwd: dir, encoding: "utf8" });
    assert.deepEqual([stdout, status], ["", 2], args.join(" "));
    assert.match(stderr, /must begin with postgresql:\/\//);
    assert.doesNotMatch(stderr, /secret/);
  }
  assert.deepEqual(readdirSync(dir), []);
});

test("a failure names its file on standard error, with exit status 1", () => {
  const bad = written("bad.json", "{");
  const empty = written("empty.jsonl", "\n");
  const gz = written("session.json.gz", gzipSync("[]"));
  for (const [args, says] of [
    [["analyze", "nowhere.jsonl"], /nowhere\.jsonl cannot be read: there is no such file\n/],
    [["analyze", freshDir()], /concertina-test-\w+ cannot be read: it is a directory\n/],
    [["analyze", "-"], /standard input contains no messages/],
    [["analyze", bad, "--session", "s"], /bad\.json is one session and no database/],
    [["analyze", written("coloured.log", "\u001b[31mred\u001b[0m\u0007")], /line 1 is not JSON: \P{Cc}*\\u001b/u],
    [["analyze", written("plain.gz", "{}")], /plain\.gz cannot be decompressed/],
    [["squeeze", empty], /empty\.jsonl is not JSON: .*; squeeze takes a JSON array of messages/],
    [
      ["restore", empty, "--originals", written("kept.json", "[1]")],
      /kept\.json contains something else; it must be a file that compress --originals wrote/,
    ],
    [["analyze", bad], /bad\.json/],
    [["analyze", empty], /empty\.jsonl contains no messages/],
    [["analyze", gz], /session\.json\.gz contains no messages/],
    [["squeeze", bad], /bad\.json is not JSON/],
    [["squeeze", "nowhere.json"], /nowhere\.json cannot be read/],
    [["compress", "nowhere.txt"], /nowhere\.txt cannot be read/],
  ]) {
    const { stdout, stderr, status } = run(...args);
    assert.deepEqual([stdout, status], ["", 1], args.join(" "));
    assert.match(stderr, says);
  }
});

test(
  "an existing file is refused before any work, and a file that a full disk truncated is removed",
  { skip: process.platform === "win32" },
  () => {
    const dir = freshDir();
    const there = written("there.html", "mine");
    for (const args of [
      ["analyze", "nowhere.json", "--html", there],
      ["compress", "nowhere.txt", "--originals", there],
    ]) {
      const { stdout, stderr, status } = run(...args);
      assert.deepEqual([stdout, status], ["", 1], args.join(" "));
      assert.match(stderr, /there\.html cannot be written: it already exists, and no file is overwritten\n/);
    }
    assert.equal(readFileSync(there, "utf8"), "mine");
    const session = written("session.json", JSON.stringify(staleConversation()));
    assert.match(
      run("analyze", session, "--html", path.join(dir, "no", "page.html")).stderr,
      /page\.html cannot be written: there is no such directory/,
    );
    const page = path.join(dir, "page.html");
    const { stdout, stderr, status } = run("analyze", session, "--html", page, "--json");
    assert.deepEqual(
      [status, stderr, JSON.parse(stdout).read.length, existsSync(page)],
      [0, `${page} written\n`, 1, true],
    );
    const part = path.join(dir, "part.html");
    const program = `require(${JSON.stringify(path.join(path.dirname(cli), "formats", "files.js"))}).writeNew(process.argv[1], "a".repeat(100_000))`;
    const limited = spawnSync("sh", ["-c", `ulimit -f 10; "${process.execPath}" -e '${program}' "${part}"`], {
      encoding: "utf8",
    });
    assert.match(limited.stderr, /part\.html cannot be written: EFBIG/);
    assert.equal(existsSync(part), false);
  },
);

test(
  "a session is read from a pipe as from a file, and waiting for a pipe can be interrupted",
  { skip: process.platform === "win32" },
  async () => {
    const session = written("session.json", JSON.stringify(staleConversation()));
    const piped = spawnSync(
      "sh",
      ["-c", `"${process.execPath}" "${cli}" analyze /dev/stdin --json < "${session}" | cat`],
      { encoding: "utf8" },
    );
    const fifo = spawnSync(
      "sh",
      [
        "-c",
        `mkfifo "${session}.pipe"; cat "${session}" > "${session}.pipe" & "${process.execPath}" "${cli}" analyze "${session}.pipe" --json`,
      ],
      { encoding: "utf8", timeout: 60_000 },
    );
    for (const { stdout, stderr } of [piped, fifo]) assert.equal(JSON.parse(stdout || "{}").total?.requests, 7, stderr);
    const waiting = spawn(process.execPath, [cli, "analyze", `${session}.pipe`], {
      stdio: "ignore",
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    const ended = once(waiting, "close");
    await delay(2000);
    waiting.kill("SIGINT");
    assert.deepEqual(await ended, [null, "SIGINT"]);
  },
);

test("a text that is too long to fold is reported", () => {
  const most = 16 << 20;
  const log = Array.from(
    { length: most / 40 },
    (_, at) => `2026-01-31T08:00:00Z INFO job ${at} ended id=${((at * 7919) % 100_003).toString(36)}`,
  ).join("\n");
  for (const [chars, says] of [
    [most, /^[\d,]+ tokens, [\d,]+ after: [1-9]\d\.\d % saved\n$/],
    [
      most + 1,
      /^standard input is longer than 16 MiB and is printed unchanged\n[\d,]+ tokens, [\d,]+ after: 0\.0 % saved\n$/,
    ],
  ]) {
    const { stderr, status } = spawnSync(process.execPath, [cli, "compress", "-"], {
      encoding: "utf8",
      input: log.slice(0, chars),
      maxBuffer: 64 << 20,
    });
    assert.equal(status, 0);
    assert.match(stderr, says);
  }
});

test("on a terminal the elapsed time is shown after two seconds and cleared at the end; elsewhere nothing is shown", async (context) => {
  const { withClock } = createRequire(import.meta.url)(path.join(path.dirname(cli), "terminal", "progress.js"));
  const { isTTY } = process.stderr;
  context.after(() => (process.stderr.isTTY = isTTY));
  context.mock.timers.enable({ apis: ["setInterval", "Date"] });
  const { mock } = context.mock.method(process.stderr, "write", () => true);
  for (const [terminal, says] of [
    [true, ["\r\x1b[Kfolding: 2 s", "\r\x1b[Kfolding: 3 s", "\r\x1b[K"]],
    [false, []],
  ]) {
    process.stderr.isTTY = terminal;
    mock.resetCalls();
    let end;
    const done = withClock("folding", new Promise((resolve) => (end = resolve)));
    for (let second = 0; second < 3; second++) context.mock.timers.tick(1000);
    end("folded");
    assert.equal(await done, "folded");
    assert.deepEqual(
      mock.calls.map(({ arguments: [text] }) => text),
      says,
    );
  }
});

test("commands that read a store never create one", () => {
  const dir = freshDir();
  for (const args of [
    ["stats"],
    ["sweep"],
    ["purge", "s", "--yes"],
    ["fetch", "0123456789abcdef"],
    ["unfold", written("s.json", "[]")],
  ]) {
    const { stderr, status } = run(...args, "--dir", dir);
    assert.equal(status, 1);
    assert.match(stderr, /contains no store/);
  }
  assert.deepEqual(readdirSync(dir), []);
});

test("a text from a file or standard input is compressed and restored byte for byte", () => {
  const log = `${Array.from({ length: 300 }, (_, at) => `2026-01-31T08:00:${String(at % 60).padStart(2, "0")}Z INFO worker ${at % 4} finished job ${at}`).join("\n")}\n`;
  const file = written("worker.log", log);
  const short = run("compress", file);
  assert.equal(short.status, 0, short.stderr);
  assert.ok(short.stdout.length < log.length / 2);
  assert.match(short.stderr, /^[\d,]+ tokens, [\d,]+ after: \d+\.\d % saved\n$/);
  assert.equal(runWith({ input: log }, "compress", "-").stdout, short.stdout);
  assert.equal(runWith({ input: short.stdout }, "restore", "-").stdout, log);
  assert.deepEqual(JSON.parse(run("compress", file, "--json").stdout).text, short.stdout);
  const nothing = runWith({ input: "" }, "compress", "-");
  assert.deepEqual([nothing.status, nothing.stdout, nothing.stderr], [0, "", "0 tokens, 0 after: 0.0 % saved\n"]);
});

test("originals go to the file of --originals, and restoring without that file is reported", () => {
  const report = `${Array.from({ length: 200 }, (_, at) => `test suite::case_${at} ... ok`).join("\n")}\ntest suite::last ... FAILED\n\ntest result: FAILED. 200 passed; 1 failed\n`;
  const file = written("report.txt", report);
  const kept = path.join(freshDir(), "originals.json");
  const short = run("compress", file, "--command", "cargo test", "--originals", kept);
  assert.equal(short.status, 0, short.stderr);
  assert.match(short.stdout, /\[\[REWIND:sha256:/);
  assert.equal(runWith({ input: short.stdout }, "restore", "-", "--originals", kept).stdout, report);
  const without = runWith({ input: short.stdout }, "restore", "-");
  assert.equal(without.status, 1);
  assert.match(without.stderr, /markers stay.*\(CONCERTINA_ORIGINAL_MISSING\)/);
  assert.equal(run("compress", file, "--originals", kept).status, 1, "never over a file that is there");
});

test("folds and markers that cannot be restored are reported with exit status 1", () => {
  const log = Array.from(
    { length: 300 },
    (_, at) => `2026-01-31T08:00:00Z INFO worker ${at % 4} finished job ${at}`,
  ).join("\n");
  const short = runWith({ input: log }, "compress", "-").stdout;
  assert.match(short, /^\[\[FOLD:/);
  const twice = runWith({ input: short }, "compress", "-");
  assert.deepEqual([twice.stdout, twice.status], ["", 1]);
  assert.match(twice.stderr, /standard input is already folded/);
  const changed = short.replace("\n", "\n\n");
  for (const [input, says] of [
    [Buffer.from([0x66, 0xff, 0xfe]), /standard input is not UTF-8/],
    [changed, /standard input: 1 folds stay: they were changed.*\(CONCERTINA_FOLD_DAMAGED\)/],
    [`as it was said:\n${changed}`, /1 folds stay/],
  ]) {
    const { stderr, status } = runWith({ input }, "restore", "-");
    assert.equal(status, 1);
    assert.match(stderr, says);
  }
  assert.equal(runWith({ input: "no [[FOLD: here" }, "restore", "-").status, 0);
});

test("a closed pipe is no failure, and a full disk is reported in one line", async () => {
  const text = noise(20_000);
  const file = written("long.txt", text);
  const note = `${file}: it contains no fold and is printed unchanged\n`;
  const child = spawn(process.execPath, [cli, "restore", file], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  child.stdout.once("data", () => child.stdout.destroy());
  const [status] = await once(child, "close");
  assert.deepEqual([said, status], [note, 0]);
  if (!existsSync("/dev/full")) return;
  const session = written("session.json", JSON.stringify(staleConversation()));
  for (const args of [["restore", file], ["--help"], ["analyze", session]]) {
    const { stderr, status } = spawnSync(process.execPath, [cli, ...args], {
      encoding: "utf8",
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    assert.equal(status, 1, args.join(" "));
    assert.match(stderr.replace(note, ""), /^openclaw-concertina: standard output cannot be written: ENOSPC.*\n$/);
  }
  const limited = spawnSync(
    "sh",
    ["-c", `ulimit -f 100; "${process.execPath}" "${cli}" restore "${file}" > "${file}.out"`],
    { encoding: "utf8" },
  );
  assert.equal(limited.status, 1);
  assert.match(limited.stderr.replace(note, ""), /^openclaw-concertina: .*EFBIG.*\n$/);
});

test("stats and purge accept a session key and list the known sessions for an unknown one", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir });
  const usage = { input: 100, cacheRead: 0, cacheWrite: 0 };
  await concertina.commitTurn({
    sessionId: "s1",
    sessionKey: "agent:main:work",
    advancementKey: "1",
    messages: [{ role: "assistant", content: "hm", timestamp: 1, usage }],
  });
  await concertina.close();
  const asked = run("stats", "--dir", dir, "--session", "agent:main:work", "--json");
  assert.equal(JSON.parse(asked.stdout).total.sentTokens, 100);
  assert.match(run("stats", "--dir", dir).stdout, /^tokens sent +100, 100 without Concertina: 0\.0 % saved$/m);
  for (const args of [
    ["stats", "--session", "nobody"],
    ["purge", "nobody", "--yes"],
  ]) {
    const { stderr, status } = run(...args, "--dir", dir);
    assert.equal(status, 1);
    assert.match(stderr, /there is no session "nobody"\. Known sessions:\n {2}s1 {2}agent:main:work/);
  }
  const purged = run("purge", "agent:main:work", "--dir", dir, "--yes", "--json");
  assert.equal(JSON.parse(purged.stdout).sessions, 1);
  assert.doesNotMatch(run("stats", "--dir", dir).stdout, /NaN/);
});

test("a session that a gateway has is purged only with --elsewhere", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir, host: "one", retention: "host" });
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: toolRound("c", "exec", {}, noise(400))[1],
  });
  await concertina.close();
  const kept = run("purge", "s", "--dir", dir, "--yes");
  assert.deepEqual([kept.stdout, kept.status], ["", 1]);
  assert.match(
    kept.stderr,
    /session s was not purged: a gateway of this store \(one\) has it and would .*\. To purge it anyway, use --elsewhere/,
  );
  const asked = run("purge", "s", "--dir", dir, "--elsewhere");
  assert.deepEqual([asked.stdout, asked.status], ["", 2]);
  assert.match(asked.stderr, /Note that a gateway of this store \(one\) has it\.\n/);
  assert.equal(run("fetch", report.actions[0].refId, "--dir", dir).status, 0);
  assert.equal(JSON.parse(run("purge", "s", "--dir", dir, "--elsewhere", "--yes", "--json").stdout).originals, 1);
});

test("a sweep uses the options in --options, and the default ones only with --yes", async () => {
  const dir = freshDir();
  const owner = { sccsStorageTtlSeconds: 30 * 86_400 };
  const concertina = await Concertina.open({ dir, ...owner });
  const now = Date.now() - 3 * 86_400_000;
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: toolRound("c", "exec", {}, noise(400))[1],
    now,
  });
  await concertina.close();
  const [{ refId }] = report.actions;
  const unasked = run("sweep", "--dir", dir);
  assert.deepEqual([unasked.stdout, unasked.status], ["", 2]);
  assert.match(unasked.stderr, /for a day are removed[^]*nothing was removed[^]*--yes/);
  assert.equal(
    JSON.parse(run("sweep", "--dir", dir, "--json", "--options", JSON.stringify(owner)).stdout).originals,
    0,
  );
  assert.equal(run("fetch", refId, "--dir", dir).status, 0);
  assert.equal(JSON.parse(run("sweep", "--dir", dir, "--json", "--yes").stdout).originals, 1);
  assert.equal(run("sweep", "--dir", dir, "--options", '{"bogus":1}').status, 2);
});

test("fetch prints the ids that exist and fails if one does not", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir });
  const text = noise(400);
  const { report } = await concertina.admitToolResult({ sessionId: "s", message: toolRound("c", "exec", {}, text)[1] });
  await concertina.close();
  const [{ refId }] = report.actions;
  const both = run("fetch", refId, "0123456789abcdef", "--dir", dir);
  assert.deepEqual([both.stdout, both.status], [text, 1]);
  assert.match(both.stderr, /0123456789abcdef/);
  for (const [name, value] of [
    ["lines", "1-2"],
    ["pattern", "x"],
  ]) {
    const parts = run("fetch", refId, "--dir", dir, `--${name}`, value, "--chars", "1-2");
    assert.deepEqual([parts.stdout, parts.status], ["", 2]);
    assert.match(parts.stderr, new RegExp(`--${name} and --chars exclude each other`));
  }
  // Parts that do not exist, given by each option and after the id, and also together with existing ones.
  for (const [args, says] of [
    [[refId, "--lines", "9999-"], /has 400 lines; lines 9999 and after do not exist/],
    [[refId, "--lines", "401-500"], /lines 401-500 do not exist/],
    [[refId, "--chars", "999999-"], /characters 999999 and after do not exist/],
    [[refId, "--pattern", "no such words"], /No line of the original/],
    [[refId, "--query", "nowhere"], /No line of the original/],
    [[refId, "--pattern", "took", "--lines", "9999-"], /No line of the original/],
    [[`${refId}:9999-`], /lines 9999 and after do not exist/],
    [[`${refId}:c999999-`], /characters 999999 and after do not exist/],
    [[`${refId}:/no such words/`], /No line of the original/],
  ]) {
    const { stdout, stderr, status } = run("fetch", ...args, "--dir", dir);
    assert.deepEqual([stdout, status], ["", 1], args.join(" "));
    assert.match(stderr, says);
  }
  for (const args of [
    ["--lines", "1-2"],
    ["--lines", "400"],
    ["--chars", "1-20"],
    ["--pattern", "unit"],
    ["--query", "unit ms"],
    ["--lines", "1-400", "--max-chars", "300"],
  ]) {
    const { stdout, stderr, status } = run("fetch", refId, ...args, "--dir", dir);
    assert.deepEqual([stdout.endsWith("]"), stderr, status], [true, "", 0], args.join(" "));
  }
  assert.deepEqual(
    [run("fetch", refId, "--dir", dir).status, JSON.parse(run("fetch", refId, "--dir", dir, "--json").stdout)[0].text],
    [0, text],
  );
});

test("search prints the lines of the originals that have all words, of one session or of all", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir });
  const ids = [];
  for (const sessionId of ["one", "two"]) {
    const text = `${noise(400, ids.length + 1)}\nthe planted line of ${sessionId}`;
    const message = toolRound("c", "exec", {}, text)[1];
    const { report } = await concertina.admitToolResult({ sessionId, message });
    ids.push(report.actions[0].refId);
  }
  await concertina.close();
  const one = run("search", "planted line", "OF", "--dir", dir, "--session", "one");
  assert.match(
    one.stdout,
    new RegExp(`^${ids[0]}  exec  \\(session one of main\\)\n399-.*\n400-.*\n401:the planted line of one\n\\[1 of 1 `),
  );
  assert.deepEqual([one.stdout.includes("two"), one.status], [false, 0]);
  const all = JSON.parse(run("search", "planted", "--dir", dir, "--json").stdout);
  assert.deepEqual(all.originals.map(({ refId }) => refId).toSorted(), ids.toSorted());
  assert.equal(all.matching, 2);
  const none = run("search", "two", "planted", "--dir", dir, "--session", "one");
  assert.deepEqual([none.stdout, none.status], ['[no original has all of the words "two", "planted"]\n', 1]);
  for (const [args, says, status] of [
    [["search", "--dir", dir], /an argument is missing/, 2],
    [["search", "x", "--dir", dir, "--session", "three"], /there is no session "three"/, 1],
    [["search", "", "--dir", dir], /1 to 16 words/, 2],
    [["search", "x", "--dir", dir, "--max-chars", "few"], /--max-chars is "few"/, 2],
  ]) {
    const { stdout, stderr, status: got } = run(...args);
    assert.deepEqual([stdout, got], ["", status], args.join(" "));
    assert.match(stderr, says);
  }
});

/** Returns a Codex rollout that runs one command and then answers `turns` questions. */
function rollout(text, turns) {
  const at = (seconds) => new Date(Date.UTC(2026, 0, 31) + seconds * 1000).toISOString();
  const item = (seconds, payload) => ({ timestamp: at(seconds), type: "response_item", payload });
  const said = (role, words) => ({
    type: "message",
    role,
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text: words }],
  });
  const lines = [
    { timestamp: at(0), type: "session_meta", payload: { id: "0198", cwd: "/work", cli_version: "0.98.0" } },
    { timestamp: at(0), type: "turn_context", payload: { model: "gpt-5-codex" } },
    item(1, said("user", "Run it.")),
    { timestamp: at(1), type: "event_msg", payload: { type: "user_message", message: "Run it." } },
    item(2, { type: "reasoning", summary: [{ type: "summary_text", text: "I run it." }], encrypted_content: "gAAA" }),
    item(2, { type: "function_call", name: "exec_command", arguments: '{"cmd":"sh build.sh"}', call_id: "call_1" }),
    item(3, { type: "function_call_output", call_id: "call_1", output: text }),
    item(4, said("assistant", "It ran.")),
    {
      timestamp: at(4),
      type: "event_msg",
      payload: { type: "token_count", info: { last_token_usage: { input_tokens: 9000, cached_input_tokens: 8000 } } },
    },
  ];
  for (let turn = 0; turn < turns; turn++)
    lines.push(item(10 + turn, said("user", `And ${turn}?`)), item(10.5 + turn, said("assistant", "Yes.")));
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

test("sessions in every recorded format are analysed as the plugin would fold them", () => {
  const text = noise(400);
  const lines = (messages) => messages.map((message) => JSON.stringify({ type: "message", message })).join("\n");
  for (const [name, recorded, calls] of [
    ["array.json", JSON.stringify(staleConversation(text)), 7],
    ["openclaw.jsonl", lines(staleConversation(text)), 7],
    ["rollout.jsonl", rollout(text, 6), 8],
  ]) {
    const { stdout, stderr, status } = run("analyze", written(name, recorded), "--json");
    assert.deepEqual([status, stderr], [0, ""]);
    const { total, shares, folded, proof, read } = JSON.parse(stdout);
    assert.deepEqual([total.requests, total.measured, proof.equal, read.length], [calls, 0, true, 1], name);
    assert.ok(total.sentTokens < total.withoutTokens, name);
    assert.ok(
      shares.some(({ kind }) => kind.startsWith("result of exec")),
      JSON.stringify(shares),
    );
    assert.ok(folded[0].before > 1.5 * folded[0].after, JSON.stringify(folded));
  }
});

/** Converts a session of OpenClaw to Anthropic's and OpenAI's APIs. */
function inOtherForms(messages) {
  const callIn = ({ content }) =>
    Array.isArray(content) ? content.find(({ type }) => type === "toolCall") : undefined;
  const anthropic = messages.map(({ role, content, toolCallId, timestamp, ...message }) => {
    if (role === "toolResult")
      return { role: "user", content: [{ type: "tool_result", tool_use_id: toolCallId, content }], timestamp };
    const call = callIn({ content });
    return {
      ...message,
      role,
      content: call ? [{ type: "tool_use", id: call.id, name: call.name, input: call.arguments }] : content,
      timestamp,
    };
  });
  const openai = messages.map(({ role, content, toolCallId, timestamp }) => {
    if (role === "toolResult") return { role: "tool", tool_call_id: toolCallId, content: content[0].text, timestamp };
    const call = callIn({ content });
    if (call)
      return {
        role,
        content: null,
        tool_calls: [
          { id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } },
        ],
        timestamp,
      };
    return { role, content: typeof content === "string" ? content : content[0].text, timestamp };
  });
  return { anthropic, openai };
}

test("one session has the same figures in every format", () => {
  const recorded = [user("go", 1)];
  for (let turn = 0; turn < 8; turn++) {
    const at = 10 + turn * 10;
    const log = Array.from(
      { length: 60 },
      (_, line) => `2026-01-31T08:00:00Z INFO worker ${turn} finished job ${line}`,
    ).join("\n");
    recorded.push(
      ...toolRound(`a${turn}`, "exec", { command: `sh ${turn}.sh` }, log, at),
      ...toolRound(`b${turn}`, "read", { path: `src/${turn}.rs` }, noise(120, turn + 1), at + 2),
      user(`and ${turn}?`, at + 5),
    );
  }
  const { anthropic, openai } = inOtherForms(recorded);
  const lines = (messages, rowOf) => messages.map((message) => JSON.stringify(rowOf(message))).join("\n");
  const claudeCode = lines(anthropic, (message) => ({
    type: message.role,
    message,
    timestamp: new Date(message.timestamp).toISOString(),
  }));
  const openclaw = lines(recorded, (message) => ({ type: "message", message }));
  const [first, ...others] = [
    openclaw,
    claudeCode,
    JSON.stringify(recorded),
    JSON.stringify(anthropic),
    JSON.stringify(openai),
  ].map((text) => {
    const { total, shares, folded, read } = JSON.parse(runWith({ input: text }, "analyze", "-", "--json").stdout);
    const tokensOf = (kind) => shares.find((share) => share.kind === kind)?.tokens ?? 0;
    return {
      messages: read[0].messages,
      requests: total.requests,
      without: total.withoutTokens,
      sent: total.sentTokens,
      exec: tokensOf("result of exec"),
      read: tokensOf("result of read"),
      args: tokensOf("tool-call arguments"),
      user: tokensOf("user text"),
      reasons: folded
        .map(({ reason, tool }) => `${reason} ${tool}`)
        .sort()
        .join(),
      folded: folded.reduce((sum, { before }) => sum + before, 0),
    };
  });
  for (const other of others) {
    for (const [name, value] of Object.entries(first)) {
      if (typeof value === "string") assert.equal(other[name], value, name);
      else assert.ok(value > 0 && Math.abs(other[name] - value) <= value / 100, `${name}: ${other[name]} for ${value}`);
    }
  }
});

test(
  "an interrupted analysis leaves no data of the session behind",
  { skip: process.platform === "win32" },
  async () => {
    const file = written(
      "session.json",
      JSON.stringify(Array.from({ length: 60 }, (_, at) => staleConversation(noise(400, at + 1))).flat()),
    );
    for (const signal of ["SIGINT", "SIGTERM"]) {
      const temporary = freshDir();
      const child = spawn(process.execPath, [cli, "analyze", file], {
        stdio: "ignore",
        env: { ...process.env, TMPDIR: temporary },
      });
      const ended = once(child, "close");
      const stored = () =>
        readdirSync(temporary, { recursive: true }).some((name) => name.endsWith("concertina.sqlite"));
      while (!stored() && child.exitCode === null) await delay(5);
      await delay(100);
      child.kill(signal);
      assert.deepEqual(await ended, [null, signal]);
      assert.deepEqual(readdirSync(temporary), []);
    }
  },
);

test("--read, --write and --ttl change the bill, which is never NaN", () => {
  const file = written("session.json", JSON.stringify(staleConversation()));
  const billOf = (...args) => JSON.parse(run("analyze", file, "--json", ...args).stdout).total.withoutBill;
  const others = ["--write", "1.25", "--ttl", "5"];
  assert.ok(billOf("--read", "0.5", ...others) > billOf("--read", "0.1", ...others));
  const some = run("analyze", file, "--ttl", "60");
  assert.deepEqual([some.stdout, some.status], ["", 2]);
  assert.match(some.stderr, /--read, --write and --ttl must be stated together: --read and --write are missing/);
  const silent = written("silent.json", JSON.stringify([user("hello")]));
  const { stdout, status } = run("analyze", silent);
  assert.equal(status, 0);
  assert.match(stdout, /0 model calls/);
  assert.doesNotMatch(stdout, /NaN|undefined/);
});

test("a session that cannot be read fails the command, and the others are still analysed", () => {
  const good = written("good.json", JSON.stringify(staleConversation()));
  const { stdout, stderr, status } = run("analyze", good, "nowhere.json", good, "--json");
  assert.equal(status, 1);
  assert.match(stderr, /nowhere\.json/);
  assert.equal(JSON.parse(stdout).total.requests, 14);
});
