// Tests of the workspace's rules, which are repeated at the end of the context every second turn.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import { Host, packedPlugin } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";

const HEAD = "The rules of this workspace, repeated:";
const WORDS = "Please, could you actually say just one single word?";

let host;
let provider;
let played;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "rules", provider });
  fs.mkdirSync(path.join(host.workspace, "rules"));
  fs.writeFileSync(
    path.join(host.workspace, "rules/style.md"),
    "## Style\n\nUse the **configuration** of the repository.\n",
  );
  fs.writeFileSync(
    path.join(host.workspace, "rules/safety.md"),
    "---\npriority: 1\n---\nNever push to main without a review.\n",
  );
  fs.writeFileSync(path.join(host.root, "secret.md"), "A file outside of the workspace.\n");
  fs.symlinkSync(path.join(host.root, "secret.md"), path.join(host.workspace, "rules/zz-link.md"));
  await host.install(packedPlugin(), { rules: { refreshEveryTurns: 2, files: ["rules/*.md", "../secret.md"] } });
  // The host passes conversations to a plugin's hooks only if its operator permits it.
  const config = host.readConfig();
  config.plugins.entries.concertina.hooks = { allowConversationAccess: true };
  host.writeConfig(config);
  await host.start();
  const turns = ["One.", "Two.", "Three.", "Four."].map((reply) => ({ user: `${WORDS} ${reply}`, steps: [reply] }));
  played = await playTurns(host, provider, "agent:main:rules", turns);
});

after(async () => {
  await host?.remove();
  await provider?.stop();
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

test("the bytes of the system prompt stay, and so do the user's words", () => {
  const systems = new Set(played.map(({ requests }) => systemOf(requests[0])));
  assert.equal(systems.size, 1);
  assert.ok(![...systems][0].includes(HEAD));
  for (const { user, requests } of played) assert.ok(lastOf(requests[0]).includes(user));
});

test("what lies outside of the workspace is not read, and one line says so, however many turns it concerns", () => {
  assert.ok(provider.requests.every(({ body }) => !JSON.stringify(body).includes("outside of the workspace.")));
  const lines = host.log.split("\n").filter((line) => line.includes("concertina:"));
  assert.equal(lines.length, 1, lines.join("\n"));
  assert.match(
    lines[0],
    /repeating the rules failed \(rules\.files has "\.\.\/secret\.md"; it must be .*the turn goes on/,
  );
});

test("what was repeated is kept as a receipt", () => {
  const store = new DatabaseSync(path.join(host.state, "concertina", "concertina.sqlite"), { readOnly: true });
  const own = store.prepare("SELECT tokens_before, tokens_after FROM receipts WHERE kind = 'rules'").all();
  store.close();
  assert.equal(own.length, 2);
  assert.ok(own.every((receipt) => receipt.tokens_after > 0 && receipt.tokens_after <= receipt.tokens_before));
});
