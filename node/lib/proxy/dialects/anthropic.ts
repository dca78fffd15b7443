/** Anthropic's Messages API. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../../library/fetch-tool.js";
import type { Arriving } from "../copies.js";
import {
  afterEqual,
  type Answer,
  answerOf,
  type Call,
  type Dialect,
  mayCallAny,
  Relay,
  type Shown,
  usageOf,
} from "../dialect.js";
import { withRemindersApart } from "../reminders.js";
import { isObject, type Json, namedEvent, objectIn, objectsIn, type StreamEvent } from "../sse.js";

const blocksOf = (message: AnyMessage): Json[] => objectsIn(message.content);
const isThinking = ({ type }: Json) => type === "thinking" || type === "redacted_thinking";
const isResult = ({ type }: Json) => type === "tool_result";

export const anthropic: Dialect = {
  name: "anthropic",
  form: "anthropic",
  // A text of Claude Code that differs from request to request.
  systemOf: ({ system }) =>
    Array.isArray(system)
      ? objectsIn(system).flatMap(({ text }) => (String(text).startsWith("x-anthropic-billing-header") ? [] : [text]))
      : system,
  messagesOf: ({ messages }) => objectsIn(messages) as AnyMessage[],
  withMessages: (body, messages) => ({ ...body, messages }),
  continues: () => undefined,
  toolNames: ({ tools }) => objectsIn(tools).map(({ name }) => String(name)),
  allowsTools: mayCallAny,
  fetchTool: { name: FETCH_TOOL, description: fetchToolDescription, input_schema: fetchToolParameters },
  callIn: callOf,
  callsIn: (message) => blocksOf(message).flatMap((block) => callOf(block) ?? []),
  isAnswer: ({ role }) => role === "assistant",
  hasThinking: (message) => blocksOf(message).some(isThinking),
  resultsIn: (message) =>
    blocksOf(message)
      .filter(isResult)
      .map((block) => ({
        callId: String(block.tool_use_id),
        message: { role: "user", content: [withRemindersApart(block, "content", "text")] },
      })),
  withResults(message, shown) {
    const results = shown.map(({ content }) => (content as Json[])[0]);
    return {
      ...message,
      content: (message.content as Json[]).map((block) => (isResult(block) ? results.shift() : block)),
    };
  },
  joinsAnswers: false,
  piecesOf: ([message]) =>
    typeof message?.content === "string" ? [{ type: "text", text: message.content }] : objectsIn(message?.content),
  toMessages: (pieces, like) => (pieces.length === 0 ? [] : [{ ...like, role: "assistant", content: pieces }]),
  after: (pieces, seen) => afterEqual(pieces, seen, isSame),
  withFetched(results, [next, ...rest]) {
    const blocks = results.map(({ id, content }) => ({ type: "tool_result", tool_use_id: id, content }));
    // Anthropic demands all results of an answer in the next message, before anything else.
    if (next?.role !== "user") return [{ role: "user", content: blocks }, ...(next ? [next] : []), ...rest];
    const own = typeof next.content === "string" ? [{ type: "text", text: next.content }] : (next.content as Json[]);
    return [{ ...next, content: [...blocks, ...own] } as AnyMessage, ...rest];
  },
  relay: (copies) => new AnthropicRelay(copies),
  withArguments: (piece, input) => ({ ...piece, input }),
  wholeAnswer(body) {
    if (body.type !== "message" || !Array.isArray(body.content)) return undefined;
    return answerIn(objectsIn(body.content), body.stop_reason, body);
  },
  wholeReply(body, answers) {
    const content = answers.flatMap(({ pieces }) => pieces);
    return { ...body, content, stop_reason: stopReason(body.stop_reason, content), usage: usageOf(answers) };
  },
};

function callOf(block: Json): Call | undefined {
  if (block.type !== "tool_use") return undefined;
  return { id: String(block.id), name: String(block.name), args: block.input };
}

function isSame(one: Json, other: Json): boolean {
  if (one.type !== other.type) return false;
  return ["text", "thinking", "data", "id", "tool_use_id"].every((key) => one[key] === other[key]);
}

function answerIn(pieces: Json[], stop: unknown, { usage, model }: Json): Answer {
  return answerOf(pieces, stop === "tool_use" || stop === "end_turn", { usage, model });
}

/** Returns the reason for the end. An answer whose calls are all hidden has simply ended. */
function stopReason(reason: unknown, shown: Json[]): unknown {
  return reason === "tool_use" && !shown.some(({ type }) => type === "tool_use") ? "end_turn" : reason;
}

type ArrivingBlock = Arriving & { block: Json };

class AnthropicRelay extends Relay<{ block: Json }> {
  #message: Json = {};
  #stopReason: unknown;
  #isStopped = false;

  receive(event: StreamEvent): Shown | undefined | Promise<Shown> {
    const { raw, data } = event;
    switch (data?.type) {
      case "message_start":
        this.#message = isObject(data.message) ? data.message : {};
        this.usage = isObject(this.#message.usage) ? this.#message.usage : {};
        return () => (this.isFirst ? raw : "");
      case "content_block_start": {
        const block = isObject(data.content_block) ? { ...data.content_block } : {};
        const part = this.identify(this.begin(data.index, { block }), callOf(block));
        return () => this.#renumbered(event, part);
      }
      case "content_block_delta": {
        const part = this.parts.get(data.index);
        const isReplaced = part && add(part, isObject(data.delta) ? data.delta : {});
        return () => (isReplaced?.() ? "" : this.#renumbered(event, part));
      }
      case "content_block_stop":
        return this.#stopped(event, this.parts.get(data.index));
      case "message_delta": {
        const delta = isObject(data.delta) ? data.delta : {};
        this.usage = { ...this.usage, ...stated(data.usage) };
        this.#stopReason = delta.stop_reason ?? this.#stopReason;
        this.isEnded = true;
        return (goesOn) => {
          if (goesOn || !this.isChanged) return goesOn ? "" : raw;
          const shown = [...this.parts.values()].filter(({ isHidden }) => !isHidden).map(({ block }) => block);
          const stop_reason = stopReason(delta.stop_reason, shown);
          return namedEvent({ ...data, delta: { ...delta, stop_reason }, usage: this.total() });
        };
      }
      case "message_stop":
        this.#isStopped = true;
        this.isEnded = true;
    }
    return undefined;
  }

  #renumbered({ data = {}, raw }: StreamEvent, part: Arriving | undefined): string {
    if (part?.isHidden) return "";
    const index = part ? this.indexOf(part, data.index) : data.index;
    return index === data.index || !this.isChanged ? raw : namedEvent({ ...data, index });
  }

  /** Takes the end of a block. */
  async #stopped(event: StreamEvent, part: ArrivingBlock | undefined): Promise<Shown> {
    const call = part && callOf(part.block);
    if (call) await this.complete(part, { ...call, args: part.all });
    return () => {
      const end = this.#renumbered(event, part);
      if (!part?.rest) return end;
      const delta = { type: "input_json_delta", partial_json: part.rest };
      return namedEvent({ type: "content_block_delta", index: part.shownAt, delta }) + end;
    };
  }

  async answer(): Promise<Answer | undefined> {
    if (!this.#isStopped) return undefined;
    const pieces = [...this.parts.values()].map(({ block, all }) =>
      all === "" ? block : { ...block, input: objectIn(all) ?? all },
    );
    return answerIn(pieces, this.#stopReason, { ...this.#message, usage: this.usage });
  }

  reset(): void {
    [this.#stopReason, this.#isStopped] = [undefined, false];
  }

  failure(error: Json): string {
    return namedEvent(error.type === "error" ? error : { type: "error", error });
  }
}

/** Adds a delta to its block. Returns whether it is replaced, if it is one of a call. */
function add(part: ArrivingBlock, delta: Json): (() => boolean) | undefined {
  const { block } = part;
  const append = (key: string) => void (block[key] = String(block[key] ?? "") + String(delta[key]));
  if (delta.type === "text_delta") append("text");
  else if (delta.type === "thinking_delta") append("thinking");
  else if (delta.type === "signature_delta") append("signature");
  else if (delta.type === "input_json_delta") return part.take(String(delta.partial_json));
  else if (delta.type === "citations_delta") block.citations = [...objectsIn(block.citations), delta.citation];
  return undefined;
}

/** Returns the fields of usage that are stated. */
function stated(usage: unknown): Json {
  return Object.fromEntries(Object.entries(isObject(usage) ? usage : {}).filter(([, value]) => value !== null));
}
