/** The types of the public interface that exist only in JavaScript. The records are declared in `addon.ts`. */
import type { Hints, MessagesReport, Original, StageContext, Substitution } from "../binding/addon.js";
import type { Options } from "../binding/options.js";
import type { StageName } from "./names.js";

export type { ContentType, EpochReason, ErrorCode, FoldReason, Language, StageName } from "./names.js";
export type {
  Action,
  BlockRow,
  CompressedRules,
  CompressResult,
  ContentBlock,
  Detection,
  EpochReport,
  EpochRow,
  FetchRequest,
  FoundOriginal,
  Hints,
  LeftAlone,
  MessagesReport,
  Migrated,
  Original,
  Prices,
  ProseOptions,
  ProtectedSpan,
  ReceiptRow,
  Removed,
  RepairStats,
  Report,
  RestoredIds,
  RuleFile,
  RuleRow,
  RulesOptions,
  RulesReport,
  SearchResult,
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
 * The common fields of all messages. Those of OpenClaw, Anthropic and OpenAI have them, as their SDKs type them. An
 * item of OpenAI's Responses API that is not a message has a `type` instead of a role.
 */
export interface AnyMessage {
  role?: string;
  type?: string | null;
  content?: unknown;
}

/** A message of OpenClaw, Anthropic or OpenAI. Unknown fields are preserved. */
export type Message = AnyMessage & { role: string; [field: string]: unknown };

/** The options of every call that waits. */
export interface Abortable {
  /**
   * Gives up the wait: the call rejects with the reason of the signal. With a signal that is aborted already, nothing
   * begins. Work that has begun goes on and its result is dropped; nothing that was stored is undone.
   */
  signal?: AbortSignal;
}

/** A token vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";

/** The options of `squeeze`. It ignores all others, so it may be given a whole configuration. */
export type SqueezeOptions = Pick<
  Options,
  | "compat"
  | "encoding"
  | "exactTools"
  | "imageAgeTurns"
  | "instructionTurns"
  | "keepPreviewChars"
  | "largeResultPreviewChars"
  | "largeResultThreshold"
  | "minTokensToSqueeze"
  | "protect"
  | "pruneHeartbeats"
  | "schedule"
  | "staleCalls"
  | "staleTurns"
  | "thrift"
>;

/** The options of the plugin, as OpenClaw's configuration holds them. */
export type PluginOptions = Omit<Options, "largeResultPreviewChars" | "largeResultThreshold" | "pruneHeartbeats">;

/** The options of an open store. Those of the plugin alone are left out. */
export type LibraryOptions = Omit<PluginOptions, "holdout" | "purgeOnReset" | "sccsStoreNamespace" | "sccsStoreUrl">;

/** The place of a store: a directory or, for several machines, a PostgreSQL database. */
export type StorePlace = (
  | { dir: string; url?: undefined; namespace?: undefined }
  | {
      /** The URL of the database: `postgresql://user:password@host:port/database?sslmode=require`. */
      url: string;
      /** The tenant, which is a schema of this name. Default "concertina". */
      namespace?: string;
      dir?: undefined;
    }
) & {
  /**
   * With `retention: "host"`, the name of this host: unique among the hosts of the store and stable. A session ends
   * when the last host that had it no longer lists it. A host that lists nothing for 90 days counts as gone. All
   * openers without a name are one host.
   */
  host?: string;
};

/** The place of a store, the retention of originals, and the options. */
export type OpenOptions = StorePlace & {
  /**
   * `clock` keeps originals for `sccsStorageTtlSeconds` after their last use. `host` keeps them for as long as the host
   * holds their session; see `settle`. If several programs list their own sessions in one store, each needs a `host`;
   * otherwise each ends the sessions of the others.
   */
  retention?: "clock" | "host";
  /** True if a damaged store is renamed to include the date and replaced by a new one. By default it is an error. */
  replaceDamaged?: boolean;
  /**
   * The date in the new name of a damaged store, such as `2026-01-31`; the current UTC date by default. A date alone
   * means `replaceDamaged`.
   */
  today?: string;
  /**
   * With `url`, a directory of this machine for the journal of parser calls. With the journal, a text that crashes a
   * parser does so only once. A store in a directory keeps the journal there. For a database without `journalDir` there
   * is none.
   */
  journalDir?: string;
} & LibraryOptions;

/** A stage in JavaScript, which runs between the built-in ones. */
export interface CustomStage {
  name: string;
  order: number;
  /** A cheap check if the stage applies. Absent means that it always does. */
  shouldApply?(context: StageContext): boolean;
  /** Returns the rewritten text, or null. It is measured like any other edit, and the original is kept. */
  apply(context: StageContext): string | null | undefined;
}

/** The options of compressing a text. */
export interface CompressOptions {
  hints?: Hints;
  /** The role of the message that the text is from; `tool` by default. */
  role?: "system" | "user" | "assistant" | "tool";
  preset?: "lossless" | "balanced" | "max";
  /** Restricts compression to edits that can be restored from the output alone, whatever the preset. */
  lossless?: boolean;
  /** Options by the name of a stage: `false` disables it, `{ order }` moves it. */
  stages?: Partial<Record<StageName | (string & {}), boolean | ({ order?: number } & Record<string, unknown>)>>;
  custom?: CustomStage[];
  encoding?: Encoding;
  /** The desired maximum number of tokens. Lossy sampling is used only if it is set. */
  maxTokens?: number;
}

/** The options of compressing a conversation: those of a text, and the roles. */
export type CompressMessagesOptions = Omit<CompressOptions, "custom" | "role"> & {
  /** The roles of the messages whose texts are compressed; `["tool"]` by default. Users' texts never are. */
  roles?: ("system" | "assistant" | "tool")[];
};

/** A compressed conversation. */
export interface CompressMessagesResult<M> {
  messages: M[];
  originals: Original[];
  report: MessagesReport;
}

/**
 * The report of shortening a text. It is never part of the text. The names with underscores are the published ones,
 * which JSON has. Those in camelCase are getters of the same values and are not enumerable.
 */
export interface ProseReceipt {
  /** o200k tokens of the input. */
  readonly tokensBefore: number;
  /** o200k tokens of the output. */
  readonly tokensAfter: number;
  /** The difference. Negative if saving characters costs tokens. */
  readonly savedTokens: number;
  /** `savedTokens` divided by `tokensBefore`: at most 1, and negative if `savedTokens` is. */
  readonly savedRatio: number;
  /** The intensity that was used. */
  readonly compressionIntensity: "lite" | "full" | "ultra";
  /** The replacements. `expand` undoes exactly these. */
  substitutions: Substitution[];
  /** The same as `tokensBefore`. */
  tokens_before: number;
  /** The same as `tokensAfter`. */
  tokens_after: number;
  /** The same as `savedTokens`. */
  saved_tokens: number;
  /** The same as `savedRatio`. */
  saved_ratio: number;
  /** The same as `compressionIntensity`. */
  compression_intensity: "lite" | "full" | "ultra";
}

/** A shortened text and its receipt. */
export interface CompressedProse {
  text: string;
  receipt: ProseReceipt;
}

/** A part of a text: a protected span (`fence`, `inline-code`, `url`, `path`, `command`, ...) or `prose`. */
export interface ProseToken {
  kind: string;
  text: string;
}

/**
 * The level of shortening rule files. Level 0 changes nothing. Level 1 removes formatting, level 2 also fillers and
 * long forms of abbreviations, level 3 also vowels inside long words.
 */
export type RulesLevel = 0 | 1 | 2 | 3 | "off" | "light" | "standard" | "aggressive";

/** A function that returns a text with its secrets masked. */
export type Redactor = (text: string) => string;
