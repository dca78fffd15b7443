// Exports which names of a tool's output a later call needed: `node bench/names/export.mjs SESSIONS... --out FILE`. The
// names and their features come from the scorer's own code (examples/name_features.rs), the labels from recorded
// sessions.
//
// Facts and their uses are defined in node/lib/recall. A use *needs* the fact if it is shown only by content
// that may be folded: neither by a message of the last STALE calls, nor by words of a user or of the model. A name is
// needed if a call at least STALE calls after its output needs it. A name that is a word without a mark (`Parser`)
// counts wherever the same word is written.
//
// Writes a line of JSON for each output of at least LEAST characters:
// `{ family, session, rows: [[steps, the rule's score, name's length, needs], …] }`. It contains no word of the
// sessions.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { main, root } from "../../scripts/steps.mjs";
import { factsOf } from "../../dist/node/lib/recall/facts.js";
import { Needs } from "../../dist/node/lib/recall/needs.js";
import { isResult, partsOf, textsOf } from "../../dist/node/lib/recall/transcript.js";
import { find, load } from "../replay/sessions.mjs";

/** The number of later calls after which an output counts as folded. */
const STALE = 9;
/** The minimum length of a folded output, in characters. */
const LEAST = 400;
/** The number of texts before the fold that count as recent. */
const RECENT = 6;
/** The minimum number of letters of a plain word that counts as a fact. */
const PLAIN = 4;

/** A process that scores names: it receives lines and answers those that contain a text. */
class Examiner {
  #process = spawn("cargo", ["run", "--locked", "--quiet", "--profile", "checked", "--example", "name_features"], {
    cwd: root,
    stdio: ["pipe", "pipe", "inherit"],
  });
  #answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();

  async tell(line) {
    if (!this.#process.stdin.write(`${JSON.stringify(line)}\n`))
      await new Promise((resolve) => this.#process.stdin.once("drain", resolve));
  }

  async ask(line) {
    await this.tell(line);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error("name_features ended before it had answered");
    return JSON.parse(value);
  }

  close() {
    this.#process.stdin.end();
  }
}

/** Returns the calls that need each fact. */
function needsOf(messages) {
  const { universe, usedByCall } = new Needs(messages, PLAIN);
  const names = [...universe.keys()];
  const [last, spoken, needs] = [new Map(), new Set(), new Map()];
  let call = 0;
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const fact of usedByCall[call].map((number) => names[number])) {
        if (!spoken.has(fact) && call - last.get(fact) >= STALE) needs.set(fact, [...(needs.get(fact) ?? []), call]);
      }
      call++;
    }
    for (const fact of factsOf(textsOf(message), PLAIN)) last.set(fact, call);
    for (const fact of factsOf(wordsOf(message), PLAIN)) spoken.add(fact);
  }
  return needs;
}

/** Returns the words of users and of the model in a message. */
const wordsOf = (message) => partsOf(message).flatMap(({ kind, texts }) => (kind === "text" ? texts : []));
const argumentsOf = (message) => partsOf(message).flatMap(({ kind, texts }) => (kind === "arguments" ? texts : []));

async function examine({ family, name, messages }, examiner, out) {
  await examiner.tell({ session: true });
  const needs = needsOf(messages);
  const [waiting, recent] = [[], []];
  let call = 0;
  for (const message of messages) {
    if (message.role === "assistant") {
      while (waiting.length > 0 && call - waiting[0].call >= STALE) {
        const { text } = waiting.shift();
        const rows = (await examiner.ask({ text, recent: recent.slice(-RECENT) })).flatMap(([word, rule, steps]) => {
          if (!factsOf([word], PLAIN).has(word)) return [];
          return [[steps, rule, word.length, (needs.get(word) ?? []).filter((at) => at >= call).length]];
        });
        out.write(`${JSON.stringify({ family, session: name, rows })}\n`);
      }
      call++;
    }
    if (isResult(message)) for (const text of textsOf(message)) if (text.length >= LEAST) waiting.push({ text, call });
    for (const text of wordsOf(message)) await examiner.tell({ seen: text });
    for (const text of argumentsOf(message)) await examiner.tell({ written: text });
    for (const { kind, texts } of partsOf(message))
      if (kind === "text" || kind === "arguments") recent.push(texts.join("\n"));
  }
}

main(import.meta, async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { out: { type: "string" } } });
  if (positionals.length === 0 || values.out === undefined)
    throw new Error("usage: node bench/names/export.mjs SESSIONS... --out FILE");
  const examiner = new Examiner();
  const out = createWriteStream(values.out);
  for (const { file } of find(positionals)) await examine(load(file), examiner, out);
  examiner.close();
  out.end();
  await finished(out);
});
