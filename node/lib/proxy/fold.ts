/**
 * A request of the client -> the request that the provider gets.
 *
 * The client sends its history as it knows it: tool results in full, and answers without our fetches. Results that
 * appear for the first time are folded at birth, those of earlier requests are shown as then, the fetches are put back,
 * and the history is assembled.
 */
import { randomUUID } from "node:crypto";

import type { AnyMessage, Report } from "../library/api.js";
import { describe } from "../binding/errors.js";
import type { Concertina } from "../library/concertina.js";
import { FETCH_TOOL } from "../library/fetch-tool.js";
import { compressMessages } from "../library/fusion.js";
import { withoutUsage } from "../library/observed.js";
import type { Bodies } from "./body.js";
import type { Answer, Call, Dialect } from "./dialect.js";
import { AGENT, type HiddenRounds, type Line } from "./journal.js";
import { type Link, type Place, withoutCachePoints } from "./sessions.js";
import { type Json, objectsIn } from "./sse.js";

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

/** A turn that is not written yet. */
interface Turn {
  name: string;
  heldOut: boolean;
  messages: AnyMessage[];
  timer: NodeJS.Timeout | undefined;
  /** True if it is to be written after the exchanges that are in progress. */
  isDue: boolean;
}

/** A turn that goes on is written after so many answers or milliseconds. */
const [MOST_ANSWERS, WRITE_AFTER_MS] = [32, 10_000];

const modelOf = ({ model }: Json) => (typeof model === "string" ? model : undefined);

export class Folder {
  readonly concertina: Concertina;
  readonly #bodies: Bodies;
  readonly #warn: (line: string) => void;
  readonly #turns = new Map<string, Turn>();
  /** The sessions of the exchanges in progress. */
  readonly #open: string[] = [];

  constructor(concertina: Concertina, bodies: Bodies, warn: (line: string) => void) {
    [this.concertina, this.#bodies, this.#warn] = [concertina, bodies, warn];
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
    const view = withHidden(dialect, place, messages, shown, continues).map((message) => this.#bodies.same(message));
    return { dialect, body, place, view, answerTo: links.at(-1) ?? continues ?? "", continues };
  }

  /** Returns the messages with their results as they are shown since birth. */
  async #born(dialect: Dialect, model: string | undefined, place: Place, messages: AnyMessage[]) {
    const { session, links, known } = place;
    const lines: Line[] = [...place.lines];
    const keyOf = (at: number, result: number) => `${links[at]}:${result}`;
    for (const [at, message] of messages.entries()) {
      if (at < known) continue;
      for (const [number, { callId, message: fresh }] of dialect.resultsIn(message).entries()) {
        const key = keyOf(at, number);
        if (session.birth(key) !== undefined) continue;
        const { name, args } = callBefore(dialect, messages, at, callId)[1] ?? {};
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
      const link = links[at];
      const before = session.views.get(message);
      if (before !== undefined && before.link === link) return before.shown;
      const results = dialect.resultsIn(message);
      const born = results.map(({ message: fresh }, number) => {
        const first = session.birth(keyOf(at, number));
        return first === undefined ? fresh : withCachePoints(first, fresh);
      });
      const isSame = born.every((one, number) => one === results[number]?.message);
      const shown = isSame ? message : this.#bodies.same(dialect.withResults(message, born));
      session.views.set(message, { link, shown });
      return shown;
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

  /**
   * Records the answers of an exchange. A turn is written once it has ended or has many answers, and otherwise after a
   * while: each write waits for the disk. `isMeasured` is false if the request was not sent as it was folded.
   */
  async record(
    { dialect, place: { session } }: Folded,
    answers: Answer[],
    { name, heldOut, isMeasured }: { name: string; heldOut: boolean; isMeasured: boolean },
  ) {
    const turn = this.#turns.get(session.id) ?? { name, heldOut, messages: [], timer: undefined, isDue: false };
    this.#turns.set(session.id, turn);
    const messages = answers.map(({ pieces, usage, model }) => ({
      role: "assistant",
      model,
      ...(usage ? { usage } : {}),
      content: pieces.flatMap((piece) => recorded(dialect, piece)),
    }));
    turn.messages.push(...(isMeasured ? messages : withoutUsage(messages)));
    const goesOn = messages.at(-1)?.content.some(({ type }) => type === "toolCall") === true;
    if (!goesOn || turn.messages.length >= MOST_ANSWERS) return this.settle(session.id);
    turn.timer ??= setTimeout(() => void this.settle(session.id), WRITE_AFTER_MS).unref();
  }

  /** Runs an exchange of a session. The usage of its answer must be written with the request that was assembled. */
  async during(sessionId: string, exchange: () => Promise<void>): Promise<void> {
    this.#open.push(sessionId);
    try {
      await exchange();
    } finally {
      this.#open.splice(this.#open.indexOf(sessionId), 1);
      if (this.#turns.get(sessionId)?.isDue) await this.#commit(sessionId);
    }
  }

  /** Writes the turns of a session, or of all, that are not written yet. A failure is logged. */
  async settle(sessionId?: string): Promise<void> {
    const ids = sessionId === undefined ? [...this.#turns.keys()] : [sessionId];
    await Promise.all(ids.map((id) => this.#commit(id)));
  }

  async #commit(sessionId: string): Promise<void> {
    const turn = this.#turns.get(sessionId);
    if (turn === undefined) return;
    turn.isDue = this.#open.includes(sessionId);
    if (turn.isDue) return;
    this.#turns.delete(sessionId);
    clearTimeout(turn.timer);
    const { name: sessionKey, heldOut, messages } = turn;
    const advancementKey = randomUUID();
    try {
      const session = { sessionId, agentId: AGENT, sessionKey };
      await this.concertina.commitTurn({ ...session, advancementKey, messages, heldOut });
    } catch (error) {
      this.#warn(`recording a turn failed (${describe(error)}); it is missing in the figures`);
    }
  }
}

/** Returns the message before another one that has a call, and the call. */
function callBefore(dialect: Dialect, messages: AnyMessage[], end: number, id: string): [AnyMessage?, Call?] {
  for (const message of messages.slice(0, end).reverse()) {
    const found = dialect.callsIn(message).find((call) => call.id === id);
    if (found !== undefined) return [message, found];
  }
  return [];
}

/** Returns a result with the cache breakpoints of the client's message, which stay where they point. */
function withCachePoints<T extends { content?: unknown }>(born: T, fresh: { content?: unknown }): T {
  const [blocks, given] = [objectsIn(born.content), objectsIn(fresh.content)];
  const last = blocks.at(-1);
  if (last === undefined) return born;
  const point = given.find((block) => block.cache_control !== undefined)?.cache_control;
  const inner = withCachePoints(last, given.at(-1) ?? {});
  const marked = point === undefined ? inner : { ...inner, cache_control: point };
  return marked === last ? born : { ...born, content: [...blocks.slice(0, -1), marked] };
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
  const view: AnyMessage[] = [];
  const isAnswer = (at: number) => messages[at] !== undefined && dialect.isAnswer(messages[at]);
  for (let start = 0, next = 0; start < messages.length; start = next) {
    // An answer, and what follows it up to the next one.
    let end = start;
    while (isAnswer(end) && (dialect.joinsAnswers || end === start)) end++;
    for (next = end; next < messages.length && !isAnswer(next);) next++;
    const [answer, following] = [shown.slice(start, end), shown.slice(end, next)];
    const hidden = end > start ? session.hiddenAfter(links[start - 1] ?? "") : [];
    const unhidden = hidden.map((rounds) => unhide(dialect, rounds, answer)).find((found) => found !== undefined);
    const results = unhidden?.pending ?? [];
    view.push(...(unhidden?.messages ?? answer));
    view.push(...(results.length > 0 ? dialect.withFetched(results, following) : following));
  }
  const pending = continues === undefined ? undefined : session.hiddenAfter(continues)[0]?.last;
  return pending === undefined ? view : dialect.withFetched(pending.results, view);
}

/** Returns an answer of the client with its hidden calls, or undefined if it is not the answer that was given. */
function unhide(dialect: Dialect, { rounds, results, last }: HiddenRounds, answer: AnyMessage[]) {
  const messages: AnyMessage[] = [];
  let pieces: Json[] | undefined = dialect.piecesOf(answer);
  for (const [at, round] of rounds.entries()) {
    // All calls of such an answer are hidden.
    const seen = round.filter((piece) => dialect.callIn(piece) === undefined && piece.type !== "field");
    pieces = dialect.after(pieces, seen);
    if (pieces === undefined) return undefined;
    messages.push(...dialect.toMessages(round), ...dialect.withFetched(results[at] ?? [], []));
  }
  const own = [...pieces];
  const hidden = new Set(last?.results.map(({ id }) => id));
  const merged = (last?.pieces ?? []).flatMap((piece) => {
    if (piece.type === "field") return [];
    return hidden.has(dialect.callIn(piece)?.id ?? "") ? [piece] : own.splice(0, 1);
  });
  messages.push(...dialect.toMessages([...merged, ...own], answer[0]));
  return { messages, pending: last?.results };
}

/** The messages of requests without the fetch tool, as they are shown. */
const restorable = new WeakMap<AnyMessage, AnyMessage>();

/** Folds the results of a request without the fetch tool: only so that the text itself restores them. */
export async function foldedRestorably(dialect: Dialect, body: Json, messages: AnyMessage[]): Promise<Json> {
  const shown: AnyMessage[] = [];
  for (const [at, message] of messages.entries()) {
    const results: AnyMessage[] = [];
    const fresh = restorable.has(message) ? [] : dialect.resultsIn(message);
    for (const { callId, message: result } of fresh) {
      const [caller] = callBefore(dialect, messages, at, callId);
      const compressed = await compressMessages([...(caller ? [caller] : []), result], { preset: "lossless" });
      results.push(compressed.messages.at(-1) ?? result);
    }
    const isSame = results.every((result, number) => result === fresh[number]?.message);
    const known = restorable.get(message) ?? (isSame ? message : dialect.withResults(message, results));
    restorable.set(message, known);
    shown.push(known);
  }
  return dialect.withMessages(body, shown);
}
