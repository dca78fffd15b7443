// Evaluates the JavaScript API in a vm context, as jest and vitest's vm pools do: its `Error`, `TypeError` and `Object`
// differ from those of the addon and of this file. Prints the failures. See `arguments.test.mjs`.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const context = vm.createContext({
  Buffer,
  console,
  process,
  performance,
  setImmediate,
  setInterval,
  clearInterval,
  setTimeout,
});
const loaded = new Map();

function load(file) {
  if (loaded.has(file)) return loaded.get(file).exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const real = createRequire(file);
  const require = Object.assign((id) => (id.startsWith(".") ? load(path.resolve(path.dirname(file), id)) : real(id)), {
    resolve: real.resolve,
  });
  const body = vm.runInContext(
    `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, "utf8")}\n})`,
    context,
    { filename: file },
  );
  body(module.exports, require, module, file, path.dirname(file));
  return module.exports;
}

const library = load(fileURLToPath(new URL("../dist/node/lib/index.js", import.meta.url)));
const dir = mkdtempSync(path.join(tmpdir(), "concertina-realm-"));
const code = (wanted) => (error) => error.code === wanted && !error.message.startsWith("{");
const text = Array.from({ length: 400 }, (_, at) => `line ${at} took ${(at * 7919) % 977} ms`).join("\n");
try {
  assert.throws(() => library.squeeze([], { nope: 1 }), code("CONCERTINA_BAD_ARGUMENT"));
  assert.throws(() => library.squeeze([], { staleTurns: 0 }), code("CONCERTINA_BAD_ARGUMENT"));
  await assert.rejects(library.Concertina.open({ dir: "/proc/x" }), code("CONCERTINA_STORE_UNAVAILABLE"));
  const store = await library.Concertina.open({ dir });
  const message = { role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text }] };
  const { report } = await store.admitToolResult({ sessionId: "s", message });
  const [{ refId }] = report.actions;
  for (const parameters of [
    { ref_ids: [`${refId}:/[/`] },
    { ref_ids: [refId], pattern: "[" },
    { ref_ids: [refId], lines: "x" },
    { ref_ids: 5 },
    "{",
    null,
  ]) {
    const [block] = await library.answerFetch(store, parameters, {});
    assert.equal(block.type, "text");
  }
  assert.equal(await library.answerFetch(store, { ref_ids: [refId] }, { form: "openai" }), text);
  await assert.rejects(store.fetch({ refIds: [refId], pattern: "[" }), code("CONCERTINA_BAD_PATTERN"));
  const { text: folded, originals } = await library.compress(text, {
    custom: [{ name: "mine", order: 1, apply: () => "short\n" }],
  });
  assert.equal(originals.length, 1);
  assert.equal(library.restore(folded, structuredClone(originals)), text);
  await store.close();
  console.log("right");
} finally {
  rmSync(dir, { recursive: true, force: true });
}
