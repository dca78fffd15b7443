// Tests with the oldest OpenClaw that the README names: the minimum promises hold there too.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { Host, packedPlugin } from "./host.mjs";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, idsIn, isFolded } from "./reading.mjs";
import { apiModule, fillWorkspace, installLog, testOutput, turns } from "./session.mjs";

const SESSION = "agent:main:work";

let host;
let provider;
let played;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "oldest", provider, release: "openclaw-oldest" });
  fillWorkspace(host.workspace);
  await host.install(packedPlugin());
  await host.openclaw(["plugins", "enable", "concertina"]);
  await host.start();
  played = await playTurns(host, provider, SESSION, turns);
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

const turnAbout = (words) => played.find(({ user }) => user.includes(words));

test("the release is the oldest one that the README names", async () => {
  const [, named] = /in OpenClaw (\S+) or later/.exec(
    fs.readFileSync(new URL("../../README.md", import.meta.url), "utf8"),
  );
  assert.ok((await host.openclaw(["--version"])).includes(named));
});

test("this engine answers every turn without a warning", () => {
  assert.deepEqual(
    played.map(({ reply }) => reply),
    turns.map(({ steps }) => steps?.at(-1) ?? "Here it is."),
  );
  assert.deepEqual(provider.failures, []);
  assert.doesNotMatch(host.log, /degraded|quarantin|concertina:/i);
});

test("fresh and old results are folded and fetched back byte for byte", () => {
  const tests = findResult(turnAbout("Run the tests").requests[1], about("sh run-tests.sh"));
  assert.ok(isFolded(tests.text, testOutput(false)), tests.text);
  assert.equal(findResult(turnAbout("Read the API module").requests[1], about("src/api.ts")).text, apiModule);
  const stale = findResult(played.at(-1).requests[0], about("src/api.ts"));
  assert.ok(isFolded(stale.text, apiModule), stale.text);
  assert.equal(fetched(turnAbout("before we changed it")), apiModule);
  assert.equal(fetched(turnAbout("first run")), testOutput(false).trimEnd());
});

test("figures and unfolded transcripts are read from the host's own files", async () => {
  const { sessions, total } = await host.openclawJson(["concertina", "stats"]);
  assert.deepEqual(
    [sessions.map(({ sessionKey }) => sessionKey), total.requests],
    [[SESSION], provider.requests.length],
  );
  const out = path.join(host.root, "unfolded");
  await host.openclaw(["concertina", "unfold", "--out", out]);
  const [file] = fs.globSync("main/*.jsonl", { cwd: out });
  const copy = fs.readFileSync(path.join(out, file), "utf8");
  assert.deepEqual(idsIn(copy), []);
  assert.ok(copy.includes(JSON.stringify(installLog().trimEnd()).slice(1, -1)));
});
