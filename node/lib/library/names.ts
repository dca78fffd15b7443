// The names that results use. They exist as types only; a test compares each with the core.

/** The types of text that are processed differently. */
export type ContentType = "code" | "json" | "log" | "diff" | "search" | "table" | "html" | "text" | "unknown";

/** The programming languages that detection distinguishes. */
export type Language =
  | "python"
  | "javascript"
  | "typescript"
  | "java"
  | "c"
  | "cpp"
  | "csharp"
  | "go"
  | "rust"
  | "ruby"
  | "php"
  | "swift"
  | "kotlin"
  | "scala"
  | "shell"
  | "sql";

/** The built-in stages of the pipeline, in their order. */
export type StageName =
  | "quantumLock"
  | "cortex"
  | "photon"
  | "rle"
  | "semanticDedup"
  | "ionizer"
  | "logCrunch"
  | "searchCrunch"
  | "diffCrunch"
  | "structuralCollapse"
  | "neurosyntax"
  | "nexus"
  | "tokenOpt"
  | "abbrev";

/** The reasons for a change of content that was already sent. */
export type EpochReason =
  | "cold: first call"
  | "cold: idle"
  | "cold: compacted"
  | "cold: history rewritten"
  | "cold: cache not used"
  | "ski-rental"
  | "limit"
  | "cliff"
  | "bound"
  | "asked"
  | "returned: its duplicate or successor is gone"
  | "restored: it is pinned or protected"
  | "large"
  | "thinking"
  | "stale"
  | "superseded"
  | "duplicate";

/** The reasons for rewriting a block. `replay` means that an earlier call decided it. */
export type FoldReason = EpochReason | "shortened" | "shrunk" | "restored" | "replay";

/** The codes of errors. The library guide explains each. */
export type ErrorCode =
  | "CONCERTINA_BAD_ARGUMENT"
  | "CONCERTINA_BAD_PATTERN"
  | "CONCERTINA_BAD_REF_ID"
  | "CONCERTINA_CLOSED"
  | "CONCERTINA_FOLD_DAMAGED"
  | "CONCERTINA_NO_BINARY"
  | "CONCERTINA_ORIGINAL_DAMAGED"
  | "CONCERTINA_ORIGINAL_MISSING"
  | "CONCERTINA_PANIC"
  | "CONCERTINA_STORE_DAMAGED"
  | "CONCERTINA_STORE_FULL"
  | "CONCERTINA_STORE_LOCKED"
  | "CONCERTINA_STORE_NEWER"
  | "CONCERTINA_STORE_REPLACED"
  | "CONCERTINA_STORE_UNAVAILABLE";
