/**
 * The fusion pipeline: compression of texts and conversations, and restoring them. Functions without a suffix run on a
 * worker if they return a promise. Those have a version with `…Sync`, and also the name with `…Async` that the
 * functions in `prose.ts` have.
 */
import { types } from "node:util";

import type { CompressedMessages, CompressJob, StageCall, Step } from "../binding/addon.js";
import type {
  Abortable,
  AnyMessage,
  CompressMessagesOptions,
  CompressMessagesResult,
  CompressOptions,
  CompressResult,
  CustomStage,
  StageContext,
  StageInfo,
} from "./api.js";
import {
  anything,
  asked,
  callable,
  crossingOptions,
  flag,
  type Kind,
  list,
  messagesOf,
  nullable,
  optional,
  string,
  taken,
  takenOf,
} from "../binding/arguments.js";
import { SIGNAL, untilAborted } from "../binding/abort.js";
import { awaiting, badArgument, calling, type CodedError } from "../binding/errors.js";
import { apply, applyInSlices, handOver, handOverInSlices, leftAlone, reallyDone } from "../binding/handover.js";
import type { LightMessage } from "../binding/light-json.js";
import { native } from "../binding/native.js";
import { remember } from "./rewind.js";
import { beforeTransport } from "../formats/text-encoding.js";

/** A stage of the caller and its functions. */
interface Stage {
  own: CustomStage;
  name: string;
  order: unknown;
  apply(context: StageContext): unknown;
  shouldApply?: (context: StageContext) => unknown;
}

const STAGE = {
  name: string,
  order: anything,
  apply: callable<Stage["apply"]>,
  shouldApply: nullable(callable<Stage["apply"]>),
};

const stage: Kind<Stage> = (name, own) => ({ ...takenOf(name, own, STAGE, `${name}.`), own: own as CustomStage });

/** Serializes the options for the addon and separates the caller's stages, which cross as names and orders only. */
function crossing(options: CompressOptions, instead = {}): { crossed: string; stages: Stage[] } {
  const { custom: stages } = takenOf("options", options, { custom: optional(list(stage, "an array of stages")) });
  const named = stages?.map(({ name, order }) => ({ name, order }));
  return { crossed: crossingOptions(options, { ...instead, custom: named }), stages: stages ?? [] };
}

/** A value that is converted to a boolean. An object is refused, so a promise is an error. */
const verdict: Kind<boolean> = (name, value) => {
  if (value !== null && typeof value === "object") badArgument(name, value, "true or false");
  return Boolean(value);
};

/**
 * Runs the stage that a job asks for. The returned text is only a proposal, which the pipeline measures and which the
 * stored original undoes.
 */
function ask(stages: Stage[], { stage: wanted, context }: StageCall): string | null {
  const found = stages.find(({ name }) => name === wanted);
  if (found === undefined) return null;
  const { own, name, apply, shouldApply } = found;
  const look = `the result of shouldApply of stage ${name}`;
  if (shouldApply && !asked(look, verdict, () => shouldApply.call(own, context))) return null;
  return asked(`the result of stage ${name}`, nullable(string), () => apply.call(own, context)) ?? null;
}

/** Handles one step of a job. Returns the result, or undefined after a question was answered. */
function resultOf(job: CompressJob, { question, result }: Step, stages: Stage[]): CompressResult | undefined {
  if (question) job.answer(ask(stages, question));
  result?.originals.forEach(remember);
  return result;
}

/**
 * Rewrites a text to cost fewer tokens, on a worker thread.
 *
 * `restore(result.text, result.originals)` equals the text byte for byte. If the text already contains folds, they are
 * undone too, and the result equals `restore(text)`. A lossless result needs no originals. Others must be stored before
 * the text is shown. The result is never longer than the text.
 */
export async function compress(text: string, options: CompressOptions & Abortable = {}): Promise<CompressResult> {
  string("text", text);
  const { signal } = takenOf("options", options, SIGNAL);
  const { crossed, stages } = crossing(options, { signal: undefined });
  return untilAborted(signal, () => compressing(text, crossed, stages, signal));
}

async function compressing(text: string, crossed: string, stages: Stage[], signal?: AbortSignal) {
  if (!text.isWellFormed()) return untouched(text);
  return awaiting(async () => {
    const addon = native();
    const job = new addon.CompressJob(text, crossed);
    try {
      for (;;) {
        // No stage of a caller who gave up is called.
        if (signal?.aborted) throw signal.reason;
        const result = resultOf(job, await job.advance(), stages);
        if (result) return result;
      }
    } finally {
      job.end();
    }
  });
}

/** Does the same as {@link compress} on the calling thread. */
export function compressSync(text: string, options: CompressOptions = {}): CompressResult {
  string("text", text);
  const { crossed, stages } = crossing(options);
  if (!text.isWellFormed()) return untouched(text);
  return calling(() => {
    const addon = native();
    const job = new addon.CompressJob(text, crossed);
    try {
      for (;;) {
        const result = resultOf(job, job.advanceSync(), stages);
        if (result) return result;
      }
    } finally {
      job.end();
    }
  });
}

/** Returns a text with lone surrogates unchanged: it has no exact form outside JavaScript. */
function untouched(text: string): CompressResult {
  const tokens = native().countTokens(text);
  return {
    text,
    tokensBefore: tokens,
    tokensAfter: tokens,
    contentType: "unknown",
    language: null,
    lossless: true,
    stages: [],
    originals: [],
  };
}

/** Serializes the options of compressing messages for the addon. */
function crossingForMessages(options: CompressMessagesOptions, instead = {}): string {
  const { custom } = takenOf("options", options, { custom: anything });
  if (custom !== undefined)
    badArgument("custom", "stages", "absent: messages are compressed with the built-in stages only");
  return crossingOptions(options, instead);
}

function messagesResult<M>(
  messages: M[],
  { originals, report }: CompressedMessages,
  crossed: readonly LightMessage[],
): CompressMessagesResult<M> {
  originals.forEach(remember);
  const alone = leftAlone(crossed, false);
  return { messages, originals, report: alone ? { ...report, leftAlone: alone } : report };
}

/** Removes from a result the changes to messages that changed meanwhile and were therefore left as they are. */
function withoutChanged<M>(result: CompressMessagesResult<M>, changedMeanwhile: number[]): CompressMessagesResult<M> {
  if (changedMeanwhile.length === 0) return result;
  const { report } = result;
  const { rows: blocks, notFreed } = reallyDone(report.blocks, changedMeanwhile);
  return { ...result, report: { ...report, tokensAfter: report.tokensAfter + notFreed, blocks, changedMeanwhile } };
}

/**
 * Removes repetitions from a conversation and then compresses each tool result, on a worker thread. Texts of users and
 * of the system stay. The messages may have any shape. {@link restoreMessages} restores them from the result. A
 * repetition is replaced by a note (`[[DEDUP_REF...]]`) that names the message with the content; `refId` in its row of
 * the report names its original.
 */
export async function compressMessages<M extends AnyMessage>(
  messages: readonly M[],
  options: CompressMessagesOptions & Abortable = {},
): Promise<CompressMessagesResult<M>> {
  const given = messagesOf<M>("messages", messages);
  const { signal } = takenOf("options", options, SIGNAL);
  const asked = crossingForMessages(options, { signal: undefined });
  const compressing = async () => {
    const addon = native();
    const { handover, crossed } = await handOverInSlices(addon, given);
    const done = await addon.compressMessages(handover, asked);
    const applied = await applyInSlices(given, crossed, done.change);
    return withoutChanged(
      messagesResult(applied.messages ?? (messages as M[]), done, crossed),
      applied.changedMeanwhile,
    );
  };
  return untilAborted(signal, () => awaiting(compressing));
}

/** Does the same as {@link compressMessages} on the calling thread. */
export function compressMessagesSync<M extends AnyMessage>(
  messages: readonly M[],
  options: CompressMessagesOptions = {},
): CompressMessagesResult<M> {
  const given = messagesOf<M>("messages", messages);
  const asked = crossingForMessages(options);
  return calling(() => {
    const addon = native();
    const { handover, crossed } = handOver(addon, given);
    const done = addon.compressMessagesSync(handover, asked);
    return messagesResult(apply(given, crossed, done.change) ?? (messages as M[]), done, crossed);
  });
}

/** A Buffer or a `Uint8Array` of any realm. A structured clone turns a Buffer into a `Uint8Array`. */
const bytes: Kind<Buffer> = (name, value) => {
  if (!types.isUint8Array(value)) badArgument(name, value, "a Buffer or a Uint8Array");
  return value as Buffer;
};

const ORIGINAL = { data: bytes, mimeType: nullable(string) };

/** The originals that a caller passes back. */
const originalsOf = list((name, value) => takenOf(name, value ?? {}, ORIGINAL, `${name}.`));

const index: Kind<number> = (name, value) => {
  const isIndex = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
  if (!isIndex) badArgument(name, value, "an index");
  return value as number;
};

const ROW = { message: index, block: index, refId: nullable(string) };

const REPORT = { blocks: list((name, value) => takenOf(name, value, ROW, `${name}.`)) };

/** The result of `compressMessages`. */
const COMPRESSED = {
  messages: messagesOf,
  originals: originalsOf,
  report: (name: string, value: unknown) => takenOf(name, value, REPORT, `${name}.`),
};

/**
 * Undoes {@link compress}: folds from the text alone, markers with the originals that they name. Everything else stays
 * as it is.
 *
 * A text whose line ends all became CRLF, or that got a byte order mark, is restored to the text before that change.
 *
 * @param options.strict throws if a fold or marker is left: an `Error` with code `CONCERTINA_FOLD_DAMAGED` for a fold
 *   that was changed, or `CONCERTINA_ORIGINAL_MISSING` if an original was not passed
 */
export function restore(
  text: string,
  originals: { data: Uint8Array }[] = [],
  options: { strict?: boolean } = {},
): string {
  string("text", text);
  const given = originalsOf("originals", originals);
  const { strict = false } = taken("options", options, { strict: optional(flag) });
  if (!text.isWellFormed()) return text;
  const data = given.map((original) => original.data);
  return calling(() => {
    const addon = native();
    const undo = (folded: string, restored = addon.restore(folded, data, false)) =>
      restored !== folded && strict ? addon.restore(folded, data, true) : restored;
    const restored = addon.restore(text, data, false);
    const forms = beforeTransport(restored);
    for (const before of forms) {
      const undone = undo(before);
      if (undone !== before) return undone;
    }
    // A header behind a byte order mark is read only in a form without the mark.
    if (strict) for (const form of [text, ...forms]) addon.restore(form, data, true);
    return restored;
  });
}

/** A restored text, and what is left to restore. */
export interface Restored {
  text: string;
  /**
   * True if no fold or marker is left. Every fold was checked; a byte order mark or line ends that a transport changed
   * outside of folds are not.
   */
  isWhole: boolean;
  /** The first fold or marker that is left, as the error that {@link restore} throws with `strict`. Null if none is. */
  left: CodedError | null;
}

/** Undoes {@link compress} like {@link restore}, and reports what is left instead of throwing. */
export function restoreReport(text: string, originals: { data: Uint8Array }[] = []): Restored {
  try {
    return { text: restore(text, originals, { strict: true }), isWhole: true, left: null };
  } catch (error) {
    const left = error as CodedError;
    if (left.code !== "CONCERTINA_FOLD_DAMAGED" && left.code !== "CONCERTINA_ORIGINAL_MISSING") throw error;
    return { text: restore(text, originals), isWhole: false, left };
  }
}

/**
 * Undoes {@link compressMessages}: takes its result and returns the original messages, with texts and images byte for
 * byte. Folds that the texts contained before are undone too. Messages may have been appended, and the report may have
 * been stored as JSON.
 *
 * @throws TypeError for a row of the report that does not fit these messages, or whose original was not passed
 */
export function restoreMessages<M extends AnyMessage>(compressed: CompressMessagesResult<M>): M[] {
  const { messages, originals, report } = takenOf("compressed", compressed, COMPRESSED);
  return calling(() => {
    const addon = native();
    const { handover, crossed } = handOver(addon, messages);
    const change = addon.restoreMessages(handover, originals, report.blocks);
    return apply(messages as M[], crossed, change) ?? compressed.messages;
  });
}

/** Returns the stages of the pipeline in the order in which they run. */
export function stages(): StageInfo[] {
  return calling(() => native().stages());
}

/** {@link compress} under the naming scheme of `compressProseAsync`. */
export const compressAsync: typeof compress = compress;

/** {@link compressMessages} under the naming scheme of `compressProseAsync`. */
export const compressMessagesAsync: typeof compressMessages = compressMessages;
