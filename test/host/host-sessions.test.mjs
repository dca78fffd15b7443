// Tests of reading the host's databases: which sessions the host can show, and when that is unknown. No host is
// started.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { zstdCompressSync } from "node:zlib";

import { forkSource, hostSessions, transcriptOf } from "../../dist/plugin/host-sessions.js";

const root = fs.mkdtempSync(path.join(os.tmpdir(), "concertina-sessions-"));
let state;
let count = 0;

beforeEach(() => {
  state = path.join(root, String(count++));
  fs.mkdirSync(path.join(state, "state"), { recursive: true });
});

after(() => fs.rmSync(root, { recursive: true }));

const EVENT = '{"type":"message","message":{"role":"user","content":"ä"}}';

/** Creates a database with the part of the host's schema that is read. */
function agentDatabase(file, sessionId, fill = () => {}) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE session_windows (session_id TEXT, session_key TEXT);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB);
    CREATE TABLE session_transcript_archives (session_id TEXT, session_key TEXT, reason TEXT, encoding TEXT, archive_blob BLOB, created_at INTEGER);
    CREATE TABLE session_transcript_cold_archives (session_id TEXT, archive_name TEXT, archive_blob BLOB);`);
  database.prepare("INSERT INTO session_windows VALUES (?, 'agent:a:work')").run(sessionId);
  fill(database);
  database.close();
  return file;
}

const ofAgent = (agent) => path.join(state, "agents", agent, "agent", "openclaw-agent.sqlite");

function register(rows) {
  const database = new DatabaseSync(path.join(state, "state", "openclaw.sqlite"));
  database.exec("CREATE TABLE agent_databases (agent_id TEXT, path TEXT)");
  for (const row of rows) database.prepare("INSERT INTO agent_databases VALUES (?, ?)").run(...row);
  database.close();
}

const ids = async () => (await hostSessions(state)).map(({ sessionId }) => sessionId).sort();

test("the sessions of every agent are found in the default places and in the host's list", async () => {
  agentDatabase(ofAgent("a"), "one");
  agentDatabase(ofAgent("b"), "two");
  agentDatabase(path.join(state, "elsewhere", "c.sqlite"), "three");
  register([
    ["a", "agents/a/agent/openclaw-agent.sqlite"],
    ["c", path.join(state, "elsewhere", "c.sqlite")],
  ]);
  assert.deepEqual(await ids(), ["one", "three", "two"]);
});

test("an archive of a reset session counts as a session, and that of a deleted one does not", async () => {
  const archive = (database, id, reason, encoding, blob) =>
    database
      .prepare("INSERT INTO session_transcript_archives VALUES (?, 'agent:a:work', ?, ?, ?, 1)")
      .run(id, reason, encoding, blob);
  agentDatabase(ofAgent("a"), "one", (database) => {
    archive(database, "reset", "reset", "zstd", zstdCompressSync(Buffer.from(`${EVENT}\n`)));
    archive(database, "plain", "reset", "identity", Buffer.from(`${EVENT}\n${EVENT}\n`));
    archive(database, "deleted", "deleted", "identity", Buffer.from(EVENT));
  });
  const sessions = await hostSessions(state);
  assert.deepEqual(sessions.map(({ sessionId }) => sessionId).sort(), ["one", "plain", "reset"]);
  const read = async (id) => transcriptOf(sessions.find(({ sessionId }) => sessionId === id));
  assert.deepEqual(await read("reset"), [EVENT]);
  assert.deepEqual(await read("plain"), [EVENT, EVENT]);
});

test("a forked session is recognised by the host's record", async () => {
  agentDatabase(ofAgent("a"), "one", (database) => {
    database.exec(`CREATE TABLE session_nodes (session_key TEXT, current_session_id TEXT, fork_source_session_key TEXT, fork_source_session_id TEXT);
      INSERT INTO session_nodes VALUES ('agent:a:work', 'one', NULL, NULL), ('agent:a:copy', 'two', 'agent:a:work', 'one')`);
  });
  const source = (sessionId, agentId = "a") => forkSource(state, { agentId, sessionId });
  assert.deepEqual(await source("two"), { agentId: "a", sessionId: "one" });
  assert.deepEqual([await source("one"), await source("two", "b")], [undefined, undefined]);
});

test("plain, compressed and archived events are read", async () => {
  const file = agentDatabase(ofAgent("a"), "one", (database) => {
    database
      .prepare("INSERT INTO transcript_events VALUES ('one', 2, NULL, ?), ('one', 1, ?, NULL)")
      .run(zstdCompressSync(Buffer.from(EVENT)), '{"type":"session"}');
    database.exec(
      "INSERT INTO session_windows VALUES ('cold', 'agent:a:old'); INSERT INTO session_transcript_cold_archives VALUES ('cold', 'cold.jsonl.zst', NULL)",
    );
  });
  const sessions = await hostSessions(state);
  assert.deepEqual(await transcriptOf(sessions.find(({ sessionId }) => sessionId === "one")), [
    '{"type":"session"}',
    EVENT,
  ]);
  const cold = sessions.find(({ sessionId }) => sessionId === "cold");
  await assert.rejects(transcriptOf(cold), /cold\.jsonl\.zst/);
  const directory = path.join(path.dirname(file), "..", "sessions", "cold");
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(path.join(directory, "cold.jsonl.zst"), zstdCompressSync(Buffer.from(`${EVENT}\n`)));
  assert.deepEqual(await transcriptOf(cold), [EVENT]);
});

test("the database of OpenClaw 2026.8, without compression and cold storage, is read", async () => {
  agentDatabase(ofAgent("a"), "one", (database) => {
    database.exec(
      "DROP TABLE session_transcript_cold_archives; ALTER TABLE transcript_events DROP COLUMN event_zstd; INSERT INTO session_windows VALUES ('empty', 'agent:a:new')",
    );
    database.prepare("INSERT INTO transcript_events VALUES ('one', 1, ?)").run(EVENT);
  });
  const sessions = await hostSessions(state);
  const read = (id) => transcriptOf(sessions.find(({ sessionId }) => sessionId === id));
  assert.deepEqual([await read("one"), await read("empty")], [[EVENT], []]);
});

test("a database that is missing, damaged or of another schema is named in the error", async () => {
  await assert.rejects(hostSessions(state), /OpenClaw has no sessions yet: no database of an agent is in /);
  agentDatabase(ofAgent("a"), "one");
  register([["b", "agents/b/agent/openclaw-agent.sqlite"]]);
  await assert.rejects(
    hostSessions(state),
    /sessions of agent b in .*agents\/b\/agent\/openclaw-agent\.sqlite, which is not there/,
  );
  fs.mkdirSync(path.dirname(ofAgent("b")), { recursive: true });
  fs.writeFileSync(ofAgent("b"), "no database at all");
  await assert.rejects(hostSessions(state), /agents\/b\/agent\/openclaw-agent\.sqlite cannot be read: /);
  fs.rmSync(ofAgent("b"));
  new DatabaseSync(ofAgent("b")).close();
  await assert.rejects(hostSessions(state), /agents\/b\/agent\/openclaw-agent\.sqlite cannot be read: no such table/);
});

test("a database that was moved with its agent is found", async () => {
  agentDatabase(ofAgent("a"), "one");
  register([["a", "/where/it/was/openclaw-agent.sqlite"]]);
  assert.deepEqual(await ids(), ["one"]);
});

test("the databases of the host are never written to", async () => {
  const file = agentDatabase(ofAgent("a"), "one");
  fs.chmodSync(file, 0o400);
  const before = fs.readFileSync(file);
  await transcriptOf((await hostSessions(state))[0]);
  assert.deepEqual(fs.readFileSync(file), before);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ["openclaw-agent.sqlite"]);
});

test("the library's command line analyses sessions of a database by id, by key, or all", () => {
  const cli = fileURLToPath(new URL("../../dist/node/lib/cli.js", import.meta.url));
  const analyze = (...args) => spawnSync(process.execPath, [cli, "analyze", ...args], { encoding: "utf8" });
  const file = agentDatabase(ofAgent("a"), "one", (database) => {
    database.exec("INSERT INTO session_windows VALUES ('two', 'agent:a:other')");
    const write = database.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, NULL)");
    for (const id of ["one", "two"]) {
      [
        { role: "user", content: "hello" },
        { role: "assistant", content: "hello" },
      ].forEach((message, seq) => write.run(id, seq, JSON.stringify({ type: "message", message })));
    }
  });
  const requests = (...args) => JSON.parse(analyze(file, "--json", ...args).stdout).total.requests;
  assert.deepEqual(
    [requests("--session", "one"), requests("--session", "agent:a:other"), requests("--all")],
    [1, 1, 2],
  );
  const [which, nobody] = [analyze(file), analyze(file, "--session", "nobody")];
  assert.deepEqual([which.status, nobody.status], [2, 1]);
  assert.match(
    nobody.stderr,
    /openclaw-agent\.sqlite: there is no session "nobody"\. Known sessions:\n {2}one {2}agent:a:work/,
  );
});
