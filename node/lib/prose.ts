/** Prose with protected words, and rule files. Functions without a suffix run on the calling thread; long work has an `…Async` twin. */
import type {
  CompressedProse, CompressedRules, ProseOptions, ProseReceipt, ProseToken, ProtectedSpan, RuleFile, RulesLevel, RulesOptions,
} from "./api.js";
import { awaiting, badArgument, calling, needArray, needObject, needString } from "./errors.js";
import { native, type Outcome } from "./native.js";
import { queued } from "./queue.js";

/** A text with lone surrogates has no exact form outside JavaScript, so it stays as it is. */
function untouched(text: string, options: ProseOptions): CompressedProse {
  const tokens = native().countTokens(text);
  const receipt = {
    tokens_before: tokens, tokens_after: tokens, saved_tokens: 0, saved_ratio: 0,
    compression_intensity: options.intensity ?? "full", substitutions: [],
  };
  return { text, receipt };
}

function proseOf(outcome: Outcome): CompressedProse {
  return { text: outcome.text ?? "", receipt: JSON.parse(outcome.report) as ProseReceipt };
}

/**
 * Says prose in fewer tokens. Code, names, numbers and whatever else is technical comes out byte for byte; what is lost are fillers,
 * hedges, pleasantries, articles and, for `objective: "chars"`, the long forms of listed abbreviations.
 */
export function compressProse(text: string, options: ProseOptions = {}): CompressedProse {
  needString("text", text);
  needObject("options", options);
  return calling(() => {
    // Also checks the options.
    const done = proseOf(native().compressProse(text.isWellFormed() ? text : "", JSON.stringify(options)));
    return text.isWellFormed() ? done : untouched(text, options);
  });
}

/** {@link compressProse} on a worker thread. */
export async function compressProseAsync(text: string, options: ProseOptions = {}): Promise<CompressedProse> {
  needString("text", text);
  needObject("options", options);
  if (!text.isWellFormed()) return compressProse(text, options);
  return awaiting(async () => proseOf(await queued(() => native().compressProseOnWorker(text, JSON.stringify(options)))));
}

/** Writes abbreviations out; with a receipt, only those that it names. Technical words stay as they are. */
export function expand(text: string, receipt?: Pick<ProseReceipt, "substitutions">): string {
  needString("text", text);
  if (receipt !== undefined) {
    needObject("receipt", receipt);
    needArray("receipt.substitutions", receipt.substitutions);
  }
  if (!text.isWellFormed()) return text;
  return calling(() => native().expand(text, receipt && JSON.stringify(receipt.substitutions)));
}

/** Cuts a text into protected spans and prose; the parts in order are the text. */
export function tokenize(text: string): ProseToken[] {
  needString("text", text);
  let at = 0;
  return calling(() => JSON.parse(native().tokenize(text)) as [string, number][]).map(([kind, length]) => {
    const start = at;
    at += length;
    return { kind, text: text.slice(start, at) };
  });
}

/** Removes what stands between `<private>` and `</private>`; one that is never closed, to the end. */
export function redactPrivate(text: string): string {
  needString("text", text);
  return calling(() => native().redactPrivate(text));
}

/** What shortening a rule file leaves as it is. Offsets are UTF-16 units, as `String.prototype.slice` counts. */
export function protectedSpans(text: string): ProtectedSpan[] {
  needString("text", text);
  return calling(() => JSON.parse(native().protectedSpans(text)) as ProtectedSpan[]);
}

function withLevel(level: RulesLevel, options: RulesOptions): string {
  needObject("options", options);
  if (level === undefined) badArgument("level", level, "a number from 0 to 3");
  return JSON.stringify({ ...options, level });
}

/**
 * Shortens one rule file. What it forbids, demands or names comes out byte for byte, and the result never has more o200k tokens than
 * the text. What saves characters and costs tokens is done only with `maxChars`, for a text that would otherwise be longer.
 */
export function preprocess(text: string, level: RulesLevel, options: Omit<RulesOptions, "level"> = {}): string {
  needString("text", text);
  const crossed = withLevel(level, options);
  return calling(() => (text.isWellFormed() ? native().preprocess(text, crossed) : (native().preprocess("", crossed), text)));
}

/** {@link preprocess} on a worker thread. */
export async function preprocessAsync(text: string, level: RulesLevel, options: Omit<RulesOptions, "level"> = {}): Promise<string> {
  needString("text", text);
  const crossed = withLevel(level, options);
  if (!text.isWellFormed()) return preprocess(text, level, options);
  return awaiting(async () => (await queued(() => native().preprocessOnWorker(text, crossed))).text ?? "");
}

function crossingFiles(files: unknown, options: RulesOptions): [string, string] {
  needArray("files", files);
  needObject("options", options);
  files.forEach((file, index) => {
    needObject(`files[${index}]`, file);
    needString(`files[${index}].name`, file.name);
    needString(`files[${index}].text`, file.text);
  });
  const exact = (files as RuleFile[]).map(({ name, text }) => ({ name: name.toWellFormed(), text: text.toWellFormed() }));
  return [JSON.stringify(exact), JSON.stringify(options)];
}

function rulesOf(outcome: Outcome): CompressedRules {
  return { text: outcome.text ?? "", ...(JSON.parse(outcome.report) as Omit<CompressedRules, "text">) };
}

/**
 * Shortens rule files and joins them, `priority: N` of the front matter first (5 by default), up to `maxChars` characters (8000 by
 * default). A file that does not fit is left out whole and named in `omitted`; a smaller one behind it may still fit.
 */
export function compressRules(files: RuleFile[], options: RulesOptions = {}): CompressedRules {
  const crossed = crossingFiles(files, options);
  return calling(() => rulesOf(native().compressRules(...crossed)));
}

/** {@link compressRules} on a worker thread. */
export async function compressRulesAsync(files: RuleFile[], options: RulesOptions = {}): Promise<CompressedRules> {
  const crossed = crossingFiles(files, options);
  return awaiting(async () => rulesOf(await queued(() => native().compressRulesOnWorker(...crossed))));
}

/** {@link compressProse}, by the name of the other synchronous twins. */
export const compressProseSync: typeof compressProse = compressProse;

/** {@link preprocess}, by the name of the other synchronous twins. */
export const preprocessSync: typeof preprocess = preprocess;

/** {@link compressRules}, by the name of the other synchronous twins. */
export const compressRulesSync: typeof compressRules = compressRules;
