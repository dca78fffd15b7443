/** The shapes of the public interface. Options are generated from the core's own table: see `options.ts`. */
import type { Options } from "./options.js";

export type { Options };

/** A message of any of the three shapes: OpenClaw, Anthropic, OpenAI. Unknown fields come back as they were. */
export type Message = { role: string; content?: unknown; [field: string]: unknown };

/** What the caller knows about a text. */
export interface Hints {
  /** The tool that produced it. */
  toolName?: string;
  /** The file it was read from. */
  path?: string;
  /** The command that printed it. */
  command?: string;
  /** A type that the caller insists on: code, json, log, diff, search, table, html, text. */
  contentType?: string;
  /** A language that the caller insists on. */
  language?: string;
}

/** What `squeeze()` did. */
export interface SqueezeStats {
  messagesProcessed: number;
  blocksEvicted: number;
  /** Tokens really freed: what went, less the placeholders that came. */
  tokensFreed: number;
  imagesEvicted: number;
  toolResultsEvicted: number;
  toolCallsEvicted: number;
  heartbeatsPruned: number;
  largeResultsTruncated: number;
}

/** What `repairToolPairing()` did. */
export interface RepairStats {
  syntheticResultsInserted: number;
  orphanResultsDropped: number;
  duplicateResultsDropped: number;
  /** Whether anything changed. */
  repaired: boolean;
}

/** A vocabulary. `approx` is colony's published estimate, for comparable receipts only. */
export type Encoding = "o200k_base" | "cl100k_base";

/** One block that was rewritten. */
export interface Action {
  /** Index of the message. */
  message: number;
  /** Index of the block among the parts that Concertina understands. */
  block: number;
  /** `shortened` or `large` at birth; `stale` or `superseded` later; `replay` for what an earlier call decided. */
  reason: string;
  /** The id that the placeholder prints. */
  refId: string | null;
  tokensBefore: number;
  tokensAfter: number;
}

/** What a job did. */
export interface Report {
  actions: Action[];
  /** Tokens of all messages as they came. */
  tokensBefore: number;
  /** Tokens of all messages as returned. */
  tokensAfter: number;
  /** Set when already-sent content changed in this call. */
  epoch?: { reason: string; tokensFreed: number; tokensRebilled: number };
  /** Set when the store failed and new content went out unreplaced. */
  warning?: { code: string; message: string };
}

/** Prices per token, in any one currency, and how long the provider's cache lives. */
export interface Prices {
  input: number;
  cacheRead: number;
  cacheWrite: number;
  cacheTtlMs: number;
}

/** A part of an answer, as hosts and providers take it. */
export type ContentBlock = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** What `fetch` takes. */
export interface FetchRequest {
  /** Bare ids, or whole markers as placeholders print them. */
  refIds: string[];
  agentId?: string;
  sessionId?: string;
  /** 1-based inclusive line range: `"41-420"`, `"41-"`, `"41"`. */
  lines?: string;
  /** 1-based inclusive character range, for texts of few long lines. */
  chars?: string;
  /** Regular expression: only matching lines come back, numbered, with two lines around each. */
  pattern?: string;
  /** Most characters of the whole answer; 15,900 by default, which every host accepts. */
  maxChars?: number;
  now?: number;
}

/** Totals of a session or of the whole store. */
export interface Stats {
  sessions: number;
  originals: number;
  originalBytes: number;
  storedBytes: number;
  turns: number;
  tokensBefore: number;
  tokensAfter: number;
  receipts: { at: number; kind: string; tokensBefore: number; tokensAfter: number; detail: unknown }[];
  epochs: { at: number; reason: string; tokensFreed: number; tokensRebilled: number; blocks: number }[];
}

/** What a sweep or purge removed. */
export interface Removed {
  originals: number;
  bytes: number;
  sessions: number;
}

/** Where a store lives, and every option. */
export type OpenOptions = { dir: string } & Options;
