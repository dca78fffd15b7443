/** Functions without a store. */
import type { AnyMessage, Detection, Encoding, Hints, RepairStats, SqueezeOptions, SqueezeStats } from "./api.js";
import {
  count,
  crossingOptions,
  type Fields,
  type Kind,
  messagesOf,
  nullable,
  optional,
  string,
  taken,
} from "../binding/arguments.js";
import { calling } from "../binding/errors.js";
import { apply, handOver, leftAlone } from "../binding/handover.js";
import { native } from "../binding/native.js";

/**
 * Replaces stale content of a conversation: a drop-in for ClawSqueezer 1.0, pure and synchronous.
 *
 * The input is never changed. Messages that do not change are the same objects, and the same array is returned if none
 * did.
 */
export function squeeze<M extends AnyMessage>(
  messages: readonly M[],
  options: SqueezeOptions = {},
): { messages: M[]; stats: SqueezeStats } {
  const given = messagesOf<M>("messages", messages);
  const asked = crossingOptions(options);
  return calling(() => {
    const addon = native();
    const { handover, crossed } = handOver(addon, given);
    const { change, stats } = addon.squeeze(handover, asked);
    const alone = leftAlone(crossed, true);
    return {
      messages: apply(given, crossed, change) ?? (messages as M[]),
      stats: alone ? { ...stats, leftAlone: alone } : stats,
    };
  });
}

/**
 * Gives every tool call exactly one result, directly behind it and before the text of its message, so that providers
 * accept the conversation. The results of one answer that are in user messages are merged into one of them. An output
 * of the Responses API may stand anywhere behind its call.
 *
 * The same array is returned if nothing had to change, and also if a message cannot be read that may contain a call or
 * a result: `stats.unreadable` is its index. Items of the Responses API whose calls are stored at the provider
 * (`previous_response_id`) are not a whole conversation: their outputs would count as orphans.
 */
export function repairToolPairing<M extends AnyMessage>(messages: readonly M[]): { messages: M[]; stats: RepairStats } {
  const given = messagesOf<M>("messages", messages);
  return calling(() => {
    const addon = native();
    const { handover, crossed } = handOver(addon, given);
    const { change, stats } = addon.repairToolPairing(handover);
    return { messages: apply(given, crossed, change) ?? (messages as M[]), stats };
  });
}

/**
 * Returns the exact number of tokens of a text in a published vocabulary, or with `approx` the published estimate of
 * colony.
 */
export function countTokens(text: string, options: { encoding?: Encoding | "approx" } = {}): number {
  string("text", text);
  const { encoding } = taken("options", options, { encoding: nullable(string) });
  return calling(() => native().countTokens(text, encoding));
}

/**
 * Returns the number of tokens of messages. Texts and arguments are counted by the vocabulary, images by the provider's
 * rule for their real size.
 */
export function countMessageTokens(
  messages: readonly AnyMessage[],
  options: { model?: string; encoding?: Encoding } = {},
): number {
  const given = messagesOf("messages", messages);
  const { model, encoding } = taken("options", options, { model: nullable(string), encoding: nullable(string) });
  return calling(() => {
    const addon = native();
    return addon.countMessageTokens(handOver(addon, given).handover, model, encoding);
  });
}

const HINTS = {
  toolName: nullable(string),
  path: nullable(string),
  command: nullable(string),
  contentType: nullable(string),
  language: nullable(string),
} satisfies Fields;

const hintsOf: Kind<Hints> = (name, value) => taken(name, value, HINTS);

/** Summarizes a text in at most `maxChars` characters (300 by default). */
export function summarize(text: string, options: { maxChars?: number; hints?: Hints } = {}): string {
  string("text", text);
  const { maxChars = 300, hints = {} } = taken("options", options, {
    maxChars: optional(count()),
    hints: optional(hintsOf),
  });
  return calling(() => native().summarize(text, hints, maxChars));
}

/** Detects the content type of a text and of its parts. */
export function detect(text: string, hints: Hints = {}): Detection {
  string("text", text);
  const given = hintsOf("hints", hints);
  return calling(() => native().detect(text, given));
}
