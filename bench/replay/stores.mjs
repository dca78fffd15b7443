// Checks that a session is sent with the same bytes with either store:
// `node bench/replay/stores.mjs SESSIONS... [--mode full]`.
//
// Replays each session with a store in a directory and with one in a newly started PostgreSQL server, and compares
// every request. Originals do not expire in either, because a directory's store uses the recorded times and a database
// its own clock.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";

import { main } from "../../scripts/steps.mjs";
import { Database, programs } from "../../test/host/database.mjs";
import { POLICIES } from "./policies.mjs";
import { requests } from "./session.mjs";
import { find, load } from "./sessions.mjs";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { mode: { type: "string", default: "host" } },
});
const POLICY = ["every-turn", "cache-aware"];
const NEVER_OLD = { sccsStorageTtlSeconds: 20 * 365 * 86_400 };
const PRICES = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheTtlMs: 300_000 };

async function sent(messages, policy, place) {
  const engine = await POLICIES[policy].open({
    config: { ...NEVER_OLD, ...place },
    prices: PRICES,
    model: "claude-opus-4-6",
  });
  const all = [];
  try {
    for await (const request of requests(messages, engine, values.mode)) {
      const hash = createHash("sha256");
      let chars = 0;
      for (const message of request.messages) {
        const text = JSON.stringify(message);
        hash.update(text);
        chars += text.length;
      }
      all.push({ hash: hash.digest("hex"), chars });
    }
  } finally {
    await engine.close();
  }
  return all;
}

main(import.meta, async () => {
  if (positionals.length === 0) throw new Error("sessions are missing");
  if (!["host", "full"].includes(values.mode))
    throw new Error(`--mode is ${JSON.stringify(values.mode)}; it must be host or full`);
  if (programs() === undefined)
    throw new Error("PostgreSQL's programs are missing; set CONCERTINA_POSTGRES to their folder");
  const database = await new Database().start();
  let [calls, chars, sessions] = [0, 0, 0];
  try {
    for (const { file } of find(positionals)) {
      const { name, messages } = load(file);
      for (const policy of POLICY) {
        const here = await sent(messages, policy, {});
        const there = await sent(messages, policy, { url: database.url, namespace: `replay_${calls}` });
        assert.equal(there.length, here.length, name);
        here.forEach((request, call) =>
          assert.equal(request.hash, there[call].hash, `${name}, ${policy}: request ${call + 1} differs`),
        );
        calls += here.length;
        chars += here.reduce((sum, request) => sum + request.chars, 0);
      }
      console.error(`${++sessions}. ${name}: the same`);
    }
  } finally {
    database.remove();
  }
  console.log(
    `${sessions} sessions, ${calls} requests, ${(chars / 1e9).toFixed(2)} billion characters: the same from both stores`,
  );
});
