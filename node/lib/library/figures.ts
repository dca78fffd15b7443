/**
 * What Concertina costs and saves, of whole requests: the one shape that `stats`, `/concertina`, `analyze`, the page
 * and the report show.
 *
 * What the provider reported is *measured*; what it did not report is counted by our tokenizer. What would have been
 * sent without Concertina is always *modelled*, with the compaction of the host: see `src/plan/bill.rs` and
 * `src/plan/host_compaction.rs`. Figures are of the conversation's own requests: the host's calls for compaction, notes and
 * titles are not among them.
 */

/**
 * Requests with Concertina, and as they would have been without it. Tokens are those of the prompt, not of the answer.
 */
export interface Amount {
  requests: number;
  /**
   * Requests of which no assembly of Concertina is known: made with another engine, or while it was off or away, or in
   * a turn that was cut short. Without it they would have been the same.
   */
  bypassed: number;
  sentTokens: number;
  /** As modelled: no request is larger than the model's window, where that is known. */
  withoutTokens: number;
  /** Of the prompts; `answerBill` is beside it. */
  sentBill: number;
  /** Of the prompts, as modelled. */
  withoutBill: number;
  /** The least that can have been: a host that keeps no message when it compacts. */
  withoutLeast: number;
  /** The most: a host that drops no more than it must. */
  withoutMost: number;
}

/** Figures of the whole store, or of one session, for a time. */
export interface Figures {
  /**
   * `usd` where the host stated prices in dollars for every request counted; else tokens weighted with the prices of
   * the cache.
   */
  unit: "usd" | "input tokens";
  total: Amount & {
    /** Requests whose tokens the provider reported; the others were counted here. */
    measured: number;
    /**
     * Calls that the host would have made without Concertina for notes and summaries when it compacts; part of
     * `withoutTokens` and `withoutBill`.
     */
    compacting: number;
    /** Originals that the model fetched back. */
    fetches: number;
    /**
     * What fetching put into all requests together: answers for as long as they were sent, and whole requests made for
     * a fetch alone. Part of `sentTokens`.
     */
    fetchTokens: number;
    /** The fetch tool's definition in all requests together. Part of `sentTokens`. */
    overheadTokens: number;
    /** Requests of which the provider reported the answer's tokens. */
    answered: number;
    /** Tokens of these answers; no other figure holds them. */
    answerTokens: number;
    /** The bill of these answers; null where there are none, or the price of some is not known. */
    answerBill: number | null;
    /** The bill of those that would have been given without Concertina, too. */
    withoutAnswerBill: number | null;
  };
  /** UTC dates, oldest first. */
  days: (Amount & { day: string })[];
  /** The most saved first, at most 100. */
  sessions: (Amount & { sessionId: string; sessionKey: string | null; lastAt: number })[];
  /** Changes of context that was already sent, newest first, at most 200. */
  epochs: {
    at: number;
    sessionId: string;
    reason: string;
    blocks: number;
    tokensFreed: number;
    tokensRebilled: number;
  }[];
  /** Where the folded tokens were; of whole UTC days. */
  kinds: { kind: "tool results" | "tool arguments" | "thinking" | "images" | "other"; before: number; after: number }[];
  /** What was fetched back, newest first, at most 100. */
  fetched: { at: number; refId: string; tokens: number; sessionId: string | null }[];
  /** Of the session's originals, where one is asked for. */
  store: { originals: number; originalBytes: number; storedBytes: number; maxBytes: number; path: string };
  /** When a block was last folded, in milliseconds since 1970. */
  lastFoldAt: number | null;
}

/** Which requests are counted. */
export interface FiguresRequest {
  /** Only this session's. */
  sessionId?: string;
  /**
   * Whose session it is; when absent, that of `main`, or else of the agent that was last seen with one of that name.
   */
  agentId?: string;
  /**
   * First moment, in milliseconds since 1970. What was kept of forgotten sessions, and `kinds`, count by whole UTC
   * days.
   */
  since?: number;
  /** First moment that no longer counts. */
  until?: number;
}

/** A session that the store knows. */
export interface KnownSession {
  agentId: string;
  sessionId: string;
  /** What the host calls its conversation; null until a turn of it was recorded. */
  sessionKey: string | null;
  /** When its context was last assembled. */
  lastSeen: number;
  /** Whether nothing more is folded in it. */
  isOff: boolean;
  /** Whether the host that asks has it; see `StorePlace.host`. */
  isHere: boolean;
  /** Which other hosts have it, by the names that they gave. */
  elsewhere: string[];
}
