// Tests of what every user does, in a real host: installs the published package by its name on a machine without
// compilers, works in a long session, restarts the gateway, and uninstalls the package.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { withoutCompilers } from "../tools.mjs";
import { Host, packedPlugin } from "./host.mjs";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, conversation, findResult, idsIn, isFolded, pieces } from "./reading.mjs";
import { apiModule, fillWorkspace, fixtures, installLog, screenshot, testOutput, turns } from "./session.mjs";
import { sessionsOf, transcriptOf } from "./transcripts.mjs";

const SESSION = "agent:main:work";

let host;
let provider;
let played;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "session", provider });
  fillWorkspace(host.workspace);
  host.env.PATH = withoutCompilers(path.join(host.root, "tools"));
  // With a new cache, npm must download everything.
  host.env.npm_config_cache = path.join(host.root, "cache");
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

const turnAbout = (words) => played.find(({ user }) => user.includes(words));

/** Installs from the complete registry of `CONCERTINA_REGISTRY`, or from one without the platforms' archives. */
const installFrom = (registry, spec) => {
  host.env.npm_config_registry = new URL(`../${registry}/`, process.env.CONCERTINA_REGISTRY).href;
  return host.run(["plugins", "install", spec, "--force", "--accept-capabilities"]);
};

test("the host undoes an install without the platform's package", async () => {
  const { code, output, errors } = await installFrom("lost", `npm-pack:${packedPlugin()}`);
  assert.notEqual(code, 0, output);
  assert.match(
    `${output}${errors}`,
    /required current-platform package\(s\) missing or incomplete: openclaw-concertina-/,
  );
  assert.deepEqual(fs.globSync("npm/projects/*/node_modules/openclaw-concertina", { cwd: host.state }), []);
  assert.equal(host.readConfig().plugins?.entries?.concertina, undefined);
});

test("an install from the registry has one binary", async () => {
  const { code, output, errors } = await installFrom("whole", "npm:openclaw-concertina");
  assert.equal(code, 0, `${output}${errors}`);
  const binaries = fs.globSync("npm/projects/**/*.node", { cwd: host.state });
  assert.equal(binaries.length, 1, binaries.join());
});

test("the host loads the plugin with everything it declares", async () => {
  const inspected = await host.openclawJson(["plugins", "inspect", "concertina", "--runtime"]);
  const { plugin } = inspected;
  assert.equal(plugin.status, "loaded");
  assert.deepEqual(plugin.contextEngineIds, ["concertina"]);
  assert.deepEqual(plugin.toolNames, ["fetch_original_data"]);
  assert.deepEqual(plugin.cliCommands, ["concertina"]);
  assert.deepEqual(plugin.commands, ["concertina"]);
  assert.deepEqual(inspected.diagnostics, []);
  assert.equal(host.readConfig().plugins.slots.contextEngine, "concertina");
});

test("this engine answers every turn without a warning", async () => {
  await host.start();
  played = await playTurns(host, provider, SESSION, turns);
  assert.deepEqual(
    played.map(({ reply }) => reply),
    turns.map(({ steps }) => steps?.at(-1) ?? "Here it is."),
  );
  assert.deepEqual(provider.failures, []);
  assert.doesNotMatch(host.log, /degraded|quarantin/i);
  assert.doesNotMatch(host.log, /concertina:/);
});

test("a result is folded before the model first sees it", () => {
  const tests = findResult(turnAbout("Run the tests").requests[1], about("sh run-tests.sh"));
  assert.ok(isFolded(tests.text, testOutput(false)), tests.text);
  const install = findResult(turnAbout("Install everything").requests[1], about("sh install.sh"));
  assert.ok(isFolded(install.text, installLog()), install.text);
});

test("a file read is exact while it is fresh and is folded when it is stale", () => {
  const fresh = findResult(turnAbout("Read the API module").requests[1], about("src/api.ts"));
  assert.equal(fresh.text, apiModule);
  const stale = findResult(played.at(-1).requests[0], about("src/api.ts"));
  assert.ok(isFolded(stale.text, apiModule), stale.text);
  assert.match(stale.text, /\[REF_ID: [0-9a-f]{16}\]/);
});

test("old arguments are folded inside their call", () => {
  const write = ({ name }) => name === "write";
  assert.equal(findResult(turnAbout("Write fixtures").requests[1], write).call.args.content, fixtures);
  const { call } = findResult(played.at(-1).requests[0], write);
  assert.equal(call.args.path, "fixtures/orders.json");
  assert.ok(isFolded(call.args.content, fixtures), call.args.content);
  assert.equal(idsIn(call.args.content).length, 1);
});

test("an image is unchanged in its own turn and folded at the end", () => {
  const data = screenshot().toString("base64");
  const images = (request) => request.rows.flatMap((row) => row.images);
  assert.ok(images(turnAbout("shot.png").requests[1]).includes(data));
  assert.deepEqual(images(played.at(-1).requests[0]), []);
});

test("the model fetches a file read and a command's output byte for byte", () => {
  assert.equal(fetched(turnAbout("before we changed it")), apiModule);
  // The host itself removes the last line break of a command's output.
  assert.equal(fetched(turnAbout("first run")), testOutput(false).trimEnd());
});

test("after a restart the same bytes are sent again", async () => {
  // The last fetched output is large, and is evicted when its turn is the third from the end, which is in this turn.
  const [before] = await playTurns(host, provider, SESSION, [{ user: "Have a rest.", steps: ["Until later."] }]);
  const last = pieces(before.requests[0]);
  await host.stop();
  await host.start();
  const [turn] = await playTurns(host, provider, SESSION, [
    { user: "One more thing: thanks!", steps: ["You are welcome."] },
  ]);
  const next = pieces(turn.requests[0]);
  // Everything except for the host's trailing note with the current time, which moves with every request.
  assert.deepEqual(next.slice(0, last.length - 1), last.slice(0, -1));
});

test("the command line works beside the gateway", async () => {
  const { sessions, total, kinds } = await host.openclawJson(["concertina", "stats"]);
  assert.deepEqual(
    sessions.map(({ sessionKey }) => sessionKey),
    [SESSION],
  );
  assert.deepEqual([total.requests, total.measured], [provider.requests.length, provider.requests.length]);
  const [before, after] = ["before", "after"].map((name) => kinds.reduce((sum, kind) => sum + kind[name], 0));
  assert.ok(after < before / 2, JSON.stringify(kinds));
  const [id] = idsIn(findResult(played.at(-1).requests[0], about("sh install.sh")).text);
  const printed = await host.openclaw(["concertina", "fetch", id, "--max-chars", "60000"]);
  // As the host stored it, without its last line break.
  assert.equal(printed, installLog().trimEnd());
});

test("the chat command shows the savings of this session", async () => {
  assert.match(
    await host.slash(SESSION, "/concertina"),
    /tokens sent +[\d,]+, [\d,]+ without Concertina: [\d.]+ % saved/,
  );
});

test("the host compacts the session itself, and the session continues", async () => {
  const { compacted } = await host.call("sessions.compact", { key: SESSION });
  assert.equal(compacted, true);
  const [turn] = await playTurns(host, provider, SESSION, [{ user: "Where were we?", steps: ["At the end."] }]);
  assert.match(conversation(turn.requests[0]), /compacted into the following summary/);
  assert.doesNotMatch(host.log, /quarantin|degraded/i);
});

test("a reset session starts without content of the old one", async () => {
  const old = idsIn(conversation(played.at(-1).requests[0]));
  assert.ok(old.length > 5);
  await host.call("sessions.reset", { key: SESSION });
  const steps = [[{ name: "exec", args: { command: "echo hello" } }], "Hello."];
  const [turn] = await playTurns(host, provider, SESSION, [{ user: "Say hello.", steps }]);
  for (const request of turn.requests) {
    assert.deepEqual(idsIn(conversation(request)), []);
    assert.deepEqual(
      old.filter((id) => JSON.stringify(request.body).includes(id)),
      [],
    );
  }
});

test("a session under another key starts with an empty ledger", async () => {
  const [turn] = await playTurns(host, provider, "agent:main:fresh", [
    { user: "Good morning.", steps: ["Good morning."] },
  ]);
  const sent = conversation(turn.requests[0]);
  assert.deepEqual(idsIn(sent), []);
  const [, sessionId] = /sessionId=([0-9a-f-]{36})/.exec(sent);
  const stats = await host.openclawJson(["concertina", "stats", "--session", sessionId]);
  assert.deepEqual([stats.total.requests, stats.store.originals, stats.kinds, stats.epochs], [1, 0, [], []]);
});

test("another agent cannot fetch what this agent's session folded", async () => {
  const [id] = idsIn(findResult(played.at(-1).requests[0], about("sh install.sh")).text);
  const steps = [[{ name: "fetch_original_data", args: { ref_ids: [id] } }], "It is unknown to me."];
  const [turn] = await playTurns(host, provider, "agent:other:work", [{ user: `What is ${id}?`, steps }]);
  const answer = fetched(turn);
  assert.doesNotMatch(answer, /npm http fetch/);
  assert.match(answer, /unknown|expired|not known/i);
});

test("a sub-agent of another agent fetches only what its task names", async () => {
  const [id] = idsIn(findResult(played.at(-1).requests[0], about("sh install.sh")).text);
  const [unnamed] = idsIn(findResult(played.at(-1).requests[0], about("sh run-tests.sh")).text);
  const spawn = { id: "sessions_spawn", args: { agentId: "other", task: `Find the warning in [REF_ID: ${id}].` } };
  const search = { ref_ids: [`${id}:/npm warn/`] };
  const guess = { ref_ids: [`${unnamed}:/FAIL/`] };
  const from = provider.requests.length;
  provider.play(
    [[{ name: "tool_call", args: spawn }], "Somebody looks at it.", "It is about inflight."],
    [
      [
        { name: "fetch_original_data", args: search },
        { name: "fetch_original_data", args: guess },
      ],
      "inflight is not supported.",
    ],
  );
  await host.turn(SESSION, "Let somebody else find the warning.");
  const answerTo = ({ ref_ids }) =>
    provider.requests
      .slice(from)
      .map((request) => findResult(request, ({ args }) => args.ref_ids?.[0] === ref_ids[0]))
      .find(Boolean);
  for (let tries = 0; tries < 100 && answerTo(guess) === undefined; tries++) await sleep(200);
  assert.match(answerTo(search).text, /inflight@1\.0\.6/);
  assert.doesNotMatch(answerTo(guess).text, /AssertionError/);
  assert.match(answerTo(guess).text, /No original is stored under/);
  // The host reports the result to the parent's session in a separate turn.
  for (let tries = 0; tries < 100 && provider.requests.length < from + 5; tries++) await sleep(200);
  assert.deepEqual(provider.failures, []);
});

test("after unfold and uninstall every placeholder has its text", async () => {
  const out = path.join(host.root, "farewell");
  await host.openclaw(["concertina", "unfold", "--out", out]);
  await host.openclaw(["plugins", "uninstall", "concertina", "--force"]);
  const files = fs
    .readdirSync(out, { recursive: true })
    .map((name) => path.join(out, name))
    .filter((name) => fs.statSync(name).isFile());
  const copies = files.filter((name) => name.endsWith(".jsonl"));
  const standAlone = new Set(files.map((name) => path.parse(name).name));
  const sessionIds = [...sessionsOf(host).values()].flat();
  const folded = sessionIds.filter((sessionId) => idsIn(transcriptOf(host, sessionId)).length > 0);
  assert.ok(folded.length > 0);
  for (const sessionId of folded) {
    const copy = copies.find((name) => path.parse(name).name === sessionId);
    assert.ok(copy, `${sessionId} was not unfolded`);
    assert.deepEqual(
      idsIn(fs.readFileSync(copy, "utf8")).filter((id) => !standAlone.has(id)),
      [],
    );
  }
});
