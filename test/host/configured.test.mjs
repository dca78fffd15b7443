// Tests that need a configuration of their own. One gateway takes each without a restart: repeated rules, the Anthropic
// dialect, sessions that are purged at their reset, and the host's own pruner.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { chapterOfWords } from "./chapters.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, idsIn, isFolded } from "./reading.mjs";
import { fillWorkspace, installLog, testOutput, turns } from "./session.mjs";

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "configured", provider });
  fillWorkspace(host.workspace);
  const claude = { provider, api: "anthropic-messages" };
  await host.addAgent("claude", claude);
  await host.addAgent("pruned", { ...claude, contextWindow: 100_000 });
  // The host takes this one for Anthropic's own service.
  await host.addAgent("anthropic", { ...claude, contextWindow: 100_000 });
  await host.configure(({ models: { providers } }) => {
    providers.anthropic.baseUrl = `http://api.anthropic.com:${new URL(provider.url).port}`;
    providers.anthropic.apiKey = "sk-ant-api03-none";
    providers.anthropic.request = { allowPrivateNetwork: true };
  });
  host.env.NODE_OPTIONS = `--import=${path.join(import.meta.dirname, "as-anthropic.mjs")}`;
  await host.install(packedPlugin());
  await host.start();
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

describe("with the rules of a workspace repeated every second turn", () => {
  const HEAD = "The rules of this workspace, repeated:";
  const WORDS = "Please, could you actually say just one single word?";
  let played;

  before(async () => {
    fs.mkdirSync(path.join(host.workspace, "rules"));
    const write = (name, text) => fs.writeFileSync(path.join(host.workspace, name), text);
    write("rules/style.md", "## Style\n\nUse the **configuration** of the repository.\n");
    write("rules/safety.md", "---\npriority: 1\n---\nNever push to main without a review.\n");
    write("../secret.md", "A file outside of the workspace.\n");
    fs.symlinkSync(path.join(host.root, "secret.md"), path.join(host.workspace, "rules/zz-link.md"));
    host.log = "";
    await host.configure(({ plugins: { entries } }) => {
      entries.concertina.config = { rules: { refreshEveryTurns: 2, files: ["rules/*.md", "../secret.md"] } };
      // The host passes conversations to a plugin's hooks only if its operator permits it.
      entries.concertina.hooks = { allowConversationAccess: true };
    });
    const turns = ["One.", "Two.", "Three.", "Four."].map((reply) => ({ user: `${WORDS} ${reply}`, steps: [reply] }));
    played = await playTurns(host, provider, "agent:main:rules", turns);
  });

  const systemOf = ({ body }) => JSON.stringify(body.messages.filter(({ role }) => role === "system"));
  /** Returns the messages of a request after the model's last message, as text. */
  const lastOf = ({ body: { messages } }) =>
    JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1));

  test("every second turn ends with the rules, the most important first", () => {
    const ends = played.map(({ requests }) => lastOf(requests[0]));
    assert.deepEqual(
      ends.map((end) => end.includes(HEAD)),
      [false, true, false, true],
    );
    assert.match(ends[1], /Never push to main without review\..*\[Style\]\\nUse cfg of repo\./);
    assert.ok(ends[1].indexOf(HEAD) > ends[1].indexOf(WORDS), "behind what the user said");
  });

  test("the system prompt and the user's messages are unchanged", () => {
    const systems = new Set(played.map(({ requests }) => systemOf(requests[0])));
    assert.equal(systems.size, 1);
    assert.ok(![...systems][0].includes(HEAD));
    for (const { user, requests } of played) assert.ok(lastOf(requests[0]).includes(user));
  });

  test("a file outside of the workspace is not read, and one line is logged for all turns", () => {
    assert.ok(provider.requests.every(({ body }) => !JSON.stringify(body).includes("outside of the workspace.")));
    assert.equal(host.ownLines.length, 1, host.ownLines.join("\n"));
    assert.match(
      host.ownLines[0],
      /repeating the rules failed \(rules\.files has "\.\.\/secret\.md"; it must be .*the turn continues/,
    );
  });

  test("each repetition is stored as a receipt", () => {
    const store = new DatabaseSync(path.join(host.state, "concertina", "concertina.sqlite"), { readOnly: true });
    const own = store.prepare("SELECT tokens_before, tokens_after FROM receipts WHERE kind = 'rules'").all();
    store.close();
    assert.equal(own.length, 2);
    assert.ok(own.every((receipt) => receipt.tokens_after > 0 && receipt.tokens_after <= receipt.tokens_before));
  });
});

describe("in the Anthropic dialect, with purgeOnReset", () => {
  const SESSION = "agent:claude:work";
  const COMMAND = "sh run-tests.sh";
  const stats = () => host.openclawJson(["concertina", "stats"]);

  before(async () => {
    host.log = "";
    // Results that codecs shorten are still replaced by references.
    await host.setOptions({ purgeOnReset: true, sccsCompressThreshold: 3000 });
  });

  test("in the Anthropic dialect results are folded at birth and fetched back byte for byte", async () => {
    const words = ["Run the tests", "Install everything", "first run", "Thank you"];
    const own = words.map((word) => turns.find(({ user }) => user.includes(word)));
    const played = await playTurns(host, provider, SESSION, own);
    assert.ok("system" in played[0].requests[0].body);
    assert.ok(isFolded(findResult(played[0].requests[1], about(COMMAND)).text, testOutput(false)));
    assert.ok(isFolded(findResult(played[1].requests[1], about("sh install.sh")).text, installLog()));
    assert.equal(fetched(played[2]), testOutput(false).trimEnd());
    assert.doesNotMatch(host.log, /degraded/);
    assert.deepEqual(provider.failures, []);
  });

  test("with purgeOnReset a reset deletes the session from the store", async () => {
    const before = await stats();
    assert.ok(before.store.originals > 0);
    await host.call("sessions.reset", { key: SESSION });
    let after = before;
    for (let tries = 0; tries < 10 && after.store.originals !== 0; tries++) {
      await sleep(200);
      after = await stats();
    }
    const others = before.sessions.filter(({ sessionKey }) => sessionKey !== SESSION);
    assert.deepEqual([after.store.originals, after.sessions], [0, others]);
    assert.deepEqual(host.ownLines, []);
  });
});

describe("with the host's own pruner", () => {
  const FETCH = "fetch_original_data";
  const COMMAND = "cat steps.log";
  /** About 12,000 characters that stages cannot shorten without an id. */
  const steps = Array.from(
    { length: 170 },
    (_, at) => `step ${at} leaves ${createHash("sha256").update(`step ${at}`).digest("hex").slice(0, 48)}`,
  ).join("\n");
  /** Returns about 11,000 characters. The context must be long for the host but not full. */
  const chapter = (number) => chapterOfWords(number, 110, "and writes that down before evening.");
  const numbers = Array.from({ length: 14 }, (_, at) => at);

  /** Folds a result, fetches it, and continues reading until both are old. */
  const session = [
    { user: "Show the steps.", steps: [[{ name: "exec", args: { command: COMMAND } }], "Shown."] },
    { user: "What were they exactly?", recall: COMMAND },
    {
      user: "Read the chapters.",
      steps: [numbers.map((number) => ({ name: "read", args: { path: `chapter-${number}.txt` } })), "Read."],
    },
    { user: "Go on.", steps: ["Going on."] },
    { user: "Go on.", steps: ["Going on."] },
    { user: "Go on.", steps: ["Going on."] },
  ];
  const last = [{ user: "And now?", steps: ["Nothing."] }];

  const isFetch = ({ name }) => name === FETCH;
  const warnings = () => host.ownLines.filter((line) => line.includes("the host's own pruner is on"));

  /** Makes the host prune, except for the results of some tools, with our options as given. */
  const prune = (tools) => {
    host.log = "";
    return host.configure(({ agents, plugins: { entries } }) => {
      agents.defaults.contextPruning = { mode: "cache-ttl", ttl: "1s", tools };
      entries.concertina.config = { sccsCompressThreshold: 3000 };
    });
  };

  /** Plays the session, waits until the cache is cold, and continues. */
  async function prunedTurn(sessionKey) {
    await playTurns(host, provider, sessionKey, session);
    await sleep(1500);
    const [turn] = await playTurns(host, provider, sessionKey, last);
    return turn.requests[0];
  }

  before(() => {
    fs.writeFileSync(path.join(host.workspace, "steps.log"), steps);
    for (const number of numbers) fs.writeFileSync(path.join(host.workspace, `chapter-${number}.txt`), chapter(number));
  });

  test("after a pause the host's pruner cuts a fetched original, and the operator is told how to prevent it", async () => {
    await prune(undefined);
    const request = await prunedTurn("agent:pruned:cut");
    const arrived = findResult(request, isFetch).text;
    say(`of ${steps.length} characters arrive ${arrived.length}: ${JSON.stringify(arrived.slice(-120))}`);
    assert.match(arrived, /\[Tool result trimmed: kept first 1500 chars and last 1500 chars of \d+ chars\.\]$/);
    assert.equal(idsIn(findResult(request, about(COMMAND)).text).length, 1);
    assert.equal(warnings().length, 1);
    assert.match(warnings()[0], /contextPruning\.tools\.deny: \["fetch_original_data"\]/);
  });

  test("with tools.deny a fetched original is whole, and other results are cut", async () => {
    await prune({ deny: [FETCH] });
    const request = await prunedTurn("agent:pruned:whole");
    assert.equal(findResult(request, isFetch).text, steps);
    assert.match(findResult(request, about("chapter-0.txt")).text, /Tool result trimmed/);
    assert.equal(warnings().length, 1);
    assert.match(warnings()[0], /it does not prune fetched originals/);
  });

  test("with an Anthropic API key the provider is asked to clear old results, except those of denied tools", async () => {
    const played = await playTurns(host, provider, "agent:anthropic:cleared", session.slice(0, 2));
    const request = played.at(-1).requests.at(-1);
    const { context_management: asked } = request.body;
    say(`asked of Anthropic: ${JSON.stringify(asked)}`);
    const clearing = asked.edits.find(({ type }) => type === "clear_tool_uses_20250919");
    assert.deepEqual(clearing.keep, { type: "tool_uses", value: 3 });
    assert.deepEqual(clearing.exclude_tools, [FETCH]);
    assert.equal(findResult(request, isFetch).text, steps);
    assert.equal(warnings().length, 2);
    assert.match(warnings()[1], /the provider is asked to clear all but the three newest/);
    assert.deepEqual(provider.failures, []);
  });
});
