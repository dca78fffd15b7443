/**
 * Shortening of prose and of rule files. Functions without a suffix run on the calling thread. Those with long running
 * times have an `…Async` version on a worker, and also the name with `…Sync` that the functions in `fusion.ts` have.
 */
import type {
  Abortable,
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
import type { CompressedProse as AddonProse } from "../binding/addon.js";
import { count, type Kind, list, nullable, oneOf, string, strings, taken, takenOf } from "../binding/arguments.js";
import { SIGNAL, untilAborted } from "../binding/abort.js";
import { awaiting, calling } from "../binding/errors.js";
import { native } from "../binding/native.js";

/** Returns a text with lone surrogates unchanged: it has no exact form outside JavaScript. */
function untouched(text: string, options: ProseOptions): AddonProse {
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

/** The names of a receipt in camelCase. They stand beside the published names and are not enumerable. */
const CAMEL_CASE: Record<Exclude<keyof ProseReceipt, keyof AddonProse["receipt"]>, keyof AddonProse["receipt"]> = {
  tokensBefore: "tokens_before",
  tokensAfter: "tokens_after",
  savedTokens: "saved_tokens",
  savedRatio: "saved_ratio",
  compressionIntensity: "compression_intensity",
};

const ALIASES = Object.fromEntries(
  Object.entries(CAMEL_CASE).map(([alias, name]) => {
    function get(this: AddonProse["receipt"]) {
      return this[name];
    }
    return [alias, { get }];
  }),
);

/** Adds the names in camelCase to a receipt. */
function withAliases({ text, receipt }: AddonProse): CompressedProse {
  return { text, receipt: Object.defineProperties(receipt, ALIASES) as ProseReceipt };
}

const PROSE = { intensity: nullable(oneOf("lite", "full", "ultra")), objective: nullable(oneOf("tokens", "chars")) };

/**
 * Shortens prose. Code, names, numbers and other technical content is preserved byte for byte. Fillers, hedges,
 * pleasantries and articles are removed. With `objective: "chars"`, listed words are abbreviated.
 */
export function compressProse(text: string, options: ProseOptions = {}): CompressedProse {
  string("text", text);
  const asked = taken("options", options, PROSE);
  return withAliases(
    calling(() => (text.isWellFormed() ? native().compressProse(text, asked) : untouched(text, asked))),
  );
}

/** Does the same as {@link compressProse} on a worker thread. */
export async function compressProseAsync(
  text: string,
  options: ProseOptions & Abortable = {},
): Promise<CompressedProse> {
  string("text", text);
  const { signal, ...asked } = taken("options", options, { ...PROSE, ...SIGNAL });
  const compressing = async () =>
    text.isWellFormed() ? native().compressProseOnWorker(text, asked) : untouched(text, asked);
  return untilAborted(signal, async () => withAliases(await awaiting(compressing)));
}

const SUBSTITUTION = { long: string, short: string, count: count(0) };

const RECEIPT = { substitutions: list((name, value) => takenOf(name, value, SUBSTITUTION, `${name}.`)) };

/** Expands abbreviations, or with a receipt only those that it lists. Technical words stay as they are. */
export function expand(text: string, receipt?: Pick<ProseReceipt, "substitutions">): string {
  string("text", text);
  const named = receipt === undefined ? undefined : takenOf("receipt", receipt, RECEIPT, "receipt.").substitutions;
  if (!text.isWellFormed()) return text;
  return calling(() => native().expand(text, named));
}

/** Splits a text into protected spans and prose. The parts in order are the text. */
export function tokenize(text: string): ProseToken[] {
  string("text", text);
  let at = 0;
  return calling(() => native().tokenize(text)).map(({ kind, length }) => {
    const start = at;
    at += length;
    return { kind, text: text.slice(start, at) };
  });
}

/** Removes the text between `<private>` and `</private>`. Without the closing tag it removes everything to the end. */
export function redactPrivate(text: string): string {
  string("text", text);
  if (!text.includes("<")) return text;
  return calling(() => native().redactPrivate(text));
}

/**
 * Returns the parts of a rule file that shortening does not alter. Offsets are in UTF-16 units, as
 * `String.prototype.slice` takes them.
 */
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
 * Shortens a rule file. Prohibitions, requirements and names are preserved byte for byte, and the result never has more
 * o200k tokens than the text. Edits that save characters but cost tokens are used only with `maxChars`, for a text that
 * would otherwise be longer.
 */
export function preprocess(text: string, level: RulesLevel, options: Omit<RulesOptions, "level"> = {}): string {
  string("text", text);
  const asked = leveled(level, options);
  return calling(() => (text.isWellFormed() ? native().preprocess(text, asked) : text));
}

/** Does the same as {@link preprocess} on a worker thread. */
export async function preprocessAsync(
  text: string,
  level: RulesLevel,
  options: Omit<RulesOptions, "level"> & Abortable = {},
): Promise<string> {
  string("text", text);
  const { signal, ...rest } = taken("options", options, { ...RULES, ...SIGNAL });
  const asked = leveled(level, rest);
  const shortening = async () => (text.isWellFormed() ? native().preprocessOnWorker(text, asked) : text);
  return untilAborted(signal, () => awaiting(shortening));
}

const FILE = { name: string, text: string };

const filesOf = list((name, value) => takenOf(name, value, FILE, `${name}.`));

/**
 * Shortens rule files and joins them up to `maxChars` characters (8000 by default), in the order of `priority: N` in
 * the front matter (5 by default). A file that does not fit is left out as a whole and listed in `omitted`. A smaller
 * file after it may still fit.
 */
export function compressRules(files: RuleFile[], options: RulesOptions = {}): CompressedRules {
  const [given, asked] = [filesOf("files", files), taken("options", options, RULES)];
  return calling(() => native().compressRules(given, asked));
}

/** Does the same as {@link compressRules} on a worker thread. */
export async function compressRulesAsync(
  files: RuleFile[],
  options: RulesOptions & Abortable = {},
): Promise<CompressedRules> {
  const given = filesOf("files", files);
  const { signal, ...asked } = taken("options", options, { ...RULES, ...SIGNAL });
  return untilAborted(signal, () => awaiting(() => native().compressRulesOnWorker(given, asked)));
}

/** {@link compressProse} under the naming scheme of the other synchronous functions. */
export const compressProseSync: typeof compressProse = compressProse;

/** {@link preprocess} under the naming scheme of the other synchronous functions. */
export const preprocessSync: typeof preprocess = preprocess;

/** {@link compressRules} under the naming scheme of the other synchronous functions. */
export const compressRulesSync: typeof compressRules = compressRules;
