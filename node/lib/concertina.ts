/** The class with a store: what a host calls at the two moments, and the way back. */
import type { NativeConcertina } from "./addon.js";
import type {
  AnyMessage, CompressedRules, ContentBlock, FetchRequest, OpenOptions, Prices, Redactor, Removed, Report, SkippedCode, Stats,
} from "./api.js";
import { moment, namesOf, needRedactor, placeOf, pricesOf, session, tokensOf } from "./arguments.js";
import {
  awaiting, badArgument, calling, crossingOptions, mayBeBoolean, needCount, needName, needNumber, needObject, needOptions, needString, needStrings,
  takenMessages,
} from "./errors.js";
import type { Figures, FiguresRequest, KnownSession } from "./figures.js";
import { applyInSlices, handOverInSlices, reallyDone } from "./handover.js";
import { answersTo, maskedArguments, maskedMessage } from "./masking.js";
import { native } from "./native.js";
import { callOf, toolOf } from "./tool-call.js";
import { FETCH_TOOL_JSON, toRecord } from "./turn.js";

/** Most characters of a fetched answer that every host accepts as one tool result, with room for the host's own words. */
export const FETCH_CHARS = 15_900;

/** What `assemble` takes. */
const ASSEMBLE = [
  "sessionId", "agentId", "messages", "tokenBudget", "model", "prices", "promptCache", "availableTools", "referOversize", "turnBegins", "redactor", "now",
];

/** What `fetch` takes. */
const FETCH = ["refIds", "sessionId", "agentId", "lines", "chars", "pattern", "maxChars", "now"];

/** The report of what was really done: nothing was done to messages that changed meanwhile. */
function reportOf(report: Report, changedMeanwhile: number[]): Report {
  if (changedMeanwhile.length === 0) return report;
  const { rows: actions, notFreed } = reallyDone(report.actions, changedMeanwhile);
  return { ...report, actions, tokensAfter: report.tokensAfter + notFreed, changedMeanwhile };
}

/** One open store with one set of options. Several may be open at one place, in one process or, with a database, on several machines. */
export class Concertina {
  readonly #native: NativeConcertina;

  private constructor(opened: NativeConcertina) {
    if (!(opened instanceof native().NativeConcertina)) badArgument("new Concertina()", opened, "Concertina.open(options), which resolves to one");
    this.#native = opened;
  }

  /**
   * Opens the store in `dir`, creating it on first use, readable by its owner only; or in the database at `url`.
   *
   * @throws TypeError for an unknown option or a bad value; Error with a `code` where the directory or the database cannot be used.
   */
  static async open(options: OpenOptions): Promise<Concertina> {
    needObject("options", options);
    const { dir, url, namespace, host, retention, today, journalDir, ...config } = options;
    const place = placeOf({ dir, url, namespace, host });
    const crossed = crossingOptions(config);
    if (today !== undefined) needString("today", today);
    if (journalDir !== undefined) {
      needString("journalDir", journalDir);
      if (url === undefined) badArgument("journalDir", journalDir, "absent where there is no url: a store in a directory keeps its notes there");
    }
    if (retention !== undefined && retention !== "clock" && retention !== "host") badArgument("retention", retention, 'one of "clock", "host"');
    return awaiting(async () => new Concertina(await native().NativeConcertina.open(place, crossed, retention, today, journalDir)));
  }

  /** One line for each lenient option that had to be corrected. */
  get warnings(): string[] {
    return this.#native.warnings;
  }

  /**
   * The moment of birth: replaces oversize texts of a fresh tool result by references, durably, before the result is first
   * sent. Resolves to the same message object when nothing was replaced. A failing store is a `report.warning`, never a
   * rejection.
   *
   * @param input.toolName the tool, where the message does not name it itself
   * @param input.args what the tool was given, where the caller knows it
   * @param input.redactor masks what only the host knows for a secret. With `secrets: "keep-inline"` a result in which it masks
   * something stays as it is, and out of the store; with `"redact"` what it returns is what is stored and shown; with `"store"`, and
   * for texts that are not stored at birth, it is not asked
   * @param input.model the model that will see it, where the caller knows it and the option `models` says something of it
   * @param input.hostCutAt a text of exactly so many UTF-16 units was cut by the host, and what is shown of it says so; so was one
   * that is a unit shorter because a surrogate pair stood there
   * @param input.hostKeeps the host sends at most so many UTF-16 units of a text: figures take no more for saved
   */
  async admitToolResult<M extends AnyMessage>(input: {
    sessionId: string;
    agentId?: string;
    message: M;
    toolName?: string;
    args?: unknown;
    hostCutAt?: number;
    hostKeeps?: number;
    model?: string;
    redactor?: Redactor;
    now?: number;
  }): Promise<{ message: M; report: Report }> {
    needObject("input", input);
    needObject("message", input.message);
    if (input.toolName !== undefined) needString("toolName", input.toolName);
    if (input.model !== undefined) needString("model", input.model);
    if (input.hostCutAt !== undefined) needNumber("hostCutAt", input.hostCutAt, "above 0");
    if (input.hostKeeps !== undefined) needNumber("hostKeeps", input.hostKeeps, "above 0");
    needRedactor(input.redactor);
    const { message } = input;
    const scope = session(input.sessionId, input.agentId);
    const now = moment(input.now);
    return awaiting(async () => {
      const asIs = { message, args: input.args };
      const shown = input.redactor === undefined ? asIs : await this.#masked(asIs, input.toolName, input.redactor);
      if (shown === undefined) return { message, report: { actions: [], tokensBefore: 0, tokensAfter: 0 } };
      const call = callOf(message, input.toolName, shown.args);
      const isMasked = shown.message !== message;
      const { handover, crossed } = await handOverInSlices(native(), [call, shown.message, ...(isMasked ? [message] : [])]);
      const { hostCutAt, hostKeeps, model } = input;
      const { change, report } = await this.#native.admit(handover, scope, { hostCutAt, hostKeeps, isMasked, model }, now);
      const { messages, changedMeanwhile } = await applyInSlices([shown.message], crossed.slice(1, 2), change);
      return { message: messages?.[0] ?? message, report: reportOf(report, changedMeanwhile) };
    });
  }

  /** What of a result and its arguments may be stored and shown; `undefined` where it must not be stored. */
  async #masked<M extends AnyMessage>(asIs: { message: M; args: unknown }, toolName: string | undefined, redactor: Redactor) {
    const { secrets, storesTexts } = this.#native.atBirth(toolName ?? toolOf(asIs.message));
    if (secrets === "store") return asIs;
    const args = await maskedArguments(asIs.args, redactor);
    const message = storesTexts ? await maskedMessage(asIs.message, redactor) : asIs.message;
    return secrets === "redact" || (args === asIs.args && message === asIs.message) ? { message, args } : undefined;
  }

  /**
   * Folds a history for the next model call: replays byte for byte what earlier calls decided, then folds what has become
   * stale. Messages that do not change are the same objects, and the same array comes back when none did. A failing store is
   * a `report.warning`, never a rejection.
   *
   * `systemPromptAddition` is always empty: the fetch tool's description and the first placeholder of a session say what there is to say.
   *
   * @param input.redactor masks what only the host knows for a secret. It is asked once about each text that is to be stored, and about
   * the arguments of its call. With `secrets: "keep-inline"` a block in which it masks something stays as it is, and out of the
   * store; with `"redact"` what it returns of a tool's text is what is stored, and arguments stay as they are; with `"store"` it is
   * not asked
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
    /** Whether a user turn begins with this call whose message is not among `messages` yet: all of them are a turn older then. */
    turnBegins?: boolean;
    redactor?: Redactor;
    now?: number;
  }): Promise<{ messages: M[]; estimatedTokens: number; systemPromptAddition: string; report: Report }> {
    needOptions("input", input, ASSEMBLE);
    const { messages: given } = input;
    const messages = takenMessages("messages", given);
    mayBeBoolean("referOversize", input.referOversize ?? undefined);
    mayBeBoolean("turnBegins", input.turnBegins ?? undefined);
    needRedactor(input.redactor);
    const scope = session(input.sessionId, input.agentId);
    const now = moment(input.now);
    const options = {
      availableTools: namesOf(input.availableTools),
      model: input.model ?? undefined,
      referOversize: input.referOversize ?? false,
      prices: pricesOf(input.prices),
      tokenBudget: tokensOf(input.tokenBudget),
      turnBegins: input.turnBegins ?? false,
    };
    return awaiting(async () => {
      const { handover, crossed } = await handOverInSlices(native(), messages);
      const fold = (unheard?: "ask" | "leave") => this.#native.assemble(handover, scope, { ...options, unheard }, now);
      const { secrets } = this.#native.atBirth("");
      const redactor = secrets === "store" ? undefined : input.redactor;
      let folded = await fold(redactor && "ask");
      if (redactor !== undefined && folded.questions.length > 0) {
        this.#native.hear(await answersTo(folded.questions, redactor, secrets));
        folded = await fold("leave");
      }
      const applied = await applyInSlices(messages, crossed, folded.change);
      const report = reportOf(folded.report, applied.changedMeanwhile);
      return { messages: applied.messages ?? (given as M[]), estimatedTokens: report.tokensAfter, systemPromptAddition: "", report };
    });
  }

  /** Records a finished turn with its model calls, for the figures: atomic, and the same key again is a duplicate. */
  async commitTurn(input: {
    sessionId: string;
    agentId?: string;
    /** What the host calls the conversation. */
    sessionKey?: string;
    advancementKey: string;
    /** The turn's messages, from its user's on. What answers report under `usage`, as OpenClaw, Anthropic or OpenAI spell it, is what was sent; else it is counted. */
    messages?: readonly AnyMessage[];
    /** What the model's tokens cost; by the model's family when absent. */
    prices?: Prices;
    /** The model's window in tokens: figures without Concertina are then those of a host that compacts what outgrows it, as OpenClaw does. */
    contextWindow?: number;
    now?: number;
  }): Promise<{ status: "committed" | "duplicate" }> {
    needObject("input", input);
    const { advancementKey, sessionKey } = input;
    needString("advancementKey", advancementKey);
    if (sessionKey !== undefined) needString("sessionKey", sessionKey);
    const messages = takenMessages("messages", input.messages ?? []);
    messages.forEach((message, index) => needObject(`messages[${index}]`, message as unknown));
    const scope = session(input.sessionId, input.agentId);
    // A window of nothing is one that nobody knows.
    const contextWindow = tokensOf(input.contextWindow, "contextWindow") || undefined;
    const turn = { advancementKey, sessionKey, prices: pricesOf(input.prices), contextWindow, tool: FETCH_TOOL_JSON };
    const now = moment(input.now);
    return awaiting(async () => {
      const { handover } = await handOverInSlices(native(), toRecord(messages));
      return { status: await this.#native.commitTurn(handover, scope, turn, now) };
    });
  }

  /**
   * Gives a sub-agent's session what its parent's session may see and how it is shown: everything, or only the originals with the
   * named ids.
   */
  async inherit(input: {
    parent: { agentId?: string; sessionId: string };
    child: { agentId?: string; sessionId: string };
    /** Bare ids, or whole markers as placeholders print them. */
    named?: string[];
    now?: number;
  }): Promise<void> {
    needObject("input", input);
    if (input.named !== undefined) needStrings("named", input.named);
    const parent = session(input.parent?.sessionId, input.parent?.agentId);
    const child = session(input.child?.sessionId, input.child?.agentId);
    await awaiting(() => this.#native.inherit(parent, child, moment(input.now), input.named));
  }

  /** Keeps what repeating rule files in a session came to, as a receipt of kind `rules`. */
  async recordRules(input: { sessionId: string; agentId?: string; report: CompressedRules["report"]; now?: number }): Promise<void> {
    needObject("input", input);
    needObject("report", input.report);
    const owner = session(input.sessionId, input.agentId);
    await awaiting(() => this.#native.recordRules(owner, input.report, moment(input.now)));
  }

  /**
   * Brings originals back. Alone and within `maxChars`, an original comes back byte for byte with nothing added; a part of one
   * ends with a line that says which part it is and which call continues. Unknown ids are answered in words.
   */
  async fetch(input: FetchRequest): Promise<{ content: ContentBlock[]; found: number }> {
    needOptions("input", input, FETCH);
    needStrings("refIds", input.refIds);
    for (const name of ["sessionId", "agentId"] as const) if (typeof input[name] === "string") needName(name, input[name]);
    const { maxChars = FETCH_CHARS } = input;
    needCount("maxChars", maxChars);
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as unknown as FetchRequest;
    return awaiting(() => this.#native.fetch({ ...given, maxChars, now: moment(input.now) }));
  }

  /**
   * Puts originals back in place of their placeholders, in any order and whatever the age of the messages. Thinking that left comes
   * back only where `sessionId` is given: nothing stands in its place. Placeholders whose
   * originals cannot be had stay as they are and are named in `missing`. Messages that do not change are the same objects, and the
   * same array comes back when none did.
   */
  async unfold<M extends AnyMessage>(input: {
    sessionId?: string;
    agentId?: string;
    messages: readonly M[];
    now?: number;
  }): Promise<{ messages: M[]; unfolded: number; missing: string[] }> {
    needObject("input", input);
    const { messages: given, sessionId, agentId } = input;
    const messages = takenMessages("messages", given);
    if (sessionId !== undefined) needName("sessionId", sessionId);
    if (agentId !== undefined) needName("agentId", agentId);
    const now = moment(input.now);
    return awaiting(async () => {
      const { handover, crossed } = await handOverInSlices(native(), messages);
      const { change, ...report } = await this.#native.unfold(handover, sessionId, agentId, now);
      const applied = await applyInSlices(messages, crossed, change);
      return { ...report, messages: applied.messages ?? (given as M[]) };
    });
  }

  /**
   * With `retention: "host"`: ends every session that the host no longer knows, and takes back the end of those that it does. The
   * time to live of what a session held begins with its end. All that open the store without a `host` are one host: what they list must be
   * what any of them has.
   */
  async settle(input: { sessionIds: string[]; now?: number }): Promise<{ ended: number }> {
    needObject("input", input);
    needStrings("sessionIds", input.sessionIds, needName);
    return { ended: await awaiting(() => this.#native.settle(input.sessionIds, moment(input.now))) };
  }

  /** The host has ended a session: the time to live of what it held begins. A later call for the session takes it back. */
  async endSession(input: { sessionId: string; now?: number }): Promise<void> {
    needObject("input", input);
    needName("sessionId", input.sessionId);
    await awaiting(() => this.#native.endSession(input.sessionId, moment(input.now)));
  }

  /** What an operator should know and has not been told yet, one line each. */
  notices(): string[] {
    return calling(() => this.#native.notices());
  }

  /** Parsers and libraries written in C that are not given every text, because some ended a process or did not come back. Of this process and version. */
  skipped(): SkippedCode[] {
    return calling(() => this.#native.skipped());
  }

  /** Totals of one session, or of the whole store. */
  async stats(input: { sessionId?: string } = {}): Promise<Stats> {
    needOptions("input", input, ["sessionId"]);
    if (input.sessionId !== undefined) needName("sessionId", input.sessionId);
    return awaiting(() => this.#native.stats(input.sessionId));
  }

  /** What was sent and billed, and what would have been without Concertina: of whole requests. */
  async figures(input: FiguresRequest = {}): Promise<Figures> {
    needOptions("input", input, ["sessionId", "since", "until"]);
    const { sessionId, since, until }: FiguresRequest = input;
    if (sessionId !== undefined) needName("sessionId", sessionId);
    for (const [name, at] of [["since", since], ["until", until]] as const) if (at !== undefined) moment(at, name);
    return awaiting(() => this.#native.figures({ sessionId, since, until }));
  }

  /** The sessions that the store knows, the last seen first. */
  async sessions(): Promise<KnownSession[]> {
    return awaiting(() => this.#native.sessions());
  }

  /** Keeps a line that the operator was warned with, for a week. */
  async warn(input: { text: string; now?: number }): Promise<void> {
    needObject("input", input);
    needString("text", input.text);
    await awaiting(() => this.#native.warn(input.text, moment(input.now)));
  }

  /** What the operator was warned of since a moment, newest first. */
  async warned(input: { since: number }): Promise<{ at: number; text: string }[]> {
    needObject("input", input);
    needNumber("since", input.since, "of at least 0");
    return awaiting(() => this.#native.warned(input.since));
  }

  /** Stops folding anything more in a session, or takes that back. What is folded stays folded, and can be fetched. */
  async switch(input: { sessionId: string; agentId?: string; off: boolean; now?: number }): Promise<void> {
    needObject("input", input);
    if (typeof input.off !== "boolean") badArgument("off", input.off, "true or false");
    const scope = session(input.sessionId, input.agentId);
    await awaiting(() => this.#native.switch(scope, input.off, moment(input.now)));
  }

  /**
   * Reads the store's whole file. With `today`, a date such as `2026-01-31`, a damaged one is set aside under a name with that date, and a
   * new one takes its place; resolves to whether that was so. In a database there is nothing to read. @throws where the file is damaged
   * and stays.
   */
  async check(input: { today?: string } = {}): Promise<boolean> {
    needOptions("input", input, ["today"]);
    if (input.today !== undefined) needString("today", input.today);
    return awaiting(() => this.#native.check(input.today));
  }

  /** Removes what expired and, above `storeMaxBytes`, what was least recently referred to. */
  async sweep(input: { now?: number } = {}): Promise<Removed> {
    needOptions("input", input, ["now"]);
    return awaiting(() => this.#native.sweep(moment(input.now)));
  }

  /**
   * Forgets a session and every original that no other session shares: placeholders of those are then all that is left of them.
   * With `dry` nothing is removed, and the answer is what would be.
   */
  async purge(input: { sessionId: string; dry?: boolean }): Promise<Removed> {
    needOptions("input", input, ["sessionId", "dry"]);
    needName("sessionId", input.sessionId);
    mayBeBoolean("dry", input.dry);
    return awaiting(() => this.#native.purge(input.sessionId, input.dry ?? false));
  }

  /** Lets go of the store. Later calls reject with code `CONCERTINA_CLOSED`. */
  async close(): Promise<void> {
    await awaiting(() => this.#native.close());
  }
}
