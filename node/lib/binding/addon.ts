// Generated from node/src by `npm run generate`. Do not edit.
import type { ContentType, EpochReason, ErrorCode, FoldReason, Language, RulesLevel, StageName } from "../library/api.js";
import type { FoldedOriginal, KnownSession, StoredFigures } from "../library/figures.js";
import type { Options } from "./options.js";

/** The rules that the options set for a fresh tool result. */
export interface AtBirth {
  /** The value of the option `secrets`. */
  secrets: "keep-inline" | "store" | "redact"
  /** True if texts of this tool may be stored. */
  storesTexts: boolean
}

/** A parser or library that is disabled for some texts, or for all, until the next release. */
export interface SkippedCode {
  /** The name of the grammar or library. */
  code: string
  /** The number of texts on which it crashed or hung. These texts are never passed to it again. */
  texts: number
  /** True if it is disabled for every text. */
  isOff: boolean
}

/** The ids that were to be restored. */
export interface RestoredIds {
  /** Those that are shown in full from the next assembly on. */
  restored: Array<string>
  /** Those of no original that the session shows in a shorter form. */
  unknown: Array<string>
}

/** One open store with one set of options. */
export declare class NativeConcertina {
  /**
   * Opens the store at `place`. `retention` is `"clock"` (the default) or `"host"`. With `today`, a date such as
   * `2026-01-31`, a damaged file is renamed to include that date and replaced by a new one. `journalDir` is the
   * directory of the journal of parser calls for a store in a database; a store in a directory keeps that journal
   * there.
   */
  static open(place: StorePlace, optionsJson: string, retention?: string | undefined | null, today?: string | undefined | null, journalDir?: string | undefined | null): Promise<NativeConcertina>
  /**
   * Returns the notices for the operator that were not returned before, one line each: a file was replaced, set
   * aside, or accessible to other users.
   */
  notices(): Array<string>
  /** Returns the parsers and libraries that are disabled for some texts, or for all, because they crashed or hung. */
  skipped(): Array<SkippedCode>
  /** The corrections to the options, one line each. */
  get warnings(): Array<string>
  /** Returns the rules that the options set for a fresh result of `tool`. */
  atBirth(tool: string): AtBirth
  /**
   * Shortens a fresh tool result before it is first sent. `messages` ends with the result. The block of its call,
   * without an id, stands before it if it is known. If a redactor masked the result, the masked result comes second
   * to last and the unmasked one last.
   */
  admit(messages: Handover, session: Session, options: BirthOptions, now: number): Promise<Folded>
  /** Folds a history. If the answer has questions, the same messages may be assembled again. */
  assemble(messages: Handover, session: Session, options: AssembleOptions, now: number): Promise<Folded>
  /** Stores the redactor's answers to the questions of `assemble` in memory. */
  hear(answers: Array<Answer>): void
  /** Records a finished turn and its requests. Resolves to `"duplicate"` if the turn was recorded before. */
  commitTurn(messages: Handover, session: Session, turn: FinishedTurn, now: number): Promise<"committed" | "duplicate">
  /**
   * Grants a sub-agent's session the originals of its parent's session: all of them, or only those with the ids in
   * `named`.
   */
  inherit(parent: Session, child: Session, now: number, named?: Array<string> | undefined | null): Promise<undefined>
  /** Ends a session: the time to live of the originals that it held begins. */
  endSession(session: Session, now: number): Promise<undefined>
  /** Ends the held sessions that are not in `alive`. Resolves to their number. */
  settle(alive: Array<string>, now: number): Promise<number>
  /**
   * Replaces placeholders by their originals. With a session, only placeholders that it was shown are replaced;
   * without one, every placeholder whose original the agent may fetch.
   */
  unfold(messages: Handover, sessionId: string | undefined | null, agentId: string | undefined | null, now: number): Promise<Unfolded>
  /** Records the report of compressing the rule files. */
  recordRules(session: Session, report: RulesReport, now: number): Promise<undefined>
  /** Fetches originals. */
  fetch(request: FetchRequest): Promise<Fetched>
  /** Searches originals. */
  search(query: SearchQuery): Promise<SearchResult>
  /** Returns the totals of a session or of the whole store. */
  stats(session?: Session | undefined | null): Promise<Stats>
  /** Returns what was sent and billed, and the estimate of the same without Concertina. */
  figures(query: FiguresQuery): Promise<StoredFigures>
  /** Returns the sessions in the store, the most recently seen first. */
  sessions(): Promise<KnownSession[]>
  /** Switches folding off in a session, or on again. Folded content stays folded. */
  switch(session: Session, isOff: boolean, now: number): Promise<undefined>
  /** Asks for everything foldable to be folded at the session's next assembly. */
  foldAll(session: Session, now: number): Promise<undefined>
  /** Returns the originals that stand in a session's context in a shorter form, the last folded first. */
  folded(session: Session): Promise<FoldedOriginal[]>
  /** Pins the last tool result of a session. */
  pinLast(session: Session, now: number): Promise<undefined>
  /** Pins originals of a session and shows them in full from the next assembly on. */
  restore(session: Session, ids: Array<string>, now: number): Promise<RestoredIds>
  /** Takes back what is pinned in a session. Resolves to the number of contents. */
  unpin(session: Session, now: number): Promise<number>
  /**
   * Verifies the whole file. With `today` a damaged file is set aside and replaced by a new one. Resolves to true
   * if that happened.
   */
  check(today?: string | undefined | null): Promise<boolean>
  /** Removes expired content. */
  sweep(now: number): Promise<Removed>
  /**
   * Removes a session and the originals that no other session shares. Resolves to what was removed. With `dry`
   * nothing is removed, and it resolves to what would be.
   */
  purge(session: Session, dry: boolean): Promise<Removed>
  /** Releases the store. The file is closed when nothing in the process uses it any more. */
  close(): Promise<undefined>
}

/** The result of one stage. */
export interface StageRow {
  /** The name of the stage, or of a custom stage. */
  name: StageName | (string & {})
  /** True if the text contains an edit of this stage. */
  fired: boolean
  /** Tokens before the stage ran. */
  tokensBefore: number
  /** Tokens after the stage ran. */
  tokensAfter: number
  /**
   * Tokens that the stage's edits alone would have saved. If other edits of the same text save more, those are
   * used instead.
   */
  offered: number
  /** Milliseconds that were spent on deciding if the stage applies. */
  gateMs: number
  /** Milliseconds that were spent on proposing, measuring and verifying edits. */
  workMs: number
  /** Notes of the stage, by name. */
  notes: Record<string, string>
}

/** The exact bytes that a marker stands for. */
export interface Original {
  /** All 64 digits of the SHA-256 of the bytes. Markers print the first 16. */
  refId: string
  /** The bytes. */
  data: Buffer
  /** The origin of the bytes, for people to read. */
  label: string
  /** The MIME type of an image. Absent if the bytes are text. */
  mimeType?: string
}

/** A compressed text. It is the input itself if nothing saved tokens. */
export interface CompressResult {
  /** The compressed text. */
  text: string
  /** Tokens of the input. */
  tokensBefore: number
  /** Tokens of the compressed text, with its marker. */
  tokensAfter: number
  /** The type of most of the input. */
  contentType: ContentType
  /** The language, if the type is code. */
  language: Language | null
  /** True if the input can be restored from the compressed text alone. */
  lossless: boolean
  /** One row for each stage, in the order in which the stages ran. */
  stages: Array<StageRow>
  /** The originals that must be stored before the text is shown. */
  originals: Array<Original>
}

/** The input of a custom stage. */
export interface StageContext {
  /** The text with the edits of the previous stages. */
  text: string
  /** The type of most of the text. */
  contentType: ContentType
  /** The language, if the type is code. */
  language: Language | null
  /** The role of the message that the text is from. */
  role: "system" | "user" | "assistant" | "tool"
}

/** A call of a stage that runs in JavaScript. */
export interface StageCall {
  /** The name of the stage. */
  stage: string
  /** The input of the stage. */
  context: StageContext
}

/** The progress of a job: a question, or the result. */
export interface Step {
  /** The stage to call before the job can go on. */
  question?: StageCall
  /** The result, if the job is done. */
  result?: CompressResult
}

/**
 * A compression of one text. Stages that run in JavaScript are answered between calls of `advance`.
 * 
 * With such stages, a dedicated thread works on the text and waits for each answer, so that no work is repeated. It
 * keeps its slot among the heavy jobs until it is done, `end` is called, or this object is dropped.
 */
export declare class CompressJob {
  /** Creates a job for a text. */
  constructor(text: string, optionsJson: string)
  /** Works on a worker until a stage in JavaScript must be called or the job is done. */
  advance(): Promise<Step>
  /** Does the same as `advance` on the calling thread. */
  advanceSync(): Step
  /** Answers the last question with the text as the stage rewrote it, or with null if the stage does not apply. */
  answer(text?: string | undefined | null): void
  /** Ends the job, done or not. */
  end(): void
}

/** The result for one block of a conversation. */
export interface BlockRow {
  /** The index of the message. */
  message: number
  /** The index of the block among the message's blocks. */
  block: number
  /**
   * The change. `repeat`: a reference to an earlier copy of the block. `delta`: the difference from an earlier
   * version. `runs`: references in place of lines that stand earlier. `compressed`: the pipeline's result.
   * `shrunk`: a smaller image.
   */
  action: "repeat" | "delta" | "runs" | "compressed" | "shrunk"
  /** Tokens before. */
  tokensBefore: number
  /** Tokens after. */
  tokensAfter: number
  /** The pipeline's rows. Empty if the block was replaced as a whole. */
  stages: Array<StageRow>
  /** The `refId` of the block's original. Absent if the block's text alone restores it. */
  refId?: string
}

/** The report of compressing a conversation. */
export interface MessagesReport {
  /** Tokens of the examined blocks in the input. */
  tokensBefore: number
  /** Tokens of the same blocks in the output. */
  tokensAfter: number
  /** One row for each changed block. */
  blocks: Array<BlockRow>
  /**
   * Indexes of messages that the caller changed during the call. They are left as they are, and `blocks` does not
   * name them.
   */
  changedMeanwhile?: Array<number>
  /**
   * Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
   * that JSON does not have.
   */
  leftAlone?: Array<LeftAlone>
}

/** A compressed conversation. */
export interface CompressedMessages {
  /** The changes to the messages. */
  change: Change
  /** The originals that must be stored before the messages are shown. */
  originals: Array<Original>
  /** The report. */
  report: MessagesReport
}

/** Implements `compressMessages(messages, options)`. */
export declare function compressMessages(messages: Handover, optionsJson: string): Promise<CompressedMessages>

/** Does the same as `compressMessages` on the calling thread. */
export declare function compressMessagesSync(messages: Handover, optionsJson: string): CompressedMessages

/** Implements `restore(text, originals, { strict })`. The originals are UTF-8 texts. */
export declare function restore(text: string, originals: Array<Buffer>, strict: boolean): string

/** An original that the caller passes back. */
export interface KeptOriginal {
  /** The bytes. */
  data: Buffer
  /** The MIME type of an image. Absent if the bytes are text. */
  mimeType?: string
}

/** The fields of `BlockRow` that restoring needs. */
export interface ChangedBlock {
  /** The index of the message. */
  message: number
  /** The index of the block among the message's blocks. */
  block: number
  /** The id of the block's original. Absent if the block's text alone restores it. */
  refId?: string
}

/** Implements `restoreMessages({ messages, originals, report })`. */
export declare function restoreMessages(messages: Handover, originals: Array<KeptOriginal>, blocks: Array<ChangedBlock>): Change

/** A stage of the pipeline. */
export interface StageInfo {
  /** The name of the stage. */
  name: StageName
  /** The position of the stage. Stages run in ascending order, except detection, which is always first. */
  order: number
  /** True if every edit of the stage can be restored from the output alone. */
  lossless: boolean
  /** The content types that the stage works on. */
  contentTypes: Array<ContentType>
}

/** Implements `stages()`. */
export declare function stages(): Array<StageInfo>

/** Messages on their way into the addon. JavaScript pushes slices between turns of the event loop. */
export declare class Handover {
  /** Creates an empty handover. */
  constructor()
  /**
   * Adds a string that was lifted out of the messages of the next slice. If `continues` is true, adds a further
   * piece of the last string instead.
   */
  text(piece: string, continues: boolean): void
  /** Adds a slice: a JSON array of messages, without the strings that were added before it. */
  push(light: string): void
}

/** The changes to messages, as JSON for the reason that the module documentation of `handover.rs` gives. */
export interface Change {
  /** JSON arrays of patches, each `[message, path, value]`, or `[message, path]` for a removed part. */
  patches: Array<string>
  /** If the order changes, a JSON array of the indexes of kept messages and `[message]` for inserted ones. */
  slots?: string
}

/** The result of a migration. */
export interface Migrated {
  /** The number of copied rows, by table. */
  rows: Record<string, number>
  /** Ids of originals that were already damaged in the source. They are copied as they are. */
  damaged: Array<string>
}

/** A migration that reports its progress. */
export declare class NativeMigration {
  /** Creates a migration that has not begun. */
  constructor()
  /** The number of originals that were copied so far. */
  get copied(): number
  /** Copies everything into an empty store, reads it back and compares. */
  run(from: StorePlace, to: StorePlace): Promise<Migrated>
}

/** The complete options in force, and one line for each option that was wrong. */
export interface OptionsInForce {
  /** The options as `open` takes them. */
  options: Required<Options>
  /** The errors in the options, one line each. */
  warnings: Array<string>
}

/**
 * Reads unchecked options over the defaults of a host. An unknown key or a bad value is ignored and reported; the
 * other options still apply.
 */
export declare function optionsInForce(optionsJson: string, defaultsJson: string): OptionsInForce

/** The options of shortening prose. */
export interface ProseOptions {
  /** The amount of shortening; `full` by default. */
  intensity?: "lite" | "full" | "ultra"
  /**
   * The unit to reduce; tokens by default. Abbreviations save characters but no tokens, so they are used only with
   * `chars`.
   */
  objective?: "tokens" | "chars"
}

/** A short form and the longer one that it replaced. */
export interface Substitution {
  /** The replaced form. */
  long: string
  /** The short form. */
  short: string
  /** The number of replacements. */
  count: number
}

/** The report of shortening a text. It is never part of the text. */
export interface ProseReceipt {
  /** o200k tokens of the input. */
  tokens_before: number
  /** o200k tokens of the output. */
  tokens_after: number
  /** The difference. Negative if saving characters costs tokens. */
  saved_tokens: number
  /** `saved_tokens` divided by `tokens_before`: at most 1, and negative if `saved_tokens` is. */
  saved_ratio: number
  /** The intensity that was used. */
  compression_intensity: "lite" | "full" | "ultra"
  /** The replacements. `expand` undoes exactly these. */
  substitutions: Array<Substitution>
}

/** A shortened text and its receipt. */
export interface CompressedProse {
  /** The shortened text. */
  text: string
  /** The report. */
  receipt: ProseReceipt
}

/** Implements `compressProse(text, options)`. */
export declare function compressProse(text: string, options: ProseOptions): CompressedProse

/** Does the same as `compressProse` on a worker. */
export declare function compressProseOnWorker(text: string, options: ProseOptions): Promise<CompressedProse>

/** Implements `expand(text, receipt)`. If a receipt is given, only its substitutions are undone. */
export declare function expand(text: string, substitutions?: Array<Substitution> | undefined | null): string

/** A part of a text. */
export interface TextPart {
  /** The kind of protected span, or `prose`. */
  kind: string
  /** The length in UTF-16 units. */
  length: number
}

/** Implements `tokenize(text)`. */
export declare function tokenize(text: string): Array<TextPart>

/** Implements `redactPrivate(text)`. */
export declare function redactPrivate(text: string): string

/** A part of a rule file that shortening may not alter. Offsets are in UTF-16 units. */
export interface ProtectedSpan {
  /** The offset of the first unit. */
  start: number
  /** The offset behind the last unit. */
  end: number
  /** A kind of `tokenize`, or `negation`, `assertion`, `action`. */
  category: string
}

/** Implements `protectedSpans(text)`. */
export declare function protectedSpans(text: string): Array<ProtectedSpan>

/** The options of shortening rule files. */
export interface RulesOptions {
  /** The level of shortening; 2 by default. */
  level?: RulesLevel
  /** The maximum length of the result in UTF-16 units. */
  maxChars?: number
  /** The unit to reduce; characters by default. The result never has more tokens than the files. */
  objective?: "chars" | "tokens"
  /** Abbreviations in addition to the built-in ones, which they override. */
  abbreviations?: { entries: Record<string, string> }
}

/** Implements `preprocess(text, level, options)`. The level is a field of `options` here. */
export declare function preprocess(text: string, options: RulesOptions): string

/** Does the same as `preprocess` on a worker. */
export declare function preprocessOnWorker(text: string, options: RulesOptions): Promise<string>

/** A rule file. `priority: N` in its front matter sets its place in the order. */
export interface RuleFile {
  /** The name, for the report. */
  name: string
  /** The text. */
  text: string
}

/** The result for one rule file. */
export interface RuleRow {
  /** The name of the file. */
  name: string
  /** The priority, which sets the place in the order. */
  priority: number
  /** True if the text includes the file. */
  included: boolean
  /** UTF-16 units of the file. */
  charsBefore: number
  /** UTF-16 units of the shortened file, also if the text does not include it. */
  charsAfter: number
  /** o200k tokens of the file. */
  tokensBefore: number
  /** o200k tokens of the shortened file, also if the text does not include it. */
  tokensAfter: number
}

/** The report of shortening rule files. */
export interface RulesReport {
  /** The level that was used. */
  level: number
  /** The unit to reduce. */
  objective: "chars" | "tokens"
  /** UTF-16 units of the included files before shortening. */
  charsBefore: number
  /** UTF-16 units of the resulting text. */
  charsAfter: number
  /** o200k tokens of the included files before shortening. */
  tokensBefore: number
  /** o200k tokens of the resulting text. */
  tokensAfter: number
  /** One row for each file, in order. */
  files: Array<RuleRow>
}

/** Rule files, shortened and joined. */
export interface CompressedRules {
  /** The resulting text. */
  text: string
  /** The names of the included files, in order. */
  included: Array<string>
  /** The names of the files that did not fit. */
  omitted: Array<string>
  /** The report. */
  report: RulesReport
}

/** Implements `compressRules(files, options)`. */
export declare function compressRules(files: Array<RuleFile>, options: RulesOptions): CompressedRules

/** Does the same as `compressRules` on a worker. */
export declare function compressRulesOnWorker(files: Array<RuleFile>, options: RulesOptions): Promise<CompressedRules>

/** The prices of a model if its transcript and its host state none. */
export interface ModelPrices {
  /** The price of a cached token, relative to input. */
  read: number
  /** The price of writing a token to the cache, relative to input. */
  write: number
  /** The lifetime of a cache entry in milliseconds. */
  cacheTtlMs: number
  /** The price of an output token, relative to input. Null if it is unknown. */
  answer?: number
  /** The price of an input token in dollars. Null if it is unknown. */
  usd?: number
  /** The number of input tokens above which a request costs more. Null if there is no such step. */
  stepAbove?: number
  /** The price of input above the step, relative to that below. */
  stepInput: number
  /** The price of answers above the step, relative to that below. */
  stepOutput: number
}

/** Returns the prices of a model. */
export declare function modelPrices(model: string): ModelPrices

/** Returns true if a model's provider accepts its reasoning only after the exact prefix that it was made with. */
export declare function bindsReasoning(model: string): boolean

/** The prompt cache of one model and list of tools, as the planner models it. */
export declare class PromptCache {
  /**
   * Creates an empty cache of a model's provider. Without a model, any prefix is found. `life_ms` replaces the
   * lifetime of an entry.
   */
  constructor(model?: string | undefined | null, lifeMs?: number | undefined | null)
  /**
   * Records a request with this many blocks and tokens, of which the first `unchanged` blocks equal those of the
   * request before. Returns the number of blocks that are read from the cache.
   */
  send(blocks: number, tokens: number, unchanged: number, at?: number | undefined | null): number
  /** The number of tokens in whose multiples the cache is read. */
  get unit(): number
}

/** The report of `squeeze()`. */
export interface SqueezeStats {
  /** Messages in the input. */
  messagesProcessed: number
  /** Blocks that were replaced: stale or large results, calls and images. */
  blocksEvicted: number
  /** Tokens that were saved: those of the replaced content less those of its placeholders. */
  tokensFreed: number
  /** Images that were replaced. */
  imagesEvicted: number
  /** Texts of stale tool results that were replaced. */
  toolResultsEvicted: number
  /** Tool calls whose arguments were shortened. */
  toolCallsEvicted: number
  /** Heartbeats that were dropped. Each is a prompt with its answer. */
  heartbeatsPruned: number
  /** Large results that were cut, whatever their age. */
  largeResultsTruncated: number
  /**
   * Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
   * that JSON does not have.
   */
  leftAlone?: Array<LeftAlone>
}

/** A squeezed conversation. */
export interface Squeezed {
  /** The changes to the messages. */
  change: Change
  /** The report. */
  stats: SqueezeStats
}

/** Implements `squeeze(messages, options)`. */
export declare function squeeze(messages: Handover, optionsJson: string): Squeezed

/** The report of `repairToolPairing()`. */
export interface RepairStats {
  /** Error results that were inserted for calls without a result. */
  syntheticResultsInserted: number
  /** Results that were dropped because no call has their id, or only calls in failed answers have it. */
  orphanResultsDropped: number
  /** Results that were dropped because their call already has a result. */
  duplicateResultsDropped: number
  /** True if anything changed, including the order. */
  repaired: boolean
  /**
   * The index of the first message that cannot be read and may be or contain a call or a result. If there is one,
   * nothing is changed.
   */
  unreadable?: number
}

/** A repaired conversation. */
export interface Repaired {
  /** The changes to the messages. */
  change: Change
  /** The report. */
  stats: RepairStats
}

/** Implements `repairToolPairing(messages)`. */
export declare function repairToolPairing(messages: Handover): Repaired

/** Implements `countTokens(text, { encoding })`. */
export declare function countTokens(text: string, encodingName?: string | undefined | null): number

/** Implements `countMessageTokens(messages, { model, encoding })`. */
export declare function countMessageTokens(messages: Handover, model?: string | undefined | null, encodingName?: string | undefined | null): number

/** The caller's knowledge about a text. */
export interface Hints {
  /** The tool that produced the text. */
  toolName?: string
  /** The file that the text was read from. */
  path?: string
  /** The command that printed the text. */
  command?: string
  /** The content type, which overrides detection: code, json, log, diff, search, table, html or text. */
  contentType?: ContentType | (string & {})
  /** The language, which overrides detection. */
  language?: Language | (string & {})
}

/** Implements `summarize(text, { hints, maxChars })`. */
export declare function summarize(text: string, hints: Hints, maxChars: number): string

/** A run of text of one type. Offsets are in UTF-16 units, as `String.prototype.slice` takes them. */
export interface Segment {
  /** The offset of the first unit. */
  start: number
  /** The offset behind the last unit. */
  end: number
  /** The content type. */
  contentType: ContentType
  /** The language, if the type is code. */
  language: Language | null
}

/** The detected content type of a text. */
export interface Detection {
  /** The type of most of the text. */
  contentType: ContentType
  /** The language, if the type is code. */
  language: Language | null
  /** The runs of one type, in order. */
  segments: Array<Segment>
}

/** Implements `detect(text, hints)`. */
export declare function detect(text: string, hints: Hints): Detection

/** Panics so that a test can check the guard. Not part of the public interface. */
export declare function __panic(): void

/** Does the same as `__panic` on a worker. */
export declare function __panicOnWorker(): Promise<undefined>

/** The place of a store: a directory, or a database. */
export interface StorePlace {
  /** The directory. */
  dir?: string
  /** The URL of a PostgreSQL database. */
  url?: string
  /** The tenant in that database; `concertina` by default. */
  namespace?: string
  /** The name of this host among those that hold sessions in the store. */
  host?: string
}

/** The session that a call is about. */
export interface Session {
  /** The id of the agent; `main` by default. */
  agentId?: string
  /** The id of the session. */
  sessionId: string
}

/**
 * Prices per token, and the lifetime of the provider's cache. What is absent comes from the charges in the transcript
 * (`usage.cost`), or from the published prices of the model.
 */
export interface Prices {
  /** The price of an uncached input token. Needed if another price is stated. */
  input?: number
  /** The price of a token that is read from the cache. */
  cacheRead?: number
  /** The price of a token that is written to the cache. */
  cacheWrite?: number
  /** The price of an output token. */
  output?: number
  /** The lifetime of a cache entry in milliseconds. */
  cacheTtlMs?: number
  /**
   * True if the prices are US dollars per million tokens, as in a price list. Charges in the transcript then
   * precede them, and figures are in dollars. Otherwise they are in any unit and precede all others.
   */
  usdPerMillion?: boolean
}

/** The facts about a fresh result that its message does not state. */
export interface BirthOptions {
  /** The length, in UTF-16 units, at which the host cut the text. */
  hostCutAt?: number
  /** The maximum number of UTF-16 units of a text that the host sends. */
  hostKeeps?: number
  /** True if the last message is the unmasked form of the message before it. */
  isMasked?: boolean
  /** The id of the model. */
  model?: string
}

/** The options of assembling messages. */
export interface AssembleOptions {
  /** The names of the tools of this run. */
  availableTools?: Array<string>
  /** The id of the model. */
  model?: string
  /** True if large fresh results are also replaced. */
  referOversize: boolean
  /** The prices of the model. */
  prices?: Prices
  /** The maximum number of tokens of the history. */
  tokenBudget?: number
  /** True if this call begins a user turn whose message is not among the messages yet. */
  turnBegins: boolean
  /** The message that begins the turn. */
  prompt?: string
  /**
   * The treatment of blocks that the caller's redactor has not seen: `ask` returns them as questions, `leave`
   * leaves them as they are. Absent if there is no redactor.
   */
  redactor?: "ask" | "leave"
}

/** A block that the caller's redactor must see before it is stored. */
export interface Question {
  /** The key that the answer must repeat. */
  key: string
  /** The text that would be stored. */
  text: string
  /** Other text that the placeholder and the label may quote, such as arguments of the call. */
  beside: string
}

/** The redactor's answer to a question. */
export interface Answer {
  /** The key of the question. */
  key: string
  /** The masked text to store. Absent if nothing was masked. */
  masked?: string
  /** True if the block must not be stored at all. */
  stays: boolean
}

/** A block that was rewritten. */
export interface Action {
  /** The index of the message. */
  message: number
  /** The index of the block among the parts that Concertina understands. */
  block: number
  /**
   * The reason: `shortened`, `shrunk` (an image) or `large` at birth; later `stale`, `superseded`, `duplicate` or
   * the reason of the epoch; `replay` if an earlier call decided it.
   */
  reason: FoldReason
  /** The id in the placeholder. */
  refId: string | null
  /** Tokens of the block in the input. */
  tokensBefore: number
  /** Tokens of the block in the output. */
  tokensAfter: number
}

/** A change of content that was already sent. */
export interface EpochReport {
  /** The reason for the change. */
  reason: EpochReason
  /** Tokens that were removed from the context. */
  tokensFreed: number
  /** Tokens that the cache held and has to take in again; 0 if it was cold. */
  tokensRebilled: number
}

/** A failure that did not stop the turn. */
export interface Warning {
  /** The stable code of the error. */
  code: ErrorCode
  /** The error message. */
  message: string
}

/** A message, or a part of one, that is left as it is because it cannot be read. */
export interface LeftAlone {
  /** The index of the message. */
  message: number
  /** The path of the part, such as `content[1].text`. Empty for the message itself. */
  path: string
  /** The reason why it cannot be read. */
  why: string
}

/** The report of a call that rewrites messages. */
export interface Report {
  /** One row for each rewritten block. */
  actions: Array<Action>
  /** Tokens of the examined blocks in the input. */
  tokensBefore: number
  /** Tokens of the same blocks in the output. */
  tokensAfter: number
  /** The change of content that was already sent, if there was one in this call. */
  epoch?: EpochReport
  /** The failure of the store, if new content could not be replaced because of it. */
  warning?: Warning
  /**
   * Indexes of messages that the caller changed during the call. They are left as they are, and `actions` does not
   * name them.
   */
  changedMeanwhile?: Array<number>
  /**
   * Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
   * that JSON does not have.
   */
  leftAlone?: Array<LeftAlone>
}

/** Folded messages. */
export interface Folded {
  /** The changes to the messages. */
  change: Change
  /** The report. */
  report: Report
  /** Questions that must be answered before anything is folded. */
  questions: Array<Question>
}

/** Unfolded messages. */
export interface Unfolded {
  /** The changes to the messages. */
  change: Change
  /** The number of blocks whose originals were put back. */
  unfolded: number
  /** Ids in placeholders whose originals are not available. */
  missing: Array<string>
}

/** A request for originals. */
export interface FetchRequest {
  /**
   * Ids, or whole markers as placeholders print them. A part may follow after a colon and overrides the other
   * fields: `id:41-80` for lines, `id:c41-80` for characters, `id:/regex/` for matching lines.
   * Absent or empty for a search with `query`.
   */
  refIds?: Array<string>
  /** The id of the agent whose originals are fetched; `main` by default. */
  agentId?: string
  /** The id of the session that asks. A search needs it. */
  sessionId?: string
  /**
   * A range of lines, inclusive and counted from 1: `"41-420"`, `"41-"` or `"41"`. In a listing it refers to the
   * printed line numbers, and in arguments of a call to lines of their rendering.
   */
  lines?: string
  /** A range of characters, inclusive and counted from 1, for texts with few long lines. */
  chars?: string
  /** A regular expression. Only matching lines are returned, numbered, with two lines of context on each side. */
  pattern?: string
  /**
   * Ids of originals whose copies the agent no longer needs. Fetched content of the session with these ids counts as
   * stale from now on, until it is fetched again.
   */
  done?: Array<string>
  /**
   * Words, of which those in quotation marks belong together. With ids, the lines with most of them are returned as
   * by `pattern`. Without ids, such lines of the originals of the session that have all of them, the best first.
   */
  query?: string
  /** The maximum number of characters of the whole answer. The default, 15,900, is within the limit of every host. */
  maxChars?: number
  /** The time of the call in milliseconds since 1970; now by default. */
  now?: number
}

/** A part of an answer, in the shape that hosts and providers accept. */
export type ContentBlock =
  | { type: 'text'; /** The text. */ text: string }
  | { type: 'image'; /** The bytes in base64. */ data: string; /** The MIME type. */ mimeType: string }

/** The answer to a request for originals. */
export interface Fetched {
  /** The parts of the answer, in the order of the ids. */
  content: Array<ContentBlock>
  /** The number of ids whose originals were found. */
  found: number
}

/** A search of originals. */
export interface SearchQuery {
  /** The words. */
  query: string
  /** The session to search; all by default. */
  session?: Session
  /** The maximum number of characters of all excerpts. */
  maxChars?: number
  /** The time of the call in milliseconds since 1970. */
  now: number
}

/** The originals that a search found. */
export interface SearchResult {
  /** The best ones, the best first. */
  originals: Array<FoundOriginal>
  /** The number of originals that have all words, those that are not in `originals` included. */
  matching: number
  /** A statement of what is missing in `originals`, and how to find it; empty if nothing is missing. */
  note: string
}

/** An original that a search found. */
export interface FoundOriginal {
  /** Its id. */
  refId: string
  /** The beginning of its label, such as `exec: npm test`. */
  label: string
  /** The session that was granted it. */
  sessionId: string
  /** The agent of the session. */
  agentId: string
  /** The lines with most of the words, numbered, with two lines of context on each side. */
  excerpt: string
}

/** The record of one rewriting call. */
export interface ReceiptRow {
  /** The time in milliseconds since 1970. */
  at: number
  /** The kind of call: `admit`, `assemble`, `rules`, or `failed` for a tool call that failed. */
  kind: "admit" | "assemble" | "rules" | "failed"
  /** Tokens before. */
  tokensBefore: number
  /** Tokens after. */
  tokensAfter: number
  /** Details: reasons, stages, counts. */
  detail: unknown
}

/** A change of content that was already sent. */
export interface EpochRow {
  /** The time in milliseconds since 1970. */
  at: number
  /** The reason for the change. Another version may have written other reasons. */
  reason: EpochReason | (string & {})
  /** Tokens that were removed from the context. */
  tokensFreed: number
  /** Tokens that the cache held and has to take in again; 0 if it was cold. */
  tokensRebilled: number
  /** The number of changed blocks. */
  blocks: number
}

/** A finished turn. */
export interface FinishedTurn {
  /** The host's key of the turn. A turn whose key was recorded before is a duplicate. */
  advancementKey: string
  /** The host's key of the conversation. */
  sessionKey?: string
  /** The prices of the model, as far as the caller knows them. */
  prices?: Prices
  /** The size of the model's context window in tokens, for a host that compacts a history that exceeds it. */
  contextWindow?: number
  /** The definition of the fetch tool as it is sent to the model. */
  tool: string
  /** The tools of the results that reported a failure, one for each result. */
  failed: Array<string>
  /** True if the session is left untouched, to be compared with others. */
  heldOut: boolean
}

/** The requests to add up. */
export interface FiguresQuery {
  /** The session; all sessions by default. */
  session?: Session
  /** The beginning of the period, in milliseconds since 1970. */
  since?: number
  /** The end of the period, exclusive, in milliseconds since 1970. */
  until?: number
}

/** Totals of a session or of the whole store. */
export interface Stats {
  /** The number of sessions. */
  sessions: number
  /** The number of stored originals. */
  originals: number
  /** The uncompressed size of the originals in bytes. */
  originalBytes: number
  /** The size of the originals as stored, in bytes. */
  storedBytes: number
  /** The number of recorded turns. */
  turns: number
  /** The sum of the tokens before, over all receipts. */
  tokensBefore: number
  /** The sum of the tokens after, over all receipts. */
  tokensAfter: number
  /** The receipts, newest first, at most 100. */
  receipts: Array<ReceiptRow>
  /** The epochs, newest first, at most 100. */
  epochs: Array<EpochRow>
}

/** The result of a sweep or a purge. */
export interface Removed {
  /** The number of removed originals. */
  originals: number
  /** The number of bytes freed in the file. For a dry run, the stored size of what would be removed. */
  bytes: number
  /** The number of removed sessions. */
  sessions: number
}
