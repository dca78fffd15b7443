// Generated from node/lib by `npm run generate`. Do not edit.
/// <reference types="node" />

import { InspectOptions, inspect } from 'node:util';

interface Interval {
	share: number;
	least: number;
	most: number;
}
/** The types of text that are processed differently. */
export type ContentType = "code" | "json" | "log" | "diff" | "search" | "table" | "html" | "text" | "unknown";
/** The programming languages that detection distinguishes. */
export type Language = "python" | "javascript" | "typescript" | "java" | "c" | "cpp" | "csharp" | "go" | "rust" | "ruby" | "php" | "swift" | "kotlin" | "scala" | "shell" | "sql";
/** The built-in stages of the pipeline, in their order. */
export type StageName = "quantumLock" | "cortex" | "photon" | "rle" | "semanticDedup" | "ionizer" | "logCrunch" | "searchCrunch" | "diffCrunch" | "structuralCollapse" | "neurosyntax" | "nexus" | "tokenOpt" | "abbrev";
/** The reasons for a change of content that was already sent. */
export type EpochReason = "cold: first call" | "cold: idle" | "cold: compacted" | "cold: history rewritten" | "cold: cache not used" | "ski-rental" | "limit" | "cliff" | "bound" | "asked" | "returned: its duplicate or successor is gone" | "restored: it is pinned or protected" | "large" | "thinking" | "stale" | "superseded" | "duplicate";
/** The reasons for rewriting a block. `replay` means that an earlier call decided it. */
export type FoldReason = EpochReason | "shortened" | "shrunk" | "restored" | "replay";
/** The codes of errors. The library guide explains each. */
export type ErrorCode = "CONCERTINA_BAD_ARGUMENT" | "CONCERTINA_BAD_PATTERN" | "CONCERTINA_BAD_REF_ID" | "CONCERTINA_CLOSED" | "CONCERTINA_FOLD_DAMAGED" | "CONCERTINA_NO_BINARY" | "CONCERTINA_ORIGINAL_DAMAGED" | "CONCERTINA_ORIGINAL_MISSING" | "CONCERTINA_PANIC" | "CONCERTINA_STORE_DAMAGED" | "CONCERTINA_STORE_FULL" | "CONCERTINA_STORE_LOCKED" | "CONCERTINA_STORE_NEWER" | "CONCERTINA_STORE_REPLACED" | "CONCERTINA_STORE_UNAVAILABLE";
/** Sums over requests, with Concertina and estimated without it. Tokens are those of the prompt, not of the answer. */
export interface Amount {
	requests: number;
	/**
	 * Requests without a known assembly of Concertina: made with another engine, while it was off or unavailable, or in a
	 * turn that was cut short. Without it they would have been the same.
	 */
	bypassed: number;
	sentTokens: number;
	/** The estimate without Concertina. If the model's context window is known, no request exceeds it. */
	withoutTokens: number;
	/** The bill of the prompts. The bill of the answers is in `answerBill`. */
	sentBill: number;
	/** The estimated bill of the prompts without Concertina. */
	withoutBill: number;
	/** The lower bound of that estimate, for a host that keeps no message when it compacts. */
	withoutLeast: number;
	/** The upper bound of that estimate, for a host that drops no more than it must when it compacts. */
	withoutMost: number;
}
interface Group {
	sessions: number;
	turns: number;
	requests: number;
	/** The number of originals that models fetched. */
	fetches: number;
	/** The number of tool calls that failed. */
	failures: number;
	/** The bill that the provider really made. */
	bill: number;
}
interface Comparison {
	folded: Group;
	untouched: Group;
	/** True if the bills include answers. They do not if the price of some answer is unknown. */
	withAnswers: boolean;
	/** The number of sessions that the smaller group still lacks. Until it is 0 there is no measured saving. */
	missing: number;
	/** The saving per turn, as a share, with its 95 % interval. Null until there are enough sessions. */
	perTurn: Interval | null;
	/** The saving per session. It is less certain, because sessions differ in length. */
	perSession: Interval | null;
	/** The modelled saving of the folded sessions. */
	modelled: number | null;
	/** True if the modelled saving is outside the measured interval per turn. */
	disagrees: boolean;
}
/** Figures of the whole store, or of one session, over a period. */
export interface Figures {
	/**
	 * The unit of bills: `usd` if the price of every request is known in dollars, otherwise tokens weighted by the prices
	 * of the cache.
	 */
	unit: "usd" | "input tokens";
	total: Amount & {
		/** Requests whose tokens the provider reported. The tokens of the others were counted here. */
		measured: number;
		/**
		 * The estimated number of calls that the host would have made for notes and summaries when it compacts without
		 * Concertina. They are part of `withoutTokens` and `withoutBill`.
		 */
		compacting: number;
		/** The number of originals that the model asked for again: it fetched them, or called their tool again. */
		fetches: number;
		/**
		 * Tokens that this added to all requests: the answers for as long as they were sent, and whole requests that were
		 * made only for a fetch. Part of `sentTokens`.
		 */
		fetchTokens: number;
		/** Tokens of the fetch tool's definition in all requests. Part of `sentTokens`. */
		overheadTokens: number;
		/**
		 * Tokens in all requests of content that was old enough to be folded and stayed because it is protected or pinned.
		 * Part of `sentTokens`.
		 */
		protectedTokens: number;
		/** Requests for which the provider reported the tokens of the answer. */
		answered: number;
		/** Tokens of these answers. They are part of no other figure. */
		answerTokens: number;
		/** The bill of these answers. Null if there are none or the price of some is unknown. */
		answerBill: number | null;
		/** The bill of those answers that would also have been given without Concertina. */
		withoutAnswerBill: number | null;
	};
	/** Sums by UTC date, oldest first. */
	days: (Amount & {
		day: string;
	})[];
	/** Sums by session, at most 100, those that saved most first. */
	sessions: (Amount & {
		sessionId: string;
		sessionKey: string | null;
		isHeldOut: boolean;
		lastAt: number;
	})[];
	/** Changes of content that was already sent, newest first, at most 200. */
	epochs: {
		at: number;
		sessionId: string;
		/** Another version may have written other reasons. */
		reason: EpochReason | (string & {});
		blocks: number;
		tokensFreed: number;
		tokensRebilled: number;
	}[];
	/** Tokens of folded content before and after, by kind, in whole UTC days. */
	kinds: {
		kind: "tool results" | "tool arguments" | "thinking" | "images" | "other";
		before: number;
		after: number;
	}[];
	/**
	 * Originals that were asked for again, newest first, at most 100: fetched, or shown again by another call of the tool
	 * that they came from.
	 */
	fetched: {
		at: number;
		refId: string;
		tokens: number;
		sessionId: string | null;
		tool: string;
		isRerun: boolean;
	}[];
	/** The contents of the store, or of the session if one is asked for. */
	store: {
		originals: number;
		originalBytes: number;
		storedBytes: number;
		maxBytes: number;
		path: string;
	};
	/** The time when a block was last folded, in milliseconds since 1970. */
	lastFoldAt: number | null;
	/**
	 * The originals that are folded now in the session that was asked for, newest first, at most 1000. Empty for all
	 * sessions.
	 */
	foldedNow: FoldedOriginal[];
	/** The latest prompts of the session that was asked for, oldest first, at most 1000. Empty for all sessions. */
	prompts: {
		at: number;
		sentTokens: number;
		withoutTokens: number;
	}[];
	/** The comparison with sessions that were left untouched. Null if there are none, and for one session. */
	comparison: Comparison | null;
}
/** The requests to add up. */
export interface FiguresRequest {
	/** The session; all sessions by default. */
	sessionId?: string;
	/**
	 * The agent of the session. By default `main` or, if that has no such session, the agent that was most recently seen
	 * with one.
	 */
	agentId?: string;
	/**
	 * The beginning of the period, in milliseconds since 1970. Data of forgotten sessions, and `kinds`, count in whole
	 * UTC days.
	 */
	since?: number;
	/** The end of the period, exclusive, in milliseconds since 1970. */
	until?: number;
}
/** An original that stands in a session's context in a shorter form. */
export interface FoldedOriginal {
	/** Its id, as its placeholder prints it. */
	refId: string;
	/** The tool or the kind of content that it came from. */
	label: string;
	/** Its size in bytes. */
	bytes: number;
	/** The time at which the session first folded it, in milliseconds since 1970. */
	at: number;
	/** Another version may have written other reasons. */
	reason: FoldReason | EpochReason | (string & {});
}
/** A session in the store. */
export interface KnownSession {
	agentId: string;
	sessionId: string;
	/** The host's key of the conversation. Null until a turn was recorded. */
	sessionKey: string | null;
	/** The time of its last assembly, in milliseconds since 1970. */
	lastSeen: number;
	/** True if folding is switched off in the session. */
	isOff: boolean;
	/** True if the session is left untouched for comparison. */
	isHeldOut: boolean;
	/** True if the host of this store object has the session; see `StorePlace.host`. */
	isHere: boolean;
	/** The names of the other hosts that have the session. */
	elsewhere: string[];
}
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
		stages?: Record<string, boolean | ({
			order?: number;
		} & Record<string, unknown>)>;
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
/** A parser or library that is disabled for some texts, or for all, until the next release. */
export interface SkippedCode {
	/** The name of the grammar or library. */
	code: string;
	/** The number of texts on which it crashed or hung. These texts are never passed to it again. */
	texts: number;
	/** True if it is disabled for every text. */
	isOff: boolean;
}
/** The ids that were to be restored. */
export interface RestoredIds {
	/** Those that are shown in full from the next assembly on. */
	restored: Array<string>;
	/** Those of no original that the session shows in a shorter form. */
	unknown: Array<string>;
}
/** The result of one stage. */
export interface StageRow {
	/** The name of the stage, or of a custom stage. */
	name: StageName | (string & {});
	/** True if the text contains an edit of this stage. */
	fired: boolean;
	/** Tokens before the stage ran. */
	tokensBefore: number;
	/** Tokens after the stage ran. */
	tokensAfter: number;
	/**
	 * Tokens that the stage's edits alone would have saved. If other edits of the same text save more, those are
	 * used instead.
	 */
	offered: number;
	/** Milliseconds that were spent on deciding if the stage applies. */
	gateMs: number;
	/** Milliseconds that were spent on proposing, measuring and verifying edits. */
	workMs: number;
	/** Notes of the stage, by name. */
	notes: Record<string, string>;
}
/** The exact bytes that a marker stands for. */
export interface Original {
	/** All 64 digits of the SHA-256 of the bytes. Markers print the first 16. */
	refId: string;
	/** The bytes. */
	data: Buffer;
	/** The origin of the bytes, for people to read. */
	label: string;
	/** The MIME type of an image. Absent if the bytes are text. */
	mimeType?: string;
}
/** A compressed text. It is the input itself if nothing saved tokens. */
export interface CompressResult {
	/** The compressed text. */
	text: string;
	/** Tokens of the input. */
	tokensBefore: number;
	/** Tokens of the compressed text, with its marker. */
	tokensAfter: number;
	/** The type of most of the input. */
	contentType: ContentType;
	/** The language, if the type is code. */
	language: Language | null;
	/** True if the input can be restored from the compressed text alone. */
	lossless: boolean;
	/** One row for each stage, in the order in which the stages ran. */
	stages: Array<StageRow>;
	/** The originals that must be stored before the text is shown. */
	originals: Array<Original>;
}
/** The input of a custom stage. */
export interface StageContext {
	/** The text with the edits of the previous stages. */
	text: string;
	/** The type of most of the text. */
	contentType: ContentType;
	/** The language, if the type is code. */
	language: Language | null;
	/** The role of the message that the text is from. */
	role: "system" | "user" | "assistant" | "tool";
}
/** The result for one block of a conversation. */
export interface BlockRow {
	/** The index of the message. */
	message: number;
	/** The index of the block among the message's blocks. */
	block: number;
	/**
	 * The change. `repeat`: a reference to an earlier copy of the block. `delta`: the difference from an earlier
	 * version. `runs`: references in place of lines that stand earlier. `compressed`: the pipeline's result.
	 * `shrunk`: a smaller image.
	 */
	action: "repeat" | "delta" | "runs" | "compressed" | "shrunk";
	/** Tokens before. */
	tokensBefore: number;
	/** Tokens after. */
	tokensAfter: number;
	/** The pipeline's rows. Empty if the block was replaced as a whole. */
	stages: Array<StageRow>;
	/** The `refId` of the block's original. Absent if the block's text alone restores it. */
	refId?: string;
}
/** The report of compressing a conversation. */
export interface MessagesReport {
	/** Tokens of the examined blocks in the input. */
	tokensBefore: number;
	/** Tokens of the same blocks in the output. */
	tokensAfter: number;
	/** One row for each changed block. */
	blocks: Array<BlockRow>;
	/**
	 * Indexes of messages that the caller changed during the call. They are left as they are, and `blocks` does not
	 * name them.
	 */
	changedMeanwhile?: Array<number>;
	/**
	 * Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
	 * that JSON does not have.
	 */
	leftAlone?: Array<LeftAlone>;
}
/** A stage of the pipeline. */
export interface StageInfo {
	/** The name of the stage. */
	name: StageName;
	/** The position of the stage. Stages run in ascending order, except detection, which is always first. */
	order: number;
	/** True if every edit of the stage can be restored from the output alone. */
	lossless: boolean;
	/** The content types that the stage works on. */
	contentTypes: Array<ContentType>;
}
/** The result of a migration. */
export interface Migrated {
	/** The number of copied rows, by table. */
	rows: Record<string, number>;
	/** Ids of originals that were already damaged in the source. They are copied as they are. */
	damaged: Array<string>;
}
/** The options of shortening prose. */
export interface ProseOptions {
	/** The amount of shortening; `full` by default. */
	intensity?: "lite" | "full" | "ultra";
	/**
	 * The unit to reduce; tokens by default. Abbreviations save characters but no tokens, so they are used only with
	 * `chars`.
	 */
	objective?: "tokens" | "chars";
}
/** A short form and the longer one that it replaced. */
export interface Substitution {
	/** The replaced form. */
	long: string;
	/** The short form. */
	short: string;
	/** The number of replacements. */
	count: number;
}
/** A part of a rule file that shortening may not alter. Offsets are in UTF-16 units. */
export interface ProtectedSpan {
	/** The offset of the first unit. */
	start: number;
	/** The offset behind the last unit. */
	end: number;
	/** A kind of `tokenize`, or `negation`, `assertion`, `action`. */
	category: string;
}
/** The options of shortening rule files. */
export interface RulesOptions {
	/** The level of shortening; 2 by default. */
	level?: RulesLevel;
	/** The maximum length of the result in UTF-16 units. */
	maxChars?: number;
	/** The unit to reduce; characters by default. The result never has more tokens than the files. */
	objective?: "chars" | "tokens";
	/** Abbreviations in addition to the built-in ones, which they override. */
	abbreviations?: {
		entries: Record<string, string>;
	};
}
/** A rule file. `priority: N` in its front matter sets its place in the order. */
export interface RuleFile {
	/** The name, for the report. */
	name: string;
	/** The text. */
	text: string;
}
/** The result for one rule file. */
export interface RuleRow {
	/** The name of the file. */
	name: string;
	/** The priority, which sets the place in the order. */
	priority: number;
	/** True if the text includes the file. */
	included: boolean;
	/** UTF-16 units of the file. */
	charsBefore: number;
	/** UTF-16 units of the shortened file, also if the text does not include it. */
	charsAfter: number;
	/** o200k tokens of the file. */
	tokensBefore: number;
	/** o200k tokens of the shortened file, also if the text does not include it. */
	tokensAfter: number;
}
/** The report of shortening rule files. */
export interface RulesReport {
	/** The level that was used. */
	level: number;
	/** The unit to reduce. */
	objective: "chars" | "tokens";
	/** UTF-16 units of the included files before shortening. */
	charsBefore: number;
	/** UTF-16 units of the resulting text. */
	charsAfter: number;
	/** o200k tokens of the included files before shortening. */
	tokensBefore: number;
	/** o200k tokens of the resulting text. */
	tokensAfter: number;
	/** One row for each file, in order. */
	files: Array<RuleRow>;
}
/** Rule files, shortened and joined. */
export interface CompressedRules {
	/** The resulting text. */
	text: string;
	/** The names of the included files, in order. */
	included: Array<string>;
	/** The names of the files that did not fit. */
	omitted: Array<string>;
	/** The report. */
	report: RulesReport;
}
/** The report of `squeeze()`. */
export interface SqueezeStats {
	/** Messages in the input. */
	messagesProcessed: number;
	/** Blocks that were replaced: stale or large results, calls and images. */
	blocksEvicted: number;
	/** Tokens that were saved: those of the replaced content less those of its placeholders. */
	tokensFreed: number;
	/** Images that were replaced. */
	imagesEvicted: number;
	/** Texts of stale tool results that were replaced. */
	toolResultsEvicted: number;
	/** Tool calls whose arguments were shortened. */
	toolCallsEvicted: number;
	/** Heartbeats that were dropped. Each is a prompt with its answer. */
	heartbeatsPruned: number;
	/** Large results that were cut, whatever their age. */
	largeResultsTruncated: number;
	/**
	 * Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
	 * that JSON does not have.
	 */
	leftAlone?: Array<LeftAlone>;
}
/** The report of `repairToolPairing()`. */
export interface RepairStats {
	/** Error results that were inserted for calls without a result. */
	syntheticResultsInserted: number;
	/** Results that were dropped because no call has their id, or only calls in failed answers have it. */
	orphanResultsDropped: number;
	/** Results that were dropped because their call already has a result. */
	duplicateResultsDropped: number;
	/** True if anything changed, including the order. */
	repaired: boolean;
	/**
	 * The index of the first message that cannot be read and may be or contain a call or a result. If there is one,
	 * nothing is changed.
	 */
	unreadable?: number;
}
/** The caller's knowledge about a text. */
export interface Hints {
	/** The tool that produced the text. */
	toolName?: string;
	/** The file that the text was read from. */
	path?: string;
	/** The command that printed the text. */
	command?: string;
	/** The content type, which overrides detection: code, json, log, diff, search, table, html or text. */
	contentType?: ContentType | (string & {});
	/** The language, which overrides detection. */
	language?: Language | (string & {});
}
/** A run of text of one type. Offsets are in UTF-16 units, as `String.prototype.slice` takes them. */
export interface Segment {
	/** The offset of the first unit. */
	start: number;
	/** The offset behind the last unit. */
	end: number;
	/** The content type. */
	contentType: ContentType;
	/** The language, if the type is code. */
	language: Language | null;
}
/** The detected content type of a text. */
export interface Detection {
	/** The type of most of the text. */
	contentType: ContentType;
	/** The language, if the type is code. */
	language: Language | null;
	/** The runs of one type, in order. */
	segments: Array<Segment>;
}
/**
 * Prices per token, and the lifetime of the provider's cache. What is absent comes from the charges in the transcript
 * (`usage.cost`), or from the published prices of the model.
 */
export interface Prices {
	/** The price of an uncached input token. Needed if another price is stated. */
	input?: number;
	/** The price of a token that is read from the cache. */
	cacheRead?: number;
	/** The price of a token that is written to the cache. */
	cacheWrite?: number;
	/** The price of an output token. */
	output?: number;
	/** The lifetime of a cache entry in milliseconds. */
	cacheTtlMs?: number;
	/**
	 * True if the prices are US dollars per million tokens, as in a price list. Charges in the transcript then
	 * precede them, and figures are in dollars. Otherwise they are in any unit and precede all others.
	 */
	usdPerMillion?: boolean;
}
/** A block that was rewritten. */
export interface Action {
	/** The index of the message. */
	message: number;
	/** The index of the block among the parts that Concertina understands. */
	block: number;
	/**
	 * The reason: `shortened`, `shrunk` (an image) or `large` at birth; later `stale`, `superseded`, `duplicate` or
	 * the reason of the epoch; `replay` if an earlier call decided it.
	 */
	reason: FoldReason;
	/** The id in the placeholder. */
	refId: string | null;
	/** Tokens of the block in the input. */
	tokensBefore: number;
	/** Tokens of the block in the output. */
	tokensAfter: number;
}
/** A change of content that was already sent. */
export interface EpochReport {
	/** The reason for the change. */
	reason: EpochReason;
	/** Tokens that were removed from the context. */
	tokensFreed: number;
	/** Tokens that the cache held and has to take in again; 0 if it was cold. */
	tokensRebilled: number;
}
/** A failure that did not stop the turn. */
export interface Warning {
	/** The stable code of the error. */
	code: ErrorCode;
	/** The error message. */
	message: string;
}
/** A message, or a part of one, that is left as it is because it cannot be read. */
export interface LeftAlone {
	/** The index of the message. */
	message: number;
	/** The path of the part, such as `content[1].text`. Empty for the message itself. */
	path: string;
	/** The reason why it cannot be read. */
	why: string;
}
/** The report of a call that rewrites messages. */
export interface Report {
	/** One row for each rewritten block. */
	actions: Array<Action>;
	/** Tokens of the examined blocks in the input. */
	tokensBefore: number;
	/** Tokens of the same blocks in the output. */
	tokensAfter: number;
	/** The change of content that was already sent, if there was one in this call. */
	epoch?: EpochReport;
	/** The failure of the store, if new content could not be replaced because of it. */
	warning?: Warning;
	/**
	 * Indexes of messages that the caller changed during the call. They are left as they are, and `actions` does not
	 * name them.
	 */
	changedMeanwhile?: Array<number>;
	/**
	 * Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
	 * that JSON does not have.
	 */
	leftAlone?: Array<LeftAlone>;
}
/** A request for originals. */
export interface FetchRequest {
	/**
	 * Ids, or whole markers as placeholders print them. A part may follow after a colon and overrides the other
	 * fields: `id:41-80` for lines, `id:c41-80` for characters, `id:/regex/` for matching lines.
	 * Absent or empty for a search with `query`.
	 */
	refIds?: Array<string>;
	/** The id of the agent whose originals are fetched; `main` by default. */
	agentId?: string;
	/** The id of the session that asks. A search needs it. */
	sessionId?: string;
	/**
	 * A range of lines, inclusive and counted from 1: `"41-420"`, `"41-"` or `"41"`. In a listing it refers to the
	 * printed line numbers, and in arguments of a call to lines of their rendering.
	 */
	lines?: string;
	/** A range of characters, inclusive and counted from 1, for texts with few long lines. */
	chars?: string;
	/** A regular expression. Only matching lines are returned, numbered, with two lines of context on each side. */
	pattern?: string;
	/**
	 * Ids of originals whose copies the agent no longer needs. Fetched content of the session with these ids counts as
	 * stale from now on, until it is fetched again.
	 */
	done?: Array<string>;
	/**
	 * Words, of which those in quotation marks belong together. With ids, the lines with most of them are returned as
	 * by `pattern`. Without ids, such lines of the originals of the session that have all of them, the best first.
	 */
	query?: string;
	/** The maximum number of characters of the whole answer. The default, 15,900, is within the limit of every host. */
	maxChars?: number;
	/** The time of the call in milliseconds since 1970; now by default. */
	now?: number;
}
/** A part of an answer, in the shape that hosts and providers accept. */
export type ContentBlock = {
	type: "text"; /** The text. */
	text: string;
} | {
	type: "image"; /** The bytes in base64. */
	data: string; /** The MIME type. */
	mimeType: string;
};
/** The originals that a search found. */
export interface SearchResult {
	/** The best ones, the best first. */
	originals: Array<FoundOriginal>;
	/** The number of originals that have all words, those that are not in `originals` included. */
	matching: number;
	/** A statement of what is missing in `originals`, and how to find it; empty if nothing is missing. */
	note: string;
}
/** An original that a search found. */
export interface FoundOriginal {
	/** Its id. */
	refId: string;
	/** The beginning of its label, such as `exec: npm test`. */
	label: string;
	/** The session that was granted it. */
	sessionId: string;
	/** The agent of the session. */
	agentId: string;
	/** The lines with most of the words, numbered, with two lines of context on each side. */
	excerpt: string;
}
/** The record of one rewriting call. */
export interface ReceiptRow {
	/** The time in milliseconds since 1970. */
	at: number;
	/** The kind of call: `admit`, `assemble`, `rules`, or `failed` for a tool call that failed. */
	kind: "admit" | "assemble" | "rules" | "failed";
	/** Tokens before. */
	tokensBefore: number;
	/** Tokens after. */
	tokensAfter: number;
	/** Details: reasons, stages, counts. */
	detail: unknown;
}
/** A change of content that was already sent. */
export interface EpochRow {
	/** The time in milliseconds since 1970. */
	at: number;
	/** The reason for the change. Another version may have written other reasons. */
	reason: EpochReason | (string & {});
	/** Tokens that were removed from the context. */
	tokensFreed: number;
	/** Tokens that the cache held and has to take in again; 0 if it was cold. */
	tokensRebilled: number;
	/** The number of changed blocks. */
	blocks: number;
}
/** Totals of a session or of the whole store. */
export interface Stats {
	/** The number of sessions. */
	sessions: number;
	/** The number of stored originals. */
	originals: number;
	/** The uncompressed size of the originals in bytes. */
	originalBytes: number;
	/** The size of the originals as stored, in bytes. */
	storedBytes: number;
	/** The number of recorded turns. */
	turns: number;
	/** The sum of the tokens before, over all receipts. */
	tokensBefore: number;
	/** The sum of the tokens after, over all receipts. */
	tokensAfter: number;
	/** The receipts, newest first, at most 100. */
	receipts: Array<ReceiptRow>;
	/** The epochs, newest first, at most 100. */
	epochs: Array<EpochRow>;
}
/** The result of a sweep or a purge. */
export interface Removed {
	/** The number of removed originals. */
	originals: number;
	/** The number of bytes freed in the file. For a dry run, the stored size of what would be removed. */
	bytes: number;
	/** The number of removed sessions. */
	sessions: number;
}
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
export type Message = AnyMessage & {
	role: string;
	[field: string]: unknown;
};
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
export type SqueezeOptions = Pick<Options, "compat" | "encoding" | "exactTools" | "imageAgeTurns" | "instructionTurns" | "keepPreviewChars" | "largeResultPreviewChars" | "largeResultThreshold" | "minTokensToSqueeze" | "protect" | "pruneHeartbeats" | "schedule" | "staleCalls" | "staleTurns" | "thrift">;
/** The options of the plugin, as OpenClaw's configuration holds them. */
export type PluginOptions = Omit<Options, "largeResultPreviewChars" | "largeResultThreshold" | "pruneHeartbeats">;
/** The options of an open store. Those of the plugin alone are left out. */
export type LibraryOptions = Omit<PluginOptions, "holdout" | "purgeOnReset" | "sccsStoreNamespace" | "sccsStoreUrl">;
/** The place of a store: a directory or, for several machines, a PostgreSQL database. */
export type StorePlace = ({
	dir: string;
	url?: undefined;
	namespace?: undefined;
} | {
	/** The URL of the database: `postgresql://user:password@host:port/database?sslmode=require`. */
	url: string;
	/** The tenant, which is a schema of this name. Default "concertina". */
	namespace?: string;
	dir?: undefined;
}) & {
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
	stages?: Partial<Record<StageName | (string & {}), boolean | ({
		order?: number;
	} & Record<string, unknown>)>>;
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
/**
 * The maximum number of characters of a fetched answer that every host accepts as one tool result, with room for the
 * host's own text.
 */
export declare const FETCH_CHARS = 15900;
/**
 * An open store with a set of options. Several may be open at one place, in one process or, with a database, on several
 * machines. Every method that waits takes a `signal`, as {@link Abortable} describes.
 */
export declare class Concertina {
	#private;
	private constructor();
	/**
	 * Opens the store in `dir`, or in the database at `url`. A directory is created on first use and readable by its
	 * owner only.
	 *
	 * @throws TypeError for an unknown option or a bad value; Error with a `code` if the directory or the database cannot
	 *   be used
	 */
	static open(options: OpenOptions & Abortable): Promise<Concertina>;
	/** The corrections to options, one line each. */
	get warnings(): string[];
	/**
	 * Folds a fresh tool result at birth, before it is first sent: shortens its texts and replaces large ones by
	 * references, whose originals are durable first. Resolves to the same message object if nothing was replaced. A
	 * failure of the store is a `report.warning` and never a rejection.
	 *
	 * @param input.toolName the tool, if the message does not name it itself
	 * @param input.args the arguments of the tool, if they are known
	 * @param input.caller the `caller` of the call, as the call states it: a result that a script of the model parses
	 *   stays as it is
	 * @param input.redactor masks secrets that only the host knows. With `secrets: "keep-inline"` a result with a secret
	 *   stays as it is and is not stored. With `"redact"` the masked text is stored and shown. With `"store"`, and for
	 *   texts that are not stored at birth, the redactor is not called
	 * @param input.model the model that will see the result, for the option `models`
	 * @param input.hostCutAt the length in UTF-16 units at which the host cuts a text. A text of exactly this length was
	 *   cut, and its replacement says so. So was a text that is one unit shorter because a surrogate pair did not fit
	 * @param input.hostKeeps the maximum number of UTF-16 units of a text that the host sends. Figures count nothing
	 *   beyond it as saved
	 */
	admitToolResult<M extends AnyMessage>(input: {
		sessionId: string;
		agentId?: string;
		message: M;
		toolName?: string;
		args?: unknown;
		caller?: {
			type: string;
		} | null;
		hostCutAt?: number;
		hostKeeps?: number;
		model?: string;
		redactor?: Redactor;
		now?: number;
		signal?: AbortSignal;
	}): Promise<{
		message: M;
		report: Report;
	}>;
	/**
	 * Folds a history for the next model call: replays the decisions of earlier calls byte for byte, then folds stale
	 * content. Messages that do not change are the same objects, and the same array is returned if none did. A failure of
	 * the store is a `report.warning` and never a rejection.
	 *
	 * `systemPromptAddition` is always empty: the fetch tool's description and the first placeholder of a session contain
	 * all instructions.
	 *
	 * @param input.redactor masks secrets that only the host knows. It is called once for each text to be stored, and for
	 *   the arguments of its call. With `secrets: "keep-inline"` a block with a secret stays as it is and is not stored.
	 *   With `"redact"` the masked form of a tool's text is stored, and arguments with a secret stay as they are. With
	 *   `"store"` the redactor is not called
	 */
	assemble<M extends AnyMessage>(input: {
		sessionId: string;
		agentId?: string;
		messages: readonly M[];
		/** The maximum number of tokens of the history. Above a share of it, the history is folded at once. */
		tokenBudget?: number;
		model?: string;
		/** The prices of the model, as far as the caller knows them. */
		prices?: Prices;
		/** Ignored, but accepted for hosts that pass it: the state of the cache is derived from the history. */
		promptCache?: unknown;
		/** The names of the available tools. If they lack `fetch_original_data`, nothing is folded. */
		availableTools?: Iterable<string>;
		/** True if large fresh results are replaced as well, for engines that do not call `admitToolResult`. */
		referOversize?: boolean;
		/**
		 * True if this call begins a user turn whose message is not in `messages` yet. All messages then count as one turn
		 * older.
		 */
		turnBegins?: boolean;
		/** The text of that message. If it contains `<keep>`, the results of the turn stay in sight. */
		prompt?: string;
		redactor?: Redactor;
		now?: number;
		signal?: AbortSignal;
	}): Promise<{
		messages: M[];
		estimatedTokens: number;
		systemPromptAddition: string;
		report: Report;
	}>;
	/**
	 * Records a finished turn and its model calls for the figures, atomically. A turn whose key was recorded before is a
	 * duplicate.
	 */
	commitTurn(input: {
		sessionId: string;
		agentId?: string;
		/** The host's key of the conversation. */
		sessionKey?: string;
		advancementKey: string;
		/**
		 * The messages of the turn, beginning with the user's. The tokens of a request are those that its answer reports in
		 * `usage`, in the format of OpenClaw, Anthropic or OpenAI. If it reports none, they are counted.
		 */
		messages?: readonly AnyMessage[];
		/** The prices of the model, as far as the caller knows them. */
		prices?: Prices;
		/**
		 * The size of the model's context window in tokens. The estimate without Concertina then assumes a host that
		 * compacts a history that exceeds it, as OpenClaw does.
		 */
		contextWindow?: number;
		/** True if the session is left untouched for comparison: see `Figures.comparison`. */
		heldOut?: boolean;
		now?: number;
		signal?: AbortSignal;
	}): Promise<{
		status: "committed" | "duplicate";
	}>;
	/**
	 * Grants a sub-agent's session what its parent's session may see, and shows it in the same form: everything, or only
	 * the originals with the ids in `named`.
	 */
	inherit(input: {
		parent: {
			agentId?: string;
			sessionId: string;
		};
		child: {
			agentId?: string;
			sessionId: string;
		};
		/** Ids, or whole markers as placeholders print them. */
		named?: string[];
		now?: number;
		signal?: AbortSignal;
	}): Promise<void>;
	/** Records the report of compressing rule files in a session, as a receipt of kind `rules`. */
	recordRules(input: {
		sessionId: string;
		agentId?: string;
		report: CompressedRules["report"];
		now?: number;
		signal?: AbortSignal;
	}): Promise<void>;
	/**
	 * Fetches originals. A single original within `maxChars` is returned byte for byte, with nothing added. A part of an
	 * original ends with a line that states which part it is and which call continues. Unknown ids are answered in words.
	 * A `query` without ids searches the session's originals ({@link Concertina.search}).
	 */
	fetch(input: FetchRequest & Abortable): Promise<{
		content: ContentBlock[];
		found: number;
	}>;
	/**
	 * Searches the originals of a session, or of all sessions, for texts that have all words of `query`, in any case.
	 * Words in quotation marks belong together. The best are those with most words in one line, then those with most such
	 * lines, then the newest.
	 *
	 * @param input.maxChars the maximum number of characters of all excerpts; 6,000 by default. More show more originals
	 */
	search(input: {
		query: string;
		sessionId?: string;
		agentId?: string;
		maxChars?: number;
		now?: number;
		signal?: AbortSignal;
	}): Promise<SearchResult>;
	/**
	 * Replaces placeholders by their originals, in messages of any order and age. Removed thinking is restored only with
	 * a `sessionId`, because it has no placeholder. Placeholders whose originals are not available stay and are listed in
	 * `missing`. Messages that do not change are the same objects, and the same array is returned if none did.
	 */
	unfold<M extends AnyMessage>(input: {
		sessionId?: string;
		agentId?: string;
		messages: readonly M[];
		now?: number;
		signal?: AbortSignal;
	}): Promise<{
		messages: M[];
		unfolded: number;
		missing: string[];
	}>;
	/**
	 * With `retention: "host"`, ends every session that is not listed and reopens those that are. The time to live of a
	 * session's originals begins with its end. All openers without a `host` are one host, so each must list the sessions
	 * of all of them.
	 */
	settle(input: {
		sessionIds: string[];
		now?: number;
	} & Abortable): Promise<{
		ended: number;
	}>;
	/** Ends a session: the time to live of its originals begins. A later call for the session reopens it. */
	endSession(input: {
		sessionId: string;
		agentId?: string;
		now?: number;
	} & Abortable): Promise<void>;
	/** Returns the notices for the operator that were not returned before, one line each. */
	notices(): string[];
	/**
	 * Returns the parsers and libraries written in C that are disabled for some texts, or for all, in this process and
	 * version, because they crashed or hung.
	 */
	skipped(): SkippedCode[];
	/** Returns the totals of a session or of the whole store. */
	stats(input?: {
		sessionId?: string;
		agentId?: string;
	} & Abortable): Promise<Stats>;
	/** Returns the tokens and the bill of whole requests, and the estimate of the same without Concertina. */
	figures(input?: FiguresRequest & Abortable): Promise<Figures>;
	/** Returns the sessions in the store, the most recently seen first. */
	sessions(input?: Abortable): Promise<KnownSession[]>;
	/** Switches folding off in a session, or on again. Folded content stays folded and can be fetched. */
	switch(input: {
		sessionId: string;
		agentId?: string;
		off: boolean;
		now?: number;
	} & Abortable): Promise<void>;
	/**
	 * Asks for everything foldable to be folded at the session's next assembly, as one epoch, including content that is
	 * not stale yet. Protected content, fetched content that is still in use, and the newest results stay.
	 */
	foldAll(input: {
		sessionId: string;
		agentId?: string;
		now?: number;
	} & Abortable): Promise<void>;
	/** Returns the originals that stand in a session's context in a shorter form, the last folded first. */
	folded(input: {
		sessionId: string;
		agentId?: string;
	} & Abortable): Promise<FoldedOriginal[]>;
	/**
	 * Pins the last tool result before `now`: it stays in sight for as long as the session lives, also in its forks and
	 * sub-agents. If it was folded at birth, it is shown in full from the next assembly on. Content of all sessions is
	 * protected by the option `protect`.
	 */
	pin(input: {
		sessionId: string;
		agentId?: string;
		now?: number;
	} & Abortable): Promise<void>;
	/**
	 * Takes back everything that is pinned in a session. What a person's `<keep>` protects stays protected while the
	 * message is in the history.
	 */
	unpin(input: {
		sessionId: string;
		agentId?: string;
		now?: number;
	} & Abortable): Promise<{
		unpinned: number;
	}>;
	/**
	 * Shows originals in the place of their placeholders again, from the next assembly on, and pins them. An image that
	 * was only scaled down stays as it is.
	 *
	 * @param input.refIds ids, or whole markers as placeholders print them
	 */
	restore(input: {
		sessionId: string;
		agentId?: string;
		refIds: string[];
		now?: number;
	} & Abortable): Promise<RestoredIds>;
	/**
	 * Verifies the store's whole file. With `replaceDamaged`, a damaged file is renamed to include the date and replaced
	 * by a new one. Resolves to true if that happened. For a database there is nothing to verify.
	 *
	 * @param input.today the date, such as `2026-01-31`; the current UTC date by default. A date alone means
	 *   `replaceDamaged`
	 * @throws if the file is damaged and was not replaced
	 */
	check(input?: {
		replaceDamaged?: boolean;
		today?: string;
	} & Abortable): Promise<boolean>;
	/** Removes expired originals and, above `storeMaxBytes`, those that were least recently referred to. */
	sweep(input?: {
		now?: number;
	} & Abortable): Promise<Removed>;
	/**
	 * Removes a session and the originals that no other session shares. Placeholders of those cannot be unfolded any
	 * more. A session of the same name of another agent stays; the agent is `main` by default. With `dry` nothing is
	 * removed, and the call resolves to what would be.
	 */
	purge(input: {
		sessionId: string;
		agentId?: string;
		dry?: boolean;
	} & Abortable): Promise<Removed>;
	/** Closes the store when all calls in progress are done. Later calls reject with code `CONCERTINA_CLOSED`. */
	close(): Promise<void>;
	/** Closes the store at the end of a scope: `await using concertina = await Concertina.open(…)`. */
	[Symbol.asyncDispose](): Promise<void>;
	/** Shows the place without its password, the options that were given, and whether the store is open. */
	[inspect.custom](depth: number, options: InspectOptions): string;
}
/** The parameters that the host passes to `assemble`. */
export interface AssembleParameters<M extends AnyMessage = Message> {
	sessionId: string;
	sessionKey?: string;
	agentId?: string;
	messages: M[];
	tokenBudget?: number;
	model?: string;
	availableTools?: Set<string>;
	/** The text that the turn was started with. */
	prompt?: string;
	[parameter: string]: unknown;
}
/** The parameters that the host passes to `commitTurn`. */
export interface CommitParameters {
	sessionId: string;
	sessionKey?: string;
	agentId?: string;
	advancementKey: string;
	messages: AnyMessage[];
	/** True if the session is left untouched for comparison. */
	heldOut?: boolean;
	[parameter: string]: unknown;
}
/** The result of `assemble`. */
export interface AssembleResult<M extends AnyMessage = Message> {
	messages: M[];
	/** The number of tokens, or 0 if nothing was counted: the host counts itself. */
	estimatedTokens: number;
	systemPromptAddition?: string;
}
/** A function that compacts a stored transcript, with the types of the host. */
export type Compact = (parameters: never) => Promise<unknown>;
/** A context engine that declares durable turns. Without the declaration, hosts silently do without it. */
export interface ContextEngine<C extends Compact = (parameters: unknown) => Promise<unknown>> {
	readonly info: {
		id: string;
		name: string;
		ownsCompaction: false;
		acceptedHostParams: string[];
		transcriptSemantics: {
			currentTurnFence: "before-current-turn-entry-v1";
			turnAdvancementIdempotency: "atomic-idempotent-v1";
		};
	};
	ingest(parameters: unknown): Promise<{
		ingested: boolean;
	}>;
	assemble<M extends AnyMessage>(parameters: AssembleParameters<M>): Promise<AssembleResult<M>>;
	compact: C;
	commitTurn(parameters: CommitParameters): Promise<{
		status: "committed" | "duplicate";
	}>;
}
/** The host's parts of an engine, in addition to the store. */
export interface ContextEngineOptions<C extends Compact = (parameters: unknown) => Promise<unknown>> {
	/** Compacts the stored transcript. Delegate this to the host. */
	compact: C;
	/** Receives each failed step and its consequence for the conversation; `console.warn` by default. */
	complain?(step: string, error: unknown, consequence: string): void;
	/** Returns the prices of a turn's model, if the host knows them. */
	pricesOf?(parameters: AssembleParameters<AnyMessage> | CommitParameters): Prices | undefined;
	/** Returns the host's redactor, if it has one. It is called for everything that is to be stored. */
	redactor?(): Promise<Redactor | undefined>;
}
/**
 * Creates a context engine. On every failure it returns the host's own message array and reports one line.
 *
 * @param concertina an open store, or a function that returns the store for each call, or undefined while there is none
 */
export declare function createContextEngine<C extends Compact>(concertina: Concertina | (() => Promise<Concertina | undefined>), options: ContextEngineOptions<C>): ContextEngine<C>;
/** An error with a stable code. */
export type CodedError = (Error | TypeError) & {
	code: ErrorCode;
};
/** Returns message and code of an error on one line of at most 500 characters. */
export declare function describe(error: unknown): string;
/** {@link describe} under a name that no test runner has. */
export declare const describeError: typeof describe;
/** The name of the tool. */
export declare const FETCH_TOOL = "fetch_original_data";
/**
 * The parameters of the tool. The schema names only `ref_ids`, because an id may carry the part that is wanted, `done`,
 * and `query`, which without ids searches the session.
 */
export interface FetchToolParameters {
	ref_ids?: string[];
	query?: string;
	done?: string[];
	lines?: string;
	chars?: string;
	pattern?: string;
	max_chars?: number;
}
/**
 * The description of the tool, which the model reads in every request and which is therefore short. The first
 * placeholder of a session explains when to fetch.
 */
export declare const fetchToolDescription = "What was folded: id, id:41-80 (lines) or id:/regex/. done: ids no longer needed";
/** The JSON schema of the parameters. */
export declare const fetchToolParameters: {
	type: "object";
	properties: Record<"ref_ids" | "done", {
		type: "array";
		items: {
			type: "string";
		};
	}> & {
		query: {
			type: "string";
		};
	};
};
/** The caller of the tool. */
export interface FetchScope extends Abortable {
	agentId?: string;
	sessionId?: string;
	/**
	 * The maximum number of characters that the host accepts as one tool result. A larger request of the model is cut to
	 * it.
	 */
	maxChars?: number;
}
/** A part of an answer in Anthropic's format. */
export type AnthropicBlock = {
	type: "text";
	text: string;
} | {
	type: "image";
	source: {
		type: "base64";
		media_type: "image/gif" | "image/jpeg" | "image/png" | "image/webp";
		data: string;
	};
};
/** A part of a user message in the format of OpenAI's chat completions. */
export type OpenAIPart = {
	type: "text";
	text: string;
} | {
	type: "image_url";
	image_url: {
		url: string;
	};
};
/**
 * An answer for OpenAI's chat completions: the `content` of a `tool` message, which can hold text only. Images are in
 * `images`, a user message that must follow all tool messages that answer the same assistant message.
 */
export type OpenAIAnswer = string | {
	content: string;
	images: {
		role: "user";
		content: OpenAIPart[];
	};
};
/** A part of an answer in the format of OpenAI's Responses API. */
export type ResponsesPart = {
	type: "input_text";
	text: string;
} | {
	type: "input_image";
	image_url: string;
	detail: "auto";
};
/**
 * Answers a call of the tool. The parameters may be an object or, as OpenAI passes them, JSON. `form` selects the
 * format. `"anthropic"`: blocks of Anthropic. `"openai"`: the content of a `tool` message and, if there are images, a
 * user message ({@link OpenAIAnswer}). `"responses"`: the output of an item, which is a string or, if there are images,
 * parts. Mistakes of the model are answered in words, so that it can call again.
 */
export declare function answerFetch(concertina: Concertina, parameters: unknown, scope: FetchScope & {
	form: "responses";
}): Promise<string | ResponsesPart[]>;
export declare function answerFetch(concertina: Concertina, parameters: unknown, scope: FetchScope & {
	form: "openai";
}): Promise<OpenAIAnswer>;
export declare function answerFetch(concertina: Concertina, parameters: unknown, scope: FetchScope & {
	form: "anthropic";
}): Promise<AnthropicBlock[]>;
export declare function answerFetch(concertina: Concertina, parameters: unknown, scope: FetchScope): Promise<ContentBlock[]>;
/**
 * Rewrites a text to cost fewer tokens, on a worker thread.
 *
 * `restore(result.text, result.originals)` equals the text byte for byte. If the text already contains folds, they are
 * undone too, and the result equals `restore(text)`. A lossless result needs no originals. Others must be stored before
 * the text is shown. The result is never longer than the text.
 */
export declare function compress(text: string, options?: CompressOptions & Abortable): Promise<CompressResult>;
/** Does the same as {@link compress} on the calling thread. */
export declare function compressSync(text: string, options?: CompressOptions): CompressResult;
/**
 * Removes repetitions from a conversation and then compresses each tool result, on a worker thread. Texts of users and
 * of the system stay. The messages may have any shape. {@link restoreMessages} restores them from the result. A
 * repetition is replaced by a note (`[[DEDUP_REF...]]`) that names the message with the content; `refId` in its row of
 * the report names its original.
 */
export declare function compressMessages<M extends AnyMessage>(messages: readonly M[], options?: CompressMessagesOptions & Abortable): Promise<CompressMessagesResult<M>>;
/** Does the same as {@link compressMessages} on the calling thread. */
export declare function compressMessagesSync<M extends AnyMessage>(messages: readonly M[], options?: CompressMessagesOptions): CompressMessagesResult<M>;
/**
 * Undoes {@link compress}: folds from the text alone, markers with the originals that they name. Everything else stays
 * as it is.
 *
 * A text whose line ends all became CRLF, or that got a byte order mark, is restored to the text before that change.
 *
 * @param options.strict throws if a fold or marker is left: an `Error` with code `CONCERTINA_FOLD_DAMAGED` for a fold
 *   that was changed, or `CONCERTINA_ORIGINAL_MISSING` if an original was not passed
 */
export declare function restore(text: string, originals?: {
	data: Uint8Array;
}[], options?: {
	strict?: boolean;
}): string;
/** A restored text, and what is left to restore. */
export interface Restored {
	text: string;
	/**
	 * True if no fold or marker is left. Every fold was checked; a byte order mark or line ends that a transport changed
	 * outside of folds are not.
	 */
	isWhole: boolean;
	/** The first fold or marker that is left, as the error that {@link restore} throws with `strict`. Null if none is. */
	left: CodedError | null;
}
/** Undoes {@link compress} like {@link restore}, and reports what is left instead of throwing. */
export declare function restoreReport(text: string, originals?: {
	data: Uint8Array;
}[]): Restored;
/**
 * Undoes {@link compressMessages}: takes its result and returns the original messages, with texts and images byte for
 * byte. Folds that the texts contained before are undone too. Messages may have been appended, and the report may have
 * been stored as JSON.
 *
 * @throws TypeError for a row of the report that does not fit these messages, or whose original was not passed
 */
export declare function restoreMessages<M extends AnyMessage>(compressed: CompressMessagesResult<M>): M[];
/** Returns the stages of the pipeline in the order in which they run. */
export declare function stages(): StageInfo[];
/** {@link compress} under the naming scheme of `compressProseAsync`. */
export declare const compressAsync: typeof compress;
/** {@link compressMessages} under the naming scheme of `compressProseAsync`. */
export declare const compressMessagesAsync: typeof compressMessages;
/**
 * Shortens prose. Code, names, numbers and other technical content is preserved byte for byte. Fillers, hedges,
 * pleasantries and articles are removed. With `objective: "chars"`, listed words are abbreviated.
 */
export declare function compressProse(text: string, options?: ProseOptions): CompressedProse;
/** Does the same as {@link compressProse} on a worker thread. */
export declare function compressProseAsync(text: string, options?: ProseOptions & Abortable): Promise<CompressedProse>;
/** Expands abbreviations, or with a receipt only those that it lists. Technical words stay as they are. */
export declare function expand(text: string, receipt?: Pick<ProseReceipt, "substitutions">): string;
/** Splits a text into protected spans and prose. The parts in order are the text. */
export declare function tokenize(text: string): ProseToken[];
/** Removes the text between `<private>` and `</private>`. Without the closing tag it removes everything to the end. */
export declare function redactPrivate(text: string): string;
/**
 * Returns the parts of a rule file that shortening does not alter. Offsets are in UTF-16 units, as
 * `String.prototype.slice` takes them.
 */
export declare function protectedSpans(text: string): ProtectedSpan[];
/**
 * Shortens a rule file. Prohibitions, requirements and names are preserved byte for byte, and the result never has more
 * o200k tokens than the text. Edits that save characters but cost tokens are used only with `maxChars`, for a text that
 * would otherwise be longer.
 */
export declare function preprocess(text: string, level: RulesLevel, options?: Omit<RulesOptions, "level">): string;
/** Does the same as {@link preprocess} on a worker thread. */
export declare function preprocessAsync(text: string, level: RulesLevel, options?: Omit<RulesOptions, "level"> & Abortable): Promise<string>;
/**
 * Shortens rule files and joins them up to `maxChars` characters (8000 by default), in the order of `priority: N` in
 * the front matter (5 by default). A file that does not fit is left out as a whole and listed in `omitted`. A smaller
 * file after it may still fit.
 */
export declare function compressRules(files: RuleFile[], options?: RulesOptions): CompressedRules;
/** Does the same as {@link compressRules} on a worker thread. */
export declare function compressRulesAsync(files: RuleFile[], options?: RulesOptions & Abortable): Promise<CompressedRules>;
/** {@link compressProse} under the naming scheme of the other synchronous functions. */
export declare const compressProseSync: typeof compressProse;
/** {@link preprocess} under the naming scheme of the other synchronous functions. */
export declare const preprocessSync: typeof preprocess;
/** {@link compressRules} under the naming scheme of the other synchronous functions. */
export declare const compressRulesSync: typeof compressRules;
/**
 * Copies a whole store into another one, which must be empty, reads it back and compares. Both are locked for other
 * writers meanwhile. The source is never changed. If the copy does not finish, the target stays empty. If the
 * comparison fails, an error names the place.
 *
 * @param input.progress is called about once a second with the number of copied originals. If it throws, the error is
 *   rethrown when the copy is done
 * @throws Error with a `code`: `CONCERTINA_BAD_ARGUMENT` if the target is not empty
 */
export declare function migrate(input: {
	from: StorePlace;
	to: StorePlace;
	progress?: (originals: number) => void;
}): Promise<Migrated>;
/**
 * Replaces stale content of a conversation: a drop-in for ClawSqueezer 1.0, pure and synchronous.
 *
 * The input is never changed. Messages that do not change are the same objects, and the same array is returned if none
 * did.
 */
export declare function squeeze<M extends AnyMessage>(messages: readonly M[], options?: SqueezeOptions): {
	messages: M[];
	stats: SqueezeStats;
};
/**
 * Gives every tool call exactly one result, directly behind it and before the text of its message, so that providers
 * accept the conversation. The results of one answer that are in user messages are merged into one of them. An output
 * of the Responses API may stand anywhere behind its call.
 *
 * The same array is returned if nothing had to change, and also if a message cannot be read that may contain a call or
 * a result: `stats.unreadable` is its index. Items of the Responses API whose calls are stored at the provider
 * (`previous_response_id`) are not a whole conversation: their outputs would count as orphans.
 */
export declare function repairToolPairing<M extends AnyMessage>(messages: readonly M[]): {
	messages: M[];
	stats: RepairStats;
};
/**
 * Returns the exact number of tokens of a text in a published vocabulary, or with `approx` the published estimate of
 * colony.
 */
export declare function countTokens(text: string, options?: {
	encoding?: Encoding | "approx";
}): number;
/**
 * Returns the number of tokens of messages. Texts and arguments are counted by the vocabulary, images by the provider's
 * rule for their real size.
 */
export declare function countMessageTokens(messages: readonly AnyMessage[], options?: {
	model?: string;
	encoding?: Encoding;
}): number;
/** Summarizes a text in at most `maxChars` characters (300 by default). */
export declare function summarize(text: string, options?: {
	maxChars?: number;
	hints?: Hints;
}): string;
/** Detects the content type of a text and of its parts. */
export declare function detect(text: string, hints?: Hints): Detection;
/** A tool call in the format of OpenAI's chat completions, or only its name and arguments. */
export type RewindCall = {
	id?: string;
	function: {
		name: string;
		arguments: string;
	};
} | {
	id?: string;
	name: string;
	arguments: string | {
		hash: string;
	};
};
/** A tool call in the format of OpenAI's Responses API. */
export interface RewindItem {
	type: "function_call";
	call_id: string;
	name: string;
	arguments: string;
}
interface Handler {
	(call: RewindItem): Promise<{
		type: "function_call_output";
		call_id: string;
		output: string;
	}>;
	(call: RewindCall): Promise<{
		role: "tool";
		tool_call_id: string;
		content: string;
	}>;
}
/**
 * The tool's definition for a model and the handler of its calls. The Responses API takes the definition as
 * `{ type: "function", ...rewindTool.definition.function, strict: false }`.
 */
export declare const rewindTool: {
	definition: {
		type: "function";
		function: {
			name: string;
			description: string;
			parameters: {
				type: string;
				additionalProperties: boolean;
				required: string[];
				properties: {
					hash: {
						type: string;
						description: string;
					};
				};
			};
		};
	};
	handle: Handler;
};
/**
 * Agents and sessions, named as in OpenClaw. They decide whose content something is.
 *
 * OpenClaw passes only a session key to its engine, and also an agent to tools and middleware. All of them must find
 * the same content, so the plugin uses the key alone. A caller of the library may have no keys; then the agent that it
 * states is used.
 */
/**
 * Returns the agent of a session key such as `agent:main:work`, or `main` if the key names none. It parses keys like
 * the host.
 */
export declare function agentOf(sessionKey: string | undefined): string;
/** Returns the agent and session of a call from the fields that the host states. */
export declare function scopeOf<Session extends string | undefined>(given: {
	agentId?: string;
	sessionKey?: string;
	sessionId: Session;
}): {
	agentId: string;
	sessionId: Session;
};
/** The destination of log lines. */
export interface Logger {
	warn(line: string): void;
}
/** Any engine with an `assemble()`. */
export interface AnyEngine {
	assemble(parameters: {
		sessionId: string;
		messages: AnyMessage[];
	}): Promise<{
		messages: AnyMessage[];
	}>;
}
/** The fetch tool, as hosts register it. */
export interface FetchTool {
	name: typeof FETCH_TOOL;
	label: string;
	description: string;
	parameters: typeof fetchToolParameters;
	/** Prevents the host from hiding the tool behind its catalogue, where answers arrive escaped. */
	catalogMode: "direct-only";
	execute(callId: string, parameters: unknown): Promise<{
		content: ContentBlock[];
		details: Record<string, never>;
	}>;
}
/** The parts of an integration. */
export interface SccsIntegration {
	enabled: boolean;
	/** Decorates an engine. Returns the same object if the integration is off. */
	wrapContextEngine<E extends AnyEngine>(engine: E): E;
	/** The fetch tool, for the session that the caller named. */
	tool: FetchTool;
}
/**
 * Creates an integration with a store of its own (`sccsStorageDir`, by default `~/.openclaw/sccs`), which is opened on
 * first use.
 *
 * Options out of range are raised to the limit or replaced by their defaults, with one log line each.
 */
export declare function createSccsIntegration(input: {
	cfg?: Partial<OpenOptions>;
	logger: Logger;
	agentId?: string;
	sessionKey?: string;
	sessionId?: string;
}): SccsIntegration;

declare namespace prose {
	export { compressProse, compressProseAsync, compressProseSync, compressRules, compressRulesAsync, compressRulesSync, expand, preprocess, preprocessAsync, preprocessSync, protectedSpans, redactPrivate, tokenize };
}
declare namespace errors {
	export { CodedError, describe, describeError };
}
declare namespace fusion {
	export { Restored, compress, compressAsync, compressMessages, compressMessagesAsync, compressMessagesSync, compressSync, restore, restoreMessages, restoreReport, stages };
}

export {
	errors,
	fusion,
	prose,
};

export {};
