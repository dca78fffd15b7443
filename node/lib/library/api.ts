/** The shapes of the public interface that only JavaScript knows. The records are the addon's own: see `addon.ts`. */
import type { Hints, MessagesReport, Original, StageContext } from "../binding/addon.js";
import type { Options } from "../binding/options.js";

export type {
  Action,
  BlockRow,
  CompressedProse,
  CompressedRules,
  CompressResult,
  ContentBlock,
  Detection,
  EpochReport,
  EpochRow,
  FetchRequest,
  Hints,
  LeftAlone,
  MessagesReport,
  Migrated,
  Original,
  Prices,
  ProseOptions,
  ProseReceipt,
  ProtectedSpan,
  ReceiptRow,
  Removed,
  RepairStats,
  Report,
  RuleFile,
  RuleRow,
  RulesOptions,
  RulesReport,
  Segment,
  SkippedCode,
  SqueezeStats,
  StageContext,
  StageInfo,
  StageRow,
  Stats,
  Substitution,
  Warning,
} from "../binding/addon.js";
export type { Options };

/**
 * What every message has: those of OpenClaw, Anthropic and OpenAI, as their SDKs type them, are such. An item of
 * OpenAI's Responses API that is no message has a `type` instead of a role.
 */
export interface AnyMessage {
  role?: string;
  type?: string | null;
  content?: unknown;
}

/** A message of any shape: OpenClaw, Anthropic, OpenAI. Unknown fields come back as they were. */
export type Message = AnyMessage & { role: string; [field: string]: unknown };

/** A vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";

/** Where a store lives: in a directory, or, for several machines, in a PostgreSQL database. */
export type StorePlace = (
  | { dir: string; url?: undefined; namespace?: undefined }
  | {
      /** `postgresql://user:password@host:port/database?sslmode=require`. */
      url: string;
      /** The tenant: a schema of this name. Default "concertina". */
      namespace?: string;
      dir?: undefined;
    }
) & {
  /**
   * With `retention: "host"`: which host this is, by a name that no other one has and that stays. A session ends when
   * the last host that had it no longer lists it; one that lists nothing for 90 days counts as gone. All that give none
   * are one host.
   */
  host?: string;
};

/** Where a store lives, how long it keeps originals, and every option. */
export type OpenOptions = StorePlace & {
  /**
   * `clock`: for `sccsStorageTtlSeconds` after their last use. `host`: for as long as the host holds their session; see
   * `settle`. Programs that list sessions of their own in one store each need a `host`, or each ends the sessions of
   * the others.
   */
  retention?: "clock" | "host";
  /**
   * A date such as `2026-01-31`: a damaged store is set aside under it, and a new one takes its place. Without it, it
   * is an error.
   */
  today?: string;
  /**
   * With `url`: a directory of this machine, for notes of what is given to parsers, so that a text that ends the
   * process inside one does so once. A store in a directory keeps them there; without it nothing is noted beside a
   * database.
   */
  journalDir?: string;
} & Options;

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

/** How a conversation is compressed: like a text, and whose messages. */
export type CompressMessagesOptions = Omit<CompressOptions, "custom" | "role"> & {
  /** Whose texts go through the pipeline; `["tool"]` by default. Users' words never do. */
  roles?: ("system" | "assistant" | "tool")[];
};

/** A compressed conversation. */
export interface CompressMessagesResult<M> {
  messages: M[];
  originals: Original[];
  report: MessagesReport;
}

/** A part of a text: a protected span (`fence`, `inline-code`, `url`, `path`, `command`, ...) or `prose`. */
export interface ProseToken {
  kind: string;
  text: string;
}

/**
 * How much of a rule file's wording goes: formatting, also fillers and abbreviations, also vowels inside long words.
 */
export type RulesLevel = 0 | 1 | 2 | 3 | "off" | "light" | "standard" | "aggressive";

/** A text -> the same with masks in place of its secrets. */
export type Redactor = (text: string) => string;
