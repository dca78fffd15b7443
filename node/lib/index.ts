/** The public interface of `openclaw-concertina`. */
export * from "./api.js";
export { Concertina, FETCH_CHARS } from "./concertina.js";
export { createContextEngine } from "./context-engine.js";
export type { AssembleParameters, AssembleResult, CommitParameters, Compact, ContextEngine, ContextEngineOptions } from "./context-engine.js";
export { describe } from "./errors.js";
export type { CodedError } from "./errors.js";
export type { Amount, Figures, FiguresRequest, KnownSession } from "./figures.js";
export { answerFetch, FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "./fetch-tool.js";
export type { AnthropicBlock, FetchScope, FetchToolParameters, OpenAIAnswer, OpenAIPart, ResponsesPart } from "./fetch-tool.js";
export { compress, compressMessages, compressMessagesSync, compressSync, restore, restoreMessages, stages } from "./fusion.js";
export {
  compressProse, compressProseAsync, compressProseSync, compressRules, compressRulesAsync, compressRulesSync, expand, preprocess,
  preprocessAsync, preprocessSync, protectedSpans, redactPrivate, tokenize,
} from "./prose.js";
export { migrate } from "./migrate.js";
export { countMessageTokens, countTokens, detect, repairToolPairing, squeeze, summarize } from "./pure.js";
export { rewindTool } from "./rewind.js";
export type { RewindCall, RewindItem } from "./rewind.js";
export { agentOf, scopeOf } from "./scope.js";
export { createSccsIntegration } from "./sccs.js";
export type { AnyEngine, FetchTool, Logger, SccsIntegration } from "./sccs.js";
