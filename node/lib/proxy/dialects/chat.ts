/** OpenAI's chat completions, which most other providers speak as well. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters, type OpenAIAnswer } from "../../library/fetch-tool.js";
import type { Copies } from "../copies.js";
import { type Answer, answerOf, type Arriving, type Call, type Dialect, Relay, usageOf } from "../dialect.js";
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
  allowsTools: ({ tools, tool_choice: choice, n }) =>
    objectsIn(tools).length > 0 && choice !== "none" && (n === undefined || n === null || n === 1),
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
    if (choice === undefined || !isObject(choice.message)) return undefined;
    const { content, tool_calls: calls, ...others } = choice.message;
    const fields = new Map(Object.entries(others).filter(isField));
    return answerIn(fields, typeof content === "string" ? content : "", objectsIn(calls), choice.finish_reason, body);
  },
  wholeReply(body, answers) {
    const [choice, ...rest] = objectsIn(body.choices);
    const message = isObject(choice?.message) ? choice.message : {};
    const texts = answers.map(({ pieces }) => textOf(pieces)).join("");
    const calls = answers.flatMap(({ pieces }) => pieces).filter((piece) => callOf(piece));
    const { tool_calls: _, ...others } = message;
    const shown = {
      ...others,
      content: texts === "" ? (message.content ?? null) : texts,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
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
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
  ];
}

function answerIn(
  fields: Map<string, string>,
  content: string,
  calls: Json[],
  finish: unknown,
  { usage, model }: Json,
): Answer {
  const pieces = [
    ...[...fields].map(([name, text]) => ({ type: "field", name, text })),
    ...(content === "" ? [] : [{ type: "text", text: content }]),
    ...calls,
  ];
  return answerOf(pieces, finish === "tool_calls" || finish === "stop", { usage, model });
}

function finishReason(reason: unknown, hasCalls: boolean): unknown {
  return reason === "tool_calls" && !hasCalls ? "stop" : reason;
}

interface ArrivingCall extends Arriving {
  call: Json & { id?: unknown; function: { name: string } };
}

class ChatRelay extends Relay {
  #calls = new Map<unknown, ArrivingCall>();
  #fields = new Map<string, string>();
  #content = "";
  #chunk: Json = {};
  #usage: Json | undefined;
  #finish: StreamEvent | undefined;
  /** The events after the one that ends the answer: the usage, and the end of the stream. */
  #tail: StreamEvent[] = [];
  #first: Json | undefined;

  take(event: StreamEvent): string | Promise<string> {
    const { data, raw } = event;
    if (data === undefined) {
      if (!raw.includes("[DONE]")) return raw;
      this.#tail.push(event);
      return "";
    }
    const [choice] = objectsIn(data.choices);
    this.#first ??= data;
    if (isObject(data.usage)) this.#usage = data.usage;
    if (choice === undefined) {
      if (this.#finish === undefined) return this.isFirst ? raw : "";
      this.#tail.push(event);
      return "";
    }
    this.#chunk = data;
    const delta = isObject(choice.delta) ? choice.delta : {};
    const shown = this.#received(delta);
    const isEnd = choice.finish_reason !== null && choice.finish_reason !== undefined;
    const changed = shown === delta && this.isFirst ? event : this.#changed(data, choice, shown);
    if (isEnd) {
      this.#finish = changed ?? { raw: "", data: { ...data, choices: [{ ...choice, delta: {} }] } };
      return this.copies === undefined ? "" : this.#rests(this.copies, data, choice);
    }
    return changed?.raw ?? "";
  }

  /** Returns the events for what was held back of the calls. */
  async #rests(copies: Copies, data: Json, choice: Json): Promise<string> {
    const parts: Json[] = [];
    for (const { call, args, shownAt, held } of this.#calls.values()) {
      if (shownAt === undefined && !held) continue;
      const shown = await copies.shown({ id: String(call.id), args: args.all });
      if (held && copies.isRefused({ id: String(call.id) })) this.hidden++;
      else if (held) parts.push({ index: this.shown++, ...withArguments(call, shown) });
      else if (args.rest(shown) !== "") parts.push({ index: shownAt, function: { arguments: args.rest(shown) } });
    }
    if (parts.length === 0) return "";
    const held = { ...choice, finish_reason: null };
    return this.#changed({ ...data, usage: undefined }, held, { tool_calls: parts })?.raw ?? "";
  }

  /** Adds a delta to the answer. Returns the part of it that the client gets: the same object if that is all of it. */
  #received(delta: Json): Json {
    const { content, tool_calls: calls, ...others } = delta;
    if (typeof content === "string") this.#content += content;
    for (const [name, text] of Object.entries(others).filter(isField))
      this.#fields.set(name, (this.#fields.get(name) ?? "") + text);
    let isChanged = false;
    const shownCalls = objectsIn(calls).flatMap((part) => {
      const { shownAt, args } = this.#arriving(part);
      const called = isObject(part.function) ? part.function : {};
      const { arguments: all } = called;
      const taken = typeof all === "string" ? args.take(all) : all;
      const now = this.copies === undefined ? all : taken;
      isChanged ||= shownAt !== part.index || now !== all;
      if (shownAt === undefined) return [];
      return [{ ...part, index: shownAt, ...(now === all ? {} : { function: { ...called, arguments: now } }) }];
    });
    if (!isChanged) return delta;
    const { tool_calls: _, ...rest } = delta;
    return shownCalls.length > 0 ? { ...rest, tool_calls: shownCalls } : rest;
  }

  /** Returns the call of which this is a part. The first part of a call has its name. */
  #arriving({ index, id, type, function: called, ...others }: Json): ArrivingCall {
    const known = this.#calls.get(index);
    if (known !== undefined) return known;
    const name = String((isObject(called) && called.name) || "");
    const call = { id, type: type ?? "function", ...others, function: { name } };
    const arriving = { ...this.begun(callOf(call)), call };
    this.#calls.set(index, arriving);
    return arriving;
  }

  /** Returns the event with another delta, under the id of the first answer. Returns undefined if it holds nothing. */
  #changed(data: Json, choice: Json, shown: Json): StreamEvent | undefined {
    const { role: _, ...later } = shown;
    const delta = this.isFirst ? shown : later;
    if (Object.keys(delta).length === 0 && (choice.finish_reason ?? null) === null) return undefined;
    return eventOf({ ...data, id: this.#first?.id, created: this.#first?.created, choices: [{ ...choice, delta }] });
  }

  answer(): Answer | undefined {
    const [choice] = objectsIn(this.#finish?.data?.choices);
    if (choice === undefined) return undefined;
    const calls = [...this.#calls.values()].map(({ call, args }) => withArguments(call, args.all));
    return answerIn(this.#fields, this.#content, calls, choice.finish_reason, { ...this.#chunk, usage: this.#usage });
  }

  reset(): void {
    [this.#calls, this.#fields, this.#content, this.#usage] = [new Map(), new Map(), "", undefined];
    [this.#finish, this.#tail] = [undefined, []];
  }

  end(): string {
    const events = [...(this.#finish ? [this.#finish] : []), ...this.#tail];
    if (this.hidden === 0) return events.map(({ raw }) => raw).join("");
    const usage = this.usage(this.#usage);
    const hasCalls = this.shown > 0;
    return events.map(({ raw, data }) => (data ? eventOf(finished(data, hasCalls, usage)).raw : raw)).join("");
  }

  failure(error: Json): string {
    return `data: ${JSON.stringify(isObject(error.error) ? error : { error })}\n\n`;
  }
}

function withArguments(call: Json, args: unknown): Json {
  return isObject(call.custom)
    ? { ...call, custom: { ...call.custom, input: args } }
    : { ...call, function: { ...(call.function as Json), arguments: args } };
}

function finished(data: Json, hasCalls: boolean, usage: Json | undefined): Json {
  const choices = objectsIn(data.choices).map((choice) => ({
    ...choice,
    finish_reason: finishReason(choice.finish_reason, hasCalls),
  }));
  return { ...data, choices, ...(isObject(data.usage) ? { usage } : {}) };
}

function eventOf(data: Json): StreamEvent {
  return { raw: `data: ${JSON.stringify(data)}\n\n`, data };
}
