/** The fusion pipeline: texts and conversations in fewer tokens, and back. */
import type { CompressedMessages, CompressJob, Question, Step } from "./addon.js";
import type {
  AnyMessage, CompressMessagesOptions, CompressMessagesResult, CompressOptions, CompressResult, CustomStage, Original, StageInfo,
} from "./api.js";
import { awaiting, badArgument, calling, crossingOptions, needArray, needObject, needString, reading, takenMessages } from "./errors.js";
import { apply, applyInSlices, handOver, handOverInSlices, reallyDone } from "./handover.js";
import { native } from "./native.js";
import { remember } from "./rewind.js";
import { beforeTransport } from "./transport.js";

/** Options as they cross: the caller's stages by name and order only. */
function crossing(options: CompressOptions): string {
  needObject("options", options as unknown);
  return reading("options", () => {
    const { custom, ...rest } = options;
    if (custom === undefined) return crossingOptions(options);
    if (!Array.isArray(custom)) badArgument("custom", custom, "an array of stages");
    const named = custom.map((stage, index) => {
      needObject(`custom[${index}]`, stage as unknown);
      const { name, order, apply: run } = stage;
      if (typeof run !== "function") badArgument(`custom[${index}].apply`, run, "a function");
      return { name, order };
    });
    return crossingOptions({ ...rest, custom: named });
  });
}

/** Runs the stage that the job asks for. What it returns is a proposal: measured, and undone by the stored original. */
function ask(custom: CustomStage[] | undefined, { stage: asked, context }: Question): string | null {
  const stage = custom?.find(({ name }) => name === asked);
  if (stage === undefined || (stage.shouldApply && !stage.shouldApply(context))) return null;
  const answer = stage.apply(context);
  if (answer !== null && answer !== undefined) needString(`what stage ${stage.name} returned`, answer);
  return answer ?? null;
}

/** One step of a job: its result, or `undefined` after a question was answered. */
function resultOf(job: CompressJob, { question, result }: Step, options: CompressOptions): CompressResult | undefined {
  if (question) job.answer(ask(options.custom, question));
  result?.originals.forEach(remember);
  return result;
}

/**
 * Rewrites a text so that it costs fewer tokens, on a worker thread.
 *
 * `restore(result.text, result.originals)` is the text again, byte for byte, but for a text that is folded already: its own folds are
 * undone, too, and what comes back is `restore(text)`. A lossless result needs no originals; others must be
 * stored before the text is shown. The result is never longer than the text.
 */
export async function compress(text: string, options: CompressOptions = {}): Promise<CompressResult> {
  needString("text", text);
  const crossed = crossing(options);
  if (!text.isWellFormed()) return untouched(text);
  return awaiting(async () => {
    const addon = native();
    const job = new addon.CompressJob(text, crossed);
    for (;;) {
      const result = resultOf(job, await job.advance(), options);
      if (result) return result;
    }
  });
}

/** {@link compress} on the calling thread. */
export function compressSync(text: string, options: CompressOptions = {}): CompressResult {
  needString("text", text);
  const crossed = crossing(options);
  if (!text.isWellFormed()) return untouched(text);
  return calling(() => {
    const addon = native();
    const job = new addon.CompressJob(text, crossed);
    for (;;) {
      const result = resultOf(job, job.advanceSync(), options);
      if (result) return result;
    }
  });
}

/** A text with lone surrogates has no exact form outside JavaScript, so it stays as it is. */
function untouched(text: string): CompressResult {
  const tokens = native().countTokens(text);
  return { text, tokensBefore: tokens, tokensAfter: tokens, contentType: "unknown", language: null, lossless: true, stages: [], originals: [] };
}

/** Options for messages as they cross. */
function crossingForMessages(options: CompressMessagesOptions): string {
  needObject("options", options as unknown);
  const hasCustom = reading("options", () => (options as CompressOptions).custom !== undefined);
  if (hasCustom) badArgument("custom", "stages", "left out: messages run the built-in stages only");
  return crossingOptions(options);
}

function messagesResult<M>(messages: M[], { originals, report }: CompressedMessages): CompressMessagesResult<M> {
  originals.forEach(remember);
  return { messages, originals, report };
}

/** The result of what was really done: nothing was done to messages that changed meanwhile. */
function withoutChanged<M>(result: CompressMessagesResult<M>, changedMeanwhile: number[]): CompressMessagesResult<M> {
  if (changedMeanwhile.length === 0) return result;
  const { report } = result;
  const { rows: blocks, notFreed } = reallyDone(report.blocks, changedMeanwhile);
  return { ...result, report: { ...report, tokensAfter: report.tokensAfter + notFreed, blocks, changedMeanwhile } };
}

/**
 * Removes what a conversation says twice, then compresses each tool result, on a worker thread. Words of users and of the system
 * stay; messages of any shape. {@link restoreMessages} brings all of it back from what this resolves to. In the place of what stands twice
 * is a note (`[[DEDUP_REF...]]`) that names the message which says it; the `refId` of its row in the report names its original.
 */
export async function compressMessages<M extends AnyMessage>(messages: readonly M[], options: CompressMessagesOptions = {}): Promise<CompressMessagesResult<M>> {
  const taken = takenMessages("messages", messages);
  const asked = crossingForMessages(options);
  return awaiting(async () => {
    const addon = native();
    const { handover, crossed } = await handOverInSlices(addon, taken);
    const done = await addon.compressMessages(handover, asked);
    const applied = await applyInSlices(taken, crossed, done.change);
    return withoutChanged(messagesResult(applied.messages ?? (messages as M[]), done), applied.changedMeanwhile);
  });
}

/** {@link compressMessages} on the calling thread. */
export function compressMessagesSync<M extends AnyMessage>(messages: readonly M[], options: CompressMessagesOptions = {}): CompressMessagesResult<M> {
  const taken = takenMessages("messages", messages);
  const crossed = crossingForMessages(options);
  return calling(() => {
    const addon = native();
    const done = addon.compressMessagesSync(handOver(addon, taken), crossed);
    return messagesResult(apply(taken, done.change) ?? (messages as M[]), done);
  });
}

/** The originals that a caller hands back. */
function kept(originals: unknown): Pick<Original, "data" | "mimeType">[] {
  return reading("originals", () => {
    needArray("originals", originals);
    return Array.from(originals as (Partial<Original> | null | undefined)[], (original, index) => {
      const { data, mimeType } = original ?? {};
      if (!Buffer.isBuffer(data)) badArgument(`originals[${index}].data`, data, "a Buffer");
      if (mimeType !== undefined) needString(`originals[${index}].mimeType`, mimeType);
      return { data, mimeType };
    });
  });
}

/**
 * Undoes {@link compress}: folds by themselves, markers with the originals they name. Anything else stays as it is.
 *
 * A text in which each line end became CRLF, or before which a byte order mark was put, is restored as the text that it was before.
 */
export function restore(text: string, originals: Pick<Original, "data">[] = []): string {
  needString("text", text);
  const given = kept(originals);
  if (!text.isWellFormed()) return text;
  const data = given.map((original) => original.data);
  return calling(() => {
    const addon = native();
    const restored = addon.restore(text, data);
    for (const before of beforeTransport(restored)) {
      const undone = addon.restore(before, data);
      if (undone !== before) return undone;
    }
    return restored;
  });
}

/**
 * Undoes {@link compressMessages}: takes what it resolved to, and returns the messages as they were, texts and images byte for byte, but for
 * texts that were folded before, whose own folds are undone, too. Messages may have been added behind, and the report may have been
 * kept as JSON.
 *
 * @throws TypeError for a row of the report that is not of these messages, or whose original is not among the originals
 */
export function restoreMessages<M extends AnyMessage>(compressed: CompressMessagesResult<M>): M[] {
  needObject("compressed", compressed as unknown);
  const messages = takenMessages("messages", compressed.messages);
  const originals = kept(compressed.originals);
  const rows = reading("report", () => {
    const { report } = compressed;
    needObject("report", report as unknown);
    needArray("report.blocks", report.blocks as unknown);
    return Array.from(report.blocks, (row, index) => {
      needObject(`report.blocks[${index}]`, row as unknown);
      const { message, block, refId } = row;
      for (const [name, at] of Object.entries({ message, block })) {
        if (!Number.isInteger(at) || at < 0 || at >= 2 ** 32) badArgument(`report.blocks[${index}].${name}`, String(at), "an index");
      }
      if (refId !== undefined) needString(`report.blocks[${index}].refId`, refId);
      return { message, block, refId };
    });
  });
  return calling(() => {
    const addon = native();
    return apply(messages, addon.restoreMessages(handOver(addon, messages), originals, rows)) ?? compressed.messages;
  });
}

/** The stages of the pipeline, in the order in which they run. */
export function stages(): StageInfo[] {
  return calling(() => native().stages());
}
