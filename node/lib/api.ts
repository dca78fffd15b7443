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

/** A vocabulary. */
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
  /** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no action names them. */
  changedMeanwhile?: number[];
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

/** Where a store lives, how long it keeps originals, and every option. */
export type OpenOptions = {
  dir: string;
  /** `clock`: for `sccsStorageTtlSeconds` after their last use. `host`: for as long as the host holds their session; see `settle`. */
  retention?: "clock" | "host";
  /** A date such as `2026-01-31`: a damaged store is set aside under it, and a new one takes its place. Without it, it is an error. */
  today?: string;
} & Options;

/** The exact bytes that a marker stands for. */
export interface Original {
  /** All 64 digits of the SHA-256 of the bytes; markers print the first 16. */
  refId: string;
  data: Buffer;
  /** Where it came from, for people. */
  label: string;
}

/** What one stage did. */
export interface StageRow {
  name: string;
  fired: boolean;
  tokensBefore: number;
  tokensAfter: number;
  /** Time spent on deciding whether to look closer. */
  gateMs: number;
  /** Time spent on proposing, measuring and proving. */
  workMs: number;
  /** What the stage has to say. */
  notes: Record<string, string>;
}

/** A stage of the pipeline. */
export interface StageInfo {
  name: string;
  order: number;
  /** Whether all its rewrites are restorable from the output alone. */
  lossless: boolean;
  contentTypes: string[];
}

/** What a custom stage looks at. */
export interface StageContext {
  text: string;
  contentType: string;
  language: string | null;
  role: string;
}

/** A stage that JavaScript runs between the built-in ones. */
export interface CustomStage {
  name: string;
  order: number;
  /** A cheap look; absent means yes. */
  shouldApply?(context: StageContext): boolean;
  /** The text as it should be, or null. Measured like any other proposal; the original is kept. */
  apply(context: StageContext): string | null | undefined;
}

/** How a text is compressed. */
export interface CompressOptions {
  hints?: Hints;
  /** Who said it; `tool` by default. */
  role?: "system" | "user" | "assistant" | "tool";
  preset?: "lossless" | "balanced" | "max";
  /** Only rewrites that restore from the output alone, whatever the preset. */
  lossless?: boolean;
  /** By name: `false` leaves a stage out, `{ order }` moves it. */
  stages?: Record<string, boolean | ({ order?: number } & Record<string, unknown>)>;
  custom?: CustomStage[];
  encoding?: Encoding;
  /** The number of tokens the caller would like to have at most. */
  maxTokens?: number;
}

/** A compressed text. When nothing paid, the text is the input. */
export interface CompressResult {
  text: string;
  tokensBefore: number;
  tokensAfter: number;
  contentType: string;
  language: string | null;
  /** Whether the text alone restores the input. */
  lossless: boolean;
  stages: StageRow[];
  /** What must be stored before the text is shown. */
  originals: Original[];
}

/** How a conversation is compressed: like a text, and whose messages. */
export type CompressMessagesOptions = Omit<CompressOptions, "custom" | "role"> & {
  /** Whose texts go through the pipeline; `["tool"]` by default. Users' words never do. */
  roles?: ("system" | "assistant" | "tool")[];
};

/** A compressed conversation. */
export interface CompressMessagesResult<M> {
  messages: M[];
  originals: Original[];
  report: {
    tokensBefore: number;
    tokensAfter: number;
    blocks: {
      message: number;
      block: number;
      action: "repeat" | "delta" | "runs" | "compressed" | "shrunk";
      tokensBefore: number;
      tokensAfter: number;
      stages: StageRow[];
    }[];
    /** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no block names them. */
    changedMeanwhile?: number[];
  };
}

/** How prose is shortened. */
export interface ProseOptions {
  /** How much goes: `full` by default. */
  intensity?: "lite" | "full" | "ultra";
  /** What becomes less: real tokens by default. Abbreviations save none, so they are for `chars` only. */
  objective?: "tokens" | "chars";
}

/** What shortening a text came to; never part of the text. */
export interface ProseReceipt {
  tokens_before: number;
  tokens_after: number;
  /** Negative when saving characters cost tokens. */
  saved_tokens: number;
  /** The saved part of `tokens_before`, 0 to 1. */
  saved_ratio: number;
  compression_intensity: "lite" | "full" | "ultra";
  /** The short forms that stand for longer ones; `expand` undoes just these. */
  substitutions: { long: string; short: string; count: number }[];
}

/** A shortened text with its receipt. */
export interface CompressedProse {
  text: string;
  receipt: ProseReceipt;
}

/** A part of a text: a protected span (`fence`, `inline-code`, `url`, `path`, `command`, ...) or `prose`. */
export interface ProseToken {
  kind: string;
  text: string;
}

/** A part of a rule file that stays. Offsets are UTF-16 units. */
export interface ProtectedSpan {
  start: number;
  end: number;
  /** A kind of `tokenize`, or `negation`, `assertion`, `action`. */
  category: string;
}

/** How much of a rule file's wording goes: formatting, also fillers and abbreviations, also vowels inside long words. */
export type RulesLevel = 0 | 1 | 2 | 3 | "off" | "light" | "standard" | "aggressive";

/** How rule files are shortened. */
export interface RulesOptions {
  /** 2 by default. */
  level?: RulesLevel;
  /** Most characters of the result. */
  maxChars?: number;
  /** What becomes less: characters by default, and never at the price of more tokens than the files have. */
  objective?: "chars" | "tokens";
  /** Abbreviations beside the built-in ones; these win. */
  abbreviations?: { entries: Record<string, string> };
}

/** A rule file; `priority: N` in its front matter says where it comes. */
export interface RuleFile {
  name: string;
  text: string;
}

/** Rule files in one text. */
export interface CompressedRules {
  text: string;
  /** Names of the files in the text, in order. */
  included: string[];
  /** Names of the files that did not fit. */
  omitted: string[];
  report: {
    level: number;
    objective: "chars" | "tokens";
    charsBefore: number;
    charsAfter: number;
    tokensBefore: number;
    tokensAfter: number;
    files: {
      name: string; priority: number; included: boolean;
      charsBefore: number; charsAfter: number; tokensBefore: number; tokensAfter: number;
    }[];
  };
}

/** A text -> the same with masks in place of its secrets. */
export type Redactor = (text: string) => string;
