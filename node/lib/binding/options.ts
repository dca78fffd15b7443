// Generated from the core's option table by `npm run generate`. Do not edit.

/** Every option. */
export interface Options {
  /** How far rewriting may go: only restorable rewrites, also rewrites that the store can undo, or also shortened prose. Default "balanced". */
  preset?: "lossless" | "balanced" | "max";
  /** When content that was already sent may change: by ages alone, or when it pays with the provider's prompt cache. Default "every-turn". */
  schedule?: "every-turn" | "cache-aware";
  /** How soon content goes and how much of it stays in its place: the defaults of `minTokensToFold`, `staleCalls` and `keepPreviewChars`, each of which can be set by itself. Default "careful". */
  thrift?: "careful" | "normal" | "high";
  /** Options that depend on the model, by patterns of its name: `{ "*haiku*": { "thrift": "high" } }`. They win over what is set for all models. Default {}. */
  models?: Record<string, Pick<Options, "thrift" | "contextThresholdPercent" | "maxDeferredTurns" | "minTokensToFold" | "minTokensToSqueeze" | "thinking" | "keepNames" | "keepPreviewChars" | "staleTurns" | "staleCalls" | "imageAgeTurns" | "sccsCompressThreshold" | "sccsSummaryMaxChars">>;
  /** With "cache-aware": content that has waited this many user turns goes as soon as what was saved before pays for it. Default 100, at least 1. */
  maxDeferredTurns?: number;
  /** With "cache-aware": above this percentage of the token budget the context counts as full and is folded at once. Default 70, at least 10. */
  contextThresholdPercent?: number;
  /** With "cache-aware": content smaller than this many tokens stays. Default by thrift 150, 60, 60, at least 50. */
  minTokensToFold?: number;
  /** With "cache-aware": "auto" lets a model's thinking of finished turns leave together with what is folded before it, where the provider documents that it may be omitted; "keep" sends all of it. Default "auto". */
  thinking?: "auto" | "keep";
  /** With "cache-aware": at most how many names, paths and numbers of what goes are kept, so that the agent can go on using them; fewer of what is short. Default 120, at least 0. */
  keepNames?: number;
  /** With "cache-aware": what chooses those names, a model of what recorded sessions needed again, or a rule made by hand. Default "learned". */
  nameScorer?: "learned" | "rule";
  /** Content older than this many user turns may go; the body of a write that succeeded after half as many, since the file holds it, and with "cache-aware" a result of 16,000 bytes or more. Default 4, at least 1. */
  staleTurns?: number;
  /** Content older than this many model calls may go, even within one user turn, and up to four calls earlier where nothing is cached; the body of a write that succeeded after half as many. Default by thrift 18, 16, 4, at least 1. */
  staleCalls?: number;
  /** Content smaller than this many tokens stays. Default 200, at least 50. */
  minTokensToSqueeze?: number;
  /** How many characters of what goes are kept as a preview. Default by thrift 200, 0, 0, at least 0. */
  keepPreviewChars?: number;
  /** Images go after this many user turns. Default 2, at least 1. */
  imageAgeTurns?: number;
  /** Drop heartbeat prompts together with their HEARTBEAT_OK answers. Only `squeeze()` does this: OpenClaw filters them itself. Default true. */
  pruneHeartbeats?: boolean;
  /** A tool result of more characters than this is cut whatever its age; 0 turns it off. Only `squeeze()` does this. Default 50000, at least 0. */
  largeResultThreshold?: number;
  /** How many characters of a cut result are kept. Default 500, at least 0. */
  largeResultPreviewChars?: number;
  /** Shape of shrunk tool-call arguments: ours, or the `_squeezed` object of ClawSqueezer 1.0. Default "none". */
  compat?: "none" | "clawsqueezer";
  /** Replace large outputs by a reference and a summary. Off means that nothing is replaced or stored. Default true. */
  sccsEnabled?: boolean;
  /** An output of more characters than this is replaced. Default 3000, at least 2000. */
  sccsCompressThreshold?: number;
  /** Longest summary, in characters. Default 300, at least 50. */
  sccsSummaryMaxChars?: number;
  /** Summarize by type; off keeps the head of the text instead. Default true. */
  sccsEnableSmartSummary?: boolean;
  /** How many seconds an original lives after the last time an assembled context referred to it; what was folded at birth and never assembled since, after its birth. In OpenClaw: after the host has deleted its session. Default 86400, at least 600. */
  sccsStorageTtlSeconds?: number;
  /** Directory of the store; empty means the host's state directory for this plugin. In OpenClaw a relative one starts in its state directory. Default "". */
  sccsStorageDir?: string;
  /** Address of a PostgreSQL database that keeps the originals of several machines instead of a directory, `postgresql://user:password@host/database`, as text or as a secret reference of OpenClaw; never printed. Only the plugin does this: the library has `url`. Default "". */
  sccsStoreUrl?: string;
  /** Tenant in that database: a schema of this name, which no other tenant sees. Only the plugin does this: the library has `namespace`. Default "concertina". */
  sccsStoreNamespace?: string;
  /** How many originals are held in memory; the disk holds more. Default 10000, at least 1000. */
  sccsMaxEntries?: number;
  /** Largest size of the store on disk, in bytes. What a live session shows is never removed: when nothing else is left, nothing more is folded. Default 1073741824, at least 1048576. */
  storeMaxBytes?: number;
  /** Forget a session as soon as its user resets or deletes it, instead of `sccsStorageTtlSeconds` later. What its transcript still shows can then not be fetched. Only the plugin does this. Default false. */
  purgeOnReset?: boolean;
  /** What happens to a text that seems to hold a secret. Default "keep-inline". */
  secrets?: "keep-inline" | "store" | "redact";
  /** Tools whose results are never touched (globs). Default []. */
  skipTools?: string[];
  /** Commands whose output is never touched (globs over the command line). Default []. */
  skipCommands?: string[];
  /** Tools whose results stay exact while fresh, because the next edit needs them, or another agent wrote them for this one (globs). Unless the list is empty, so does the output of a command or search that prints files (`cat`, `sed -n`, `rg -A20`), logs excepted. Each line stays as it is; of the numbers that a tool prints before lines each tenth stays. Default ["read","read_*","*_read","view","view_file","open_file","cat","str_replace_editor","str_replace_based_edit_tool","text_editor","task","agent","subagent","sessions_send"]. */
  exactTools?: string[];
  /** When not empty, only results of these tools are touched (globs). Default []. */
  onlyTools?: string[];
  /** Vocabulary that token counts use. Default "o200k_base". */
  encoding?: "o200k_base" | "cl100k_base";
  fusion?: {
    /** Rewrite fresh tool outputs by the fusion pipeline before they are first sent. Default true. */
    enabled?: boolean;
    /** Stages of the pipeline by name: `false` leaves one out, `{ order }` moves it. Default {}. */
    stages?: Record<string, boolean | ({ order?: number } & Record<string, unknown>)>;
  };
  rules?: {
    /** Repeat the workspace's rule files at the end of the context every so many user turns; 0 turns it off. Only the plugin does this. Default 0, at least 0. */
    refreshEveryTurns?: number;
    /** How much of the rule files' wording goes: 0 off, 1 light (formatting), 2 standard (also fillers and abbreviations), 3 aggressive. Default 2. */
    level?: 0 | 1 | 2 | 3 | "off" | "light" | "standard" | "aggressive";
    /** Most characters of the repeated rules; files that do not fit are left out and named. Default 8000, at least 200. */
    maxChars?: number;
    /** Which files of the workspace are rule files (globs; `*` stays within a directory, `**` does not). Default ["AGENTS.md","SOUL.md","rules/*.md"]. */
    files?: string[];
    /** Shorten only the repeated rule files, or also prose in fresh tool results. Prompts of users stay as they are. Default "refresh". */
    scope?: "refresh" | "all";
    /** JSON file of the workspace, `{ "entries": { long: short } }`, with abbreviations beside the built-in ones; empty for none. Default "". */
    abbreviations?: string;
  };
}
