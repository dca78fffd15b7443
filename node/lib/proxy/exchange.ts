/**
 * One exchange with a client: its request is folded and sent, and the provider's answer is passed on as it comes.
 *
 * Calls of the fetch tool are answered here, with another request to the provider, and the client gets one answer to
 * its one request. A failure of folding never fails the exchange: the request is then sent as the client wrote it.
 */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";

import { describe } from "../binding/errors.js";
import { answerFetch, FETCH_TOOL } from "../library/fetch-tool.js";
import { isHeldOut } from "../library/holdout.js";
import { type Bodies, jsonOf } from "./body.js";
import { Copies, REFUSAL } from "./copies.js";
import { type Answer, type Dialect, type FetchResult, isFetch } from "./dialect.js";
import { type Folded, type Folder, foldedRestorably } from "./fold.js";
import { AGENT, type HiddenRounds } from "./journal.js";
import { Reply } from "./reply.js";
import type { Sessions } from "./sessions.js";
import type { Json } from "./sse.js";
import { passedOn, type Target, type Upstream, type UpstreamAnswer } from "./upstream.js";

/** The maximum number of requests to the provider in one exchange. Fetches in the last answer are dropped. */
const MOST_ROUNDS = 8;

/** The treatment of the sessions that the proxy serves. */
export interface Mode {
  /** True if every request is sent untouched, and only the figures show what folding would have saved. */
  observes: boolean;
  /** The share of sessions that stay untouched, from 0 to 1. */
  holdout: number;
  /** True if a call with a copy of a placeholder is refused. Otherwise the client gets the original in its place. */
  refusesCopies: boolean;
}

/** A request of a client. */
export interface ClientRequest {
  dialect: Dialect;
  target: Target;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** True if the client only asks for the number of tokens. */
  isCount: boolean;
}

/** The way to send a request: folded with the fetch tool, or with another body, or as it came. */
interface Plan {
  body?: Json;
  /** The request in its session, if its turn is recorded. */
  folded?: Folded;
  /** True if the request is folded and its fetches are answered. */
  isFolded: boolean;
}

/** The parts of the proxy that an exchange uses. */
export interface Parts {
  folder: Folder;
  sessions: Sessions;
  bodies: Bodies;
  upstream: Upstream;
  mode: Mode;
  warn(line: string): void;
}

export class Exchanges {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Answers a request. Rejects if the provider cannot be reached, its answer breaks off, or the client leaves. */
  async answer(request: ClientRequest, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const plan = await this.#safely("folding", () => this.#plan(request), { isFolded: false });
    const exchange = () => this.#exchange(request, plan, response, signal);
    await (plan.folded ? this.#parts.folder.during(plan.folded.place.session.id, exchange) : exchange());
  }

  async #exchange(request: ClientRequest, plan: Plan, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const unfold = (placeholders: string[]) => this.#unfolded(placeholders);
    const copies = plan.isFolded ? new Copies(unfold, this.#parts.mode.refusesCopies) : undefined;
    const reply = new Reply(request.dialect, copies, response, signal);
    const answers: Answer[] = [];
    const hidden: HiddenRounds = { rounds: [], results: [] };
    for (;;) {
      const answer = await reply.receive(await this.#send(request, plan, signal));
      if (answer === undefined) return;
      answers.push(answer);
      const goesOn = await this.#safely("answering a fetch", () => this.#fetch(plan, answers, hidden, copies), false);
      if (!goesOn) break;
    }
    await reply.finish();
    await this.#record(request, plan, answers);
  }

  /** Runs a step. A failure is logged, and the exchange goes on with another value. */
  async #safely<T>(step: string, run: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#parts.warn(`${step} failed (${describe(error)}); the request goes on without it`);
      return otherwise;
    }
  }

  async #plan({ dialect, bytes }: ClientRequest): Promise<Plan> {
    const body = this.#parts.bodies.parse(bytes);
    const messages = body === undefined ? [] : dialect.messagesOf(body);
    if (body === undefined || messages.length === 0) return { isFolded: false };
    const continues = dialect.continues(body);
    const place =
      continues === undefined
        ? this.#parts.sessions.place(dialect, body, messages)
        : this.#parts.sessions.continuation(dialect, messages, continues);
    const { session, lines } = place;
    const unfolded: Folded = { dialect, body, place, view: messages, answerTo: "", continues };
    // Behind another proxy of this kind, the request has the tool already.
    const isFoldedElsewhere = dialect.toolNames(body).includes(FETCH_TOOL);
    const isOwn = isFoldedElsewhere || session.isUntouched || this.#isHeldOut(session.id);
    if (isOwn || !dialect.allowsTools(body)) {
      session.add(lines);
      if (isOwn || this.#parts.mode.observes) return { folded: unfolded, isFolded: false };
      return { body: await foldedRestorably(dialect, body, messages), folded: unfolded, isFolded: false };
    }
    const folding = session.queue.then(() => this.#parts.folder.view(dialect, body, place, messages));
    session.queue = folding.catch(() => undefined);
    if (!this.#parts.mode.observes) return { folded: await folding, isFolded: true };
    // Nobody waits for a fold that is not sent.
    session.queue = folding
      .then((folded) => this.#parts.folder.request(folded))
      .catch((error: unknown) => this.#parts.warn(`observing failed (${describe(error)})`));
    return { folded: unfolded, isFolded: false };
  }

  async #send({ target, headers, bytes }: ClientRequest, plan: Plan, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { folded, isFolded } = plan;
    const body = folded && isFolded ? await this.#parts.folder.request(folded) : plan.body;
    const sent = body === undefined ? bytes : jsonOf(body);
    // Only a plain answer can be read on its way.
    const own = { ...passedOn(headers, "accept-encoding", "content-encoding"), "accept-encoding": "identity" };
    return this.#parts.upstream.send(target, "POST", own, sent, signal);
  }

  /** Returns the originals of placeholders, in the scope of every fetch. Those without one stay. */
  async #unfolded(placeholders: string[]): Promise<string[]> {
    const messages = placeholders.map((content) => ({ role: "tool", tool_call_id: "copy", content }));
    const unfold = (): Promise<{ messages: typeof messages }> =>
      this.#parts.folder.concertina.unfold({ agentId: AGENT, messages });
    const { messages: unfolded } = await this.#safely("replacing a copied placeholder", unfold, { messages });
    return unfolded.map(({ content }) => content);
  }

  /** Answers the hidden calls of the last answer. Returns true if the provider must be asked again. */
  async #fetch({ folded }: Plan, answers: Answer[], hidden: HiddenRounds, copies?: Copies): Promise<boolean> {
    const answer = answers.at(-1);
    if (folded === undefined || copies === undefined || answer === undefined) return false;
    const { dialect, place, continues } = folded;
    const { session } = place;
    const calls = answer.pieces.flatMap((piece) => dialect.callIn(piece) ?? []);
    const results: FetchResult[] = [];
    if (answer.isWhole && answers.length < MOST_ROUNDS)
      for (const call of calls) {
        const { id, args } = call;
        if (isFetch(call)) results.push({ id, content: await this.#original(dialect, session.id, args) });
        else if (copies.isRefused(call)) results.push({ id, content: inWords(dialect, REFUSAL) });
      }
    const { pieces } = answer;
    if (results.length > 0 && calls.length === results.length) {
      hidden.rounds.push(pieces);
      hidden.results.push(results);
      const isKept = continues !== undefined && answer.id !== undefined;
      if (isKept) {
        folded.body = { ...folded.body, previous_response_id: answer.id };
        folded.view = dialect.withFetched(results, []);
      } else folded.view = [...folded.view, ...dialect.toMessages(pieces), ...dialect.withFetched(results, [])];
      return true;
    }
    if (results.length > 0) hidden.last = { pieces, results };
    if (hidden.rounds.length > 0 || hidden.last) session.add([{ answerTo: folded.answerTo, hidden }]);
    // With `previous_response_id`, the client names the answer and not the messages before it.
    if (hidden.last && answer.id) {
      session.add([{ answerTo: answer.id, hidden: { ...hidden, rounds: [], results: [] } }]);
      this.#parts.sessions.keep(dialect, answer.id, session, true);
    }
    return false;
  }

  /** Returns the answer to one fetch. A failure of the store is told to the model. */
  async #original(dialect: Dialect, sessionId: string, args: unknown): Promise<unknown> {
    try {
      const { form } = dialect;
      // The three forms have one signature each.
      return await answerFetch(this.#parts.folder.concertina, args, { agentId: AGENT, sessionId, form } as never);
    } catch (error) {
      this.#parts.warn(`fetching an original failed (${describe(error)}); the model was told`);
      const text = `The original cannot be read: ${describe(error)}. Do not call this again; run the tool again instead.`;
      return inWords(dialect, text);
    }
  }

  async #record({ dialect, isCount }: ClientRequest, { folded, isFolded }: Plan, answers: Answer[]): Promise<void> {
    if (folded === undefined || isCount) return;
    const { session } = folded.place;
    const last = answers.at(-1);
    if (last?.id !== undefined) this.#parts.sessions.keep(dialect, last.id, session);
    const observed = this.#parts.mode.observes && !session.isUntouched;
    if (observed) await session.queue;
    const [heldOut, isMeasured] = [this.#isHeldOut(session.id), isFolded || !observed];
    await this.#parts.folder.record(folded, answers, { name: `${dialect.name}:${session.id}`, heldOut, isMeasured });
  }

  /** Returns true if a session stays untouched for comparison. A branch follows the session that it left. */
  #isHeldOut(sessionId: string): boolean {
    return isHeldOut(sessionId.split("-").slice(0, 2).join("-"), this.#parts.mode.holdout);
  }
}

/** Returns an answer to a call that is only a text. */
const inWords = ({ form }: Dialect, text: string) => (form === "anthropic" ? [{ type: "text", text }] : text);
