/** OpenAI's Responses API. Its history is a list of items, of which an answer of the model is several. */
import type { AnyMessage } from "../../library/api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "../../library/fetch-tool.js";
import {
  afterEqual,
  addUsage,
  type Answer,
  type Call,
  type Dialect,
  isFetch,
  type Relay,
  usageOf,
} from "../dialect.js";
import { isObject, type Json, namedEvent, objectsIn, type StreamEvent } from "../sse.js";

type Item = AnyMessage & { call_id?: unknown; [field: string]: unknown };

/** Returns true for items that the model made, those of the provider's own tools included. */
const isAnswer = ({ role, type }: AnyMessage) =>
  role === "assistant" || (role === undefined && (type === "reasoning" || (type ?? "").endsWith("_call")));

export const responses: Dialect = {
  name: "responses",
  form: "responses",
  systemOf: ({ instructions }) => instructions,
  messagesOf: ({ input }) =>
    typeof input === "string" ? [{ role: "user", content: input }] : (objectsIn(input) as AnyMessage[]),
  withMessages: (body, input) => ({ ...body, input }),
  continues: ({ previous_response_id: id, conversation }) => {
    if (conversation !== undefined && conversation !== null) return JSON.stringify(conversation);
    return typeof id === "string" ? id : undefined;
  },
  toolNames: ({ tools }) => objectsIn(tools).map(({ name, type }) => String(name ?? type)),
  // A response in the background is fetched later, from an address that says nothing of calls.
  allowsTools: ({ tools, tool_choice: choice, background, conversation }) =>
    objectsIn(tools).length > 0 && choice !== "none" && background !== true && (conversation ?? null) === null,
  fetchTool: {
    type: "function",
    name: FETCH_TOOL,
    description: fetchToolDescription,
    parameters: fetchToolParameters,
    strict: false,
  },
  callIn: callOf,
  callsIn: (item) => [item as Json].flatMap((piece) => callOf(piece) ?? []),
  isAnswer,
  hasThinking: ({ type }) => type === "reasoning",
  resultsIn: (item) =>
    (item.type ?? "").endsWith("_output") && typeof (item as Item).call_id === "string"
      ? [{ callId: String((item as Item).call_id), message: item }]
      : [],
  withResults: (item, [shown]) => shown ?? item,
  joinsAnswers: true,
  piecesOf: (items) => items as Json[],
  toMessages: (pieces) => pieces as AnyMessage[],
  after: (pieces, seen) => afterEqual(pieces, seen, isSame),
  withFetched: (results, following) => [
    ...results.map(({ id, content }) => ({ type: "function_call_output", call_id: id, output: content })),
    ...following,
  ],
  relay: () => new ResponsesRelay(),
  wholeAnswer: (body) => (body.object === "response" && Array.isArray(body.output) ? answerOf(body) : undefined),
  wholeReply: (body, answers) => ({ ...body, output: shownOf(answers), usage: usageOf(answers) }),
};

function callOf({ type, call_id: id, name, arguments: args, input }: Json): Call | undefined {
  if (typeof id !== "string" || typeof name !== "string" || !String(type).endsWith("_call")) return undefined;
  return { id, name, args: args ?? input };
}

const shownOf = (answers: Answer[]) =>
  answers.flatMap(({ pieces }) => pieces.filter((piece) => !isFetch(responses, piece)));

/** Clients keep the ids of calls and the encrypted thinking; an item's own id may be dropped. */
function isSame(one: Json, other: Json): boolean {
  if (one.type !== other.type && (one.type ?? "message") !== other.type) return false;
  const parts = (item: Json) =>
    JSON.stringify([textOf(item.content), item.call_id, item.encrypted_content, objectsIn(item.summary).length]);
  return parts(one) === parts(other);
}

const textOf = (content: unknown) =>
  typeof content === "string"
    ? content
    : objectsIn(content)
        .map(({ text }) => text)
        .join("");

function answerOf(response: Json, items = objectsIn(response.output)): Answer {
  return {
    pieces: items,
    usage: isObject(response.usage) ? response.usage : undefined,
    model: typeof response.model === "string" ? response.model : undefined,
    id: typeof response.id === "string" ? response.id : undefined,
    isWhole: response.status === "completed",
  };
}

const ENDS = ["response.completed", "response.incomplete", "response.failed"];
const BEGINNINGS = ["response.created", "response.in_progress", "response.queued"];

class ResponsesRelay implements Relay {
  readonly #answers: Answer[] = [];
  #items = new Map<unknown, { item: Json; shownAt: number | undefined }>();
  #end: StreamEvent | undefined;
  #isFirst = true;
  #shown = 0;
  #hidden = 0;
  #sequence = 0;

  take(event: StreamEvent): string {
    const { data, raw } = event;
    if (data === undefined) return raw;
    const { type, output_index: index } = data;
    if (ENDS.includes(String(type))) {
      this.#end = event;
      return "";
    }
    if (BEGINNINGS.includes(String(type)) && !this.#isFirst) return "";
    if (type === "response.output_item.added" && isObject(data.item)) {
      const shownAt = isFetch(responses, data.item) ? undefined : this.#shown++;
      if (shownAt === undefined) this.#hidden++;
      this.#items.set(index, { item: data.item, shownAt });
    }
    const known = this.#items.get(index);
    if (known !== undefined && type === "response.output_item.done" && isObject(data.item)) known.item = data.item;
    if (known !== undefined && known.shownAt === undefined) return "";
    return this.#numbered(event, known?.shownAt === undefined ? {} : { output_index: known.shownAt });
  }

  /** Returns the text of an event with the next number, and with changed fields. */
  #numbered({ data = {}, raw }: StreamEvent, fields: Json): string {
    const sequence_number = this.#sequence++;
    const numbers: Json = "sequence_number" in data ? { ...fields, sequence_number } : fields;
    const isEqual = Object.entries(numbers).every(([name, value]) => data[name] === value);
    return isEqual || (this.#hidden === 0 && this.#isFirst) ? raw : namedEvent({ ...data, ...numbers });
  }

  answer(): Answer | undefined {
    const response = this.#end?.data?.response;
    if (!isObject(response)) return undefined;
    const items = [...this.#items.values()].map(({ item }) => item);
    return answerOf({ status: String(this.#end?.data?.type).slice("response.".length), ...response }, items);
  }

  next(): void {
    const answer = this.answer();
    if (answer !== undefined) this.#answers.push(answer);
    [this.#items, this.#end, this.#isFirst] = [new Map(), undefined, false];
  }

  end(): string {
    const response = this.#end?.data?.response;
    if (this.#end === undefined || this.#hidden === 0 || !isObject(response)) return this.#end?.raw ?? "";
    const items = [...this.#items.values()].map(({ item }) => item);
    const output = shownOf([...this.#answers, { ...answerOf(response), pieces: items }]);
    const usage = addUsage(usageOf(this.#answers), isObject(response.usage) ? response.usage : undefined);
    return this.#numbered(this.#end, { response: { ...response, output, usage } });
  }

  failure(error: Json): string {
    const fields = isObject(error.error) ? error.error : error;
    return namedEvent({ code: null, param: null, ...fields, type: "error", sequence_number: this.#sequence++ });
  }
}
