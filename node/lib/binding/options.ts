// Generated from the core's option table by `npm run generate`. Do not edit.

/** Every option. */
export interface Options {
  /** The limit of rewriting: "lossless" uses only rewrites that the text alone can undo, "balanced" also those that need the store, and "max" also shortens prose. Default "balanced". */
  preset?: "lossless" | "balanced" | "max";
  /** The schedule of changes to content that was already sent: by age alone, or when a change pays with the provider's prompt cache. Default "every-turn". */
  schedule?: "every-turn" | "cache-aware";
  /** Sets the defaults of `minTokensToFold`, `staleCalls` and `keepPreviewChars`: how early content is folded, and how much of it stays. Each can also be set by itself. Default "careful". */
  thrift?: "careful" | "normal" | "high";
  /** Options by pattern of the model's name: `{ "*haiku*": { "thrift": "high" } }`. They override the options for all models. Default {}. */
  models?: Record<string, Pick<Options, "thrift" | "contextThresholdPercent" | "maxDeferredTurns" | "minTokensToFold" | "minTokensToSqueeze" | "thinking" | "keepNames" | "keepPreviewChars" | "staleTurns" | "staleCalls" | "imageAgeTurns" | "sccsCompressThreshold" | "sccsSummaryMaxChars">>;
  /** With "cache-aware": content that has waited for this many user turns is folded as soon as earlier savings pay for it. Default 100, at least 1. */
  maxDeferredTurns?: number;
  /** With "cache-aware": above this percentage of the token budget the context counts as full, and everything foldable is folded at once. Default 70, at least 10. */
  contextThresholdPercent?: number;
  /** With "cache-aware": content of fewer tokens is not folded. Default by thrift 150, 60, 60, at least 50. */
  minTokensToFold?: number;
  /** With "cache-aware": "auto" removes a model's thinking of finished turns together with content before it, if the provider documents that it may be omitted; "keep" sends all of it. Default "auto". */
  thinking?: "auto" | "keep";
  /** With "cache-aware": the maximum number of names, paths and numbers of folded content that its placeholder keeps, so that the agent can go on using them: twice as many if the content is new. Short content keeps fewer. Default 120, at least 0. */
  keepNames?: number;
  /** With "cache-aware": the scorer that chooses these names: a model learned from recorded sessions, or a rule made by hand. Default "learned". */
  nameScorer?: "learned" | "rule";
  /** Content older than this many user turns may be folded. The body of a successful write may be folded after half as many, because the file holds it, and so may, with "cache-aware", a result of 16,000 bytes or more. Default 4, at least 1. */
  staleTurns?: number;
  /** Content older than this many model calls may be folded, even within one user turn, and up to four calls earlier if nothing is cached. The body of a successful write may be folded after half as many. Default by thrift 18, 16, 4, at least 1. */
  staleCalls?: number;
  /** Content of fewer tokens is not folded by age. Default 200, at least 50. */
  minTokensToSqueeze?: number;
  /** The number of characters of folded content that its placeholder shows. Default by thrift 200, 0, 0, at least 0. */
  keepPreviewChars?: number;
  /** Images older than this many user turns may be folded. Default 2, at least 1. */
  imageAgeTurns?: number;
  /** Removes heartbeat prompts together with their HEARTBEAT_OK answers. Only `squeeze()` does this, because OpenClaw filters them itself. Default true. */
  pruneHeartbeats?: boolean;
  /** A tool result of more characters is cut whatever its age; 0 disables this. Only `squeeze()` does this. Default 50000, at least 0. */
  largeResultThreshold?: number;
  /** The number of characters that are kept at the beginning of a cut result. Default 500, at least 0. */
  largeResultPreviewChars?: number;
  /** The form of shortened tool-call arguments: Concertina's own, or the `_squeezed` object of ClawSqueezer 1.0. Default "none". */
  compat?: "none" | "clawsqueezer";
  /** Replaces large outputs by a reference and a summary. If it is off, nothing is replaced or stored. With "observe", everything runs but nothing that is sent changes: the figures show what folding would have saved. Only the plugin has "observe": the proxy has `--observe`. Default true. */
  sccsEnabled?: boolean | "observe";
  /** The share of sessions, from 0 to 1, that stays untouched, chosen by a hash of the session's id. The figures compare them with the others, which measures the saving. Only the plugin has this option: the proxy has `--holdout`. Default 0. */
  holdout?: number;
  /** A result of more characters is replaced by a reference and a summary before it is first sent; a list of paths may be twice as long. Default 3000, at least 2000. */
  sccsCompressThreshold?: number;
  /** The maximum length of a summary, in characters. Default 300, at least 50. */
  sccsSummaryMaxChars?: number;
  /** Summarizes by content type; if it is off, a summary is the beginning of the text. Default true. */
  sccsEnableSmartSummary?: boolean;
  /** The lifetime of an original, in seconds, after the last assembled context that referred to it, or after its birth if there was none. In OpenClaw: after the host has deleted its session. Default 86400, at least 600. */
  sccsStorageTtlSeconds?: number;
  /** The directory of the store; empty for the host's state directory of this plugin. In OpenClaw a relative path starts in its state directory. Default "". */
  sccsStorageDir?: string;
  /** The address of a PostgreSQL database that keeps the originals of several machines instead of a directory, `postgresql://user:password@host/database`, as text or as a secret reference of OpenClaw. It is never printed. Only the plugin has this option: the library has `url`. Default "". */
  sccsStoreUrl?: string;
  /** The tenant in that database: a schema of this name, which no other tenant sees. Only the plugin has this option: the library has `namespace`. Default "concertina". */
  sccsStoreNamespace?: string;
  /** The number of originals held in memory. The disk holds the others. Default 10000, at least 1000. */
  sccsMaxEntries?: number;
  /** The maximum size of the store on disk, in bytes. Content that a live session shows is never removed: if nothing else is left, nothing more is folded. Default 1073741824, at least 1048576. */
  storeMaxBytes?: number;
  /** Deletes the originals of a session as soon as its user resets or deletes it, instead of `sccsStorageTtlSeconds` later. Placeholders in its transcript can then no longer be fetched. Only the plugin does this. Default false. */
  purgeOnReset?: boolean;
  /** The treatment of a text that seems to hold a secret: "keep-inline" neither stores nor replaces it, "redact" masks the secret in what is stored and shown, and "store" treats the text like any other. Default "keep-inline". */
  secrets?: "keep-inline" | "store" | "redact";
  /** Content that is never folded: a glob of paths (`docs/spec/*.md`), `tool:NAME`, `command:LINE` (both with `*` and `?`) or `content:REGEX`. A call is protected together with its result. A pattern after `!` is an exception; the last pattern that fits decides. A file's older copy may leave once the file was read again. Default []. */
  protect?: string[];
  /** The number of user turns for which instruction files and skills of agents (AGENTS.md, CLAUDE.md, SKILL.md, `.cursor/rules`, results of skill tools and the like) are protected; 0 protects them for the whole session. Default 0, at least 0. */
  instructionTurns?: number;
  /** Tools whose results stay exact while they are fresh, because the next edit needs their bytes, or another agent wrote them for this one (globs). Unless the list is empty, the output of a command or search that prints files (`cat`, `sed -n`, `rg -A20`) stays exact too, except logs. Lines are unchanged; only every tenth printed line number is kept. Default ["read","read_*","*_read","view","view_file","open_file","cat","str_replace_editor","str_replace_based_edit_tool","text_editor","task","agent","subagent","sessions_send"]. */
  exactTools?: string[];
  /** The vocabulary with which tokens are counted. Default "o200k_base". */
  encoding?: "o200k_base" | "cl100k_base";
  fusion?: {
    /** Rewrites fresh tool outputs with the fusion pipeline before they are first sent. Default true. */
    enabled?: boolean;
    /** The stages of the pipeline by name: `false` removes a stage, `{ order }` moves it. Default {}. */
    stages?: Record<string, boolean | ({ order?: number } & Record<string, unknown>)>;
  };
  rules?: {
    /** Repeats the workspace's rule files at the end of the context every so many user turns; 0 disables this. Only the plugin does this. Default 0, at least 0. */
    refreshEveryTurns?: number;
    /** The amount of shortening of the rule files: 0 off, 1 light (formatting), 2 standard (also fillers and abbreviations), 3 aggressive. Default 2. */
    level?: 0 | 1 | 2 | 3 | "off" | "light" | "standard" | "aggressive";
    /** The maximum number of characters of the repeated rules. Files that do not fit are left out and named. Default 8000, at least 200. */
    maxChars?: number;
    /** The rule files of the workspace (globs; `*` stays within a directory, `**` does not). Default ["AGENTS.md","SOUL.md","rules/*.md"]. */
    files?: string[];
    /** Shortens only the repeated rule files, or also prose in fresh tool results. Prompts of users stay as they are. Default "refresh". */
    scope?: "refresh" | "all";
    /** A JSON file of the workspace, `{ "entries": { long: short } }`, with abbreviations in addition to the built-in ones; empty for none. Default "". */
    abbreviations?: string;
  };
}
