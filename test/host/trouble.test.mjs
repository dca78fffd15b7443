// Tests of failures around the plugin: results that the host truncates, refuses or masks, store files that vanish or
// are damaged, and a store or a library that cannot be used. One gateway has them all, one after the other.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import { Host, packedPlugin, say } from "./host.mjs";
import { numberedLines } from "./odd-results/index.js";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, conversation, findResult, idsIn } from "./reading.mjs";
import { fillWorkspace, installLog, testOutput } from "./session.mjs";
import { everythingIn, originalsIn } from "./stored.mjs";

const SESSION = "agent:main:work";
const MASKING = "agent:main:masking";
const ASSEMBLED = "agent:main:assembled";
const REDACTING = "agent:main:redacting";
/** The number of characters of a result that the host passes to a plugin. */
const HANDED_ON = 100_000;
/** Secrets that only the host can know, because they have no recognisable form, and words that are not secrets. */
const MASKED = { "by a pattern": "berth-magnolia", "from its configuration": "lantern-under-the-harbour" };
const PLAIN = "quay-magnolia";
/** A word that the host masks only from a later configuration on. */
const LATER = "pier-magnolia";

const OPTIONS = { schedule: "every-turn", sccsCompressThreshold: 3000, sccsStorageDir: "~/originals" };

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "trouble", provider });
  fillWorkspace(host.workspace);
  await host.install(packedPlugin(), OPTIONS);
  await host.loadPlugin("odd-results");
  host.env.PLANTED_KEY = MASKED["from its configuration"];
  await host.configure((config) => {
    config.logging = { redactPatterns: [String.raw`\bberth-[a-z]+\b`] };
    config.models.providers.scripted.apiKey = { source: "env", provider: "default", id: "PLANTED_KEY" };
  });
  await host.start();
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

const storeFiles = () => path.join(host.home, "originals");

/** Returns a file name made of words. */
const fileOf = (words) => `${words.replaceAll(/\W+/g, "-")}.log`;

/** Makes the model call a tool in a separate turn. Returns the result that the model received. */
async function resultOf(name, args) {
  const [turn] = await playTurns(host, provider, SESSION, [
    { user: `Call ${name}.`, steps: [[{ name, args }], "Called."] },
  ]);
  return turn.requests[1].rows.flatMap(({ results }) => results).at(-1).text;
}

/** Returns an original from the files that are on the disk now. */
const onDisk = async (id) => (await originalsIn(storeFiles(), host, [id])).get(id);

test("for a result of 5 MB the model is told where the host cut it", async () => {
  const all = numberedLines(5_000_000);
  const shown = await resultOf("print_much", { chars: 5_000_000 });
  say(shown.slice(-300));
  const [id] = idsIn(shown);
  assert.equal(await onDisk(id), all.slice(0, HANDED_ON));
  assert.match(shown, /cut by the host at 100,000 characters; the rest was never received/);
  const whole = await resultOf("print_much", { chars: 60_000 });
  assert.doesNotMatch(whole, /cut by the host/);
});

test("for a result that the host rejects the model is told its type and size", async () => {
  const shown = await resultOf("record_sound", {});
  assert.match(shown, /^\[The tool answered with audio\/wav of 32000 base64 characters\. It cannot be shown: /);
  assert.equal(host.ownLines.filter((line) => line.includes("passing on a result of record_sound")).length, 1);
  await resultOf("record_sound", {});
  assert.equal(host.ownLines.length, 1, host.ownLines.join("\n"));
});

test("the host drops a sound beside a text and keeps the text", async () => {
  assert.equal(await resultOf("record_sound", { caption: "a dog" }), "a dog");
});

test("text that the host masks is never stored, and is later folded as the host shows it", async () => {
  // Each line contains something unpredictable, so that results which codecs shorten are still replaced by references.
  const trace = (word, at) => createHash("sha256").update(`${word} ${at}`).digest("hex").slice(0, 16);
  const steps = (word) => Array.from({ length: 400 }, (_, at) => `step ${at} leaves ${word}-${trace(word, at)}`);
  const commands = new Map();
  for (const [how, value] of Object.entries({ ...MASKED, "not at all": PLAIN })) {
    const [inside, beside] = [fileOf(`${how}, printed`), fileOf(`${how}, named`)];
    // The value crosses the end of the first piece that is examined.
    const before = steps(inside).join("\n").slice(0, 3990);
    fs.writeFileSync(
      path.join(host.workspace, inside),
      `${before}\nthe lamp of ${value} is lit\n${steps(inside).join("\n")}`,
    );
    fs.writeFileSync(path.join(host.workspace, beside), steps(beside).join("\n"));
    commands.set(`cat ${inside}`, value).set(`cat ${beside} # ${value}`, value);
  }
  const calls = [...commands.keys()].map((command) => ({ name: "exec", args: { command } }));
  const [turn] = await playTurns(host, provider, MASKING, [{ user: "Show the steps.", steps: [calls, "Shown."] }]);
  for (const [command, value] of commands) {
    const isFolded = idsIn(findResult(turn.requests[1], about(command)).text).length > 0;
    assert.equal(isFolded, value === PLAIN, command);
  }
  const rest = Array.from({ length: 6 }, () => ({ user: "Go on.", steps: ["Going on."] }));
  const last = (await playTurns(host, provider, MASKING, rest)).at(-1).requests[0];
  assert.ok(idsIn(conversation(last)).length >= commands.size, conversation(last));
  const stored = everythingIn(storeFiles());
  assert.ok(stored.includes(`the lamp of ${PLAIN} is lit`));
  assert.ok(stored.includes(`named.log # ${PLAIN}`), "a label names the command");
  for (const value of Object.values(MASKED)) assert.ok(!stored.includes(value), value);
});

test("after the store's files were deleted, the next result is stored in new files and one line is logged", async () => {
  host.log = "";
  fs.rmSync(storeFiles(), { recursive: true });
  const shown = await resultOf("print_much", { chars: 70_000 });
  const [id] = idsIn(shown);
  if (id === undefined) assert.equal(shown.slice(0, 15_000), numberedLines(70_000).slice(0, 15_000));
  else assert.equal(await onDisk(id), numberedLines(70_000));
  assert.equal(host.ownLines.length, 1, host.ownLines.join("\n"));
  say(host.ownLines[0]);
  await sameInChatAndTerminal(/chat agent:main:work shows \d+ placeholders? whose originals the store does not have/);
});

/** Checks that the chat and the command line report the trouble identically, and returns the report. */
async function sameInChatAndTerminal(trouble) {
  const warningsIn = (text) =>
    text
      .split("\n")
      .filter((line) => line.startsWith("warning"))
      .map((line) => line.replace(/\(since .*\)$/, "").trim())
      .toSorted();
  const chat = await host.slash(SESSION, "/concertina status");
  const { output } = await host.run(["concertina", "status"]);
  say(chat);
  assert.match(chat, trouble);
  const ofOthers = (line) => !/chat (?!agent:main:work)/.test(line);
  assert.deepEqual(warningsIn(output).filter(ofOthers), warningsIn(chat).filter(ofOthers));
}

test("a damaged store is set aside with today's date, and a new one is used", async () => {
  const enable = (enabled) => host.configure(({ plugins: { entries } }) => (entries.concertina.enabled = enabled));
  await enable(false);
  const file = path.join(storeFiles(), "concertina.sqlite");
  for (const suffix of ["-wal", "-shm"]) fs.rmSync(`${file}${suffix}`, { force: true });
  fs.writeFileSync(file, "this was a store once".repeat(1000));
  host.log = "";
  await enable(true);
  const [id] = idsIn(await resultOf("print_much", { chars: 80_000 }));
  assert.equal(await onDisk(id), numberedLines(80_000));
  const today = new Date().toISOString().slice(0, 10);
  assert.deepEqual(
    fs.readdirSync(storeFiles()).filter((name) => name.includes("damaged")),
    [`concertina.sqlite.damaged-${today}`],
  );
  const [line] = host.ownLines;
  say(line);
  assert.ok(line.includes(`concertina.sqlite.damaged-${today}`), line);
  await sameInChatAndTerminal(/concertina\.sqlite\.damaged-\S+ is a damaged store that was set aside/);
});

test("a store that is damaged while a gateway runs is set aside, and the turn continues", async () => {
  const file = path.join(storeFiles(), "concertina.sqlite");
  const asides = () =>
    fs.readdirSync(storeFiles()).filter((name) => name.includes(".damaged-") && !/-(?:wal|shm)$/.test(name)).length;
  const before = asides();
  const [kept] = idsIn(await resultOf("print_much", { chars: 80_500 }));
  assert.equal(await onDisk(kept), numberedLines(80_500));
  const store = new DatabaseSync(file);
  store.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  store.close();
  host.log = "";
  const { size } = fs.statSync(file);
  const open = fs.openSync(file, "r+");
  fs.writeSync(open, Buffer.alloc(size, 0xa5), 0, size, 0);
  fs.closeSync(open);
  const shown = [];
  for (const chars of [81_000, 82_000]) shown.push(await resultOf("print_much", { chars }));
  say(host.ownLines.join("\n"));
  const [id] = idsIn(shown[1]);
  assert.equal(await onDisk(id), numberedLines(82_000));
  assert.equal(asides(), before + 1);
  assert.equal(host.ownLines.filter((line) => line.includes(".damaged-")).length, 1, host.ownLines.join("\n"));
});

test("with `redact` masked text is folded and never stored or shown, also from before it was masked", async () => {
  const filler = (name) => Array.from({ length: 200 }, (_, at) => `${name} has ${at * 7919} bolts`).join("\n");
  const built = [LATER, PLAIN].flatMap((value, at) => {
    const [written, read] = [`keel-${at}`, `mast-${at}`];
    fs.writeFileSync(path.join(host.workspace, read), `${filler("deck")}\nthe mast of ${value} stands\n`);
    return [
      { name: "write", args: { path: written, content: `${filler("hull")}\nthe keel of ${value} is laid\n` } },
      { name: "read", args: { path: read } },
    ];
  });
  await playTurns(host, provider, ASSEMBLED, [{ user: "Build the ship.", steps: [built, "Built."] }]);
  await host.configure(({ plugins, logging }) => {
    plugins.entries.concertina.config.secrets = "redact";
    logging.redactPatterns.push(String.raw`\bpier-[a-z]+\b`);
  });
  const rest = Array.from({ length: 12 }, () => ({ user: "Go on.", steps: ["Going on."] }));
  await playTurns(host, provider, ASSEMBLED, rest);
  const commands = new Map(Object.entries(MASKED).map(([how, value]) => [`cat ${fileOf(`${how}, printed`)}`, value]));
  const calls = [...commands.keys()].map((command) => ({ name: "exec", args: { command } }));
  const [turn] = await playTurns(host, provider, REDACTING, [{ user: "Show the steps.", steps: [calls, "Shown."] }]);
  for (const [command, value] of commands) {
    const shown = findResult(turn.requests[1], about(command)).text;
    const [id] = idsIn(shown);
    assert.ok(id !== undefined && !shown.includes(value), shown);
    assert.match(await onDisk(id), /the lamp of .+ is lit/);
  }
  const stored = everythingIn(storeFiles());
  for (const part of ["keel", "mast"])
    assert.ok(stored.includes(`the ${part} of ${PLAIN} `), `folded by an assembly: ${part}`);
  for (const value of [...Object.values(MASKED), LATER]) assert.ok(!stored.includes(value), value);
});

/** Checks that the gateway sends what the tools answered, and logs one line. */
async function assertUntouched(sessionKey, line) {
  const commands = new Map([
    ["sh run-tests.sh", testOutput(false)],
    ["sh install.sh", installLog()],
  ]);
  const calls = [...commands.keys()].map((command) => [{ name: "exec", args: { command } }]);
  const played = await playTurns(host, provider, sessionKey, [
    { user: "Run the tests and install.", steps: [...calls, "Done."] },
    { user: "And now?", steps: ["Nothing."] },
  ]);
  for (const request of [played[0].requests[2], played[1].requests[0]])
    for (const [command, output] of commands)
      assert.equal(findResult(request, about(command)).text, output.trimEnd(), command);
  assert.equal(host.ownLines.length, 1, host.ownLines.join("\n"));
  assert.match(host.ownLines[0], line);
  assert.doesNotMatch(host.log, /degraded/);
}

test("if the store cannot be opened, turns use the host's own messages and one line is logged", async () => {
  fs.writeFileSync(path.join(host.state, "in-the-way"), "");
  host.log = "";
  await host.setOptions({ ...OPTIONS, sccsStorageDir: "in-the-way" });
  await assertUntouched(
    "agent:main:without-store",
    /opening the store failed .* context is sent to the model unchanged/,
  );
  await host.setOptions(OPTIONS);
});

test("if the native library does not load, turns use the host's own messages and one line is logged", async () => {
  const [native] = fs.globSync("npm/projects/**/*.node", { cwd: host.state });
  fs.writeFileSync(path.join(host.state, native), "not a library");
  host.log = "";
  await host.openclaw(["plugins", "reload", "concertina"]);
  await assertUntouched(
    "agent:main:without-library",
    /the native library does not load .* context is sent to the model unchanged/,
  );
});
