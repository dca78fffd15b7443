// A test with two gateways, one with Concertina and one without, and a model with a small window: the host alone
// compacts the session, and with Concertina it needs no compaction.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, test } from "node:test";

import { chapterOfCode, readingChapters } from "./chapters.mjs";
import { Host, packedPlugin, say } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation } from "./reading.mjs";

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const started = [];

after(async () => {
  for (const { host, provider } of started) {
    await host.remove();
    await provider.stop();
  }
});

/** Plays a session of 24 turns and returns how often the host compacted it. */
async function compactions(name, isInstalled) {
  const provider = await startProvider();
  const host = new Host({ name, provider, cost: COST });
  started.push({ host, provider });
  for (let at = 0; at < 24; at++)
    fs.writeFileSync(path.join(host.workspace, `chapter-${at}.ts`), chapterOfCode(at, 130));
  if (isInstalled) await host.install(packedPlugin());
  await host.addAgent("small", { provider, cost: COST, contextWindow: 32_000 });
  await host.start();
  const played = await playTurns(host, provider, "agent:small:work", readingChapters(24));
  const summary = (request) => /compacted into the following summary[\s\S]{0,400}/.exec(conversation(request))?.[0];
  const count = new Set(played.flatMap(({ requests }) => requests).map(summary)).size - 1;
  say(`small window, ${name}: ${count} compactions`);
  return count;
}

test("with the plugin a window that makes the host alone compact twice needs no compaction", async () => {
  assert.ok((await compactions("without", false)) >= 2);
  assert.equal(await compactions("with Concertina", true), 0);
});
