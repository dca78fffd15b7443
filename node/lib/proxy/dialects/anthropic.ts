/** Anthropic's Messages API. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../../library/fetch-tool.js";
import type { Copies } from "../copies.js";
import {
  afterEqual,
  type Answer,
  answerOf,
  type Arriving,
  type Call,
  type Dialect,
  Relay,
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
  allowsTools: ({ tools, tool_choice: choice }) =>
    objectsIn(tools).length > 0 && !(isObject(choice) && choice.type === "none"),
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

class AnthropicRelay extends Relay {
  #blocks = new Map<unknown, ArrivingBlock>();
  #message: Json = {};
  #usage: Json = {};
  #delta: StreamEvent | undefined;
  #stop = "";

  take(event: StreamEvent): string | Promise<string> {
    const { raw, data } = event;
    switch (data?.type) {
      case "message_start":
        this.#message = isObject(data.message) ? data.message : {};
        this.#usage = isObject(this.#message.usage) ? this.#message.usage : {};
        return this.isFirst ? raw : "";
      case "content_block_start": {
        const block = isObject(data.content_block) ? { ...data.content_block } : {};
        const arriving = { ...this.begun(callOf(block)), block };
        arriving.held?.push(event);
        this.#blocks.set(data.index, arriving);
        return this.#renumbered(event);
      }
      case "content_block_delta": {
        const arriving = this.#blocks.get(data.index);
        const delta = isObject(data.delta) ? data.delta : {};
        const now = add(arriving, delta);
        arriving?.held?.push(event);
        if (now === undefined || now === delta.partial_json || !this.copies) return this.#renumbered(event);
        return now === "" ? "" : this.#renumbered(event, { delta: { ...delta, partial_json: now } });
      }
      case "content_block_stop":
        return this.#stopped(event, this.#blocks.get(data.index));
      case "message_delta":
        this.#delta = { raw, data };
        this.#usage = { ...this.#usage, ...stated(data.usage) };
        return "";
      case "message_stop":
        this.#stop = raw;
        return "";
      default:
        return raw;
    }
  }

  #renumbered({ data = {}, raw }: StreamEvent, fields: Json = {}): string {
    const arriving = this.#blocks.get(data.index);
    if (arriving !== undefined && arriving.shownAt === undefined) return "";
    const index = arriving?.shownAt ?? data.index;
    return index === data.index && Object.keys(fields).length === 0 ? raw : namedEvent({ ...data, ...fields, index });
  }

  /** Returns the end of a block, after the rest of a call's input. */
  #stopped(event: StreamEvent, arriving: ArrivingBlock | undefined): string | Promise<string> {
    const call = arriving && callOf(arriving.block);
    const isHidden = arriving?.shownAt === undefined && arriving?.held === undefined;
    if (call === undefined || isHidden || this.copies === undefined) return this.#renumbered(event);
    return this.#withCopies(this.copies, event, { ...call, args: arriving.args.all }, arriving);
  }

  async #withCopies(copies: Copies, event: StreamEvent, call: Call & { args: string }, arriving: ArrivingBlock) {
    const shown = await copies.shown(call);
    if (copies.isRefused(call)) {
      this.hidden++;
      return "";
    }
    if (arriving.held !== undefined) {
      arriving.shownAt = this.shown++;
      return [...arriving.held, event].map((one) => this.#renumbered(one)).join("");
    }
    const rest = arriving.args.rest(shown);
    const delta = {
      type: "content_block_delta",
      index: arriving.shownAt,
      delta: { type: "input_json_delta", partial_json: rest },
    };
    return (rest === "" ? "" : namedEvent(delta)) + this.#renumbered(event);
  }

  answer(): Answer | undefined {
    if (this.#stop === "") return undefined;
    const pieces = [...this.#blocks.values()].map(({ block, args: { all } }) =>
      all === "" ? block : { ...block, input: objectIn(all) ?? all },
    );
    const delta = this.#delta?.data?.delta;
    const stop = isObject(delta) ? delta.stop_reason : undefined;
    return answerIn(pieces, stop, { ...this.#message, usage: this.#usage });
  }

  reset(): void {
    [this.#blocks, this.#delta, this.#stop] = [new Map(), undefined, ""];
  }

  end(): string {
    const { raw = "", data } = this.#delta ?? {};
    if (data === undefined || this.hidden === 0) return raw + this.#stop;
    const shown = [...this.#blocks.values()].filter(({ shownAt }) => shownAt !== undefined).map(({ block }) => block);
    const delta = isObject(data.delta) ? data.delta : {};
    const usage = this.usage(this.#usage);
    return (
      namedEvent({ ...data, delta: { ...delta, stop_reason: stopReason(delta.stop_reason, shown) }, usage }) +
      this.#stop
    );
  }

  failure(error: Json): string {
    return namedEvent(error.type === "error" ? error : { type: "error", error });
  }
}

/** Adds a delta to its block. Returns the part of a call's input that the client may get now. */
function add(arriving: ArrivingBlock | undefined, delta: Json): string | undefined {
  if (arriving === undefined) return undefined;
  const { block } = arriving;
  const append = (key: string) => void (block[key] = String(block[key] ?? "") + String(delta[key]));
  if (delta.type === "text_delta") append("text");
  else if (delta.type === "thinking_delta") append("thinking");
  else if (delta.type === "signature_delta") append("signature");
  else if (delta.type === "input_json_delta") return arriving.args.take(String(delta.partial_json));
  else if (delta.type === "citations_delta") block.citations = [...objectsIn(block.citations), delta.citation];
  return undefined;
}

/** Returns the fields of usage that are stated. */
function stated(usage: unknown): Json {
  return Object.fromEntries(Object.entries(isObject(usage) ? usage : {}).filter(([, value]) => value !== null));
}
