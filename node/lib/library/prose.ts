/**
 * Prose with protected words, and rule files. Functions without a suffix run on the calling thread; long work has an
 * `…Async` twin.
 */
import type {
  CompressedProse,
  CompressedRules,
  ProseOptions,
  ProseReceipt,
  ProseToken,
  ProtectedSpan,
  RuleFile,
  RulesLevel,
  RulesOptions,
} from "./api.js";
import { count, type Kind, list, nullable, oneOf, string, strings, taken, takenOf } from "../binding/arguments.js";
import { awaiting, calling } from "../binding/errors.js";
import { native } from "../binding/native.js";

/** A text with lone surrogates has no exact form outside JavaScript, so it stays as it is. */
function untouched(text: string, options: ProseOptions): CompressedProse {
  const tokens = native().countTokens(text);
  const receipt = {
    tokens_before: tokens,
    tokens_after: tokens,
    saved_tokens: 0,
    saved_ratio: 0,
    compression_intensity: options.intensity ?? "full",
    substitutions: [],
  };
  return { text, receipt };
}

const PROSE = { intensity: nullable(oneOf("lite", "full", "ultra")), objective: nullable(oneOf("tokens", "chars")) };

/**
 * Says prose in fewer tokens. Code, names, numbers and whatever else is technical comes out byte for byte; what is lost
 * are fillers, hedges, pleasantries, articles and, for `objective: "chars"`, the long forms of listed abbreviations.
 */
export function compressProse(text: string, options: ProseOptions = {}): CompressedProse {
  string("text", text);
  const asked = taken("options", options, PROSE);
  return calling(() => (text.isWellFormed() ? native().compressProse(text, asked) : untouched(text, asked)));
}

/** {@link compressProse} on a worker thread. */
export async function compressProseAsync(text: string, options: ProseOptions = {}): Promise<CompressedProse> {
  string("text", text);
  const asked = taken("options", options, PROSE);
  return awaiting(async () =>
    text.isWellFormed() ? native().compressProseOnWorker(text, asked) : untouched(text, asked),
  );
}

const SUBSTITUTION = { long: string, short: string, count: count(0) };

const RECEIPT = { substitutions: list((name, value) => takenOf(name, value, SUBSTITUTION, `${name}.`)) };

/** Writes abbreviations out; with a receipt, only those that it names. Technical words stay as they are. */
export function expand(text: string, receipt?: Pick<ProseReceipt, "substitutions">): string {
  string("text", text);
  const named = receipt === undefined ? undefined : takenOf("receipt", receipt, RECEIPT, "receipt.").substitutions;
  if (!text.isWellFormed()) return text;
  return calling(() => native().expand(text, named));
}

/** Cuts a text into protected spans and prose; the parts in order are the text. */
export function tokenize(text: string): ProseToken[] {
  string("text", text);
  let at = 0;
  return calling(() => native().tokenize(text)).map(({ kind, length }) => {
    const start = at;
    at += length;
    return { kind, text: text.slice(start, at) };
  });
}

/** Removes what stands between `<private>` and `</private>`; one that is never closed, to the end. */
export function redactPrivate(text: string): string {
  string("text", text);
  return calling(() => native().redactPrivate(text));
}

/** What shortening a rule file leaves as it is. Offsets are UTF-16 units, as `String.prototype.slice` counts. */
export function protectedSpans(text: string): ProtectedSpan[] {
  string("text", text);
  return calling(() => native().protectedSpans(text));
}

function leveled(given: RulesLevel, options: Omit<RulesOptions, "level">): RulesOptions {
  return { ...taken("options", options, RULES), level: level("level", given) };
}

const level: Kind<RulesLevel> = oneOf<RulesLevel>(0, 1, 2, 3, "off", "light", "standard", "aggressive");

const ABBREVIATIONS = { entries: strings };

const RULES = {
  level: nullable(level),
  objective: nullable(oneOf("chars", "tokens")),
  maxChars: nullable(count(0)),
  abbreviations: nullable((name, value) => takenOf(name, value, ABBREVIATIONS, `${name}.`)),
};

/**
 * Shortens one rule file. What it forbids, demands or names comes out byte for byte, and the result never has more
 * o200k tokens than the text. What saves characters and costs tokens is done only with `maxChars`, for a text that
 * would otherwise be longer.
 */
export function preprocess(text: string, level: RulesLevel, options: Omit<RulesOptions, "level"> = {}): string {
  string("text", text);
  const asked = leveled(level, options);
  return calling(() => (text.isWellFormed() ? native().preprocess(text, asked) : text));
}

/** {@link preprocess} on a worker thread. */
export async function preprocessAsync(
  text: string,
  level: RulesLevel,
  options: Omit<RulesOptions, "level"> = {},
): Promise<string> {
  string("text", text);
  const asked = leveled(level, options);
  return awaiting(async () => (text.isWellFormed() ? native().preprocessOnWorker(text, asked) : text));
}

const FILE = { name: string, text: string };

const filesOf = list((name, value) => takenOf(name, value, FILE, `${name}.`));

/**
 * Shortens rule files and joins them, `priority: N` of the front matter first (5 by default), up to `maxChars`
 * characters (8000 by default). A file that does not fit is left out whole and named in `omitted`; a smaller one behind
 * it may still fit.
 */
export function compressRules(files: RuleFile[], options: RulesOptions = {}): CompressedRules {
  const [given, asked] = [filesOf("files", files), taken("options", options, RULES)];
  return calling(() => native().compressRules(given, asked));
}

/** {@link compressRules} on a worker thread. */
export async function compressRulesAsync(files: RuleFile[], options: RulesOptions = {}): Promise<CompressedRules> {
  const [given, asked] = [filesOf("files", files), taken("options", options, RULES)];
  return awaiting(() => native().compressRulesOnWorker(given, asked));
}

/** {@link compressProse}, by the name of the other synchronous twins. */
export const compressProseSync: typeof compressProse = compressProse;

/** {@link preprocess}, by the name of the other synchronous twins. */
export const preprocessSync: typeof preprocess = preprocess;

/** {@link compressRules}, by the name of the other synchronous twins. */
export const compressRulesSync: typeof compressRules = compressRules;
