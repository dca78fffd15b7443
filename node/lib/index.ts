/** The public interface of `openclaw-concertina`. */
export * from "./library/api.js";
export { Concertina, FETCH_CHARS } from "./library/concertina.js";
export { createContextEngine } from "./library/context-engine.js";
export type {
  AssembleParameters,
  AssembleResult,
  CommitParameters,
  Compact,
  ContextEngine,
  ContextEngineOptions,
} from "./library/context-engine.js";
export { describe, describeError } from "./library/errors.js";
export type { CodedError } from "./library/errors.js";
export type { Amount, Figures, FiguresRequest, FoldedOriginal, KnownSession } from "./library/figures.js";
export { answerFetch, FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "./library/fetch-tool.js";
export type {
  AnthropicBlock,
  FetchScope,
  FetchToolParameters,
  OpenAIAnswer,
  OpenAIPart,
  ResponsesPart,
} from "./library/fetch-tool.js";
export {
  compress,
  compressAsync,
  compressMessages,
  compressMessagesAsync,
  compressMessagesSync,
  compressSync,
  restore,
  restoreMessages,
  restoreReport,
  stages,
} from "./library/fusion.js";
export type { Restored } from "./library/fusion.js";
export {
  compressProse,
  compressProseAsync,
  compressProseSync,
  compressRules,
  compressRulesAsync,
  compressRulesSync,
  expand,
  preprocess,
  preprocessAsync,
  preprocessSync,
  protectedSpans,
  redactPrivate,
  tokenize,
} from "./library/prose.js";
export { migrate } from "./library/migrate.js";
export { countMessageTokens, countTokens, detect, repairToolPairing, squeeze, summarize } from "./library/pure.js";
export { rewindTool } from "./library/rewind.js";
export type { RewindCall, RewindItem } from "./library/rewind.js";
export { agentOf, scopeOf } from "./library/scope.js";
export { createSccsIntegration } from "./library/sccs.js";
export type { AnyEngine, FetchTool, Logger, SccsIntegration } from "./library/sccs.js";

// Names such as `describe`, `expand` and `stages` are also names in the programs of users.
export * as errors from "./library/errors.js";
export * as fusion from "./library/fusion.js";
export * as prose from "./library/prose.js";
