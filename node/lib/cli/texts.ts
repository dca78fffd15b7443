/** The commands on texts and messages, without a store. */
import { writeFileSync } from "node:fs";

import type { CompressOptions, Message, Original } from "../api.js";
import { compress as compressText, restore as restoreText } from "../fusion.js";
import { squeeze as squeezeMessages } from "../pure.js";
import { number, percent } from "../table.js";
import { type Command, nameOf, objectOf, print, printJson, readText, SWITCH, TEXT, textOf, UsageError } from "./command.js";

const PRESETS = ["lossless", "balanced", "max"] as const;

/** What stands where an original was. */
const MARKER = /\[\[REWIND:sha256:[0-9a-f]{16,64}\]\]/g;

/** The first line of a fold. */
const FOLD = /^\[\[FOLD:.*$/gm;

/** An original in a file. */
interface Kept {
  refId: string;
  label: string;
  data: string;
}

export const compress: Command = {
  usage: "FILE|-",
  about: [
    "print a text in fewer tokens; without options restorable from what is printed",
    '--command TEXT       what printed it, such as "cargo test"',
    "--originals FILE     also leave out what this file, which must not exist yet, then holds",
    "--preset NAME        with --originals: balanced (default), max or lossless",
    "--json               print the text with what was done",
  ],
  options: { command: TEXT, originals: TEXT, preset: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  async run([file = "-"], values) {
    const kept = textOf(values, "originals");
    const preset = (textOf(values, "preset") ?? (kept === undefined ? "lossless" : "balanced")) as CompressOptions["preset"];
    if (!PRESETS.some((name) => name === preset)) throw new UsageError(`--preset is ${JSON.stringify(preset)}; it must be one of ${PRESETS.join(", ")}`);
    if (kept === undefined && preset !== "lossless") throw new UsageError("--preset needs --originals: what is left out has to be kept somewhere");
    const text = readText(file);
    if (restoreText(text) !== text) throw new Error(`${nameOf(file)} is folded already: what restore makes of it could not be told from the text before that fold`);
    const { originals, stages: _, ...done } = await compressText(text, { preset, lossless: kept === undefined, hints: { command: textOf(values, "command") } });
    if (kept !== undefined) {
      const list: Kept[] = originals.map(({ refId, label, data }) => ({ refId, label, data: data.toString("base64") }));
      writeFileSync(kept, `${JSON.stringify(list, null, 1)}\n`, { flag: "wx", mode: 0o600 });
    }
    if (values.json) return printJson({ ...done, originals: originals.map(({ refId, label }) => ({ refId, label })) });
    print(done.text);
    const share = done.tokensBefore === 0 ? 0 : 1 - done.tokensAfter / done.tokensBefore;
    console.error(`${number(done.tokensBefore)} tokens, ${number(done.tokensAfter)} after: ${percent(share)} saved`);
  },
};

export const restore: Command = {
  usage: "FILE|-",
  about: ["print what `compress` was given", "--originals FILE     what it kept", "--json"],
  options: { originals: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  async run([file = "-"], values) {
    const kept = textOf(values, "originals");
    const originals = kept === undefined ? [] : (parsed(kept) as Kept[]);
    if (!Array.isArray(originals)) throw new Error(`${kept} is not what compress --originals writes`);
    const given = readText(file);
    const text = restoreText(given, originals.map(({ refId, label, data }): Original => ({ refId, label, data: Buffer.from(data, "base64") })));
    const markers = text.match(MARKER)?.length ?? 0;
    const lines = new Set(text.split("\n"));
    const folds = (given.match(FOLD) ?? []).filter((line) => lines.has(line)).length;
    if (values.json) printJson({ text, left: markers + folds });
    else print(text);
    if (markers > 0) console.error(`${nameOf(file)}: ${number(markers)} markers stay: the originals that they name were not given`);
    if (folds > 0) console.error(`${nameOf(file)}: ${number(folds)} folds stay: they were changed since, or only look like folds`);
    if (markers + folds > 0) process.exitCode = 1;
  },
};

export const squeeze: Command = {
  usage: "FILE|-",
  about: ["squeeze a JSON array of messages; prints the result", "--options JSON       options of squeeze()", "--json               print { messages, stats }"],
  options: { options: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  async run([file = "-"], values) {
    const options = objectOf(values, "options");
    const messages = parsed(file);
    if (!Array.isArray(messages)) throw new Error(`${nameOf(file)} is no JSON array of messages`);
    const squeezed = squeezeMessages(messages as Message[], options);
    if (values.json) return printJson(squeezed);
    printJson(squeezed.messages);
    console.error(JSON.stringify(squeezed.stats));
  },
};

function parsed(file: string): unknown {
  const text = readText(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${nameOf(file)} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
