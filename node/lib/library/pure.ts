/** Functions without a store. */
import type { AnyMessage, Detection, Encoding, Hints, RepairStats, SqueezeStats } from "./api.js";
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
import type { Options } from "../binding/options.js";

/**
 * Evicts what is stale from a conversation: a drop-in for ClawSqueezer 1.0, pure and synchronous.
 *
 * The input is never changed. Messages that do not change are the same objects, and the same array comes back when none
 * did.
 */
export function squeeze<M extends AnyMessage>(
  messages: readonly M[],
  options: Options = {},
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
 * Makes every tool call have exactly one result, right behind it and before the words of its message, so that providers
 * accept the conversation. Results of one answer that user messages carry come together in one of them; an output of
 * the Responses API may stand anywhere behind its call.
 *
 * The same array comes back when nothing had to change, and where a message that may hold a call or a result cannot be
 * read: `stats.unreadable` is then its index. Items of the Responses API whose calls the provider keeps
 * (`previous_response_id`) are no whole conversation: their outputs would be orphans.
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
 * Counts the tokens of a text, exactly, in a published vocabulary; with `approx`, as colony's published estimate does.
 */
export function countTokens(text: string, options: { encoding?: Encoding | "approx" } = {}): number {
  string("text", text);
  const { encoding } = taken("options", options, { encoding: nullable(string) });
  return calling(() => native().countTokens(text, encoding));
}

/**
 * Counts the tokens of messages: texts and arguments by the vocabulary, images by the provider's rule for their real
 * size.
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

/** Says in at most `maxChars` characters (300 by default) what a text is. */
export function summarize(text: string, options: { maxChars?: number; hints?: Hints } = {}): string {
  string("text", text);
  const { maxChars = 300, hints = {} } = taken("options", options, {
    maxChars: optional(count()),
    hints: optional(hintsOf),
  });
  return calling(() => native().summarize(text, hints, maxChars));
}

/** Says what kind of text something is, and what its parts are. */
export function detect(text: string, hints: Hints = {}): Detection {
  string("text", text);
  const given = hintsOf("hints", hints);
  return calling(() => native().detect(text, given));
}
