// Tests the names in the types against the core, and that programs with older settings of TypeScript compile.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { detect, stages } from "openclaw-concertina";

import { root } from "../scripts/steps.mjs";
import { freshDir } from "./conversation.mjs";

const textOf = (file) => readFileSync(path.join(root, file), "utf8");
const types = textOf("index.d.cts");

/** Returns the literals of a type, sorted. */
function literals(name) {
  const [, union] = new RegExp(`^export type ${name} = (.*);$`, "m").exec(types);
  return [...union.matchAll(/"([^"]+)"/g)].map(([, word]) => word).sort();
}

/** Returns the words that an error names as valid for a hint. */
function validFor(hint) {
  try {
    detect("x", { [hint]: "?" });
  } catch ({ message }) {
    return /must be one of (.*)$/.exec(message)[1].split(", ").sort();
  }
}

/** Returns what follows `=>` in the functions of a source file that name a reason, and its constants. */
function reasonsIn(file) {
  const text = textOf(file);
  const bodies = [...text.matchAll(/fn (?:as_str|reason)\(.*?\n {4}\}/gs)].map(([body]) => body).join("\n");
  const constants = text.matchAll(/const (?:ASKED|RETURNED_REASON|RESTORED_REASON|LARGE|THINKING): &str = "([^"]+)"/g);
  return [...bodies.matchAll(/=> "([^"]+)"/g), ...constants].map(([, word]) => word);
}

test("the types name the stages, content types, languages, reasons and codes of the core", () => {
  assert.deepEqual(
    literals("StageName"),
    stages()
      .map(({ name }) => name)
      .sort(),
  );
  assert.deepEqual(literals("ContentType"), validFor("contentType"));
  assert.deepEqual(literals("Language"), validFor("language"));
  const epochs = ["plan/cache", "plan/economics", "history/mod", "assemble/report", "assemble/fold_commit"];
  const reasons = new Set(epochs.flatMap((file) => reasonsIn(`src/${file}.rs`)));
  assert.deepEqual(literals("EpochReason"), [...reasons].sort());
  const births = reasonsIn("src/assemble/birth.rs").filter((word) => !reasons.has(word));
  const [, restored] = /const RESTORED: &str = "([^"]+)"/.exec(textOf("crates/store/src/records.rs"));
  assert.deepEqual(literals("FoldReason"), [...births, "replay", restored].sort());
  const codes = ["crates/base/src/error.rs", "node/src/guard.rs", "node/lib/binding/native.ts"].flatMap((file) =>
    textOf(file).match(/CONCERTINA_[A-Z_]+/g),
  );
  assert.deepEqual(literals("ErrorCode"), [...new Set(codes)].sort());
});

const PROGRAM = `import { compress, compressProse, Concertina, errors, restoreReport, squeeze } from "openclaw-concertina";
import type { ContentType, Detection, ErrorCode, Options } from "openclaw-concertina";

export async function main(configured: Options, word: string): Promise<ContentType> {
  const { signal } = new AbortController();
  const concertina = await Concertina.open({ dir: "x", schedule: "cache-aware", replaceDamaged: true, signal });
  await concertina.assemble({ sessionId: "s", messages: [], signal });
  await concertina[Symbol.asyncDispose]();
  squeeze([], configured);
  // @ts-expect-error The plugin alone has this option.
  squeeze([], { purgeOnReset: true });
  const code: ErrorCode | undefined = restoreReport("x").left?.code;
  console.log(errors.describe(code), compressProse("x").receipt.savedTokens);
  const { contentType, stages } = await compress("x", { hints: { contentType: word }, stages: { rle: false, mine: {} } });
  // @ts-expect-error This is no type of text.
  if (contentType === "yaml") return "code";
  const names: string[] = stages.map(({ name }) => name);
  const detection: Detection = { contentType, language: "rust", segments: [] };
  return names.length > 0 ? detection.contentType : "text";
}
`;

test("a program compiles without the types of explicit resource management", () => {
  const dir = freshDir();
  mkdirSync(path.join(dir, "node_modules", "@types"), { recursive: true });
  symlinkSync(root, path.join(dir, "node_modules", "openclaw-concertina"));
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(path.join(root, "node_modules", name), path.join(dir, "node_modules", name));
  writeFileSync(path.join(dir, "program.mts"), PROGRAM);
  const options = { module: "node16", target: "es2022", lib: ["es2022"], types: ["node"], strict: true, noEmit: true };
  writeFileSync(path.join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.mts"] }));
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", dir], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
