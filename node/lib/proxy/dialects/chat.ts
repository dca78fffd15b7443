/** OpenAI's chat completions, which most other providers speak as well. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters, type OpenAIAnswer } from "../../library/fetch-tool.js";
import type { Arriving } from "../copies.js";
import { type Answer, answerOf, type Call, type Dialect, mayCallAny, Relay, type Shown, usageOf } from "../dialect.js";
import { withRemindersApart } from "../reminders.js";
import { isObject, type Json, objectsIn, type StreamEvent } from "../sse.js";

type ChatMessage = AnyMessage & { tool_calls?: unknown; tool_call_id?: unknown; [field: string]: unknown };

const isSystem = ({ role }: AnyMessage) => role === "system" || role === "developer";

/**
 * The pieces of an answer are `{ type: "field", name, text }` for each text that is neither content nor a call, such as
 * `reasoning_content`, then `{ type: "text", text }`, then the calls.
 */
export const chat: Dialect = {
  name: "chat",
  form: "openai",
  systemOf: ({ messages }) => leading(objectsIn(messages)).map(({ content }) => content),
  messagesOf({ messages }) {
    const all = objectsIn(messages);
    return all.slice(leading(all).length) as AnyMessage[];
  },
  withMessages: (body, messages) => ({ ...body, messages: [...leading(objectsIn(body.messages)), ...messages] }),
  continues: () => undefined,
  toolNames: ({ tools }) =>
    objectsIn(tools).map((tool) => String(isObject(tool.function) ? tool.function.name : tool.name)),
  allowsTools: (body) => mayCallAny(body) && (body.n ?? 1) === 1,
  fetchTool: {
    type: "function",
    function: { name: FETCH_TOOL, description: fetchToolDescription, parameters: fetchToolParameters },
  },
  callIn: callOf,
  callsIn: (message) => objectsIn((message as ChatMessage).tool_calls).flatMap((call) => callOf(call) ?? []),
  isAnswer: ({ role }) => role === "assistant",
  hasThinking: () => false,
  resultsIn: (message) =>
    message.role === "tool"
      ? [
          {
            callId: String((message as ChatMessage).tool_call_id),
            message: withRemindersApart(message, "content", "text"),
          },
        ]
      : [],
  withResults: (message, [shown]) => shown ?? message,
  joinsAnswers: false,
  piecesOf([message]) {
    const { content, tool_calls: calls } = (message ?? {}) as ChatMessage;
    const text = typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
    return [...(Array.isArray(content) ? objectsIn(content) : text), ...objectsIn(calls)];
  },
  toMessages,
  after(pieces, seen) {
    const text = textOf(seen);
    if (objectsIn(seen).some((piece) => callOf(piece) !== undefined)) return undefined;
    if (text === "") return pieces;
    const [first, ...rest] = pieces;
    if (first?.type !== "text" || typeof first.text !== "string" || !first.text.startsWith(text)) return undefined;
    const left = first.text.slice(text.length);
    return left === "" ? rest : [{ ...first, text: left }, ...rest];
  },
  withFetched(results, following) {
    // Other results of the answer come first or later; the images of all follow the last one.
    const answers = results.map(({ id, content }) => ({ id, answer: content as OpenAIAnswer }));
    const tools = answers.map(({ id, answer }): AnyMessage & { tool_call_id: string } => ({
      role: "tool",
      tool_call_id: id,
      content: typeof answer === "string" ? answer : answer.content,
    }));
    const images = answers.flatMap(({ answer }) => (typeof answer === "string" ? [] : [answer.images]));
    const others = following.findIndex(({ role }) => role !== "tool");
    const end = others === -1 ? following.length : others;
    return [...tools, ...following.slice(0, end), ...images, ...following.slice(end)];
  },
  relay: (copies) => new ChatRelay(copies),
  withArguments,
  wholeAnswer(body) {
    const [choice] = objectsIn(body.choices);
    return isObject(choice?.message) ? answerIn(choice, body) : undefined;
  },
  wholeReply(body, answers) {
    const [choice, ...rest] = objectsIn(body.choices);
    const message = isObject(choice?.message) ? choice.message : {};
    const pieces = answers.flatMap((answer) => answer.pieces);
    const calls = pieces.filter((piece) => callOf(piece));
    const { tool_calls: _, ...others } = message;
    const shown = { ...others, content: textOf(pieces) || (message.content ?? null), ...called(calls) };
    const finish_reason = finishReason(choice?.finish_reason, calls.length > 0);
    return { ...body, choices: [{ ...choice, message: shown, finish_reason }, ...rest], usage: usageOf(answers) };
  },
};

function leading(messages: Json[]): Json[] {
  const end = messages.findIndex((message) => !isSystem(message as AnyMessage));
  return end === -1 ? messages : messages.slice(0, end);
}

function callOf(piece: Json): Call | undefined {
  const called = isObject(piece.function) ? piece.function : isObject(piece.custom) ? piece.custom : undefined;
  if (called === undefined) return undefined;
  return { id: String(piece.id), name: String(called.name), args: called.arguments ?? called.input };
}

const textOf = (pieces: Json[]) =>
  pieces.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join("");
const isField = (field: [string, unknown]): field is [string, string] =>
  typeof field[1] === "string" && field[0] !== "role";

function toMessages(pieces: Json[], like?: AnyMessage): AnyMessage[] {
  const calls = pieces.filter((piece) => callOf(piece) !== undefined);
  const contents = pieces.filter((piece) => piece.type !== "field" && callOf(piece) === undefined);
  const fields = pieces.filter(({ type }) => type === "field").map(({ name, text }) => [name, text]);
  const isText = contents.every(({ type }) => type === "text");
  const content = contents.length === 0 ? null : isText && !Array.isArray(like?.content) ? textOf(contents) : contents;
  if (content === null && calls.length === 0) return [];
  const { tool_calls: _, ...others } = (like ?? {}) as ChatMessage;
  return [
    {
      ...others,
      role: "assistant",
      content,
      ...(Object.fromEntries(fields) as object),
      ...called(calls),
    },
  ];
}

function answerIn({ message, finish_reason: finish }: Json, { usage, model }: Json): Answer {
  const { content, tool_calls: calls, ...others } = isObject(message) ? message : {};
  const fields = Object.entries(others).filter(isField);
  const pieces = [
    ...fields.map(([name, text]) => ({ type: "field", name, text })),
    ...(typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : []),
    ...objectsIn(calls),
  ];
  return answerOf(pieces, finish === "tool_calls" || finish === "stop", { usage, model });
}

function finishReason(reason: unknown, hasCalls: boolean): unknown {
  return reason === "tool_calls" && !hasCalls ? "stop" : reason;
}

interface ChatCall {
  /** The index that the provider gives the call, if it gives one. */
  index: unknown;
  call: Json;
}

class ChatRelay extends Relay<ChatCall> {
  #message: Json = {};
  #model: unknown;
  #finish: unknown;
  #first: Json | undefined;
  /** The calls of which the client gets other arguments, until it has them. */
  #replaced: (Arriving & ChatCall)[] = [];

  receive({ data, raw }: StreamEvent): Shown | undefined {
    if (data === undefined || !Array.isArray(data.choices)) return undefined;
    this.#first ??= data;
    if (isObject(data.usage)) this.usage = data.usage;
    const [choice] = objectsIn(data.choices);
    if (choice === undefined) {
      const isShown = this.isFirst || isObject(data.usage);
      return (goesOn) => (goesOn || !isShown ? "" : this.isChanged ? this.#chunk(data, []) : raw);
    }
    this.#model = data.model;
    const { role, tool_calls: calls, ...others } = isObject(choice.delta) ? choice.delta : {};
    for (const [name, text] of Object.entries(others).filter(isField))
      this.#message[name] = String(this.#message[name] ?? "") + text;
    const parts = objectsIn(calls).map((part) => this.#part(part));
    // Some providers write no reason as an empty text.
    const finish = choice.finish_reason || undefined;
    this.#finish = finish ?? this.#finish;
    if (finish) this.isEnded = true;
    return (goesOn) => {
      const shown = parts.flatMap((part) => part());
      if (!this.isChanged) return raw;
      const rests = (finish ? this.#replaced.splice(0) : []).map((part) => ({
        ...withArguments(isObject(part.call.custom) ? { custom: {} } : {}, part.rest),
        index: this.indexOf(part),
      }));
      const delta = { ...(this.isFirst && role ? { role } : {}), ...others, ...called(shown) };
      const chunk = (delta: Json, finish_reason: unknown) =>
        Object.keys(delta).length === 0 && finish_reason === null
          ? ""
          : this.#chunk(data, [{ ...choice, delta, finish_reason }]);
      const end = goesOn || !finish ? null : finishReason(finish, this.shown > 0);
      return chunk(delta, null) + chunk(called(rests), null) + chunk({}, end);
    };
  }

  /** Takes a part of a call. Returns what the client gets for it. */
  #part(part: Json): () => Json[] {
    const { index, id, type, ...others } = part;
    const field = isObject(part.custom) ? "custom" : "function";
    const { name, arguments: args, input = args } = isObject(part[field]) ? part[field] : {};
    const isOf = (one: ChatCall) =>
      one.index === index && (!id || one.call.id === id || (index !== undefined && !name));
    const call = { id, type: type ?? "function", ...others, [field]: { name: "" } };
    const arriving = [...this.parts.values()].findLast(isOf) ?? this.begin(this.parts.size, { index, call });
    arriving.call.id ||= id;
    if (!arriving.isKnown && name) {
      arriving.call[field] = { name };
      this.identify(arriving, callOf(arriving.call));
    }
    const isReplaced = arriving.take(typeof input === "string" ? input : "");
    return () => {
      const index = this.indexOf(arriving, part.index);
      return index === undefined ? [] : [{ ...(isReplaced() ? withArguments(part, "") : part), index }];
    };
  }

  /** Returns a chunk with other choices, under the id of the first one. */
  #chunk(data: Json, choices: Json[]): string {
    const { id, created } = this.#first ?? data;
    const usage = isObject(data.usage) ? { usage: this.total() } : {};
    return `data: ${JSON.stringify({ ...data, id, created, choices, ...usage })}\n\n`;
  }

  async answer(): Promise<Answer | undefined> {
    if (this.#finish === undefined) return undefined;
    const tool_calls: Json[] = [];
    for (const part of this.parts.values()) {
      const call = withArguments(part.call, part.all);
      await this.complete(part, callOf(call) as Call);
      if (part.others !== undefined) this.#replaced.push(part);
      tool_calls.push(call);
    }
    const choice = { message: { ...this.#message, tool_calls }, finish_reason: this.#finish };
    return answerIn(choice, { usage: this.usage, model: this.#model });
  }

  reset(): void {
    [this.#message, this.#finish] = [{}, undefined];
  }

  failure(error: Json): string {
    return `data: ${JSON.stringify(isObject(error.error) ? error : { error })}\n\n`;
  }
}

/** Returns the field of a message or delta with calls, if there are any. */
const called = (calls: Json[]) => (calls.length > 0 ? { tool_calls: calls } : {});

function withArguments(call: Json, args: unknown): Json {
  return isObject(call.custom)
    ? { ...call, custom: { ...call.custom, input: args } }
    : { ...call, function: { ...(call.function as Json), arguments: args } };
}
