// Short tests: the Anthropic dialect, a session that is purged at its reset, an unusable store and an unusable library.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Host, packedPlugin } from "./host.mjs";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, isFolded } from "./reading.mjs";
import { fillWorkspace, installLog, testOutput, turns } from "./session.mjs";

const SESSION = "agent:main:work";
const COMMAND = "sh run-tests.sh";

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "Anthropic dialect", provider, api: "anthropic-messages" });
  fillWorkspace(host.workspace);
  // Results that codecs shorten are still replaced by references.
  await host.install(packedPlugin(), { purgeOnReset: true, sccsCompressThreshold: 3000 });
  await host.start();
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

test("in the Anthropic dialect results are folded at birth and come back byte for byte", async () => {
  const words = ["Run the tests", "Install everything", "first run", "Thank you"];
  const played = await playTurns(
    host,
    provider,
    SESSION,
    words.map((word) => turns.find(({ user }) => user.includes(word))),
  );
  assert.ok("system" in provider.requests[0].body);
  assert.ok(isFolded(findResult(played[0].requests[1], about(COMMAND)).text, testOutput(false)));
  assert.ok(isFolded(findResult(played[1].requests[1], about("sh install.sh")).text, installLog()));
  assert.equal(fetched(played[2]), testOutput(false).trimEnd());
  assert.doesNotMatch(host.log, /degraded/);
  assert.deepEqual(provider.failures, []);
});

test("with purgeOnReset a reset leaves nothing of the session in the store", async () => {
  assert.ok((await host.openclawJson(["concertina", "stats"])).store.originals > 0);
  await host.call("sessions.reset", { key: SESSION });
  let stats;
  for (let tries = 0; tries < 10 && stats?.store.originals !== 0; tries++) {
    await sleep(200);
    stats = await host.openclawJson(["concertina", "stats"]);
  }
  assert.deepEqual([stats.store.originals, stats.sessions], [0, []]);
  assert.deepEqual(host.ownLines, []);
});

test("with a store that cannot be opened turns use the host's own messages and one line is logged", async () => {
  await host.stop();
  const directory = path.join(host.state, "concertina");
  fs.rmSync(directory, { recursive: true });
  fs.writeFileSync(directory, "in the way");
  await assertUntouched(/opening the store failed .* context goes to the model unchanged/);
  fs.rmSync(directory);
});

test("without a native library that loads the same", async () => {
  await host.stop();
  const native = fs.globSync("**/openclaw-concertina*/**/*.node", { cwd: host.state });
  assert.equal(native.length, 1);
  fs.writeFileSync(path.join(host.state, native[0]), "not a library");
  await assertUntouched(/the native library does not load .* context goes to the model unchanged/);
});

async function assertUntouched(line) {
  host.log = "";
  await host.start();
  const steps = [
    [{ name: "exec", args: { command: COMMAND } }],
    [{ name: "exec", args: { command: "sh install.sh" } }],
    "Done.",
  ];
  const played = await playTurns(host, provider, SESSION, [
    { user: "Run the tests and install.", steps },
    { user: "And now?", steps: ["Nothing."] },
  ]);
  for (const request of [played[0].requests[2], played[1].requests[0]]) {
    assert.equal(findResult(request, about(COMMAND)).text, testOutput(false).trimEnd());
    assert.equal(findResult(request, about("sh install.sh")).text, installLog().trimEnd());
  }
  assert.equal(host.ownLines.length, 1, host.ownLines.join("\n"));
  assert.match(host.ownLines[0], line);
  assert.doesNotMatch(host.log, /degraded/);
  await host.call("sessions.reset", { key: SESSION });
}
