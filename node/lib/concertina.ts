/** The class with a store: what a host calls at the two moments, and the way back. */
import type {
  CompressedRules,
  ContentBlock, FetchRequest, Message, OpenOptions, Prices, Removed, Report, Stats,
} from "./api.js";
import { awaiting, badArgument, needArray, needNumber, needObject, needString } from "./errors.js";
import { applyInSlices, handOverInSlices } from "./handover.js";
import { native, type NativeConcertina } from "./native.js";
import { queued } from "./queue.js";

/** What every host accepts as one tool result, with room for the host's own words. */
const FETCH_CHARS = 15_900;

/** Tells the agent what placeholders are and when to fetch. Constant: a prompt that changes is billed again. */
export function guidance(): string {
  return native().guidance();
}

function session(sessionId: unknown, agentId: unknown): string {
  needString("sessionId", sessionId);
  if (agentId !== undefined) needString("agentId", agentId);
  return JSON.stringify({ sessionId, agentId });
}

function moment(now: unknown): number {
  if (now === undefined) return Date.now();
  if (typeof now !== "number" || !Number.isFinite(now)) badArgument("now", String(now), "milliseconds since 1970");
  return now;
}

function tokensOf(budget: unknown): number | undefined {
  if (budget === undefined || budget === null) return undefined;
  needNumber("tokenBudget", budget, "of at least 0");
  return Math.trunc(budget);
}

function pricesOf(prices: unknown): Prices | undefined {
  if (prices === undefined || prices === null) return undefined;
  needObject("prices", prices);
  const given = prices as Record<string, unknown>;
  needNumber("prices.input", given.input, "above 0");
  for (const name of ["cacheRead", "cacheWrite", "cacheTtlMs"]) needNumber(`prices.${name}`, given[name], "of at least 0");
  return given as unknown as Prices;
}

/** One open store with one set of options. Several may be open on one directory, in one process or in several. */
export class Concertina {
  readonly #native: NativeConcertina;

  private constructor(opened: NativeConcertina) {
    this.#native = opened;
  }

  /**
   * Opens the store in `dir`, creating it on first use, readable by its owner only.
   *
   * @throws TypeError for an unknown option or a bad value; Error with a `code` where the directory cannot be used.
   */
  static async open(options: OpenOptions): Promise<Concertina> {
    needObject("options", options);
    const { dir, ...config } = options;
    needString("dir", dir);
    const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
    return awaiting(async () => new Concertina(await native().NativeConcertina.open(dir, JSON.stringify(given))));
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
   * @param input.args what the tool was given, where the caller knows it
   */
  async admitToolResult<M extends Message>(input: {
    sessionId: string;
    agentId?: string;
    message: M;
    args?: unknown;
    now?: number;
  }): Promise<{ message: M; report: Report }> {
    needObject("input", input);
    needObject("message", input.message);
    const { message, args } = input;
    const id = message.toolCallId ?? message.tool_call_id ?? "";
    const name = message.toolName ?? message.name ?? "";
    const call = { role: "assistant", content: [{ type: "toolCall", id, name, arguments: args ?? {} }] };
    const scope = session(input.sessionId, input.agentId);
    const now = moment(input.now);
    return awaiting(async () => {
      const handover = await handOverInSlices(native(), [call, message]);
      const outcome = await queued(() => this.#native.admit(handover, scope, now));
      const [changed] = await applyInSlices([message], outcome);
      return { message: changed as M, report: JSON.parse(outcome.report) as Report };
    });
  }

  /**
   * Folds a history for the next model call: replays byte for byte what earlier calls decided, then folds what has become
   * stale. Messages that do not change are the same objects, and the same array comes back when none did. A failing store is
   * a `report.warning`, never a rejection.
   */
  async assemble<M extends Message>(input: {
    sessionId: string;
    agentId?: string;
    messages: M[];
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
    now?: number;
  }): Promise<{ messages: M[]; estimatedTokens: number; systemPromptAddition: string; report: Report }> {
    needObject("input", input);
    needArray("messages", input.messages);
    const scope = session(input.sessionId, input.agentId);
    const now = moment(input.now);
    const options = JSON.stringify({
      availableTools: input.availableTools && [...input.availableTools],
      model: input.model,
      referOversize: input.referOversize ?? false,
      prices: pricesOf(input.prices),
      tokenBudget: tokensOf(input.tokenBudget),
    });
    return awaiting(async () => {
      const handover = await handOverInSlices(native(), input.messages);
      const outcome = await queued(() => this.#native.assemble(handover, scope, options, now));
      const messages = await applyInSlices(input.messages, outcome);
      const report = JSON.parse(outcome.report) as Report;
      return { messages, estimatedTokens: report.tokensAfter, systemPromptAddition: guidance(), report };
    });
  }

  /** Records a finished turn: atomic, and the same key again is a duplicate. */
  async commitTurn(input: {
    sessionId: string;
    agentId?: string;
    advancementKey: string;
    messages?: Message[];
    now?: number;
  }): Promise<{ status: "committed" | "duplicate" }> {
    needObject("input", input);
    needString("advancementKey", input.advancementKey);
    const scope = session(input.sessionId, input.agentId);
    const status = await awaiting(() => this.#native.commitTurn(scope, input.advancementKey, moment(input.now)));
    return { status: status as "committed" | "duplicate" };
  }

  /** Gives a sub-agent's session what its parent's session may see, and how it is shown. */
  async inherit(input: {
    parent: { agentId?: string; sessionId: string };
    child: { agentId?: string; sessionId: string };
    now?: number;
  }): Promise<void> {
    needObject("input", input);
    const parent = session(input.parent?.sessionId, input.parent?.agentId);
    const child = session(input.child?.sessionId, input.child?.agentId);
    await awaiting(() => this.#native.inherit(parent, child, moment(input.now)));
  }

  /** Keeps what repeating rule files in a session came to, as a receipt of kind `rules`. */
  async recordRules(input: { sessionId: string; agentId?: string; report: CompressedRules["report"]; now?: number }): Promise<void> {
    needObject("input", input);
    needObject("report", input.report);
    const owner = session(input.sessionId, input.agentId);
    await awaiting(() => this.#native.recordRules(owner, JSON.stringify(input.report), moment(input.now)));
  }

  /**
   * Brings originals back. Alone and within `maxChars`, an original comes back byte for byte with nothing added; a part of one
   * ends with a line that says which part it is and which call continues. Unknown ids are answered in words.
   */
  async fetch(input: FetchRequest): Promise<{ content: ContentBlock[]; found: number }> {
    needObject("input", input);
    needArray("refIds", input.refIds);
    input.refIds.forEach((id, index) => needString(`refIds[${index}]`, id));
    const { now, maxChars = FETCH_CHARS, ...request } = input;
    if (!Number.isInteger(maxChars) || maxChars < 1) badArgument("maxChars", String(maxChars), "a whole number of at least 1");
    const answer = await awaiting(() => this.#native.fetch(JSON.stringify({ ...request, maxChars }), moment(now)));
    const { blocks, found } = JSON.parse(answer) as { blocks: ContentBlock[]; found: number };
    return { content: blocks, found };
  }

  /** Totals of one session, or of the whole store. */
  async stats(input: { sessionId?: string } = {}): Promise<Stats> {
    return JSON.parse(await awaiting(() => this.#native.stats(input.sessionId))) as Stats;
  }

  /** Removes what expired and, above `storeMaxBytes`, what was least recently referred to. */
  async sweep(input: { now?: number } = {}): Promise<Removed> {
    return JSON.parse(await awaiting(() => this.#native.sweep(moment(input.now)))) as Removed;
  }

  /** Forgets a session and every original that no other session shares. */
  async purge(input: { sessionId: string }): Promise<Removed> {
    needObject("input", input);
    needString("sessionId", input.sessionId);
    return JSON.parse(await awaiting(() => this.#native.purge(input.sessionId))) as Removed;
  }

  /** Lets go of the store. Later calls reject with code `CONCERTINA_CLOSED`. */
  async close(): Promise<void> {
    await awaiting(() => this.#native.close());
  }
}
