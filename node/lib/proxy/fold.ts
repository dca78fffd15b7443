/**
 * A request of the client -> the request that the provider gets.
 *
 * The client sends its history as it knows it: tool results in full, and answers without our fetches. Results that
 * appear for the first time are folded at birth, those of earlier requests are shown as then, the fetches are put back,
 * and the history is assembled.
 */
import { createHash } from "node:crypto";

import type { AnyMessage, Report } from "../library/api.js";
import { describe } from "../binding/errors.js";
import type { Concertina } from "../library/concertina.js";
import { FETCH_TOOL } from "../library/fetch-tool.js";
import { compress } from "../library/fusion.js";
import { withoutUsage } from "../library/observed.js";
import { trim } from "./bounded.js";
import { type Answer, type Call, type Dialect, isFetch } from "./dialect.js";
import type { HiddenRounds, Line } from "./journal.js";
import { type Link, type Place, withoutCachePoints } from "./sessions.js";
import { isObject, type Json, objectsIn } from "./sse.js";

/** The agent of all sessions of a proxy. */
export const AGENT = "proxy";

/** The history of one exchange, which grows by its fetches. */
export interface Folded {
  dialect: Dialect;
  body: Json;
  place: Place;
  /** The history as the engine knows it. */
  view: AnyMessage[];
  /** The link behind which the fetches of the answer are noted. */
  answerTo: Link;
  /** The id of the answer that the request continues. */
  continues: string | undefined;
}

const modelOf = ({ model }: Json) => (typeof model === "string" ? model : undefined);

export class Folder {
  readonly concertina: Concertina;
  readonly #warn: (line: string) => void;

  constructor(concertina: Concertina, warn: (line: string) => void) {
    this.concertina = concertina;
    this.#warn = warn;
  }

  /** Returns the history of a request in its session. */
  async view(dialect: Dialect, body: Json, place: Place, messages: AnyMessage[]): Promise<Folded> {
    const { session, links, parent } = place;
    if (parent !== undefined)
      await this.concertina.inherit({
        parent: { agentId: AGENT, sessionId: parent.id },
        child: { agentId: AGENT, sessionId: session.id },
      });
    const continues = dialect.continues(body);
    const shown = await this.#born(dialect, modelOf(body), place, messages);
    const view = withHidden(dialect, place, messages, shown, continues);
    return { dialect, body, place, view, answerTo: links.at(-1) ?? continues ?? "", continues };
  }

  /** Returns the messages with their results as they are shown since birth. */
  async #born(dialect: Dialect, model: string | undefined, place: Place, messages: AnyMessage[]) {
    const { session, links, known } = place;
    const calls = new Map<string, Call>();
    const lines: Line[] = [...place.lines];
    const keys = messages.map((_, at) => (result: number) => `${links[at]}:${result}`);
    for (const [at, message] of messages.entries()) {
      for (const call of dialect.callsIn(message)) calls.set(call.id, call);
      if (at < known) continue;
      for (const [number, { callId, message: fresh }] of dialect.resultsIn(message).entries()) {
        const key = keys[at]?.(number) ?? "";
        if (session.birth(key) !== undefined) continue;
        const { name, args } = calls.get(callId) ?? {};
        // A breakpoint is at the newest result, which is folded nevertheless: nothing of it was sent yet.
        const message = withoutCachePoints(fresh);
        const input = { sessionId: session.id, agentId: AGENT, message, toolName: name, args, model };
        const { message: shown, report } = await this.concertina.admitToolResult(input);
        this.#check(report);
        if (shown !== message) lines.push({ birth: key, shown });
      }
    }
    // Another proxy may have been the first, and then its bytes are shown.
    session.add(lines);
    return messages.map((message, at) => {
      const results = dialect.resultsIn(message);
      const shown = results.map(({ message: fresh }, number) => {
        const born = session.birth(keys[at]?.(number) ?? "");
        return born === undefined ? fresh : withCachePoints(born, fresh);
      });
      return shown.every((one, number) => one === results[number]?.message)
        ? message
        : dialect.withResults(message, shown);
    });
  }

  #check({ warning }: Report): void {
    if (warning) this.#warn(`storing failed (${warning.message}); new content goes to the model unchanged`);
  }

  /** Returns the request to send, with the fetch tool. It is not assembled if that fails. */
  async request(folded: Folded): Promise<Json> {
    const { dialect, body, view, continues } = folded;
    // The tool is the first one, because clients add their own at the end.
    const tools = [dialect.fetchTool, ...(body.tools as Json[])];
    let messages = view;
    // The provider adds the messages of a continuation to a history that the proxy does not see.
    if (continues === undefined)
      try {
        messages = await this.#assembled(folded);
      } catch (error) {
        this.#warn(`assembly failed (${describe(error)}); the request goes on without it`);
      }
    return dialect.withMessages({ ...body, tools }, messages);
  }

  async #assembled({ dialect, body, place, view }: Folded): Promise<AnyMessage[]> {
    const { messages, report } = await this.concertina.assemble({
      sessionId: place.session.id,
      agentId: AGENT,
      messages: view,
      model: modelOf(body),
      availableTools: [...dialect.toolNames(body), FETCH_TOOL],
    });
    this.#check(report);
    return messages;
  }

  /** Records the answers of an exchange. `isMeasured` is false if the request was not sent as it was folded. */
  async record(
    { dialect, place: { session } }: Folded,
    answers: Answer[],
    { name, heldOut, isMeasured }: { name: string; heldOut: boolean; isMeasured: boolean },
  ) {
    const messages = answers.map(({ pieces, usage, model }) => ({
      role: "assistant",
      model,
      ...(usage ? { usage } : {}),
      content: pieces.flatMap((piece) => recorded(dialect, piece)),
    }));
    await this.concertina.commitTurn({
      sessionId: session.id,
      agentId: AGENT,
      sessionKey: name,
      advancementKey: crypto.randomUUID(),
      messages: isMeasured ? messages : withoutUsage(messages),
      heldOut,
    });
  }
}

/** Returns a result with the cache breakpoints of the client's message, which stay where they point. */
function withCachePoints(born: AnyMessage, { content }: AnyMessage): AnyMessage {
  const point = objectsIn(content).find((block) => block.cache_control !== undefined)?.cache_control;
  const blocks = objectsIn(born.content);
  if (point === undefined || blocks.length === 0) return born;
  const last = blocks.length - 1;
  return { ...born, content: blocks.map((block, at) => (at === last ? { ...block, cache_control: point } : block)) };
}

function recorded(dialect: Dialect, piece: Json): Json[] {
  const call = dialect.callIn(piece);
  if (call !== undefined) return [{ type: "toolCall", id: call.id, name: call.name, arguments: {} }];
  const parts = typeof piece.text === "string" ? [piece] : Array.isArray(piece.content) ? piece.content : [];
  return parts.flatMap((part: Json) => (typeof part.text === "string" ? [{ type: "text", text: part.text }] : []));
}

/** Returns the shown messages with the fetches of earlier answers. */
function withHidden(
  dialect: Dialect,
  { session, links }: Place,
  messages: AnyMessage[],
  shown: AnyMessage[],
  continues: string | undefined,
): AnyMessage[] {
  let view: AnyMessage[] = [];
  for (let end = messages.length; end > 0;) {
    let start = end - 1;
    const isAnswer = (at: number) => messages[at] !== undefined && dialect.isAnswer(messages[at]);
    while (dialect.joinsAnswers && isAnswer(start) && isAnswer(start - 1)) start--;
    const answer = shown.slice(start, end);
    const hidden = isAnswer(start) ? session.hiddenAfter(links[start - 1] ?? "") : [];
    const unhidden = hidden.map((rounds) => unhide(dialect, rounds, answer)).find((found) => found !== undefined);
    const results = unhidden?.pending ?? [];
    view = [...(unhidden?.messages ?? answer), ...(results.length > 0 ? dialect.withFetched(results, view) : view)];
    end = start;
  }
  const pending = continues === undefined ? undefined : session.hiddenAfter(continues)[0]?.last;
  return pending === undefined ? view : dialect.withFetched(pending.results, view);
}

/** Returns an answer of a client's history with its fetches, or undefined if it is not the answer that was given. */
function unhide(dialect: Dialect, { rounds, results, last }: HiddenRounds, answer: AnyMessage[]) {
  const messages: AnyMessage[] = [];
  let pieces: Json[] | undefined = dialect.piecesOf(answer);
  for (const [at, round] of rounds.entries()) {
    pieces = dialect.after(
      pieces,
      round.filter((piece) => !isFetch(dialect, piece) && piece.type !== "field"),
    );
    if (pieces === undefined) return undefined;
    messages.push(...dialect.toMessages(round), ...dialect.withFetched(results[at] ?? [], []));
  }
  const own = [...pieces];
  const isOwn = (piece: Json) => !isFetch(dialect, piece) && piece.type !== "field";
  const merged = (last?.pieces ?? []).flatMap((piece) =>
    isOwn(piece) ? own.splice(0, 1) : isFetch(dialect, piece) ? [piece] : [],
  );
  messages.push(...dialect.toMessages([...merged, ...own], answer[0]));
  return { messages, pending: last?.results };
}

/** The number of folded texts that are remembered. */
const MOST_TEXTS = 1000;

/** Folds the results of a request without the fetch tool: only so that the text itself restores them. */
export class LosslessFolder {
  readonly #texts = new Map<string, string>();

  async request(dialect: Dialect, body: Json, messages: AnyMessage[]): Promise<Json> {
    const calls = new Map(messages.flatMap((message) => dialect.callsIn(message).map(({ id, name }) => [id, name])));
    let isChanged = false;
    const shown: AnyMessage[] = [];
    for (const message of messages) {
      const results: AnyMessage[] = [];
      for (const { callId, message: result } of dialect.resultsIn(message)) {
        const fold = (text: string) => this.#fold(text, calls.get(callId));
        results.push((await withTexts(result as Json, fold)) as AnyMessage);
      }
      const isSame = dialect.resultsIn(message).every(({ message: result }, at) => result === results[at]);
      isChanged ||= !isSame;
      shown.push(isSame ? message : dialect.withResults(message, results));
    }
    return isChanged ? dialect.withMessages(body, shown) : body;
  }

  async #fold(text: string, toolName: string | undefined): Promise<string> {
    const key = createHash("sha256").update(`${toolName}\n${text}`).digest("base64url");
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const { text: folded, lossless } = await compress(text, { preset: "lossless", hints: { toolName } });
    const shown = lossless ? folded : text;
    this.#texts.set(key, shown);
    trim(this.#texts, MOST_TEXTS);
    return shown;
  }
}

/** The fields of a result that hold its text, or parts with texts. */
const FIELDS = ["content", "output", "text"];

/** Returns a result with each of its texts replaced, or the same object if none changes. */
async function withTexts(value: Json, change: (text: string) => Promise<string>): Promise<Json> {
  let changed = value;
  for (const field of FIELDS) {
    const part = value[field];
    const after =
      typeof part === "string"
        ? await change(part)
        : Array.isArray(part)
          ? await Promise.all(part.map((one: unknown) => (isObject(one) ? withTexts(one, change) : one)))
          : part;
    const isSame = Array.isArray(after) ? after.every((one, at) => one === (part as unknown[])[at]) : after === part;
    if (!isSame) changed = { ...changed, [field]: after };
  }
  return changed;
}
