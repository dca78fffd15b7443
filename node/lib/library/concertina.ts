/** The class with a store: what a host calls at the two moments, and the way back. */
import type { NativeConcertina, RulesReport, Session } from "../binding/addon.js";
import type {
  AnyMessage,
  CompressedRules,
  ContentBlock,
  FetchRequest,
  OpenOptions,
  Prices,
  Redactor,
  Removed,
  Report,
  SkippedCode,
  Stats,
} from "./api.js";
import {
  anything,
  budget,
  copied,
  count,
  crossingOptions,
  flag,
  identity,
  list,
  messagesOf,
  moment,
  names,
  now,
  nullable,
  number,
  object,
  oneOf,
  optional,
  PLACE,
  placeOf,
  prices,
  redactor,
  SESSION,
  SESSION_IF_ANY,
  session,
  sessionIfAny,
  string,
  taken,
  takenOf,
  units,
} from "../binding/arguments.js";
import { awaiting, badArgument, calling } from "../binding/errors.js";
import type { Figures, FiguresRequest, KnownSession } from "./figures.js";
import { applyInSlices, handOverInSlices, leftAlone, reallyDone } from "../binding/handover.js";
import type { LightMessage } from "../binding/light-json.js";
import { answersTo, maskedArguments, maskedMessage } from "../binding/redaction.js";
import { native } from "../binding/native.js";
import { callOf, toolOf } from "../binding/tool-call.js";
import { FETCH_TOOL_JSON, toRecord } from "../binding/finished-turn.js";

/**
 * Most characters of a fetched answer that every host accepts as one tool result, with room for the host's own words.
 */
export const FETCH_CHARS = 15_900;

/** What says when a call is. */
const NOW = { now };

/** The fields of each method's argument. */
const TAKES = {
  open: {
    ...PLACE,
    retention: optional(oneOf("clock", "host")),
    today: optional(string),
    journalDir: optional(identity),
  },
  admitToolResult: {
    ...SESSION,
    message: object,
    toolName: optional(string),
    args: anything,
    caller: anything,
    hostCutAt: optional(units),
    hostKeeps: optional(units),
    model: nullable(string),
    redactor: nullable(redactor),
    ...NOW,
  },
  assemble: {
    ...SESSION,
    messages: messagesOf,
    tokenBudget: nullable(budget),
    model: nullable(string),
    prices: nullable(prices),
    promptCache: anything,
    availableTools: nullable(names),
    referOversize: nullable(flag),
    turnBegins: nullable(flag),
    redactor: nullable(redactor),
    ...NOW,
  },
  commitTurn: {
    ...SESSION,
    sessionKey: optional(identity),
    advancementKey: identity,
    messages: nullable(list(object)),
    prices: nullable(prices),
    contextWindow: nullable(budget),
    ...NOW,
  },
  inherit: { parent: session, child: session, named: optional(list(string)), ...NOW },
  recordRules: { ...SESSION, report: copied, ...NOW },
  fetch: {
    refIds: list(string),
    sessionId: nullable(identity),
    agentId: nullable(identity),
    lines: nullable(string),
    chars: nullable(string),
    pattern: nullable(string),
    maxChars: nullable(count()),
    ...NOW,
  },
  unfold: { ...SESSION_IF_ANY, messages: messagesOf, ...NOW },
  settle: { sessionIds: list(identity), ...NOW },
  endSession: { ...SESSION, ...NOW },
  stats: SESSION_IF_ANY,
  figures: { ...SESSION_IF_ANY, since: optional(moment), until: optional(moment) },
  warn: { text: string, ...NOW },
  warned: { since: number("of at least 0") },
  switch: { ...SESSION, off: flag, ...NOW },
  check: { today: optional(string) },
  sweep: NOW,
  purge: { ...SESSION, dry: optional(flag) },
};

/** What `open` takes beside options. */
const NO_OPTIONS = Object.fromEntries(Object.keys(TAKES.open).map((field) => [field, undefined]));

/**
 * The report of what was really done: nothing was done to messages that changed meanwhile, nor to what could not be
 * read.
 */
function reportOf(done: Report, crossed: readonly LightMessage[], changedMeanwhile: number[]): Report {
  const alone = leftAlone(crossed, true);
  const report = alone ? { ...done, leftAlone: alone } : done;
  if (changedMeanwhile.length === 0) return report;
  const { rows: actions, notFreed } = reallyDone(report.actions, changedMeanwhile);
  return { ...report, actions, tokensAfter: report.tokensAfter + notFreed, changedMeanwhile };
}

/**
 * One open store with one set of options. Several may be open at one place, in one process or, with a database, on
 * several machines.
 */
export class Concertina {
  readonly #native: NativeConcertina;
  /** The calls that are under way. */
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  private constructor(opened: NativeConcertina) {
    if (!(opened instanceof native().NativeConcertina))
      badArgument("new Concertina()", opened, "Concertina.open(options), which resolves to one");
    this.#native = opened;
  }

  /**
   * Opens the store in `dir`, creating it on first use, readable by its owner only; or in the database at `url`.
   *
   * @throws TypeError for an unknown option or a bad value; Error with a `code` where the directory or the database
   *   cannot be used.
   */
  static async open(options: OpenOptions): Promise<Concertina> {
    const { retention, today, journalDir, ...place } = takenOf("options", options, TAKES.open);
    const at = placeOf(place);
    if (journalDir !== undefined && place.url === undefined) {
      const expected = "absent where there is no url: a store in a directory keeps its notes there";
      badArgument("journalDir", journalDir, expected);
    }
    const crossed = crossingOptions(options, NO_OPTIONS);
    const open = () => native().NativeConcertina.open(at, crossed, retention, today, journalDir);
    return awaiting(async () => new Concertina(await open()));
  }

  /** Runs a call. Whoever closes the store waits for it. */
  async #call<T>(body: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw Object.assign(new Error("the store is closed"), { code: "CONCERTINA_CLOSED" });
    const running = awaiting(body);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** One line for each lenient option that had to be corrected. */
  get warnings(): string[] {
    return this.#native.warnings;
  }

  /**
   * The moment of birth: replaces oversize texts of a fresh tool result by references, durably, before the result is
   * first sent. Resolves to the same message object when nothing was replaced. A failing store is a `report.warning`,
   * never a rejection.
   *
   * @param input.toolName the tool, where the message does not name it itself
   * @param input.args what the tool was given, where the caller knows it
   * @param input.caller who made the call, as the call itself says it under `caller`: what a script of the model's
   *   parses stays as it is
   * @param input.redactor masks what only the host knows for a secret. With `secrets: "keep-inline"` a result in which
   *   it masks something stays as it is, and out of the store; with `"redact"` what it returns is what is stored and
   *   shown; with `"store"`, and for texts that are not stored at birth, it is not asked
   * @param input.model the model that will see it, where the caller knows it and the option `models` says something of
   *   it
   * @param input.hostCutAt a text of exactly so many UTF-16 units was cut by the host, and what is shown of it says so;
   *   so was one that is a unit shorter because a surrogate pair stood there
   * @param input.hostKeeps the host sends at most so many UTF-16 units of a text: figures take no more for saved
   */
  async admitToolResult<M extends AnyMessage>(input: {
    sessionId: string;
    agentId?: string;
    message: M;
    toolName?: string;
    args?: unknown;
    caller?: { type: string } | null;
    hostCutAt?: number;
    hostKeeps?: number;
    model?: string;
    redactor?: Redactor;
    now?: number;
  }): Promise<{ message: M; report: Report }> {
    const { sessionId, agentId, toolName, args, caller, hostCutAt, hostKeeps, model, redactor, now, ...rest } = taken(
      "input",
      input,
      TAKES.admitToolResult,
    );
    const message = rest.message as M;
    return this.#call(async () => {
      const asIs = { message, args };
      const shown = redactor === undefined ? asIs : await this.#masked(asIs, toolName, redactor as Redactor);
      if (shown === undefined) return { message, report: { actions: [], tokensBefore: 0, tokensAfter: 0 } };
      const call = callOf(message, toolName, shown.args, caller);
      const isMasked = shown.message !== message;
      const { handover, crossed } = await handOverInSlices(native(), [
        call,
        shown.message,
        ...(isMasked ? [message] : []),
      ]);
      const options = { hostCutAt, hostKeeps, isMasked, model };
      const { change, report } = await this.#native.admit(handover, { sessionId, agentId }, options, now);
      const came = crossed.slice(1, 2);
      const { messages, changedMeanwhile } = await applyInSlices([shown.message], came, change);
      return { message: messages?.[0] ?? message, report: reportOf(report, came, changedMeanwhile) };
    });
  }

  /** What of a result and its arguments may be stored and shown; `undefined` where it must not be stored. */
  async #masked<M extends AnyMessage>(
    asIs: { message: M; args: unknown },
    toolName: string | undefined,
    redactor: Redactor,
  ) {
    const { secrets, storesTexts } = this.#native.atBirth(toolName ?? toolOf(asIs.message));
    if (secrets === "store") return asIs;
    const [args] = await maskedArguments(asIs.args, redactor);
    const [message] = storesTexts ? await maskedMessage(asIs.message, redactor) : [asIs.message];
    return secrets === "redact" || (args === asIs.args && message === asIs.message) ? { message, args } : undefined;
  }

  /**
   * Folds a history for the next model call: replays byte for byte what earlier calls decided, then folds what has
   * become stale. Messages that do not change are the same objects, and the same array comes back when none did. A
   * failing store is a `report.warning`, never a rejection.
   *
   * `systemPromptAddition` is always empty: the fetch tool's description and the first placeholder of a session say
   * what there is to say.
   *
   * @param input.redactor masks what only the host knows for a secret. It is asked once about each text that is to be
   *   stored, and about the arguments of its call. With `secrets: "keep-inline"` a block in which it masks something
   *   stays as it is, and out of the store; with `"redact"` what it returns of a tool's text is what is stored, and
   *   arguments stay as they are; with `"store"` it is not asked
   */
  async assemble<M extends AnyMessage>(input: {
    sessionId: string;
    agentId?: string;
    messages: readonly M[];
    /** How many tokens the host leaves for the history; above a share of it the history is folded at once. */
    tokenBudget?: number;
    model?: string;
    /** What the model's tokens cost, in any unit; by the model's family when absent. */
    prices?: Prices;
    /** Accepted for hosts that pass it; the state of the cache is read off the history. */
    promptCache?: unknown;
    /** Without `fetch_original_data` among them nothing is folded. */
    availableTools?: Iterable<string>;
    /** Also replace fresh oversize results: for engines that never saw them at birth. */
    referOversize?: boolean;
    /**
     * Whether a user turn begins with this call whose message is not among `messages` yet: all of them are a turn older
     * then.
     */
    turnBegins?: boolean;
    redactor?: Redactor;
    now?: number;
  }): Promise<{ messages: M[]; estimatedTokens: number; systemPromptAddition: string; report: Report }> {
    const { sessionId, agentId, messages, redactor, now, ...rest } = taken("input", input, TAKES.assemble);
    const { availableTools, model, prices, tokenBudget } = rest;
    const options = {
      availableTools,
      model,
      prices,
      tokenBudget,
      referOversize: rest.referOversize ?? false,
      turnBegins: rest.turnBegins ?? false,
    };
    return this.#call(async () => {
      const { handover, crossed } = await handOverInSlices(native(), messages);
      const session = { sessionId, agentId };
      const fold = (redactor?: "ask" | "leave") =>
        this.#native.assemble(handover, session, { ...options, redactor }, now);
      const { secrets } = this.#native.atBirth("");
      const hears = secrets === "store" ? undefined : (redactor as Redactor | undefined);
      let folded = await fold(hears && "ask");
      if (hears !== undefined && folded.questions.length > 0) {
        this.#native.hear(await answersTo(folded.questions, hears, secrets));
        folded = await fold("leave");
      }
      const applied = await applyInSlices(messages as M[], crossed, folded.change);
      const report = reportOf(folded.report, crossed, applied.changedMeanwhile);
      const shown = applied.messages ?? (input.messages as M[]);
      return { messages: shown, estimatedTokens: report.tokensAfter, systemPromptAddition: "", report };
    });
  }

  /** Records a finished turn with its model calls, for the figures: atomic, and the same key again is a duplicate. */
  async commitTurn(input: {
    sessionId: string;
    agentId?: string;
    /** What the host calls the conversation. */
    sessionKey?: string;
    advancementKey: string;
    /**
     * The turn's messages, from its user's on. What answers report under `usage`, as OpenClaw, Anthropic or OpenAI
     * spell it, is what was sent; else it is counted.
     */
    messages?: readonly AnyMessage[];
    /** What the model's tokens cost; by the model's family when absent. */
    prices?: Prices;
    /**
     * The model's window in tokens: figures without Concertina are then those of a host that compacts what outgrows it,
     * as OpenClaw does.
     */
    contextWindow?: number;
    now?: number;
  }): Promise<{ status: "committed" | "duplicate" }> {
    const { sessionId, agentId, messages = [], now, ...turn } = taken("input", input, TAKES.commitTurn);
    // A window of nothing is one that nobody knows.
    const contextWindow = turn.contextWindow || undefined;
    return this.#call(async () => {
      const { handover } = await handOverInSlices(native(), toRecord(messages));
      const told = { ...turn, contextWindow, tool: FETCH_TOOL_JSON };
      return { status: await this.#native.commitTurn(handover, { sessionId, agentId }, told, now) };
    });
  }

  /**
   * Gives a sub-agent's session what its parent's session may see and how it is shown: everything, or only the
   * originals with the named ids.
   */
  async inherit(input: {
    parent: { agentId?: string; sessionId: string };
    child: { agentId?: string; sessionId: string };
    /** Bare ids, or whole markers as placeholders print them. */
    named?: string[];
    now?: number;
  }): Promise<void> {
    const { parent, child, named, now } = taken("input", input, TAKES.inherit);
    await this.#call(() => this.#native.inherit(parent, child, now, named));
  }

  /** Keeps what repeating rule files in a session came to, as a receipt of kind `rules`. */
  async recordRules(input: {
    sessionId: string;
    agentId?: string;
    report: CompressedRules["report"];
    now?: number;
  }): Promise<void> {
    const { report, now, ...session } = taken("input", input, TAKES.recordRules);
    await this.#call(() => this.#native.recordRules(session, report as RulesReport, now));
  }

  /**
   * Brings originals back. Alone and within `maxChars`, an original comes back byte for byte with nothing added; a part
   * of one ends with a line that says which part it is and which call continues. Unknown ids are answered in words.
   */
  async fetch(input: FetchRequest): Promise<{ content: ContentBlock[]; found: number }> {
    const { maxChars = FETCH_CHARS, ...request } = taken("input", input, TAKES.fetch);
    return this.#call(() => this.#native.fetch({ ...request, maxChars }));
  }

  /**
   * Puts originals back in place of their placeholders, in any order and whatever the age of the messages. Thinking
   * that left comes back only where `sessionId` is given: nothing stands in its place. Placeholders whose originals
   * cannot be had stay as they are and are named in `missing`. Messages that do not change are the same objects, and
   * the same array comes back when none did.
   */
  async unfold<M extends AnyMessage>(input: {
    sessionId?: string;
    agentId?: string;
    messages: readonly M[];
    now?: number;
  }): Promise<{ messages: M[]; unfolded: number; missing: string[] }> {
    const { sessionId, agentId, messages, now } = taken("input", input, TAKES.unfold);
    return this.#call(async () => {
      const { handover, crossed } = await handOverInSlices(native(), messages);
      const { change, ...report } = await this.#native.unfold(handover, sessionId, agentId, now);
      const applied = await applyInSlices(messages as M[], crossed, change);
      return { ...report, messages: applied.messages ?? (input.messages as M[]) };
    });
  }

  /**
   * With `retention: "host"`: ends every session that the host no longer knows, and takes back the end of those that it
   * does. The time to live of what a session held begins with its end. All that open the store without a `host` are one
   * host: what they list must be what any of them has.
   */
  async settle(input: { sessionIds: string[]; now?: number }): Promise<{ ended: number }> {
    const { sessionIds, now } = taken("input", input, TAKES.settle);
    return { ended: await this.#call(() => this.#native.settle(sessionIds, now)) };
  }

  /**
   * The host has ended a session: the time to live of what it held begins. A later call for the session takes it back.
   */
  async endSession(input: { sessionId: string; agentId?: string; now?: number }): Promise<void> {
    const { now, ...scope } = taken("input", input, TAKES.endSession);
    await this.#call(() => this.#native.endSession(scope, now));
  }

  /** What an operator should know and has not been told yet, one line each. */
  notices(): string[] {
    return calling(() => this.#native.notices());
  }

  /**
   * Parsers and libraries written in C that are not given every text, because some ended a process or did not come
   * back. Of this process and version.
   */
  skipped(): SkippedCode[] {
    return calling(() => this.#native.skipped());
  }

  /** Totals of one session, or of the whole store. */
  async stats(input: { sessionId?: string; agentId?: string } = {}): Promise<Stats> {
    const named = sessionIfAny(taken("input", input, TAKES.stats));
    return this.#call(async () => this.#native.stats(await this.#asked(named)));
  }

  /** What was sent and billed, and what would have been without Concertina: of whole requests. */
  async figures(input: FiguresRequest = {}): Promise<Figures> {
    const { since, until, ...named } = taken("input", input, TAKES.figures);
    const session = sessionIfAny(named);
    return this.#call(async () => this.#native.figures({ session: await this.#asked(session), since, until }));
  }

  /**
   * The session that is asked about: where no agent is named, that of `main`, or else of the agent that was last seen
   * with one.
   */
  async #asked(named: Session | undefined): Promise<Session | undefined> {
    if (named === undefined || named.agentId !== undefined) return named;
    const agents = (await this.sessions())
      .filter(({ sessionId }) => sessionId === named.sessionId)
      .map(({ agentId }) => agentId);
    return agents.length === 0 || agents.includes("main") ? named : { ...named, agentId: agents[0] };
  }

  /** The sessions that the store knows, the last seen first. */
  async sessions(): Promise<KnownSession[]> {
    return this.#call(() => this.#native.sessions());
  }

  /** Keeps a line that the operator was warned with, for a week. */
  async warn(input: { text: string; now?: number }): Promise<void> {
    const { text, now } = taken("input", input, TAKES.warn);
    await this.#call(() => this.#native.warn(text, now));
  }

  /** What the operator was warned of since a moment, newest first. */
  async warned(input: { since: number }): Promise<{ at: number; text: string }[]> {
    const { since } = taken("input", input, TAKES.warned);
    return this.#call(() => this.#native.warned(since));
  }

  /** Stops folding anything more in a session, or takes that back. What is folded stays folded, and can be fetched. */
  async switch(input: { sessionId: string; agentId?: string; off: boolean; now?: number }): Promise<void> {
    const { off, now, ...session } = taken("input", input, TAKES.switch);
    await this.#call(() => this.#native.switch(session, off, now));
  }

  /**
   * Reads the store's whole file. With `today`, a date such as `2026-01-31`, a damaged one is set aside under a name
   * with that date, and a new one takes its place; resolves to whether that was so. In a database there is nothing to
   * read. @throws where the file is damaged and stays.
   */
  async check(input: { today?: string } = {}): Promise<boolean> {
    const { today } = taken("input", input, TAKES.check);
    return this.#call(() => this.#native.check(today));
  }

  /** Removes what expired and, above `storeMaxBytes`, what was least recently referred to. */
  async sweep(input: { now?: number } = {}): Promise<Removed> {
    const { now } = taken("input", input, TAKES.sweep);
    return this.#call(() => this.#native.sweep(now));
  }

  /**
   * Forgets a session and every original that no other session shares: placeholders of those are then all that is left
   * of them. A session of the same name that another agent has stays; the agent is `main` where none is named. With
   * `dry` nothing is removed, and the answer is what would be.
   */
  async purge(input: { sessionId: string; agentId?: string; dry?: boolean }): Promise<Removed> {
    const { dry = false, ...scope } = taken("input", input, TAKES.purge);
    return this.#call(() => this.#native.purge(scope, dry));
  }

  /** Lets go of the store once all that is under way is done. Later calls reject with code `CONCERTINA_CLOSED`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    await awaiting(() => this.#native.close());
  }
}
