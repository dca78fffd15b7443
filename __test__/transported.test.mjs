// Tests of folds whose line ends, first bytes or encoding were changed in transit: by an editor, by git, by
// PowerShell's `>`.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";

import { compressSync, restore, restoreReport } from "openclaw-concertina";

import { root } from "../scripts/steps.mjs";
import { run } from "./cli.mjs";
import { freshDir, noise, written } from "./conversation.mjs";

/** Returns texts by the stage that folds them: one for each stage whose folds a lossless rewrite may contain. */
function folded() {
  const folders = ["detection", "prefixes", "sections", "reports", "terminal", "prose"].map((name) =>
    path.join(root, "fixtures", name),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)),
  );
  const texts = files
    .map((file) => readFileSync(file))
    .filter((bytes) => Buffer.from(bytes.toString()).equals(bytes))
    .map(String);
  const byStage = new Map();
  const passage =
    "The store keeps every original that a marker stands for, and gives it back byte for byte when the agent asks for " +
    "it; nothing is thrown away before the host has deleted the session. A copy that several sessions share is kept " +
    "until the last of them has gone, and the directory is readable by its owner only.";
  const made = `Notes\n\n${passage}\n\nSomething else.\n\n${passage}\n`;
  const hits = readFileSync(path.join(root, "fixtures", "format", "1", "searchCrunch-context.text"), "utf8");
  for (const text of ["a b c\n".repeat(300), ...texts.sort((a, b) => a.length - b.length), made, hits]) {
    const short = compressSync(text, { preset: "lossless" }).text;
    for (const [, stage] of short.matchAll(/^\[\[FOLD:(\w+) \d+ \w+\]\]/gm))
      if (!byStage.has(stage)) byStage.set(stage, { text, short });
  }
  return byStage;
}

/**
 * Returns what remains of a byte order mark before a fold: nothing, unless the text does not begin with the fold and
 * may have begun with the mark itself.
 */
const markLeft = (short, mark) => (short.startsWith("[[FOLD:") ? "" : mark);

/** The changes of a text in transit: of its line ends, and of its bytes. */
const lineEnds = {
  LF: (text) => text,
  CRLF: (text) => text.replaceAll("\n", "\r\n"),
  "CR before every line end and at the end": (text) => `${text.replaceAll("\n", "\r\n")}\r`,
};
const utf16 = (text, isBig) => (isBig ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf16le"));
const encodings = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with a byte order mark": (text) => Buffer.from(`\ufeff${text}`),
  "UTF-16LE": (text) => utf16(text, false),
  "UTF-16BE": (text) => utf16(text, true),
  "UTF-16LE with a byte order mark": (text) => utf16(`\ufeff${text}`, false),
  "UTF-16BE with a byte order mark": (text) => utf16(`\ufeff${text}`, true),
};

// Covers the fold of each stage with three line ends, with and without a byte order mark, in the library.
test("restore accepts folds with changed line ends and a byte order mark", () => {
  const byStage = folded();
  for (const stage of [
    "rle",
    "semanticDedup",
    "ionizer",
    "logCrunch",
    "searchCrunch",
    "diffCrunch",
    "structuralCollapse",
  ])
    assert.ok(byStage.has(stage), stage);
  for (const [stage, { text, short }] of byStage) {
    for (const [name, changed] of Object.entries(lineEnds)) {
      for (const mark of ["", "\ufeff"]) {
        const expected = name === "LF" ? markLeft(short, mark) + text : text;
        assert.equal(restore(mark + changed(short)), expected, `${stage}, ${name}, ${mark.length}`);
      }
    }
  }
});

// Covers the same with three line ends and six encodings, on the command line, and each of these with the fold changed
// too.
test("the restore command accepts the same also in UTF-16, and exits with 1 for other changes", () => {
  const byStage = folded();
  // A process is started for each case, so two stages are tested in all forms, and the others only in that of
  // PowerShell.
  for (const [index, [stage, { text, short }]] of [...byStage].entries()) {
    for (const [name, changed] of Object.entries(lineEnds)) {
      for (const [encoding, bytes] of Object.entries(encodings)) {
        if (index > 1 && !(name === "CRLF" && encoding === "UTF-16LE with a byte order mark")) continue;
        const { stdout, stderr, status } = run("restore", written("fold.txt", bytes(changed(short))));
        assert.ok(short.startsWith("[[FOLD:") || index > 1, stage);
        assert.deepEqual([status, stderr, stdout === text], [0, "", true], `${stage}, ${name}, ${encoding}`);
        const broken = run(
          "restore",
          written("fold.txt", bytes(changed(short.replace(/(\[\[FOLD:\w+ )(\d+)/, "$19$2")))),
        );
        assert.deepEqual(
          [broken.status, /folds stay/.test(broken.stderr)],
          [1, true],
          `${stage}, ${name}, ${encoding}`,
        );
      }
    }
  }
});

test("a marker is restored after changed and before added line ends", () => {
  const report = `${Array.from({ length: 200 }, (_, at) => `test suite::case_${at} ... ok`).join("\n")}\ntest suite::last ... FAILED\n\ntest result: FAILED. 200 passed; 1 failed\n`;
  const kept = path.join(freshDir(), "originals.json");
  const short = run("compress", written("report.txt", report), "--command", "cargo test", "--originals", kept).stdout;
  assert.match(short, /\[\[REWIND:sha256:/);
  for (const [name, changed] of Object.entries(lineEnds)) {
    for (const end of ["", "\n", "\n\n"]) {
      const { stdout, stderr, status } = run(
        "restore",
        written("short.txt", `\ufeff${changed(short + end)}`),
        "--originals",
        kept,
      );
      assert.deepEqual([status, stderr, stdout === report], [0, "", true], `${name}, ${JSON.stringify(end)}`);
    }
  }
  const saved = written("kept.json", utf16(`\ufeff${readFileSync(kept, "utf8").replaceAll("\n", "\r\n")}`, false));
  assert.equal(run("restore", written("short.txt", short), "--originals", saved).stdout, report);
});

test("a text without folds is printed byte for byte, and that is reported", () => {
  for (const bytes of [noise(20), `\ufeff${noise(20).replaceAll("\n", "\r\n")}\r\n`, "[[FOLD:", ""]
    .map((text) => Buffer.from(text))
    .concat(utf16(`\ufeff${noise(3)}`, false))) {
    const { stdout, stderr, status } = run("restore", written("plain.txt", bytes));
    assert.equal(status, 0);
    assert.match(stderr, /^\S+plain\.txt: it contains no fold and is printed unchanged\n$/);
    if (Buffer.from(bytes.toString()).equals(bytes)) assert.equal(stdout, bytes.toString());
  }
  for (const text of [`\ufeff${noise(20)}\r\n`, `${noise(20).replaceAll("\n", "\r\n")}`])
    assert.equal(restore(text), text);
  const cut = run("restore", written("cut.txt", utf16("\ufeff[[FOLD:rle 2 abcdef]] x\n", false).subarray(0, -1)));
  assert.deepEqual([cut.status, /cut\.txt .* is not valid UTF-16/.test(cut.stderr)], [1, true], cut.stderr);
});

test("a text with its own CRLF or byte order mark is restored with them", () => {
  for (const { text } of folded().values()) {
    for (const own of [text.replaceAll("\n", "\r\n"), `\ufeff${text}`, `\ufeff${text.replaceAll("\n", "\r\n")}`]) {
      const { text: short } = compressSync(own, { preset: "lossless" });
      assert.equal(restore(short), own);
      // A carriage return before every line end is superfluous and is removed; so is a byte order mark that may come
      // from the same editor.
      if (short.includes("[[FOLD:"))
        assert.equal(restore(short.replaceAll("\n", "\r\n")), short.startsWith("\ufeff") ? own.slice(1) : own);
    }
  }
});

test("a fold that cannot be read behind a byte order mark is reported", () => {
  const text = Array.from({ length: 200 }, (_, i) => `2026-01-01 INFO step ${i % 9} took ${(i * 7919) % 997} ms`);
  const { text: short } = compressSync(`${text.join("\r\n")}\r\n`, { preset: "lossless" });
  assert.ok(short.startsWith("[[FOLD:"));
  const changed = `\ufeff${short.replace(/\r?\n/g, "\r\n")}`;
  assert.throws(() => restore(changed, [], { strict: true }), { code: "CONCERTINA_FOLD_DAMAGED" });
  const { isWhole, left } = restoreReport(changed);
  assert.deepEqual([isWhole, left?.code], [false, "CONCERTINA_FOLD_DAMAGED"]);
});
