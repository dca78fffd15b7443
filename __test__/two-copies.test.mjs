import assert from "node:assert/strict";
import { copyFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { freshDir } from "./conversation.mjs";

const ROUNDS = 40;
const require = createRequire(import.meta.url);

/** Loads the addon as a host does that has a separate copy of it for each part of the plugin. */
function copies() {
  const bundled = path.join(path.dirname(fileURLToPath(import.meta.url)), "../native");
  const name = readdirSync(bundled).find((file) => file.endsWith(".node"));
  const dir = freshDir();
  return ["one.node", "two.node"].map((copy) => {
    copyFileSync(path.join(bundled, name), path.join(dir, copy));
    return require(path.join(dir, copy));
  });
}

test("two copies of the addon in one process do not lose each other's content", async () => {
  const [one, two] = copies();
  const dir = freshDir();
  const admitted = [];
  const open = (addon) => addon.NativeConcertina.open({ dir }, "{}");
  const fetched = async (store, refId) => {
    const { content } = await store.fetch({ refIds: [refId], now: Date.now() });
    return content[0].text;
  };
  const work = async (addon, session, reopens) => {
    let store = await open(addon);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = Array.from(
        { length: 300 },
        (_, line) => `${session} ${round} ${line} took ${(line * 7919) % 977} ms`,
      );
      const text = lines.join("\n");
      const messages = new addon.Handover();
      messages.push(
        JSON.stringify([{ role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text }] }]),
      );
      const { report } = await store.admit(messages, { sessionId: session }, {}, Date.now());
      assert.equal(report.warning, undefined, `${session} ${round}`);
      admitted.push([report.actions[0].refId, text]);
      const [refId, expected] = admitted[(round * 31) % admitted.length];
      assert.equal(await fetched(store, refId), expected);
      if (reopens && round % 5 === 4) {
        await store.close();
        store = await open(addon);
      }
    }
    await store.close();
  };
  await Promise.all([work(one, "a", false), work(two, "b", true), work(one, "c", true), work(two, "d", false)]);
  const store = await open(two);
  for (const [refId, expected] of admitted) assert.equal(await fetched(store, refId), expected);
  await store.close();
});
