/** Prose with protected words, and rule files. Functions without a suffix run on the calling thread; long work has an `…Async` twin. */
import type {
  CompressedProse, CompressedRules, ProseOptions, ProseReceipt, ProseToken, ProtectedSpan, RuleFile, RulesLevel, RulesOptions,
} from "./api.js";
import { awaiting, badArgument, calling, needArray, needObject, needOptions, needString } from "./errors.js";
import { native } from "./native.js";

/** A text with lone surrogates has no exact form outside JavaScript, so it stays as it is. */
function untouched(text: string, options: ProseOptions): CompressedProse {
  const tokens = native().countTokens(text);
  const receipt = {
    tokens_before: tokens, tokens_after: tokens, saved_tokens: 0, saved_ratio: 0,
    compression_intensity: options.intensity ?? "full", substitutions: [],
  };
  return { text, receipt };
}

function needProseOptions(options: unknown): void {
  needOptions("options", options, ["intensity", "objective"]);
}

/**
 * Says prose in fewer tokens. Code, names, numbers and whatever else is technical comes out byte for byte; what is lost are fillers,
 * hedges, pleasantries, articles and, for `objective: "chars"`, the long forms of listed abbreviations.
 */
export function compressProse(text: string, options: ProseOptions = {}): CompressedProse {
  needString("text", text);
  needProseOptions(options);
  return calling(() => {
    // Also checks the options.
    const done = native().compressProse(text.isWellFormed() ? text : "", options);
    return text.isWellFormed() ? done : untouched(text, options);
  });
}

/** {@link compressProse} on a worker thread. */
export async function compressProseAsync(text: string, options: ProseOptions = {}): Promise<CompressedProse> {
  needString("text", text);
  needProseOptions(options);
  if (!text.isWellFormed()) return compressProse(text, options);
  return awaiting(() => native().compressProseOnWorker(text, options));
}

/** Writes abbreviations out; with a receipt, only those that it names. Technical words stay as they are. */
export function expand(text: string, receipt?: Pick<ProseReceipt, "substitutions">): string {
  needString("text", text);
  if (receipt !== undefined) {
    needObject("receipt", receipt);
    needArray("receipt.substitutions", receipt.substitutions);
  }
  if (!text.isWellFormed()) return text;
  return calling(() => native().expand(text, receipt?.substitutions));
}

/** Cuts a text into protected spans and prose; the parts in order are the text. */
export function tokenize(text: string): ProseToken[] {
  needString("text", text);
  let at = 0;
  return calling(() => native().tokenize(text)).map(({ kind, length }) => {
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
  return calling(() => native().protectedSpans(text));
}

function needRulesOptions(options: unknown): void {
  needOptions("options", options, ["level", "objective", "maxChars", "abbreviations"]);
}

function withLevel(level: RulesLevel, options: RulesOptions): RulesOptions {
  needRulesOptions(options);
  if (level === undefined) badArgument("level", level, "a number from 0 to 3");
  return { ...options, level };
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
  return awaiting(() => native().preprocessOnWorker(text, crossed));
}

function needFiles(files: unknown): asserts files is RuleFile[] {
  needArray("files", files);
  files.forEach((file, index) => {
    needObject(`files[${index}]`, file);
    needString(`files[${index}].name`, file.name);
    needString(`files[${index}].text`, file.text);
  });
}

/**
 * Shortens rule files and joins them, `priority: N` of the front matter first (5 by default), up to `maxChars` characters (8000 by
 * default). A file that does not fit is left out whole and named in `omitted`; a smaller one behind it may still fit.
 */
export function compressRules(files: RuleFile[], options: RulesOptions = {}): CompressedRules {
  needFiles(files);
  needRulesOptions(options);
  return calling(() => native().compressRules(files, options));
}

/** {@link compressRules} on a worker thread. */
export async function compressRulesAsync(files: RuleFile[], options: RulesOptions = {}): Promise<CompressedRules> {
  needFiles(files);
  needRulesOptions(options);
  return awaiting(() => native().compressRulesOnWorker(files, options));
}

/** {@link compressProse}, by the name of the other synchronous twins. */
export const compressProseSync: typeof compressProse = compressProse;

/** {@link preprocess}, by the name of the other synchronous twins. */
export const preprocessSync: typeof preprocess = preprocess;

/** {@link compressRules}, by the name of the other synchronous twins. */
export const compressRulesSync: typeof compressRules = compressRules;
