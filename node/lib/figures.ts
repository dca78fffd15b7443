/**
 * What Concertina costs and saves, of whole requests: the one shape that `stats`, `/concertina`, `analyze`, the page and the report show.
 *
 * What the provider reported is *measured*; what it did not report is counted by our tokenizer. What would have been sent without
 * Concertina is always *modelled*: see `src/plan/bill.rs`.
 */

/** Requests with Concertina, and as they would have been without it. Tokens are those of the prompt, not of the answer. */
export interface Amount {
  requests: number;
  sentTokens: number;
  withoutTokens: number;
  sentBill: number;
  withoutBill: number;
}

/** Figures of the whole store, or of one session, for a time. */
export interface Figures {
  /** `usd` where the host stated prices in dollars for every request counted; else tokens weighted with the prices of the cache. */
  unit: "usd" | "input tokens";
  total: Amount & {
    /** Requests whose tokens the provider reported; the others were counted here. */
    measured: number;
    /** Originals that the model fetched back. */
    fetches: number;
    /** What fetching put into all requests together: answers for as long as they were sent, and whole requests made for a fetch alone. Part of `sentTokens`. */
    fetchTokens: number;
    /** The fetch tool's definition in all requests together. Part of `sentTokens`. */
    overheadTokens: number;
  };
  /** UTC dates, oldest first. */
  days: (Amount & { day: string })[];
  /** The most saved first, at most 100. */
  sessions: (Amount & { sessionId: string; sessionKey: string | null; lastAt: number })[];
  /** Changes of context that was already sent, newest first, at most 200. */
  epochs: { at: number; sessionId: string; reason: string; blocks: number; tokensFreed: number; tokensRebilled: number }[];
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
  /** Whose session it is; when absent, that of `main`, or else of the agent that was last seen with one of that name. */
  agentId?: string;
  /** First moment, in milliseconds since 1970. What was kept of forgotten sessions, and `kinds`, count by whole UTC days. */
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
