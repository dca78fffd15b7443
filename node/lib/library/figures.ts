/**
 * The costs and savings of whole requests. `stats`, `/concertina`, `analyze`, the page and the report all show this
 * shape.
 *
 * Values that the provider reported are *measured*; where it reported nothing, our tokenizer counts. The values without
 * Concertina are always *modelled*, with the compaction of the host: see `src/plan/bill.rs` and
 * `src/plan/host_compaction.rs`. Figures cover the conversation's own requests, not the host's calls for compaction,
 * notes and titles.
 */
import type { Interval } from "./bootstrap.js";
import type { Outcome } from "./holdout.js";
import type { EpochReason, FoldReason } from "./names.js";

/** Sums over requests, with Concertina and estimated without it. Tokens are those of the prompt, not of the answer. */
export interface Amount {
  requests: number;
  /**
   * Requests without a known assembly of Concertina: made with another engine, while it was off or unavailable, or in a
   * turn that was cut short. Without it they would have been the same.
   */
  bypassed: number;
  sentTokens: number;
  /** The estimate without Concertina. If the model's context window is known, no request exceeds it. */
  withoutTokens: number;
  /** The bill of the prompts. The bill of the answers is in `answerBill`. */
  sentBill: number;
  /** The estimated bill of the prompts without Concertina. */
  withoutBill: number;
  /** The lower bound of that estimate, for a host that keeps no message when it compacts. */
  withoutLeast: number;
  /** The upper bound of that estimate, for a host that drops no more than it must when it compacts. */
  withoutMost: number;
}

/** Sums over the sessions of one group. */
export interface Group {
  sessions: number;
  turns: number;
  requests: number;
  /** The number of originals that models fetched. */
  fetches: number;
  /** The number of tool calls that failed. */
  failures: number;
  /** The bill that the provider really made. */
  bill: number;
}

/** Folded sessions beside sessions that were left untouched by chance. Nothing here but `modelled` is modelled. */
export interface Comparison {
  folded: Group;
  untouched: Group;
  /** True if the bills include answers. They do not if the price of some answer is unknown. */
  withAnswers: boolean;
  /** The number of sessions that the smaller group still lacks. Until it is 0 there is no measured saving. */
  missing: number;
  /** The saving per turn, as a share, with its 95 % interval. Null until there are enough sessions. */
  perTurn: Interval | null;
  /** The saving per session. It is less certain, because sessions differ in length. */
  perSession: Interval | null;
  /** The modelled saving of the folded sessions. */
  modelled: number | null;
  /** True if the modelled saving is outside the measured interval per turn. */
  disagrees: boolean;
}

/** Figures of the whole store, or of one session, over a period. */
export interface Figures {
  /**
   * The unit of bills: `usd` if the price of every request is known in dollars, otherwise tokens weighted by the prices
   * of the cache.
   */
  unit: "usd" | "input tokens";
  total: Amount & {
    /** Requests whose tokens the provider reported. The tokens of the others were counted here. */
    measured: number;
    /**
     * The estimated number of calls that the host would have made for notes and summaries when it compacts without
     * Concertina. They are part of `withoutTokens` and `withoutBill`.
     */
    compacting: number;
    /** The number of originals that the model asked for again: it fetched them, or called their tool again. */
    fetches: number;
    /**
     * Tokens that this added to all requests: the answers for as long as they were sent, and whole requests that were
     * made only for a fetch. Part of `sentTokens`.
     */
    fetchTokens: number;
    /** Tokens of the fetch tool's definition in all requests. Part of `sentTokens`. */
    overheadTokens: number;
    /**
     * Tokens in all requests of content that was old enough to be folded and stayed because it is protected or pinned.
     * Part of `sentTokens`.
     */
    protectedTokens: number;
    /** Requests for which the provider reported the tokens of the answer. */
    answered: number;
    /** Tokens of these answers. They are part of no other figure. */
    answerTokens: number;
    /** The bill of these answers. Null if there are none or the price of some is unknown. */
    answerBill: number | null;
    /** The bill of those answers that would also have been given without Concertina. */
    withoutAnswerBill: number | null;
  };
  /** Sums by UTC date, oldest first. */
  days: (Amount & { day: string })[];
  /** Sums by session, at most 100, those that saved most first. */
  sessions: (Amount & { sessionId: string; sessionKey: string | null; isHeldOut: boolean; lastAt: number })[];
  /** Changes of content that was already sent, newest first, at most 200. */
  epochs: {
    at: number;
    sessionId: string;
    /** Another version may have written other reasons. */
    reason: EpochReason | (string & {});
    blocks: number;
    tokensFreed: number;
    tokensRebilled: number;
  }[];
  /** Tokens of folded content before and after, by kind, in whole UTC days. */
  kinds: { kind: "tool results" | "tool arguments" | "thinking" | "images" | "other"; before: number; after: number }[];
  /**
   * Originals that were asked for again, newest first, at most 100: fetched, or shown again by another call of the tool
   * that they came from.
   */
  fetched: { at: number; refId: string; tokens: number; sessionId: string | null; tool: string; isRerun: boolean }[];
  /** The contents of the store, or of the session if one is asked for. */
  store: { originals: number; originalBytes: number; storedBytes: number; maxBytes: number; path: string };
  /** The time when a block was last folded, in milliseconds since 1970. */
  lastFoldAt: number | null;
  /**
   * The originals that are folded now in the session that was asked for, newest first, at most 1000. Empty for all
   * sessions.
   */
  foldedNow: FoldedOriginal[];
  /** The latest prompts of the session that was asked for, oldest first, at most 1000. Empty for all sessions. */
  prompts: { at: number; sentTokens: number; withoutTokens: number }[];
  /** The comparison with sessions that were left untouched. Null if there are none, and for one session. */
  comparison: Comparison | null;
}

/** Figures as the store returns them. */
export type StoredFigures = Omit<Figures, "comparison"> & { outcomes: Outcome[] };

/** The requests to add up. */
export interface FiguresRequest {
  /** The session; all sessions by default. */
  sessionId?: string;
  /**
   * The agent of the session. By default `main` or, if that has no such session, the agent that was most recently seen
   * with one.
   */
  agentId?: string;
  /**
   * The beginning of the period, in milliseconds since 1970. Data of forgotten sessions, and `kinds`, count in whole
   * UTC days.
   */
  since?: number;
  /** The end of the period, exclusive, in milliseconds since 1970. */
  until?: number;
}

/** An original that stands in a session's context in a shorter form. */
export interface FoldedOriginal {
  /** Its id, as its placeholder prints it. */
  refId: string;
  /** The tool or the kind of content that it came from. */
  label: string;
  /** Its size in bytes. */
  bytes: number;
  /** The time at which the session first folded it, in milliseconds since 1970. */
  at: number;
  /** Another version may have written other reasons. */
  reason: FoldReason | EpochReason | (string & {});
}

/** A session in the store. */
export interface KnownSession {
  agentId: string;
  sessionId: string;
  /** The host's key of the conversation. Null until a turn was recorded. */
  sessionKey: string | null;
  /** The time of its last assembly, in milliseconds since 1970. */
  lastSeen: number;
  /** True if folding is switched off in the session. */
  isOff: boolean;
  /** True if the session is left untouched for comparison. */
  isHeldOut: boolean;
  /** True if the host of this store object has the session; see `StorePlace.host`. */
  isHere: boolean;
  /** The names of the other hosts that have the session. */
  elsewhere: string[];
}
