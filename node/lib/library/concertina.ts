/** The class with a store: folding at birth and at assembly, and unfolding. */
import { inspect, type InspectOptions } from "node:util";

import type { NativeConcertina, RulesReport, Session } from "../binding/addon.js";
import type {
  Abortable,
  AnyMessage,
  CompressedRules,
  ContentBlock,
  FetchRequest,
  OpenOptions,
  Prices,
  Redactor,
  Removed,
  Report,
  RestoredIds,
  SearchResult,
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
import { SIGNAL, untilAborted } from "../binding/abort.js";
import { awaiting, badArgument, calling } from "../binding/errors.js";
import type { Figures, FiguresRequest, FoldedOriginal, KnownSession } from "./figures.js";
import { comparisonOf } from "./holdout.js";
import { applyInSlices, handOverInSlices, leftAlone, reallyDone } from "../binding/handover.js";
import { attempt, type LightMessage } from "../binding/light-json.js";
import { answersTo, maskedArguments, maskedMessage } from "../binding/redaction.js";
import { native } from "../binding/native.js";
import { shownPlace } from "../binding/shown-place.js";
import { failedTools, FETCH_TOOL_JSON, toRecord } from "../binding/finished-turn.js";

/**
 * The maximum number of characters of a fetched answer that every host accepts as one tool result, with room for the
 * host's own text.
 */
export const FETCH_CHARS = 15_900;

/** The fields for the time and the signal of a call. */
const NOW = { now, ...SIGNAL };

/** The fields of each method's argument. */
const TAKES = {
  open: {
    ...PLACE,
    retention: optional(oneOf("clock", "host")),
    replaceDamaged: optional(flag),
    today: optional(string),
    journalDir: optional(identity),
    ...SIGNAL,
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
    prompt: nullable(string),
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
    heldOut: nullable(flag),
    ...NOW,
  },
  inherit: { parent: session, child: session, named: optional(list(string)), ...NOW },
  recordRules: { ...SESSION, report: copied, ...NOW },
  fetch: {
    refIds: optional(list(string)),
    sessionId: nullable(identity),
    agentId: nullable(identity),
    lines: nullable(string),
    chars: nullable(string),
    pattern: nullable(string),
    done: nullable(list(string)),
    query: nullable(string),
    maxChars: nullable(count()),
    ...NOW,
  },
  search: { query: string, ...SESSION_IF_ANY, maxChars: nullable(count()), ...NOW },
  unfold: { ...SESSION_IF_ANY, messages: messagesOf, ...NOW },
  settle: { sessionIds: list(identity), ...NOW },
  endSession: { ...SESSION, ...NOW },
  stats: { ...SESSION_IF_ANY, ...SIGNAL },
  figures: { ...SESSION_IF_ANY, since: optional(moment), until: optional(moment), ...SIGNAL },
  sessions: SIGNAL,
  switch: { ...SESSION, off: flag, ...NOW },
  foldAll: { ...SESSION, ...NOW },
  folded: { ...SESSION, ...SIGNAL },
  pin: { ...SESSION, ...NOW },
  unpin: { ...SESSION, ...NOW },
  restore: { ...SESSION, refIds: list(string), ...NOW },
  check: { replaceDamaged: optional(flag), today: optional(string), ...SIGNAL },
  sweep: NOW,
  purge: { ...SESSION, dry: optional(flag), ...SIGNAL },
};

/** The fields of `open` that are not options. */
const NO_OPTIONS = Object.fromEntries(Object.keys(TAKES.open).map((field) => [field, undefined]));

/**
 * Returns the date in the new name of a damaged store, or undefined if it is not replaced. A date alone means that it
 * is.
 */
function dateOfDamage({ today, replaceDamaged = today !== undefined }: { today?: string; replaceDamaged?: boolean }) {
  return replaceDamaged ? (today ?? new Date().toISOString().slice(0, 10)) : undefined;
}

/** Returns the name of the tool in a result, or an empty string if there is none or reading it throws. */
function toolOf(message: AnyMessage & { toolName?: unknown; name?: unknown }): string {
  const names = attempt(() => [message.toolName, message.name]) ?? [];
  return String(names.find((name) => typeof name === "string" || typeof name === "number") ?? "");
}

/**
 * Returns the report of what was applied. Messages that changed meanwhile, and parts that could not be read, were left
 * as they are.
 */
function reportOf(done: Report, crossed: readonly LightMessage[], changedMeanwhile: number[]): Report {
  const alone = leftAlone(crossed, true);
  const report = alone ? { ...done, leftAlone: alone } : done;
  if (changedMeanwhile.length === 0) return report;
  const { rows: actions, notFreed } = reallyDone(report.actions, changedMeanwhile);
  return { ...report, actions, tokensAfter: report.tokensAfter + notFreed, changedMeanwhile };
}

/**
 * An open store with a set of options. Several may be open at one place, in one process or, with a database, on several
 * machines. Every method that waits takes a `signal`, as {@link Abortable} describes.
 */
export class Concertina {
  readonly #native: NativeConcertina;
  /** The calls in progress. */
  readonly #running = new Set<Promise<unknown>>();
  /** The place and the options that were given, as `inspect` shows them. */
  readonly #opened: Record<string, unknown>;
  #isClosed = false;

  private constructor(opened: NativeConcertina, shown: Record<string, unknown>) {
    if (!(opened instanceof native().NativeConcertina))
      badArgument("new Concertina()", opened, "await Concertina.open(options)");
    this.#native = opened;
    this.#opened = shown;
  }

  /**
   * Opens the store in `dir`, or in the database at `url`. A directory is created on first use and readable by its
   * owner only.
   *
   * @throws TypeError for an unknown option or a bad value; Error with a `code` if the directory or the database cannot
   *   be used
   */
  static async open(options: OpenOptions & Abortable): Promise<Concertina> {
    const given = takenOf("options", options, TAKES.open);
    const { retention, journalDir, signal, url } = given;
    const at = placeOf(given);
    if (journalDir !== undefined && url === undefined) {
      const expected = "absent without a url: a store in a directory keeps its journal there";
      badArgument("journalDir", journalDir, expected);
    }
    const crossed = crossingOptions(options, NO_OPTIONS);
    const shown = JSON.parse(crossed, (name, value: unknown) =>
      name === "sccsStoreUrl" ? undefined : value,
    ) as object;
    const open = () => native().NativeConcertina.open(at, crossed, retention, dateOfDamage(given), journalDir);
    const opening = async () => new Concertina(await open(), { ...shownPlace(at), options: shown });
    return untilAborted(
      signal,
      () => awaiting(opening),
      (late) => late.close(),
    );
  }

  /** Runs a call. `close` waits for it, also if its caller gave up. */
  async #call<T>(signal: AbortSignal | undefined, body: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw Object.assign(new Error("the store is closed"), { code: "CONCERTINA_CLOSED" });
    return untilAborted(signal, async () => {
      const running = awaiting(body);
      this.#running.add(running);
      try {
        return await running;
      } finally {
        this.#running.delete(running);
      }
    });
  }

  /** The corrections to options, one line each. */
  get warnings(): string[] {
    return this.#native.warnings;
  }

  /**
   * Folds a fresh tool result at birth, before it is first sent: shortens its texts and replaces large ones by
   * references, whose originals are durable first. Resolves to the same message object if nothing was replaced. A
   * failure of the store is a `report.warning` and never a rejection.
   *
   * @param input.toolName the tool, if the message does not name it itself
   * @param input.args the arguments of the tool, if they are known
   * @param input.caller the `caller` of the call, as the call states it: a result that a script of the model parses
   *   stays as it is
   * @param input.redactor masks secrets that only the host knows. With `secrets: "keep-inline"` a result with a secret
   *   stays as it is and is not stored. With `"redact"` the masked text is stored and shown. With `"store"`, and for
   *   texts that are not stored at birth, the redactor is not called
   * @param input.model the model that will see the result, for the option `models`
   * @param input.hostCutAt the length in UTF-16 units at which the host cuts a text. A text of exactly this length was
   *   cut, and its replacement says so. So was a text that is one unit shorter because a surrogate pair did not fit
   * @param input.hostKeeps the maximum number of UTF-16 units of a text that the host sends. Figures count nothing
   *   beyond it as saved
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
    signal?: AbortSignal;
  }): Promise<{ message: M; report: Report }> {
    const { sessionId, agentId, toolName, args, caller, hostCutAt, hostKeeps, model, redactor, now, ...rest } = taken(
      "input",
      input,
      TAKES.admitToolResult,
    );
    const message = rest.message as M;
    return this.#call(rest.signal, async () => {
      const asIs = { message, args };
      const name = toolName ?? toolOf(message);
      const shown = redactor === undefined ? asIs : await this.#masked(asIs, name, redactor as Redactor);
      if (shown === undefined) return { message, report: { actions: [], tokensBefore: 0, tokensAfter: 0 } };
      const call = { type: "toolCall", name, arguments: shown.args ?? {}, caller };
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

  /** Masks a result and its arguments. Returns undefined if the result must not be stored. */
  async #masked<M extends AnyMessage>(asIs: { message: M; args: unknown }, toolName: string, redactor: Redactor) {
    const { secrets, storesTexts } = this.#native.atBirth(toolName);
    if (secrets === "store") return asIs;
    const [args] = await maskedArguments(asIs.args, redactor);
    const [name] = await maskedArguments(toolName, redactor);
    if (name !== toolName) return undefined;
    const shown = storesTexts ? await maskedMessage(asIs.message, redactor) : ([asIs.message] as const);
    if (shown === undefined) return undefined;
    const [message] = shown;
    return secrets === "redact" || (args === asIs.args && message === asIs.message) ? { message, args } : undefined;
  }

  /**
   * Folds a history for the next model call: replays the decisions of earlier calls byte for byte, then folds stale
   * content. Messages that do not change are the same objects, and the same array is returned if none did. A failure of
   * the store is a `report.warning` and never a rejection.
   *
   * `systemPromptAddition` is always empty: the fetch tool's description and the first placeholder of a session contain
   * all instructions.
   *
   * @param input.redactor masks secrets that only the host knows. It is called once for each text to be stored, and for
   *   the arguments of its call. With `secrets: "keep-inline"` a block with a secret stays as it is and is not stored.
   *   With `"redact"` the masked form of a tool's text is stored, and arguments with a secret stay as they are. With
   *   `"store"` the redactor is not called
   */
  async assemble<M extends AnyMessage>(input: {
    sessionId: string;
    agentId?: string;
    messages: readonly M[];
    /** The maximum number of tokens of the history. Above a share of it, the history is folded at once. */
    tokenBudget?: number;
    model?: string;
    /** The prices of the model, as far as the caller knows them. */
    prices?: Prices;
    /** Ignored, but accepted for hosts that pass it: the state of the cache is derived from the history. */
    promptCache?: unknown;
    /** The names of the available tools. If they lack `fetch_original_data`, nothing is folded. */
    availableTools?: Iterable<string>;
    /** True if large fresh results are replaced as well, for engines that do not call `admitToolResult`. */
    referOversize?: boolean;
    /**
     * True if this call begins a user turn whose message is not in `messages` yet. All messages then count as one turn
     * older.
     */
    turnBegins?: boolean;
    /** The text of that message. If it contains `<keep>`, the results of the turn stay in sight. */
    prompt?: string;
    redactor?: Redactor;
    now?: number;
    signal?: AbortSignal;
  }): Promise<{ messages: M[]; estimatedTokens: number; systemPromptAddition: string; report: Report }> {
    const { sessionId, agentId, messages, redactor, now, ...rest } = taken("input", input, TAKES.assemble);
    const { availableTools, model, prices, tokenBudget, signal } = rest;
    const options = {
      availableTools,
      model,
      prices,
      tokenBudget,
      referOversize: rest.referOversize ?? false,
      turnBegins: rest.turnBegins ?? false,
      prompt: rest.prompt,
    };
    return this.#call(signal, async () => {
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

  /**
   * Records a finished turn and its model calls for the figures, atomically. A turn whose key was recorded before is a
   * duplicate.
   */
  async commitTurn(input: {
    sessionId: string;
    agentId?: string;
    /** The host's key of the conversation. */
    sessionKey?: string;
    advancementKey: string;
    /**
     * The messages of the turn, beginning with the user's. The tokens of a request are those that its answer reports in
     * `usage`, in the format of OpenClaw, Anthropic or OpenAI. If it reports none, they are counted.
     */
    messages?: readonly AnyMessage[];
    /** The prices of the model, as far as the caller knows them. */
    prices?: Prices;
    /**
     * The size of the model's context window in tokens. The estimate without Concertina then assumes a host that
     * compacts a history that exceeds it, as OpenClaw does.
     */
    contextWindow?: number;
    /** True if the session is left untouched for comparison: see `Figures.comparison`. */
    heldOut?: boolean;
    now?: number;
    signal?: AbortSignal;
  }): Promise<{ status: "committed" | "duplicate" }> {
    const given = taken("input", input, TAKES.commitTurn);
    const { sessionId, agentId, messages = [], heldOut = false, now, signal, ...turn } = given;
    // A window of 0 tokens is unknown.
    const contextWindow = turn.contextWindow || undefined;
    return this.#call(signal, async () => {
      const { handover } = await handOverInSlices(native(), toRecord(messages));
      const told = { ...turn, contextWindow, tool: FETCH_TOOL_JSON, failed: failedTools(messages), heldOut };
      return { status: await this.#native.commitTurn(handover, { sessionId, agentId }, told, now) };
    });
  }

  /**
   * Grants a sub-agent's session what its parent's session may see, and shows it in the same form: everything, or only
   * the originals with the ids in `named`.
   */
  async inherit(input: {
    parent: { agentId?: string; sessionId: string };
    child: { agentId?: string; sessionId: string };
    /** Ids, or whole markers as placeholders print them. */
    named?: string[];
    now?: number;
    signal?: AbortSignal;
  }): Promise<void> {
    const { parent, child, named, now, signal } = taken("input", input, TAKES.inherit);
    await this.#call(signal, () => this.#native.inherit(parent, child, now, named));
  }

  /** Records the report of compressing rule files in a session, as a receipt of kind `rules`. */
  async recordRules(input: {
    sessionId: string;
    agentId?: string;
    report: CompressedRules["report"];
    now?: number;
    signal?: AbortSignal;
  }): Promise<void> {
    const { report, now, signal, ...session } = taken("input", input, TAKES.recordRules);
    await this.#call(signal, () => this.#native.recordRules(session, report as RulesReport, now));
  }

  /**
   * Fetches originals. A single original within `maxChars` is returned byte for byte, with nothing added. A part of an
   * original ends with a line that states which part it is and which call continues. Unknown ids are answered in words.
   * A `query` without ids searches the session's originals ({@link Concertina.search}).
   */
  async fetch(input: FetchRequest & Abortable): Promise<{ content: ContentBlock[]; found: number }> {
    const { maxChars = FETCH_CHARS, signal, ...request } = taken("input", input, TAKES.fetch);
    const { refIds, query } = request;
    if (refIds === undefined && query === undefined) badArgument("refIds", refIds, "an array, or absent with a query");
    return this.#call(signal, () => this.#native.fetch({ ...request, maxChars }));
  }

  /**
   * Searches the originals of a session, or of all sessions, for texts that have all words of `query`, in any case.
   * Words in quotation marks belong together. The best are those with most words in one line, then those with most such
   * lines, then the newest.
   *
   * @param input.maxChars the maximum number of characters of all excerpts; 6,000 by default. More show more originals
   */
  async search(input: {
    query: string;
    sessionId?: string;
    agentId?: string;
    maxChars?: number;
    now?: number;
    signal?: AbortSignal;
  }): Promise<SearchResult> {
    const { query, maxChars, now, signal, ...given } = taken("input", input, TAKES.search);
    const named = sessionIfAny(given);
    return this.#call(signal, async () =>
      this.#native.search({ query, session: await this.#asked(named), maxChars, now }),
    );
  }

  /**
   * Replaces placeholders by their originals, in messages of any order and age. Removed thinking is restored only with
   * a `sessionId`, because it has no placeholder. Placeholders whose originals are not available stay and are listed in
   * `missing`. Messages that do not change are the same objects, and the same array is returned if none did.
   */
  async unfold<M extends AnyMessage>(input: {
    sessionId?: string;
    agentId?: string;
    messages: readonly M[];
    now?: number;
    signal?: AbortSignal;
  }): Promise<{ messages: M[]; unfolded: number; missing: string[] }> {
    const { sessionId, agentId, messages, now, signal } = taken("input", input, TAKES.unfold);
    return this.#call(signal, async () => {
      const { handover, crossed } = await handOverInSlices(native(), messages);
      const { change, ...report } = await this.#native.unfold(handover, sessionId, agentId, now);
      const applied = await applyInSlices(messages as M[], crossed, change);
      return { ...report, messages: applied.messages ?? (input.messages as M[]) };
    });
  }

  /**
   * With `retention: "host"`, ends every session that is not listed and reopens those that are. The time to live of a
   * session's originals begins with its end. All openers without a `host` are one host, so each must list the sessions
   * of all of them.
   */
  async settle(input: { sessionIds: string[]; now?: number } & Abortable): Promise<{ ended: number }> {
    const { sessionIds, now, signal } = taken("input", input, TAKES.settle);
    return { ended: await this.#call(signal, () => this.#native.settle(sessionIds, now)) };
  }

  /** Ends a session: the time to live of its originals begins. A later call for the session reopens it. */
  async endSession(input: { sessionId: string; agentId?: string; now?: number } & Abortable): Promise<void> {
    const { now, signal, ...scope } = taken("input", input, TAKES.endSession);
    await this.#call(signal, () => this.#native.endSession(scope, now));
  }

  /** Returns the notices for the operator that were not returned before, one line each. */
  notices(): string[] {
    return calling(() => this.#native.notices());
  }

  /**
   * Returns the parsers and libraries written in C that are disabled for some texts, or for all, in this process and
   * version, because they crashed or hung.
   */
  skipped(): SkippedCode[] {
    return calling(() => this.#native.skipped());
  }

  /** Returns the totals of a session or of the whole store. */
  async stats(input: { sessionId?: string; agentId?: string } & Abortable = {}): Promise<Stats> {
    const { signal, ...given } = taken("input", input, TAKES.stats);
    const named = sessionIfAny(given);
    return this.#call(signal, async () => this.#native.stats(await this.#asked(named)));
  }

  /** Returns the tokens and the bill of whole requests, and the estimate of the same without Concertina. */
  async figures(input: FiguresRequest & Abortable = {}): Promise<Figures> {
    const { since, until, signal, ...named } = taken("input", input, TAKES.figures);
    const session = sessionIfAny(named);
    return this.#call(signal, async () => {
      const query = { session: await this.#asked(session), since, until };
      const { outcomes, ...figures } = await this.#native.figures(query);
      return { ...figures, comparison: comparisonOf(outcomes) };
    });
  }

  /**
   * Completes the session of a query. If no agent is named, it is that of `main` or, if that has none, of the agent
   * that was most recently seen with one.
   */
  async #asked(named: Session | undefined): Promise<Session | undefined> {
    if (named === undefined || named.agentId !== undefined) return named;
    const agents = (await this.sessions())
      .filter(({ sessionId }) => sessionId === named.sessionId)
      .map(({ agentId }) => agentId);
    return agents.length === 0 || agents.includes("main") ? named : { ...named, agentId: agents[0] };
  }

  /** Returns the sessions in the store, the most recently seen first. */
  async sessions(input: Abortable = {}): Promise<KnownSession[]> {
    const { signal } = taken("input", input, TAKES.sessions);
    return this.#call(signal, () => this.#native.sessions());
  }

  /** Switches folding off in a session, or on again. Folded content stays folded and can be fetched. */
  async switch(input: { sessionId: string; agentId?: string; off: boolean; now?: number } & Abortable): Promise<void> {
    const { off, now, signal, ...session } = taken("input", input, TAKES.switch);
    await this.#call(signal, () => this.#native.switch(session, off, now));
  }

  /**
   * Asks for everything foldable to be folded at the session's next assembly, as one epoch, including content that is
   * not stale yet. Protected content, fetched content that is still in use, and the newest results stay.
   */
  async foldAll(input: { sessionId: string; agentId?: string; now?: number } & Abortable): Promise<void> {
    const { now, signal, ...session } = taken("input", input, TAKES.foldAll);
    await this.#call(signal, () => this.#native.foldAll(session, now));
  }

  /** Returns the originals that stand in a session's context in a shorter form, the last folded first. */
  async folded(input: { sessionId: string; agentId?: string } & Abortable): Promise<FoldedOriginal[]> {
    const { signal, ...session } = taken("input", input, TAKES.folded);
    return this.#call(signal, () => this.#native.folded(session));
  }

  /**
   * Pins the last tool result before `now`: it stays in sight for as long as the session lives, also in its forks and
   * sub-agents. If it was folded at birth, it is shown in full from the next assembly on. Content of all sessions is
   * protected by the option `protect`.
   */
  async pin(input: { sessionId: string; agentId?: string; now?: number } & Abortable): Promise<void> {
    const { now, signal, ...session } = taken("input", input, TAKES.pin);
    await this.#call(signal, () => this.#native.pinLast(session, now));
  }

  /**
   * Takes back everything that is pinned in a session. What a person's `<keep>` protects stays protected while the
   * message is in the history.
   */
  async unpin(input: { sessionId: string; agentId?: string; now?: number } & Abortable): Promise<{ unpinned: number }> {
    const { now, signal, ...session } = taken("input", input, TAKES.unpin);
    return { unpinned: await this.#call(signal, () => this.#native.unpin(session, now)) };
  }

  /**
   * Shows originals in the place of their placeholders again, from the next assembly on, and pins them. An image that
   * was only scaled down stays as it is.
   *
   * @param input.refIds ids, or whole markers as placeholders print them
   */
  async restore(
    input: { sessionId: string; agentId?: string; refIds: string[]; now?: number } & Abortable,
  ): Promise<RestoredIds> {
    const { refIds, now, signal, ...session } = taken("input", input, TAKES.restore);
    return this.#call(signal, () => this.#native.restore(session, refIds, now));
  }

  /**
   * Verifies the store's whole file. With `replaceDamaged`, a damaged file is renamed to include the date and replaced
   * by a new one. Resolves to true if that happened. For a database there is nothing to verify.
   *
   * @param input.today the date, such as `2026-01-31`; the current UTC date by default. A date alone means
   *   `replaceDamaged`
   * @throws if the file is damaged and was not replaced
   */
  async check(input: { replaceDamaged?: boolean; today?: string } & Abortable = {}): Promise<boolean> {
    const { signal, ...given } = taken("input", input, TAKES.check);
    return this.#call(signal, () => this.#native.check(dateOfDamage(given)));
  }

  /** Removes expired originals and, above `storeMaxBytes`, those that were least recently referred to. */
  async sweep(input: { now?: number } & Abortable = {}): Promise<Removed> {
    const { now, signal } = taken("input", input, TAKES.sweep);
    return this.#call(signal, () => this.#native.sweep(now));
  }

  /**
   * Removes a session and the originals that no other session shares. Placeholders of those cannot be unfolded any
   * more. A session of the same name of another agent stays; the agent is `main` by default. With `dry` nothing is
   * removed, and the call resolves to what would be.
   */
  async purge(input: { sessionId: string; agentId?: string; dry?: boolean } & Abortable): Promise<Removed> {
    const { dry = false, signal, ...scope } = taken("input", input, TAKES.purge);
    return this.#call(signal, () => this.#native.purge(scope, dry));
  }

  /** Closes the store when all calls in progress are done. Later calls reject with code `CONCERTINA_CLOSED`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    await awaiting(() => this.#native.close());
  }

  /** Closes the store at the end of a scope: `await using concertina = await Concertina.open(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Shows the place without its password, the options that were given, and whether the store is open. */
  [inspect.custom](depth: number, options: InspectOptions): string {
    if (depth < 0) return "[Concertina]";
    return `Concertina ${inspect({ ...this.#opened, isOpen: !this.#isClosed }, options)}`;
  }
}
