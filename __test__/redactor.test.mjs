// A redactor of the caller's, which knows for secrets what nobody else can.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

import { Concertina } from "openclaw-concertina";

import { freshDir, noise } from "./conversation.mjs";

const { masked } = createRequire(import.meta.url)("../dist/node/lib/masking.js");

const SECRET = "lantern-under-the-harbour";
const KEY = Array.from({ length: 12 }, (_, line) => `${line}+harbour/lantern`.repeat(3)).join("\n");
/** Masks a word, and a block of many lines. Texts that it saw are in `seen`. */
function standIn() {
  const seen = [];
  const redactor = (text) => {
    seen.push(text);
    return text.replaceAll(SECRET, "lant…our").replaceAll(`<<${KEY}>>`, "<<key>>");
  };
  return { redactor, seen };
}

const result = (text) => ({ role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text }] });

/** What an original in a store reads. */
async function original(concertina, id) {
  return (await concertina.fetch({ refIds: [id], maxChars: 2 ** 31 })).content[0].text;
}

test("a text is masked piece by piece as it is at once, wherever the secrets stand", async () => {
  const { redactor, seen } = standIn();
  for (const filler of [noise(900), "x".repeat(20_000), `${SECRET}\n`.repeat(700)]) {
    for (let at = 2000; at < 9000; at += 331) {
      const text = filler.slice(0, at) + SECRET + filler.slice(at, at + 700) + `<<${KEY}>>` + filler.slice(at + 700);
      assert.equal(await masked(text, redactor), redactor(text), `at ${at}`);
      seen.pop();
    }
  }
  assert.ok(Math.max(...seen.map((text) => text.length)) <= 4000, "no piece is long");
});

test("what cannot be cut is masked at once", async () => {
  const redactor = (text) => (text.includes("a") ? `${text.length} characters` : text);
  assert.equal(await masked("a".repeat(30_000), redactor), "30000 characters");
});

test("with `redact` what is stored, shown and named is what the redactor returned", async () => {
  const text = `${noise(120)}\n${SECRET}\n${noise(400)}`;
  const concertina = await Concertina.open({ dir: freshDir(), secrets: "redact" });
  const { redactor } = standIn();
  const { message, report } = await concertina.admitToolResult({
    sessionId: "s", message: result(text), args: { command: `echo ${SECRET}` }, redactor,
  });
  assert.equal(await original(concertina, report.actions[0].refId), redactor(text));
  assert.doesNotMatch(JSON.stringify(message), new RegExp(SECRET));
});

test("with `keep-inline` a result in which the redactor masks something stays as it is, and another does not", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const { redactor } = standIn();
  const text = noise(400);
  for (const [words, command] of [[`${text}\n${SECRET}`, "ls"], [text, `echo ${SECRET}`]]) {
    const message = result(words);
    assert.equal((await concertina.admitToolResult({ sessionId: "s", message, args: { command }, redactor })).message, message);
  }
  assert.equal((await concertina.stats()).originals, 0);
  const { report } = await concertina.admitToolResult({ sessionId: "s", message: result(text), args: { command: "ls" }, redactor });
  assert.equal(report.actions.length, 1);
});

test("the redactor is asked for nothing with `store`, and for no text of an exact tool", async () => {
  const text = `${SECRET}\n${noise(400)}`;
  const { redactor, seen } = standIn();
  const storing = await Concertina.open({ dir: freshDir(), secrets: "store" });
  const { report } = await storing.admitToolResult({ sessionId: "s", message: result(text), redactor });
  assert.equal(await original(storing, report.actions[0].refId), text);
  const redacting = await Concertina.open({ dir: freshDir(), secrets: "redact" });
  const message = { ...result(text), toolName: "read" };
  assert.equal((await redacting.admitToolResult({ sessionId: "s", message, args: { path: "a.rs" }, redactor })).message, message);
  assert.deepEqual(seen, ["a.rs"]);
});
