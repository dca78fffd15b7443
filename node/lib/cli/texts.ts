/** The commands on texts and messages that need no store. */
import type { CompressOptions, Message, Original } from "../library/api.js";
import { bytesOf, jsonOf, nameOf, needAbsent, textIn, utf16Of, writeNew } from "../formats/files.js";
import { compress as compressText, restore as restoreText } from "../library/fusion.js";
import { withClock } from "../terminal/progress.js";
import { squeeze as squeezeMessages } from "../library/pure.js";
import { number, percent } from "../terminal/table.js";
import { utf16Transported } from "../formats/text-encoding.js";
import { type Command, objectOf, print, printJson, readText, SWITCH, TEXT, textOf, UsageError } from "./command.js";

const PRESETS = ["lossless", "balanced", "max"] as const;

/** The marker in place of an original. */
const MARKER = /\[\[REWIND:sha256:[0-9a-f]{16,64}\]\]/g;

/** A longer text is not folded, because it could not be unfolded: `UNFOLDED_MAX_BYTES` of the core. */
const MOST_BYTES = 16 << 20;

/** The first line of a fold, which may be indented or quoted. */
const FOLD = /^[^\S\r\n]*[>|]?[^\S\r\n]*\[\[FOLD:\w+ \d+ (?:[a-z]{6}|below)\]\].*$/gm;

/** Line ends, including those that a transport may have substituted. */
const LINE_END = /[\n\r\u2028\u2029]/;

/** An original in the file of `--originals`. */
interface Kept {
  refId: string;
  label: string;
  data: string;
}

export const compress: Command = {
  usage: "FILE|-",
  about: [
    "print a text in fewer tokens; without options it can be restored from the output alone",
    '--command TEXT       the command that printed it, such as "cargo test"',
    "--originals FILE     leave more out, and write the originals to this new file",
    "--preset NAME        with --originals: balanced (default), max or lossless",
    "--json               print the text with a report",
  ],
  options: { command: TEXT, originals: TEXT, preset: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  async run([file = "-"], values) {
    const kept = textOf(values, "originals");
    const preset = (textOf(values, "preset") ??
      (kept === undefined ? "lossless" : "balanced")) as CompressOptions["preset"];
    if (!PRESETS.some((name) => name === preset))
      throw new UsageError(`--preset is ${JSON.stringify(preset)}; it must be one of ${PRESETS.join(", ")}`);
    if (kept === undefined && preset !== "lossless")
      throw new UsageError("--preset needs --originals, the file for what is left out");
    needAbsent(kept);
    const text = readText(file);
    if (restoreText(text) !== text)
      throw new Error(`${nameOf(file)} is already folded; restoring a second fold of it would also undo the first one`);
    const {
      originals,
      stages: _,
      ...done
    } = await withClock(
      "folding",
      compressText(text, { preset, lossless: kept === undefined, hints: { command: textOf(values, "command") } }),
    );
    if (kept !== undefined) {
      const list: Kept[] = originals.map(({ refId, label, data }) => ({ refId, label, data: data.toString("base64") }));
      writeNew(kept, `${JSON.stringify(list, null, 1)}\n`);
    }
    if (Buffer.byteLength(text) > MOST_BYTES)
      console.error(`${nameOf(file)} is longer than 16 MiB and is printed unchanged`);
    if (values.json) return printJson({ ...done, originals: originals.map(({ refId, label }) => ({ refId, label })) });
    print(done.text);
    const share = done.tokensBefore === 0 ? 0 : 1 - done.tokensAfter / done.tokensBefore;
    console.error(`${number(done.tokensBefore)} tokens, ${number(done.tokensAfter)} after: ${percent(share)} saved`);
  },
};

export const restore: Command = {
  usage: "FILE|-",
  about: [
    "print the text that `compress` was given, even if its line ends or encoding have changed",
    "--originals FILE     the file that compress --originals wrote",
    "--json",
  ],
  options: { originals: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  async run([file = "-"], values) {
    const kept = textOf(values, "originals");
    const originals = kept === undefined ? [] : keptIn(kept);
    const bytes = bytesOf(file);
    const given = utf16Transported(nameOf(file), bytes) ?? textIn(nameOf(file), bytes);
    const text = restoreText(
      given,
      originals.map(({ refId, label, data }): Original => ({ refId, label, data: Buffer.from(data, "base64") })),
    );
    const markers = text.match(MARKER)?.length ?? 0;
    const lines = new Set(text.split(LINE_END));
    const folds = (given.match(FOLD) ?? []).filter((line) => lines.has(line.split(LINE_END).at(-1) ?? "")).length;
    if (text === given && markers + folds === 0)
      console.error(`${nameOf(file)}: it contains no fold and is printed unchanged`);
    if (values.json) printJson({ text, left: markers + folds });
    else print(text === given ? bytes : text);
    const stay = (code: string, what: string) => console.error(`${nameOf(file)}: ${what} (${code})`);
    if (markers > 0) {
      stay("CONCERTINA_ORIGINAL_MISSING", `${number(markers)} markers stay: their originals were not given`);
    }
    if (folds > 0)
      stay("CONCERTINA_FOLD_DAMAGED", `${number(folds)} folds stay: they were changed, or only look like folds`);
    if (markers + folds > 0) process.exitCode = 1;
  },
};

export const squeeze: Command = {
  usage: "FILE|-",
  about: [
    "squeeze a JSON array of messages and print the result",
    "--options JSON       options of squeeze()",
    "--json               print { messages, stats }",
  ],
  options: { options: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  async run([file = "-"], values) {
    const options = objectOf(values, "options");
    // The byte order mark of some editors is not part of the JSON.
    const messages = jsonOf(
      nameOf(file),
      readText(file).replace(/^\ufeff/, ""),
      "squeeze takes a JSON array of messages",
    );
    if (!Array.isArray(messages)) throw new Error(`${nameOf(file)} is not a JSON array of messages`);
    const squeezed = squeezeMessages(messages as Message[], options);
    if (values.json) return printJson(squeezed);
    printJson(squeezed.messages);
    console.error(JSON.stringify(squeezed.stats));
  },
};

/** Reads the file that `--originals` wrote. @throws an Error that names the file if it contains anything else */
function keptIn(file: string): Kept[] {
  const expected = "it must be a file that compress --originals wrote";
  const bytes = bytesOf(file);
  const text = utf16Of(nameOf(file), bytes) ?? textIn(nameOf(file), bytes).replace(/^\ufeff/, "");
  const kept = jsonOf(nameOf(file), text, expected);
  const isKept = (row: Partial<Kept> | null) =>
    [row?.refId, row?.label, row?.data].every((value) => typeof value === "string");
  if (!Array.isArray(kept) || !kept.every(isKept))
    throw new Error(`${nameOf(file)} contains something else; ${expected}`);
  return kept;
}
