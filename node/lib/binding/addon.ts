// Generated from node/src by `npm run generate`. Do not edit.
import type { RulesLevel } from "../library/api.js";
import type { Figures, KnownSession } from "../library/figures.js";
import type { Options } from "./options.js";

/** What becomes of a fresh result of a tool. */
export interface AtBirth {
  /** The option `secrets`. */
  secrets: "keep-inline" | "store" | "redact"
  /** Whether its texts may be stored. */
  storesTexts: boolean
}

/** Code that is not given every text, until the next version. */
export interface SkippedCode {
  /** Its name: a grammar's, or a library's. */
  code: string
  /** How many texts ended a process in it, or did not come back. These it is not given again. */
  texts: number
  /** Whether it is given none any more. */
  isOff: boolean
}

/** One open store with one set of options. */
export declare class NativeConcertina {
  /**
   * Opens the store at a place. `retention` is `"clock"` (default) or `"host"`; with `today`, a date such as `2026-01-31`, a
   * damaged file is set aside under a name with that date, and a new one takes its place. In `journal_dir` stands what parsers are
   * given, beside a database: a store in a directory notes that there.
   */
  static open(place: StorePlace, optionsJson: string, retention?: string | undefined | null, today?: string | undefined | null, journalDir?: string | undefined | null): Promise<NativeConcertina>
  /**
   * What an operator should know and has not been told yet, one line each: a file that was replaced, set aside, or open to
   * others.
   */
  notices(): Array<string>
  /** Parsers and libraries that are not given every text, because some ended a process or did not come back. */
  skipped(): Array<SkippedCode>
  /** One line for each option that was corrected. */
  get warnings(): Array<string>
  /** What becomes of a fresh result of a tool. */
  atBirth(tool: string): AtBirth
  /**
   * The moment of birth. `messages` holds the result, after its call where that is known, and before itself unmasked where it is
   * masked.
   */
  admit(messages: Handover, session: Session, options: BirthOptions, now: number): Promise<Folded>
  /** Folds a history. Where it has questions, the same messages may be assembled again. */
  assemble(messages: Handover, session: Session, options: AssembleOptions, now: number): Promise<Folded>
  /** Remembers what a redactor of the caller's made of what was to be asked. */
  hear(answers: Array<Answer>): void
  /** Records a finished turn with its requests; resolves to whether it was new. */
  commitTurn(messages: Handover, session: Session, turn: FinishedTurn, now: number): Promise<"committed" | "duplicate">
  /** Gives a sub-agent's session what its parent's session may see; with `named`, of that only the originals with these ids. */
  inherit(parent: Session, child: Session, now: number, named?: Array<string> | undefined | null): Promise<undefined>
  /** The host has ended a session: the time to live of what it held begins. */
  endSession(session: Session, now: number): Promise<undefined>
  /** Ends the held sessions that are not among those that the host still knows; resolves to how many. */
  settle(alive: Array<string>, now: number): Promise<number>
  /** Puts originals back in the place of placeholders: those of a session, or, without one, those that the markers lead an agent to. */
  unfold(messages: Handover, sessionId: string | undefined | null, agentId: string | undefined | null, now: number): Promise<Unfolded>
  /** Keeps what repeating rules came to. */
  recordRules(session: Session, report: RulesReport, now: number): Promise<undefined>
  /** Answers a fetch. */
  fetch(request: FetchRequest): Promise<Fetched>
  /** Totals. */
  stats(session?: Session | undefined | null): Promise<Stats>
  /** What was sent and billed, and what would have been without us. */
  figures(query: FiguresQuery): Promise<Figures>
  /** The sessions that the store knows, the last seen first. */
  sessions(): Promise<KnownSession[]>
  /** Keeps a line that the operator was warned with. */
  warn(text: string, now: number): Promise<undefined>
  /** What the operator was warned of since a moment, newest first. */
  warned(since: number): Promise<Array<WarningRow>>
  /** Stops folding anything more in a session, or takes that back. */
  switch(session: Session, isOff: boolean, now: number): Promise<undefined>
  /** Reads the whole file; with `today` a damaged one is set aside, and a new one takes its place. Resolves to whether that was so. */
  check(today?: string | undefined | null): Promise<boolean>
  /** Removes what expired. */
  sweep(now: number): Promise<Removed>
  /** Forgets a session; resolves to what was removed. With `dry`, to what would be. */
  purge(session: Session, dry: boolean): Promise<Removed>
  /** Lets go of the store. The file closes when nobody in the process uses it any more. */
  close(): Promise<undefined>
}

/** What one stage did. */
export interface StageRow {
  /** The stage. */
  name: string
  /** Whether any of its edits is in the text. */
  fired: boolean
  /** Tokens before it ran. */
  tokensBefore: number
  /** Tokens after it ran. */
  tokensAfter: number
  /** Tokens that its edits would have saved by themselves: where others of the same text save more, theirs are taken. */
  offered: number
  /** Time spent on deciding whether to look closer. */
  gateMs: number
  /** Time spent on proposing, measuring and proving. */
  workMs: number
  /** What the stage has to say. */
  notes: Record<string, string>
}

/** The exact bytes that a marker stands for. */
export interface Original {
  /** All 64 digits of the SHA-256 of the bytes; markers print the first 16. */
  refId: string
  /** The bytes. */
  data: Buffer
  /** Where it came from, for people. */
  label: string
  /** The type of an image; absent where the bytes are a text. */
  mimeType?: string
}

/** A compressed text. When nothing paid, the text is the input. */
export interface CompressResult {
  /** The text. */
  text: string
  /** Tokens of the input. */
  tokensBefore: number
  /** Tokens of the text, marker included. */
  tokensAfter: number
  /** What most of the input was taken for. */
  contentType: string
  /** Its language, for code. */
  language: string | null
  /** Whether the text alone restores the input. */
  lossless: boolean
  /** One row for each stage, in the order in which they ran. */
  stages: Array<StageRow>
  /** What must be stored before the text is shown. */
  originals: Array<Original>
}

/** What a custom stage looks at. */
export interface StageContext {
  /** The text as the stages before it left it. */
  text: string
  /** What most of it is. */
  contentType: string
  /** Its language, for code. */
  language: string | null
  /** Who said it. */
  role: string
}

/** What a stage of JavaScript's is asked. */
export interface Question {
  /** The stage's name. */
  stage: string
  /** What it looks at. */
  context: StageContext
}

/** How far a job came: to a question, or to its result. */
export interface Step {
  /** What has to be answered first. */
  question?: Question
  /** The end. */
  result?: CompressResult
}

/**
 * One text on its way through the pipeline. Stages that JavaScript runs are answered between calls of `advance`.
 * 
 * Where there are such stages, a thread works on the text and waits for each answer, so that nothing is done twice.
 * It keeps its place among the heavy jobs until it is done, `end` is called or this object goes.
 */
export declare class CompressJob {
  /** A job for a text. */
  constructor(text: string, optionsJson: string)
  /** Works on a worker until a stage of JavaScript's must be asked or all is done. */
  advance(): Promise<Step>
  /** The same on the calling thread. */
  advanceSync(): Step
  /** The answer to the last question: the text as the stage would have it, or null when it does not apply. */
  answer(text?: string | undefined | null): void
  /** Lets go of the work, done or not. */
  end(): void
}

/** What became of a block of a conversation. */
export interface BlockRow {
  /** Index of its message. */
  message: number
  /** Index of the block among the message's blocks. */
  block: number
  /** What was done. */
  action: "repeat" | "delta" | "runs" | "compressed" | "shrunk"
  /** Tokens before. */
  tokensBefore: number
  /** Tokens after. */
  tokensAfter: number
  /** The pipeline's rows; none for a block that was replaced as a whole. */
  stages: Array<StageRow>
  /** The `refId` of the original that it was; absent where its text alone restores it. */
  refId?: string
}

/** What compressing a conversation did. */
export interface MessagesReport {
  /** Tokens of the blocks that were looked at, as they came. */
  tokensBefore: number
  /** Tokens of the same blocks as returned. */
  tokensAfter: number
  /** One for each changed block. */
  blocks: Array<BlockRow>
  /** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no block names them. */
  changedMeanwhile?: Array<number>
  /** What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have. */
  leftAlone?: Array<LeftAlone>
}

/** A compressed conversation. */
export interface CompressedMessages {
  /** What becomes of the messages. */
  change: Change
  /** What must be stored before they are shown. */
  originals: Array<Original>
  /** What was done. */
  report: MessagesReport
}

/** `compressMessages(messages, options)`. */
export declare function compressMessages(messages: Handover, optionsJson: string): Promise<CompressedMessages>

/** The same on the calling thread. */
export declare function compressMessagesSync(messages: Handover, optionsJson: string): CompressedMessages

/** `restore(text, originals, { strict })`; the originals are UTF-8 texts. */
export declare function restore(text: string, originals: Array<Buffer>, strict: boolean): string

/** An original as it is handed back. */
export interface KeptOriginal {
  /** The bytes. */
  data: Buffer
  /** The type of an image. */
  mimeType?: string
}

/** A block that was changed, as far as a report has to name it. */
export interface ChangedBlock {
  /** Index of its message. */
  message: number
  /** Index of the block among the message's blocks. */
  block: number
  /** The original that it was. */
  refId?: string
}

/** `restoreMessages({ messages, originals, report })`. */
export declare function restoreMessages(messages: Handover, originals: Array<KeptOriginal>, blocks: Array<ChangedBlock>): Change

/** A stage of the pipeline. */
export interface StageInfo {
  /** The name. */
  name: string
  /** When it runs. */
  order: number
  /** Whether all its rewrites are restorable from the output alone. */
  lossless: boolean
  /** The types it works on. */
  contentTypes: Array<string>
}

/** `stages()`. */
export declare function stages(): Array<StageInfo>

/** Messages on their way into the addon. JavaScript pushes slices between turns of the event loop. */
export declare class Handover {
  /** An empty handover. */
  constructor()
  /** Adds a string that was lifted out of the messages to come, or, when it `continues`, a further piece of the last one. */
  text(piece: string, continues: boolean): void
  /** Adds some messages: a JSON array, without the strings that were added before it. */
  push(light: string): void
}

/** What becomes of messages. JSON, as the way in: see the head of this file. */
export interface Change {
  /** JSON arrays of patches, each `[message, path, value]`, or `[message, path]` for a part that leaves. */
  patches: Array<string>
  /** JSON array of kept indexes and `[inserted message]`, where the order changes. */
  slots?: string
}

/** What was copied. */
export interface Migrated {
  /** How many rows, by table. */
  rows: Record<string, number>
  /** Ids of originals that were damaged in the source already: they are as damaged now. */
  damaged: Array<string>
}

/** A copy that says how far it is. */
export declare class NativeMigration {
  /** A copy that has not begun. */
  constructor()
  /** How many originals were copied so far. */
  get copied(): number
  /** Copies everything into an empty store, reads it back, and compares. */
  run(from: StorePlace, to: StorePlace): Promise<Migrated>
}

/** The options in force, all of them, and one line for each that was wrong. */
export interface OptionsInForce {
  /** As `open` takes them. */
  options: Required<Options>
  /** What was wrong. */
  warnings: Array<string>
}

/** Reads options that nobody has checked over a host's own defaults. An unknown key and a bad value cost that option only. */
export declare function optionsInForce(optionsJson: string, defaultsJson: string): OptionsInForce

/** How prose is shortened. */
export interface ProseOptions {
  /** How much goes: `full` by default. */
  intensity?: "lite" | "full" | "ultra"
  /** What becomes less: real tokens by default. Abbreviations save none, so they are for `chars` only. */
  objective?: "tokens" | "chars"
}

/** A short form that stands for a longer one. */
export interface Substitution {
  /** What stood there. */
  long: string
  /** What stands there now. */
  short: string
  /** How often it was put in. */
  count: number
}

/** What shortening a text came to; never part of the text. */
export interface ProseReceipt {
  /** o200k tokens of the input. */
  tokens_before: number
  /** o200k tokens of the output. */
  tokens_after: number
  /** Negative when saving characters cost tokens. */
  saved_tokens: number
  /** The saved part of `tokens_before`, 0 to 1. */
  saved_ratio: number
  /** How much was to go. */
  compression_intensity: "lite" | "full" | "ultra"
  /** The short forms that stand for longer ones; `expand` undoes just these. */
  substitutions: Array<Substitution>
}

/** A shortened text with its receipt. */
export interface CompressedProse {
  /** The text. */
  text: string
  /** What shortening it came to. */
  receipt: ProseReceipt
}

/** `compressProse(text, options)`. */
export declare function compressProse(text: string, options: ProseOptions): CompressedProse

/** The same on a worker. */
export declare function compressProseOnWorker(text: string, options: ProseOptions): Promise<CompressedProse>

/** `expand(text, receipt)`: with the substitutions of a receipt, only those. */
export declare function expand(text: string, substitutions?: Array<Substitution> | undefined | null): string

/** A part of a text, by its length in UTF-16 units. */
export interface TextPart {
  /** A kind of protected span, or `prose`. */
  kind: string
  /** UTF-16 units. */
  length: number
}

/** `tokenize(text)`. */
export declare function tokenize(text: string): Array<TextPart>

/** `redactPrivate(text)`. */
export declare function redactPrivate(text: string): string

/** A part of a rule file that stays. Offsets are UTF-16 units. */
export interface ProtectedSpan {
  /** Where it begins. */
  start: number
  /** Where it ends. */
  end: number
  /** A kind of `tokenize`, or `negation`, `assertion`, `action`. */
  category: string
}

/** `protectedSpans(text)`. */
export declare function protectedSpans(text: string): Array<ProtectedSpan>

/** How rule files are shortened. */
export interface RulesOptions {
  /** 2 by default. */
  level?: RulesLevel
  /** Most characters of the result. */
  maxChars?: number
  /** What becomes less: characters by default, and never at the price of more tokens than the files have. */
  objective?: "chars" | "tokens"
  /** Abbreviations beside the built-in ones; these win. */
  abbreviations?: { entries: Record<string, string> }
}

/** `preprocess(text, level, options)`; the level comes with the options. */
export declare function preprocess(text: string, options: RulesOptions): string

/** The same on a worker. */
export declare function preprocessOnWorker(text: string, options: RulesOptions): Promise<string>

/** A rule file; `priority: N` in its front matter says where it comes. */
export interface RuleFile {
  /** Its name, for the report. */
  name: string
  /** Its text. */
  text: string
}

/** What became of one rule file. */
export interface RuleRow {
  /** Its name. */
  name: string
  /** Its place in the order. */
  priority: number
  /** Whether it is in the text. */
  included: boolean
  /** UTF-16 units as it came. */
  charsBefore: number
  /** UTF-16 units as it is, or would be, in the text. */
  charsAfter: number
  /** o200k tokens as it came. */
  tokensBefore: number
  /** o200k tokens as it is, or would be. */
  tokensAfter: number
}

/** What shortening rule files came to. */
export interface RulesReport {
  /** How much of the wording went. */
  level: number
  /** What was to become less. */
  objective: "chars" | "tokens"
  /** UTF-16 units of the files in the text, as they came. */
  charsBefore: number
  /** UTF-16 units of the text. */
  charsAfter: number
  /** o200k tokens of the files in the text, as they came. */
  tokensBefore: number
  /** o200k tokens of the text. */
  tokensAfter: number
  /** Every file, in order. */
  files: Array<RuleRow>
}

/** Rule files in one text. */
export interface CompressedRules {
  /** The text. */
  text: string
  /** Names of the files in the text, in order. */
  included: Array<string>
  /** Names of the files that did not fit. */
  omitted: Array<string>
  /** What was done. */
  report: RulesReport
}

/** `compressRules(files, options)`. */
export declare function compressRules(files: Array<RuleFile>, options: RulesOptions): CompressedRules

/** The same on a worker. */
export declare function compressRulesOnWorker(files: Array<RuleFile>, options: RulesOptions): Promise<CompressedRules>

/** What `squeeze()` did. */
export interface SqueezeStats {
  /** Messages given. */
  messagesProcessed: number
  /** Blocks replaced: results, calls and images, stale or large. */
  blocksEvicted: number
  /** Tokens really freed: what went, less the placeholders that came. */
  tokensFreed: number
  /** Images replaced. */
  imagesEvicted: number
  /** Texts of stale tool results replaced. */
  toolResultsEvicted: number
  /** Tool calls whose arguments shrank. */
  toolCallsEvicted: number
  /** Heartbeats dropped, each a prompt with its answer. */
  heartbeatsPruned: number
  /** Large results cut, whatever their age. */
  largeResultsTruncated: number
  /** What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have. */
  leftAlone?: Array<LeftAlone>
}

/** A squeezed conversation. */
export interface Squeezed {
  /** What becomes of the messages. */
  change: Change
  /** What was done. */
  stats: SqueezeStats
}

/** `squeeze(messages, options)`. */
export declare function squeeze(messages: Handover, optionsJson: string): Squeezed

/** What `repairToolPairing()` did. */
export interface RepairStats {
  /** Error results made up for calls that had none. */
  syntheticResultsInserted: number
  /** Results dropped because no call has their id, or only calls of failed answers. */
  orphanResultsDropped: number
  /** Results dropped because their call was answered before. */
  duplicateResultsDropped: number
  /** Whether anything changed, moves included. */
  repaired: boolean
  /** Index of the first message that may be, or hold, a call or a result and cannot be read: then nothing is changed. */
  unreadable?: number
}

/** A repaired conversation. */
export interface Repaired {
  /** What becomes of the messages. */
  change: Change
  /** What was done. */
  stats: RepairStats
}

/** `repairToolPairing(messages)`. */
export declare function repairToolPairing(messages: Handover): Repaired

/** `countTokens(text, { encoding })`. */
export declare function countTokens(text: string, encodingName?: string | undefined | null): number

/** `countMessageTokens(messages, { model, encoding })`. */
export declare function countMessageTokens(messages: Handover, model?: string | undefined | null, encodingName?: string | undefined | null): number

/** What the caller knows about a text. */
export interface Hints {
  /** The tool that produced it. */
  toolName?: string
  /** The file it was read from. */
  path?: string
  /** The command that printed it. */
  command?: string
  /** A type that the caller insists on: code, json, log, diff, search, table, html, text. */
  contentType?: string
  /** A language that the caller insists on. */
  language?: string
}

/** `summarize(text, { hints, maxChars })`. */
export declare function summarize(text: string, hints: Hints, maxChars: number): string

/** A run of text of one kind. Offsets are UTF-16 units, as `String.prototype.slice` counts. */
export interface Segment {
  /** Where it begins. */
  start: number
  /** Where it ends. */
  end: number
  /** What it is. */
  contentType: string
  /** Its language, for code. */
  language: string | null
}

/** What kind of text something is. */
export interface Detection {
  /** What most of it is. */
  contentType: string
  /** Its language, for code. */
  language: string | null
  /** What its parts are. */
  segments: Array<Segment>
}

/** `detect(text, hints)`. */
export declare function detect(text: string, hints: Hints): Detection

/** Panics on purpose, so that a test can see the guard at work. Not part of the JavaScript face. */
export declare function __panic(): void

/** The same on a worker thread. */
export declare function __panicOnWorker(): Promise<undefined>

/** Where a store lives: in `dir`, or in a database. */
export interface StorePlace {
  /** A directory. */
  dir?: string
  /** The address of a PostgreSQL database. */
  url?: string
  /** The tenant in that database. */
  namespace?: string
  /** Which of the hosts that hold sessions there this one is. */
  host?: string
}

/** Whose content a call is about. */
export interface Session {
  /** The agent; `main` when absent. */
  agentId?: string
  /** The session. */
  sessionId: string
}

/** Prices per token, in any one currency, and how long the provider's cache lives. */
export interface Prices {
  /** A token of fresh input. */
  input: number
  /** A token read from the cache. */
  cacheRead: number
  /** A token written to the cache. */
  cacheWrite: number
  /** A token of an answer. */
  output?: number
  /** How long the cache lives, in milliseconds. */
  cacheTtlMs: number
  /** Whether these are US dollars per million tokens: figures are then in dollars. */
  usdPerMillion?: boolean
}

/** What is known of a result at its birth, beside the message. */
export interface BirthOptions {
  /** The length, in UTF-16 units, at which the host has cut a text. */
  hostCutAt?: number
  /** How many UTF-16 units of a text the host sends. */
  hostKeeps?: number
  /** Whether the last message is the one before it as it was before a redactor masked some of it. */
  isMasked?: boolean
  /** The model. */
  model?: string
}

/** What assembling is told beside the messages. */
export interface AssembleOptions {
  /** The tools of this run. */
  availableTools?: Array<string>
  /** The model. */
  model?: string
  /** Whether fresh oversize results are replaced, too. */
  referOversize: boolean
  /** What the model's tokens cost. */
  prices?: Prices
  /** How many tokens the host leaves for the history. */
  tokenBudget?: number
  /** Whether a user turn begins whose message is not among the messages yet. */
  turnBegins: boolean
  /** What becomes of what a redactor of the caller's has not seen: it is asked about, or it stays. Absent where there is none. */
  redactor?: "ask" | "leave"
}

/** What a redactor of the caller's is to be asked. */
export interface Question {
  /** What the answer is remembered by. */
  key: string
  /** What would be stored. */
  text: string
  /** What a placeholder of it may name. */
  beside: string
}

/** What the redactor made of it. */
export interface Answer {
  /** That of the question. */
  key: string
  /** What may be stored instead; absent where nothing is masked. */
  masked?: string
  /** Whether it must not be stored at all. */
  stays: boolean
}

/** One block that was rewritten. */
export interface Action {
  /** Index of the message. */
  message: number
  /** Index of the block among the parts that Concertina understands. */
  block: number
  /** `shortened` or `large` at birth; `stale` or `superseded` later; `replay` for what an earlier call decided. */
  reason: string
  /** The id that the placeholder prints. */
  refId: string | null
  /** Tokens of the block as the host holds it. */
  tokensBefore: number
  /** Tokens of what is shown. */
  tokensAfter: number
}

/** Already-sent content changed. */
export interface EpochReport {
  /** Why. */
  reason: string
  /** Tokens that left the context. */
  tokensFreed: number
  /** Tokens behind the first changed block, which a prompt cache bills anew. */
  tokensRebilled: number
}

/** A failure that did not stop the turn. */
export interface Warning {
  /** The stable code of the error. */
  code: string
  /** What happened. */
  message: string
}

/** A message, or a part of one, that cannot be read and so stays as it is. */
export interface LeftAlone {
  /** Index of the message. */
  message: number
  /** The part, as `content[1].text`; empty for the message itself. */
  path: string
  /** Why it cannot be read. */
  why: string
}

/** What a job did. */
export interface Report {
  /** One for each rewritten block. */
  actions: Array<Action>
  /** Tokens of the blocks that were looked at, as they came. */
  tokensBefore: number
  /** Tokens of the same blocks as returned. */
  tokensAfter: number
  /** Set when already-sent content changed in this call. */
  epoch?: EpochReport
  /** Set when the store failed and new content went out unreplaced. */
  warning?: Warning
  /** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no action names them. */
  changedMeanwhile?: Array<number>
  /** What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have. */
  leftAlone?: Array<LeftAlone>
}

/** Folded messages. */
export interface Folded {
  /** What becomes of the messages. */
  change: Change
  /** What was done. */
  report: Report
  /** What has to be asked before anything is folded. */
  questions: Array<Question>
}

/** Unfolded messages. */
export interface Unfolded {
  /** What becomes of the messages. */
  change: Change
  /** How many blocks show their originals again. */
  unfolded: number
  /** Ids that blocks name and that lead to nothing. */
  missing: Array<string>
}

/** What is to be fetched. */
export interface FetchRequest {
  /**
   * Bare ids, or whole markers as placeholders print them; what of it is wanted may follow after a colon, and goes before the other
   * fields: `id:41-80`, `id:c41-80` for characters, `id:/regex/`.
   */
  refIds: Array<string>
  /** Whose originals; `main` when absent. */
  agentId?: string
  /** The session that asks. */
  sessionId?: string
  /** 1-based inclusive line range: `"41-420"`, `"41-"`, `"41"`; of a listing by the numbers that it prints, of arguments in a rendering of them. */
  lines?: string
  /** 1-based inclusive character range, for texts of few long lines. */
  chars?: string
  /** Regular expression: only matching lines come back, numbered, with two lines around each. */
  pattern?: string
  /** Most characters of the whole answer; 15,900 by default, which every host accepts. */
  maxChars?: number
  /** When, in milliseconds since 1970; now by default. */
  now?: number
}

/** A part of an answer, as hosts and providers take it. */
export type ContentBlock =
  | { type: 'text'; /** The text. */ text: string }
  | { type: 'image'; /** Its bytes in base64. */ data: string; /** Its type. */ mimeType: string }

/** An answer. */
export interface Fetched {
  /** In the order of the ids. */
  content: Array<ContentBlock>
  /** How many ids led to an original. */
  found: number
}

/** What a piece of work came to. */
export interface ReceiptRow {
  /** When, in milliseconds since 1970. */
  at: number
  /** `admit`, `assemble` or `rules`. */
  kind: string
  /** Tokens before. */
  tokensBefore: number
  /** Tokens after. */
  tokensAfter: number
  /** Reasons, stages, counts. */
  detail: unknown
}

/** A change of content that was already sent. */
export interface EpochRow {
  /** When, in milliseconds since 1970. */
  at: number
  /** Why. */
  reason: string
  /** Tokens that left the context. */
  tokensFreed: number
  /** Tokens behind the first changed byte, billed anew. */
  tokensRebilled: number
  /** How many blocks changed. */
  blocks: number
}

/** A turn that is over. */
export interface FinishedTurn {
  /** What the host knows it by: the same key again is a duplicate. */
  advancementKey: string
  /** What the host calls the conversation. */
  sessionKey?: string
  /** What tokens cost; by the model's family where nobody says. */
  prices?: Prices
  /** The model's window in tokens, of a host that compacts what outgrows it. */
  contextWindow?: number
  /** The definition of the fetch tool, as the model is sent it. */
  tool: string
}

/** Which requests are counted. */
export interface FiguresQuery {
  /** Only this session's. */
  session?: Session
  /** From this moment on, in milliseconds since 1970. */
  since?: number
  /** Before this moment. */
  until?: number
}

/** What the operator was warned with. */
export interface WarningRow {
  /** When, in milliseconds since 1970. */
  at: number
  /** The line. */
  text: string
}

/** Totals of a session or of the whole store. */
export interface Stats {
  /** Sessions known. */
  sessions: number
  /** Originals on disk. */
  originals: number
  /** Their size as they were. */
  originalBytes: number
  /** Their size as stored. */
  storedBytes: number
  /** Turns committed. */
  turns: number
  /** Tokens before, over all receipts. */
  tokensBefore: number
  /** Tokens after, over all receipts. */
  tokensAfter: number
  /** Newest first, at most 100. */
  receipts: Array<ReceiptRow>
  /** Newest first, at most 100. */
  epochs: Array<EpochRow>
}

/** What a sweep or purge removed. */
export interface Removed {
  /** Originals. */
  originals: number
  /** Bytes freed in the file; of what would be removed, the size as stored. */
  bytes: number
  /** Sessions forgotten. */
  sessions: number
}
