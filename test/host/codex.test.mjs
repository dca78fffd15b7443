// Tests of a session whose agent runs in Codex: what the model is sent, and what Concertina changes.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { installCodex, withoutCodex } from "./codex.mjs";
import { Host, packedPlugin } from "./host.mjs";
import { records } from "./odd-results/index.js";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { findResult, idsIn, isFolded, prefixBreaks } from "./reading.mjs";
import { fillWorkspace, testOutput } from "./session.mjs";

const LISTED = 300;
const named =
  (wanted) =>
  ({ name }) =>
    name === wanted;

/** Parses a tool result, as scripts of a model do. */
const SCRIPT = `const rows = JSON.parse(await tools.openclaw__list_records({ count: ${LISTED} })); text(rows.reduce((sum, { amount }) => sum + amount, 0));`;

const direct = (name, args) => ({ name, namespace: "openclaw_direct", args });
const fetchPrinted = (request) => [
  direct("fetch_original_data", { ref_ids: idsIn(findResult(request, named("print_tests")).text) }),
];

const turns = [
  { user: "Print the tests.", steps: [[direct("print_tests", {})], "They are long."] },
  {
    user: "Run the tests.",
    steps: [
      [{ name: "exec_command", args: { cmd: "cat logs/failed.log", max_output_tokens: 20_000 } }],
      "Two refund tests fail.",
    ],
  },
  { user: "Add up the records.", steps: [[{ name: "exec", input: SCRIPT }], "That is the sum."] },
  {
    user: "List the records.",
    steps: [[{ name: "list_records", namespace: "openclaw", args: { count: LISTED } }], "There they are."],
  },
  { user: "What was in them?", steps: [fetchPrinted, "Two failures."] },
  { user: "Thank you.", steps: ["You are welcome."] },
];

describe("in OpenClaw's Codex runtime", { skip: withoutCodex() }, () => {
  let host;
  let provider;
  let played;

  before(async () => {
    provider = await startProvider();
    host = new Host({ name: "Codex", provider });
    fillWorkspace(host.workspace);
    await installCodex(host, provider);
    await host.loadPlugin("odd-results");
    await host.install(packedPlugin());
    await host.start();
    played = await playTurns(host, provider, "agent:main:work", turns);
  });

  after(async () => {
    await host?.remove();
    await provider?.stop();
  });

  /** Returns the result of a call of a turn, as the model received it. */
  const answer = (turn, name) => findResult(played[turn].requests.at(-1), named(name)).text;

  test("Codex answers every turn", () => {
    assert.deepEqual(
      played.map(({ reply }) => reply),
      turns.map(({ steps }) => steps.at(-1)),
    );
    assert.deepEqual(provider.failures, []);
    assert.ok(
      provider.requests.every(({ tools }) => tools.includes("exec_command") && tools.includes("fetch_original_data")),
    );
    assert.doesNotMatch(host.log, /quarantin|middleware failed|assemble failed|concertina:/i);
  });

  test("a result of an OpenClaw tool is folded before the model first sees it", () => {
    assert.ok(isFolded(answer(0, "print_tests"), testOutput(false)), answer(0, "print_tests"));
    assert.ok(isFolded(answer(3, "list_records"), JSON.stringify(records(LISTED), null, 1)), answer(3, "list_records"));
  });

  test("the model fetches it back byte for byte", () => assert.equal(fetched(played[4]), testOutput(false)));

  test("a result of Codex's own tools is sent to the model unchanged", () =>
    assert.ok(answer(1, "exec_command").includes(testOutput(false).trimEnd())));

  test("a script of the model reads the unchanged result of a tool", () => {
    const sum = records(LISTED).reduce((total, { amount }) => total + amount, 0);
    assert.match(answer(2, "exec"), new RegExp(`\\b${sum}$`));
  });

  test("a turn adds the user's message to Codex's thread and changes nothing that was sent", () => {
    assert.deepEqual(
      played.map(({ requests }) => requests[0].rows.at(-1).text),
      turns.map(({ user }) => user),
    );
    assert.deepEqual(prefixBreaks(provider.requests), []);
  });

  test("the figures contain no request of Codex, and folded tokens are those that the provider did not receive", async () => {
    const { total, kinds, store } = await host.openclawJson(["concertina", "stats"]);
    assert.equal(total.requests, 0);
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ["tool results"],
    );
    assert.equal(store.originals, 2);
  });
});
