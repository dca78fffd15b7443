// Generated from node/lib by `npm run generate`. Do not edit.
/// <reference types="node" />

/**
 * What Concertina costs and saves, of whole requests: the one shape that `stats`, `/concertina`, `analyze`, the page
 * and the report show.
 *
 * What the provider reported is *measured*; what it did not report is counted by our tokenizer. What would have been
 * sent without Concertina is always *modelled*, with the compaction of the host: see `src/plan/bill.rs` and
 * `src/plan/alone.rs`. Figures are of the conversation's own requests: the host's calls for compaction, notes and
 * titles are not among them.
 */
/**
 * Requests with Concertina, and as they would have been without it. Tokens are those of the prompt, not of the answer.
 */
export interface Amount {
	requests: number;
	/**
	 * Requests of which no assembly of Concertina is known: made with another engine, or while it was off or away, or in
	 * a turn that was cut short. Without it they would have been the same.
	 */
	bypassed: number;
	sentTokens: number;
	/** As modelled: no request is larger than the model's window, where that is known. */
	withoutTokens: number;
	/** Of the prompts; `answerBill` is beside it. */
	sentBill: number;
	/** Of the prompts, as modelled. */
	withoutBill: number;
	/** The least that can have been: a host that keeps no message when it compacts. */
	withoutLeast: number;
	/** The most: a host that drops no more than it must. */
	withoutMost: number;
}
/** Figures of the whole store, or of one session, for a time. */
export interface Figures {
	/**
	 * `usd` where the host stated prices in dollars for every request counted; else tokens weighted with the prices of
	 * the cache.
	 */
	unit: "usd" | "input tokens";
	total: Amount & {
		/** Requests whose tokens the provider reported; the others were counted here. */
		measured: number;
		/**
		 * Calls that the host would have made without Concertina for notes and summaries when it compacts; part of
		 * `withoutTokens` and `withoutBill`.
		 */
		compacting: number;
		/** Originals that the model fetched back. */
		fetches: number;
		/**
		 * What fetching put into all requests together: answers for as long as they were sent, and whole requests made for
		 * a fetch alone. Part of `sentTokens`.
		 */
		fetchTokens: number;
		/** The fetch tool's definition in all requests together. Part of `sentTokens`. */
		overheadTokens: number;
		/** Requests of which the provider reported the answer's tokens. */
		answered: number;
		/** Tokens of these answers; no other figure holds them. */
		answerTokens: number;
		/** The bill of these answers; null where there are none, or the price of some is not known. */
		answerBill: number | null;
		/** The bill of those that would have been given without Concertina, too. */
		withoutAnswerBill: number | null;
	};
	/** UTC dates, oldest first. */
	days: (Amount & {
		day: string;
	})[];
	/** The most saved first, at most 100. */
	sessions: (Amount & {
		sessionId: string;
		sessionKey: string | null;
		lastAt: number;
	})[];
	/** Changes of context that was already sent, newest first, at most 200. */
	epochs: {
		at: number;
		sessionId: string;
		reason: string;
		blocks: number;
		tokensFreed: number;
		tokensRebilled: number;
	}[];
	/** Where the folded tokens were; of whole UTC days. */
	kinds: {
		kind: "tool results" | "tool arguments" | "thinking" | "images" | "other";
		before: number;
		after: number;
	}[];
	/** What was fetched back, newest first, at most 100. */
	fetched: {
		at: number;
		refId: string;
		tokens: number;
		sessionId: string | null;
	}[];
	/** Of the session's originals, where one is asked for. */
	store: {
		originals: number;
		originalBytes: number;
		storedBytes: number;
		maxBytes: number;
		path: string;
	};
	/** When a block was last folded, in milliseconds since 1970. */
	lastFoldAt: number | null;
}
/** Which requests are counted. */
export interface FiguresRequest {
	/** Only this session's. */
	sessionId?: string;
	/**
	 * Whose session it is; when absent, that of `main`, or else of the agent that was last seen with one of that name.
	 */
	agentId?: string;
	/**
	 * First moment, in milliseconds since 1970. What was kept of forgotten sessions, and `kinds`, count by whole UTC
	 * days.
	 */
	since?: number;
	/** First moment that no longer counts. */
	until?: number;
}
/** A session that the store knows. */
export interface KnownSession {
	agentId: string;
	sessionId: string;
	/** What the host calls its conversation; null until a turn of it was recorded. */
	sessionKey: string | null;
	/** When its context was last assembled. */
	lastSeen: number;
	/** Whether nothing more is folded in it. */
	isOff: boolean;
	/** Whether the host that asks has it; see `StorePlace.host`. */
	isHere: boolean;
	/** Which other hosts have it, by the names that they gave. */
	elsewhere: string[];
}
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
	/** How many characters of what goes are kept as a preview. Default by thrift 200, 40, 40, at least 0. */
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
	/** Tools whose results stay exact while fresh, because the next edit needs them, or another agent wrote them for this one (globs). Unless the list is empty, so does what a command prints of files (`cat`, `sed -n`), logs excepted. Each line stays as it is; of the numbers that a tool prints before lines each tenth stays. Default ["read","read_*","*_read","view","view_file","open_file","cat","str_replace_editor","str_replace_based_edit_tool","text_editor","task","agent","subagent","sessions_send"]. */
	exactTools?: string[];
	/** When not empty, only results of these tools are touched (globs). Default []. */
	onlyTools?: string[];
	/** Vocabulary that token counts use. Default "o200k_base". */
	encoding?: "o200k_base" | "cl100k_base";
	fusion?: {
		/** Rewrite fresh tool outputs by the fusion pipeline before they are first sent. Default true. */
		enabled?: boolean;
		/** Stages of the pipeline by name: `false` leaves one out, `{ order }` moves it. Default {}. */
		stages?: Record<string, boolean | ({
			order?: number;
		} & Record<string, unknown>)>;
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
/** Code that is not given every text, until the next version. */
export interface SkippedCode {
	/** Its name: a grammar's, or a library's. */
	code: string;
	/** How many texts ended a process in it, or did not come back. These it is not given again. */
	texts: number;
	/** Whether it is given none any more. */
	isOff: boolean;
}
/** What one stage did. */
export interface StageRow {
	/** The stage. */
	name: string;
	/** Whether any of its edits is in the text. */
	fired: boolean;
	/** Tokens before it ran. */
	tokensBefore: number;
	/** Tokens after it ran. */
	tokensAfter: number;
	/** Tokens that its edits would have saved by themselves: where others of the same text save more, theirs are taken. */
	offered: number;
	/** Time spent on deciding whether to look closer. */
	gateMs: number;
	/** Time spent on proposing, measuring and proving. */
	workMs: number;
	/** What the stage has to say. */
	notes: Record<string, string>;
}
/** The exact bytes that a marker stands for. */
export interface Original {
	/** All 64 digits of the SHA-256 of the bytes; markers print the first 16. */
	refId: string;
	/** The bytes. */
	data: Buffer;
	/** Where it came from, for people. */
	label: string;
	/** The type of an image; absent where the bytes are a text. */
	mimeType?: string;
}
/** A compressed text. When nothing paid, the text is the input. */
export interface CompressResult {
	/** The text. */
	text: string;
	/** Tokens of the input. */
	tokensBefore: number;
	/** Tokens of the text, marker included. */
	tokensAfter: number;
	/** What most of the input was taken for. */
	contentType: string;
	/** Its language, for code. */
	language: string | null;
	/** Whether the text alone restores the input. */
	lossless: boolean;
	/** One row for each stage, in the order in which they ran. */
	stages: Array<StageRow>;
	/** What must be stored before the text is shown. */
	originals: Array<Original>;
}
/** What a custom stage looks at. */
export interface StageContext {
	/** The text as the stages before it left it. */
	text: string;
	/** What most of it is. */
	contentType: string;
	/** Its language, for code. */
	language: string | null;
	/** Who said it. */
	role: string;
}
/** What became of a block of a conversation. */
export interface BlockRow {
	/** Index of its message. */
	message: number;
	/** Index of the block among the message's blocks. */
	block: number;
	/** What was done. */
	action: "repeat" | "delta" | "runs" | "compressed" | "shrunk";
	/** Tokens before. */
	tokensBefore: number;
	/** Tokens after. */
	tokensAfter: number;
	/** The pipeline's rows; none for a block that was replaced as a whole. */
	stages: Array<StageRow>;
	/** The `refId` of the original that it was; absent where its text alone restores it. */
	refId?: string;
}
/** What compressing a conversation did. */
export interface MessagesReport {
	/** Tokens of the blocks that were looked at, as they came. */
	tokensBefore: number;
	/** Tokens of the same blocks as returned. */
	tokensAfter: number;
	/** One for each changed block. */
	blocks: Array<BlockRow>;
	/** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no block names them. */
	changedMeanwhile?: Array<number>;
	/** What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have. */
	leftAlone?: Array<LeftAlone>;
}
/** A stage of the pipeline. */
export interface StageInfo {
	/** The name. */
	name: string;
	/** When it runs. */
	order: number;
	/** Whether all its rewrites are restorable from the output alone. */
	lossless: boolean;
	/** The types it works on. */
	contentTypes: Array<string>;
}
/** What was copied. */
export interface Migrated {
	/** How many rows, by table. */
	rows: Record<string, number>;
	/** Ids of originals that were damaged in the source already: they are as damaged now. */
	damaged: Array<string>;
}
/** How prose is shortened. */
export interface ProseOptions {
	/** How much goes: `full` by default. */
	intensity?: "lite" | "full" | "ultra";
	/** What becomes less: real tokens by default. Abbreviations save none, so they are for `chars` only. */
	objective?: "tokens" | "chars";
}
/** A short form that stands for a longer one. */
export interface Substitution {
	/** What stood there. */
	long: string;
	/** What stands there now. */
	short: string;
	/** How often it was put in. */
	count: number;
}
/** What shortening a text came to; never part of the text. */
export interface ProseReceipt {
	/** o200k tokens of the input. */
	tokens_before: number;
	/** o200k tokens of the output. */
	tokens_after: number;
	/** Negative when saving characters cost tokens. */
	saved_tokens: number;
	/** The saved part of `tokens_before`, 0 to 1. */
	saved_ratio: number;
	/** How much was to go. */
	compression_intensity: "lite" | "full" | "ultra";
	/** The short forms that stand for longer ones; `expand` undoes just these. */
	substitutions: Array<Substitution>;
}
/** A shortened text with its receipt. */
export interface CompressedProse {
	/** The text. */
	text: string;
	/** What shortening it came to. */
	receipt: ProseReceipt;
}
/** A part of a rule file that stays. Offsets are UTF-16 units. */
export interface ProtectedSpan {
	/** Where it begins. */
	start: number;
	/** Where it ends. */
	end: number;
	/** A kind of `tokenize`, or `negation`, `assertion`, `action`. */
	category: string;
}
/** How rule files are shortened. */
export interface RulesOptions {
	/** 2 by default. */
	level?: RulesLevel;
	/** Most characters of the result. */
	maxChars?: number;
	/** What becomes less: characters by default, and never at the price of more tokens than the files have. */
	objective?: "chars" | "tokens";
	/** Abbreviations beside the built-in ones; these win. */
	abbreviations?: {
		entries: Record<string, string>;
	};
}
/** A rule file; `priority: N` in its front matter says where it comes. */
export interface RuleFile {
	/** Its name, for the report. */
	name: string;
	/** Its text. */
	text: string;
}
/** What became of one rule file. */
export interface RuleRow {
	/** Its name. */
	name: string;
	/** Its place in the order. */
	priority: number;
	/** Whether it is in the text. */
	included: boolean;
	/** UTF-16 units as it came. */
	charsBefore: number;
	/** UTF-16 units as it is, or would be, in the text. */
	charsAfter: number;
	/** o200k tokens as it came. */
	tokensBefore: number;
	/** o200k tokens as it is, or would be. */
	tokensAfter: number;
}
/** What shortening rule files came to. */
export interface RulesReport {
	/** How much of the wording went. */
	level: number;
	/** What was to become less. */
	objective: "chars" | "tokens";
	/** UTF-16 units of the files in the text, as they came. */
	charsBefore: number;
	/** UTF-16 units of the text. */
	charsAfter: number;
	/** o200k tokens of the files in the text, as they came. */
	tokensBefore: number;
	/** o200k tokens of the text. */
	tokensAfter: number;
	/** Every file, in order. */
	files: Array<RuleRow>;
}
/** Rule files in one text. */
export interface CompressedRules {
	/** The text. */
	text: string;
	/** Names of the files in the text, in order. */
	included: Array<string>;
	/** Names of the files that did not fit. */
	omitted: Array<string>;
	/** What was done. */
	report: RulesReport;
}
/** What `squeeze()` did. */
export interface SqueezeStats {
	/** Messages given. */
	messagesProcessed: number;
	/** Blocks replaced: results, calls and images, stale or large. */
	blocksEvicted: number;
	/** Tokens really freed: what went, less the placeholders that came. */
	tokensFreed: number;
	/** Images replaced. */
	imagesEvicted: number;
	/** Texts of stale tool results replaced. */
	toolResultsEvicted: number;
	/** Tool calls whose arguments shrank. */
	toolCallsEvicted: number;
	/** Heartbeats dropped, each a prompt with its answer. */
	heartbeatsPruned: number;
	/** Large results cut, whatever their age. */
	largeResultsTruncated: number;
	/** What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have. */
	leftAlone?: Array<LeftAlone>;
}
/** What `repairToolPairing()` did. */
export interface RepairStats {
	/** Error results made up for calls that had none. */
	syntheticResultsInserted: number;
	/** Results dropped because no call has their id, or only calls of failed answers. */
	orphanResultsDropped: number;
	/** Results dropped because their call was answered before. */
	duplicateResultsDropped: number;
	/** Whether anything changed, moves included. */
	repaired: boolean;
	/** Index of the first message that may be, or hold, a call or a result and cannot be read: then nothing is changed. */
	unreadable?: number;
}
/** What the caller knows about a text. */
export interface Hints {
	/** The tool that produced it. */
	toolName?: string;
	/** The file it was read from. */
	path?: string;
	/** The command that printed it. */
	command?: string;
	/** A type that the caller insists on: code, json, log, diff, search, table, html, text. */
	contentType?: string;
	/** A language that the caller insists on. */
	language?: string;
}
/** A run of text of one kind. Offsets are UTF-16 units, as `String.prototype.slice` counts. */
export interface Segment {
	/** Where it begins. */
	start: number;
	/** Where it ends. */
	end: number;
	/** What it is. */
	contentType: string;
	/** Its language, for code. */
	language: string | null;
}
/** What kind of text something is. */
export interface Detection {
	/** What most of it is. */
	contentType: string;
	/** Its language, for code. */
	language: string | null;
	/** What its parts are. */
	segments: Array<Segment>;
}
/** Prices per token, in any one currency, and how long the provider's cache lives. */
export interface Prices {
	/** A token of fresh input. */
	input: number;
	/** A token read from the cache. */
	cacheRead: number;
	/** A token written to the cache. */
	cacheWrite: number;
	/** A token of an answer. */
	output?: number;
	/** How long the cache lives, in milliseconds. */
	cacheTtlMs: number;
	/** Whether these are US dollars per million tokens: figures are then in dollars. */
	usdPerMillion?: boolean;
}
/** One block that was rewritten. */
export interface Action {
	/** Index of the message. */
	message: number;
	/** Index of the block among the parts that Concertina understands. */
	block: number;
	/** `shortened` or `large` at birth; `stale` or `superseded` later; `replay` for what an earlier call decided. */
	reason: string;
	/** The id that the placeholder prints. */
	refId: string | null;
	/** Tokens of the block as the host holds it. */
	tokensBefore: number;
	/** Tokens of what is shown. */
	tokensAfter: number;
}
/** Already-sent content changed. */
export interface EpochReport {
	/** Why. */
	reason: string;
	/** Tokens that left the context. */
	tokensFreed: number;
	/** Tokens behind the first changed block, which a prompt cache bills anew. */
	tokensRebilled: number;
}
/** A failure that did not stop the turn. */
export interface Warning {
	/** The stable code of the error. */
	code: string;
	/** What happened. */
	message: string;
}
/** A message, or a part of one, that cannot be read and so stays as it is. */
export interface LeftAlone {
	/** Index of the message. */
	message: number;
	/** The part, as `content[1].text`; empty for the message itself. */
	path: string;
	/** Why it cannot be read. */
	why: string;
}
/** What a job did. */
export interface Report {
	/** One for each rewritten block. */
	actions: Array<Action>;
	/** Tokens of the blocks that were looked at, as they came. */
	tokensBefore: number;
	/** Tokens of the same blocks as returned. */
	tokensAfter: number;
	/** Set when already-sent content changed in this call. */
	epoch?: EpochReport;
	/** Set when the store failed and new content went out unreplaced. */
	warning?: Warning;
	/** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no action names them. */
	changedMeanwhile?: Array<number>;
	/** What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have. */
	leftAlone?: Array<LeftAlone>;
}
/** What is to be fetched. */
export interface FetchRequest {
	/**
	 * Bare ids, or whole markers as placeholders print them; what of it is wanted may follow after a colon, and goes before the other
	 * fields: `id:41-80`, `id:c41-80` for characters, `id:/regex/`.
	 */
	refIds: Array<string>;
	/** Whose originals; `main` when absent. */
	agentId?: string;
	/** The session that asks. */
	sessionId?: string;
	/** 1-based inclusive line range: `"41-420"`, `"41-"`, `"41"`; of a listing by the numbers that it prints, of arguments in a rendering of them. */
	lines?: string;
	/** 1-based inclusive character range, for texts of few long lines. */
	chars?: string;
	/** Regular expression: only matching lines come back, numbered, with two lines around each. */
	pattern?: string;
	/** Most characters of the whole answer; 15,900 by default, which every host accepts. */
	maxChars?: number;
	/** When, in milliseconds since 1970; now by default. */
	now?: number;
}
/** A part of an answer, as hosts and providers take it. */
export type ContentBlock = {
	type: "text"; /** The text. */
	text: string;
} | {
	type: "image"; /** Its bytes in base64. */
	data: string; /** Its type. */
	mimeType: string;
};
/** What a piece of work came to. */
export interface ReceiptRow {
	/** When, in milliseconds since 1970. */
	at: number;
	/** `admit`, `assemble` or `rules`. */
	kind: string;
	/** Tokens before. */
	tokensBefore: number;
	/** Tokens after. */
	tokensAfter: number;
	/** Reasons, stages, counts. */
	detail: unknown;
}
/** A change of content that was already sent. */
export interface EpochRow {
	/** When, in milliseconds since 1970. */
	at: number;
	/** Why. */
	reason: string;
	/** Tokens that left the context. */
	tokensFreed: number;
	/** Tokens behind the first changed byte, billed anew. */
	tokensRebilled: number;
	/** How many blocks changed. */
	blocks: number;
}
/** Totals of a session or of the whole store. */
export interface Stats {
	/** Sessions known. */
	sessions: number;
	/** Originals on disk. */
	originals: number;
	/** Their size as they were. */
	originalBytes: number;
	/** Their size as stored. */
	storedBytes: number;
	/** Turns committed. */
	turns: number;
	/** Tokens before, over all receipts. */
	tokensBefore: number;
	/** Tokens after, over all receipts. */
	tokensAfter: number;
	/** Newest first, at most 100. */
	receipts: Array<ReceiptRow>;
	/** Newest first, at most 100. */
	epochs: Array<EpochRow>;
}
/** What a sweep or purge removed. */
export interface Removed {
	/** Originals. */
	originals: number;
	/** Bytes freed in the file; of what would be removed, the size as stored. */
	bytes: number;
	/** Sessions forgotten. */
	sessions: number;
}
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
export type Message = AnyMessage & {
	role: string;
	[field: string]: unknown;
};
/** A vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";
/** Where a store lives: in a directory, or, for several machines, in a PostgreSQL database. */
export type StorePlace = ({
	dir: string;
	url?: undefined;
	namespace?: undefined;
} | {
	/** `postgresql://user:password@host:port/database?sslmode=require`. */
	url: string;
	/** The tenant: a schema of this name. Default "concertina". */
	namespace?: string;
	dir?: undefined;
}) & {
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
	stages?: Record<string, boolean | ({
		order?: number;
	} & Record<string, unknown>)>;
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
/**
 * Most characters of a fetched answer that every host accepts as one tool result, with room for the host's own words.
 */
export declare const FETCH_CHARS = 15900;
/**
 * One open store with one set of options. Several may be open at one place, in one process or, with a database, on
 * several machines.
 */
export declare class Concertina {
	#private;
	private constructor();
	/**
	 * Opens the store in `dir`, creating it on first use, readable by its owner only; or in the database at `url`.
	 *
	 * @throws TypeError for an unknown option or a bad value; Error with a `code` where the directory or the database
	 *   cannot be used.
	 */
	static open(options: OpenOptions): Promise<Concertina>;
	/** One line for each lenient option that had to be corrected. */
	get warnings(): string[];
	/**
	 * The moment of birth: replaces oversize texts of a fresh tool result by references, durably, before the result is
	 * first sent. Resolves to the same message object when nothing was replaced. A failing store is a `report.warning`,
	 * never a rejection.
	 *
	 * @param input.toolName the tool, where the message does not name it itself
	 * @param input.args what the tool was given, where the caller knows it
	 * @param input.caller who made the call, as the call itself says it under `caller`: what a script of the model's
	 *   parses stays as it is
	 * @param input.redactor masks what only the host knows for a secret. With `secrets: "keep-inline"` a result in which
	 *   it masks something stays as it is, and out of the store; with `"redact"` what it returns is what is stored and
	 *   shown; with `"store"`, and for texts that are not stored at birth, it is not asked
	 * @param input.model the model that will see it, where the caller knows it and the option `models` says something of
	 *   it
	 * @param input.hostCutAt a text of exactly so many UTF-16 units was cut by the host, and what is shown of it says so;
	 *   so was one that is a unit shorter because a surrogate pair stood there
	 * @param input.hostKeeps the host sends at most so many UTF-16 units of a text: figures take no more for saved
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
	}): Promise<{
		message: M;
		report: Report;
	}>;
	/**
	 * Folds a history for the next model call: replays byte for byte what earlier calls decided, then folds what has
	 * become stale. Messages that do not change are the same objects, and the same array comes back when none did. A
	 * failing store is a `report.warning`, never a rejection.
	 *
	 * `systemPromptAddition` is always empty: the fetch tool's description and the first placeholder of a session say
	 * what there is to say.
	 *
	 * @param input.redactor masks what only the host knows for a secret. It is asked once about each text that is to be
	 *   stored, and about the arguments of its call. With `secrets: "keep-inline"` a block in which it masks something
	 *   stays as it is, and out of the store; with `"redact"` what it returns of a tool's text is what is stored, and
	 *   arguments stay as they are; with `"store"` it is not asked
	 */
	assemble<M extends AnyMessage>(input: {
		sessionId: string;
		agentId?: string;
		messages: readonly M[];
		/** How many tokens the host leaves for the history; above a share of it the history is folded at once. */
		tokenBudget?: number;
		model?: string;
		/** What the model's tokens cost, in any unit; by the model's family when absent. */
		prices?: Prices;
		/** Accepted for hosts that pass it; the state of the cache is read off the history. */
		promptCache?: unknown;
		/** Without `fetch_original_data` among them nothing is folded. */
		availableTools?: Iterable<string>;
		/** Also replace fresh oversize results: for engines that never saw them at birth. */
		referOversize?: boolean;
		/**
		 * Whether a user turn begins with this call whose message is not among `messages` yet: all of them are a turn older
		 * then.
		 */
		turnBegins?: boolean;
		redactor?: Redactor;
		now?: number;
	}): Promise<{
		messages: M[];
		estimatedTokens: number;
		systemPromptAddition: string;
		report: Report;
	}>;
	/** Records a finished turn with its model calls, for the figures: atomic, and the same key again is a duplicate. */
	commitTurn(input: {
		sessionId: string;
		agentId?: string;
		/** What the host calls the conversation. */
		sessionKey?: string;
		advancementKey: string;
		/**
		 * The turn's messages, from its user's on. What answers report under `usage`, as OpenClaw, Anthropic or OpenAI
		 * spell it, is what was sent; else it is counted.
		 */
		messages?: readonly AnyMessage[];
		/** What the model's tokens cost; by the model's family when absent. */
		prices?: Prices;
		/**
		 * The model's window in tokens: figures without Concertina are then those of a host that compacts what outgrows it,
		 * as OpenClaw does.
		 */
		contextWindow?: number;
		now?: number;
	}): Promise<{
		status: "committed" | "duplicate";
	}>;
	/**
	 * Gives a sub-agent's session what its parent's session may see and how it is shown: everything, or only the
	 * originals with the named ids.
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
		/** Bare ids, or whole markers as placeholders print them. */
		named?: string[];
		now?: number;
	}): Promise<void>;
	/** Keeps what repeating rule files in a session came to, as a receipt of kind `rules`. */
	recordRules(input: {
		sessionId: string;
		agentId?: string;
		report: CompressedRules["report"];
		now?: number;
	}): Promise<void>;
	/**
	 * Brings originals back. Alone and within `maxChars`, an original comes back byte for byte with nothing added; a part
	 * of one ends with a line that says which part it is and which call continues. Unknown ids are answered in words.
	 */
	fetch(input: FetchRequest): Promise<{
		content: ContentBlock[];
		found: number;
	}>;
	/**
	 * Puts originals back in place of their placeholders, in any order and whatever the age of the messages. Thinking
	 * that left comes back only where `sessionId` is given: nothing stands in its place. Placeholders whose originals
	 * cannot be had stay as they are and are named in `missing`. Messages that do not change are the same objects, and
	 * the same array comes back when none did.
	 */
	unfold<M extends AnyMessage>(input: {
		sessionId?: string;
		agentId?: string;
		messages: readonly M[];
		now?: number;
	}): Promise<{
		messages: M[];
		unfolded: number;
		missing: string[];
	}>;
	/**
	 * With `retention: "host"`: ends every session that the host no longer knows, and takes back the end of those that it
	 * does. The time to live of what a session held begins with its end. All that open the store without a `host` are one
	 * host: what they list must be what any of them has.
	 */
	settle(input: {
		sessionIds: string[];
		now?: number;
	}): Promise<{
		ended: number;
	}>;
	/**
	 * The host has ended a session: the time to live of what it held begins. A later call for the session takes it back.
	 */
	endSession(input: {
		sessionId: string;
		agentId?: string;
		now?: number;
	}): Promise<void>;
	/** What an operator should know and has not been told yet, one line each. */
	notices(): string[];
	/**
	 * Parsers and libraries written in C that are not given every text, because some ended a process or did not come
	 * back. Of this process and version.
	 */
	skipped(): SkippedCode[];
	/** Totals of one session, or of the whole store. */
	stats(input?: {
		sessionId?: string;
		agentId?: string;
	}): Promise<Stats>;
	/** What was sent and billed, and what would have been without Concertina: of whole requests. */
	figures(input?: FiguresRequest): Promise<Figures>;
	/** The sessions that the store knows, the last seen first. */
	sessions(): Promise<KnownSession[]>;
	/** Keeps a line that the operator was warned with, for a week. */
	warn(input: {
		text: string;
		now?: number;
	}): Promise<void>;
	/** What the operator was warned of since a moment, newest first. */
	warned(input: {
		since: number;
	}): Promise<{
		at: number;
		text: string;
	}[]>;
	/** Stops folding anything more in a session, or takes that back. What is folded stays folded, and can be fetched. */
	switch(input: {
		sessionId: string;
		agentId?: string;
		off: boolean;
		now?: number;
	}): Promise<void>;
	/**
	 * Reads the store's whole file. With `today`, a date such as `2026-01-31`, a damaged one is set aside under a name
	 * with that date, and a new one takes its place; resolves to whether that was so. In a database there is nothing to
	 * read. @throws where the file is damaged and stays.
	 */
	check(input?: {
		today?: string;
	}): Promise<boolean>;
	/** Removes what expired and, above `storeMaxBytes`, what was least recently referred to. */
	sweep(input?: {
		now?: number;
	}): Promise<Removed>;
	/**
	 * Forgets a session and every original that no other session shares: placeholders of those are then all that is left
	 * of them. A session of the same name that another agent has stays; the agent is `main` where none is named. With
	 * `dry` nothing is removed, and the answer is what would be.
	 */
	purge(input: {
		sessionId: string;
		agentId?: string;
		dry?: boolean;
	}): Promise<Removed>;
	/** Lets go of the store once all that is under way is done. Later calls reject with code `CONCERTINA_CLOSED`. */
	close(): Promise<void>;
}
/** What the host passes to `assemble`. */
export interface AssembleParameters<M extends AnyMessage = Message> {
	sessionId: string;
	sessionKey?: string;
	agentId?: string;
	messages: M[];
	tokenBudget?: number;
	model?: string;
	availableTools?: Set<string>;
	[parameter: string]: unknown;
}
/** What the host passes to `commitTurn`. */
export interface CommitParameters {
	sessionId: string;
	sessionKey?: string;
	agentId?: string;
	advancementKey: string;
	messages: AnyMessage[];
	[parameter: string]: unknown;
}
/** What the host gets back from `assemble`. */
export interface AssembleResult<M extends AnyMessage = Message> {
	messages: M[];
	/** 0 where nothing was counted: the host counts itself. */
	estimatedTokens: number;
	systemPromptAddition?: string;
}
/** Compacts a stored transcript, as the host types it. */
export type Compact = (parameters: never) => Promise<unknown>;
/** A context engine that declares durable turns; without the declaration hosts silently run without it. */
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
/** What a host tells its engine beside the store. */
export interface ContextEngineOptions<C extends Compact = (parameters: unknown) => Promise<unknown>> {
	/** Compacts the stored transcript: delegate it to the host. */
	compact: C;
	/** Gets one line for each step that failed, with what that means for the conversation; `console.warn` by default. */
	complain?(step: string, error: unknown, consequence: string): void;
	/** Prices of the model of a turn, where the host knows them. */
	pricesOf?(parameters: AssembleParameters<AnyMessage> | CommitParameters): Prices | undefined;
	/** What masks secrets as the host does, where it has such a thing: asked about all that is to be stored. */
	redactor?(): Promise<Redactor | undefined>;
}
/**
 * Makes a context engine. Every failure returns the host's own messages, the same array, and leaves one line.
 *
 * @param concertina an open store, or how to get one on each call; `undefined` while there is none
 */
export declare function createContextEngine<C extends Compact>(concertina: Concertina | (() => Promise<Concertina | undefined>), options: ContextEngineOptions<C>): ContextEngine<C>;
/**
 * Native errors -> JavaScript errors with a stable `code`. Errors are told by their shape and code: a host may run
 * us in a realm of its own.
 */
/** An error with a stable code. */
export type CodedError = (Error | TypeError) & {
	code: string;
};
/** Message and code of an error, on one line of at most 500 characters. */
export declare function describe(error: unknown): string;
/** The tool's name. */
export declare const FETCH_TOOL = "fetch_original_data";
/** What the model gives the tool. What follows the ids the schema does not name: the words of an id say it. */
export interface FetchToolParameters {
	ref_ids: string[];
	lines?: string;
	chars?: string;
	pattern?: string;
	max_chars?: number;
}
/**
 * What the model reads about the tool, in every request: few words. The first placeholder of a session says when to
 * fetch.
 */
export declare const fetchToolDescription = "What was folded: id, id:41-80 (lines) or id:/regex/";
/** JSON schema of the parameters. */
export declare const fetchToolParameters: {
	type: "object";
	required: string[];
	properties: {
		ref_ids: {
			type: "array";
			items: {
				type: "string";
			};
		};
	};
};
/** Who asks. */
export interface FetchScope {
	agentId?: string;
	sessionId?: string;
	/** Most characters that the host takes as one tool result; what the model asks for beyond that is cut to it. */
	maxChars?: number;
}
/** A part of an answer, as Anthropic's interface takes it. */
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
/** A part of a user message, as OpenAI's chat completions have it. */
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
 * An answer for OpenAI's chat completions, whose `tool` messages take text only: the `content` of that message. Where
 * there are images, they stand in a user message, `images`, which goes behind all tool messages that answer the same
 * assistant message.
 */
export type OpenAIAnswer = string | {
	content: string;
	images: {
		role: "user";
		content: OpenAIPart[];
	};
};
/** A part of an answer, as OpenAI's Responses API has it. */
export type ResponsesPart = {
	type: "input_text";
	text: string;
} | {
	type: "input_image";
	image_url: string;
	detail: "auto";
};
/**
 * Answers one call of the tool, whose parameters may be an object or, as OpenAI has them, its JSON. With `form:
 * "anthropic"` in blocks of Anthropic's interface; with `form: "openai"` as the content of a `tool` message, with a
 * user message beside it where there is an image ({@link OpenAIAnswer}); with `form: "responses"` as the output of an
 * item: a string, or parts where there is an image. What the model got wrong is answered in words, so that it can call
 * again.
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
 * Rewrites a text so that it costs fewer tokens, on a worker thread.
 *
 * `restore(result.text, result.originals)` is the text again, byte for byte, but for a text that is folded already: its
 * own folds are undone, too, and what comes back is `restore(text)`. A lossless result needs no originals; others must
 * be stored before the text is shown. The result is never longer than the text.
 */
export declare function compress(text: string, options?: CompressOptions): Promise<CompressResult>;
/** {@link compress} on the calling thread. */
export declare function compressSync(text: string, options?: CompressOptions): CompressResult;
/**
 * Removes what a conversation says twice, then compresses each tool result, on a worker thread. Words of users and of
 * the system stay; messages of any shape. {@link restoreMessages} brings all of it back from what this resolves to. In
 * the place of what stands twice is a note (`[[DEDUP_REF...]]`) that names the message which says it; the `refId` of
 * its row in the report names its original.
 */
export declare function compressMessages<M extends AnyMessage>(messages: readonly M[], options?: CompressMessagesOptions): Promise<CompressMessagesResult<M>>;
/** {@link compressMessages} on the calling thread. */
export declare function compressMessagesSync<M extends AnyMessage>(messages: readonly M[], options?: CompressMessagesOptions): CompressMessagesResult<M>;
/**
 * Undoes {@link compress}: folds by themselves, markers with the originals they name. Anything else stays as it is.
 *
 * A text in which each line end became CRLF, or before which a byte order mark was put, is restored as the text that it
 * was before.
 *
 * @param options.strict throws where something of ours is left: an `Error` with code `CONCERTINA_FOLD_DAMAGED` for a
 *   fold that was changed since, or `CONCERTINA_ORIGINAL_MISSING` for a text whose original is not among the originals
 */
export declare function restore(text: string, originals?: {
	data: Uint8Array;
}[], options?: {
	strict?: boolean;
}): string;
/**
 * Undoes {@link compressMessages}: takes what it resolved to, and returns the messages as they were, texts and images
 * byte for byte, but for texts that were folded before, whose own folds are undone, too. Messages may have been added
 * behind, and the report may have been kept as JSON.
 *
 * @throws TypeError for a row of the report that is not of these messages, or whose original is not among the originals
 */
export declare function restoreMessages<M extends AnyMessage>(compressed: CompressMessagesResult<M>): M[];
/** The stages of the pipeline, in the order in which they run. */
export declare function stages(): StageInfo[];
/**
 * Says prose in fewer tokens. Code, names, numbers and whatever else is technical comes out byte for byte; what is lost
 * are fillers, hedges, pleasantries, articles and, for `objective: "chars"`, the long forms of listed abbreviations.
 */
export declare function compressProse(text: string, options?: ProseOptions): CompressedProse;
/** {@link compressProse} on a worker thread. */
export declare function compressProseAsync(text: string, options?: ProseOptions): Promise<CompressedProse>;
/** Writes abbreviations out; with a receipt, only those that it names. Technical words stay as they are. */
export declare function expand(text: string, receipt?: Pick<ProseReceipt, "substitutions">): string;
/** Cuts a text into protected spans and prose; the parts in order are the text. */
export declare function tokenize(text: string): ProseToken[];
/** Removes what stands between `<private>` and `</private>`; one that is never closed, to the end. */
export declare function redactPrivate(text: string): string;
/** What shortening a rule file leaves as it is. Offsets are UTF-16 units, as `String.prototype.slice` counts. */
export declare function protectedSpans(text: string): ProtectedSpan[];
/**
 * Shortens one rule file. What it forbids, demands or names comes out byte for byte, and the result never has more
 * o200k tokens than the text. What saves characters and costs tokens is done only with `maxChars`, for a text that
 * would otherwise be longer.
 */
export declare function preprocess(text: string, level: RulesLevel, options?: Omit<RulesOptions, "level">): string;
/** {@link preprocess} on a worker thread. */
export declare function preprocessAsync(text: string, level: RulesLevel, options?: Omit<RulesOptions, "level">): Promise<string>;
/**
 * Shortens rule files and joins them, `priority: N` of the front matter first (5 by default), up to `maxChars`
 * characters (8000 by default). A file that does not fit is left out whole and named in `omitted`; a smaller one behind
 * it may still fit.
 */
export declare function compressRules(files: RuleFile[], options?: RulesOptions): CompressedRules;
/** {@link compressRules} on a worker thread. */
export declare function compressRulesAsync(files: RuleFile[], options?: RulesOptions): Promise<CompressedRules>;
/** {@link compressProse}, by the name of the other synchronous twins. */
export declare const compressProseSync: typeof compressProse;
/** {@link preprocess}, by the name of the other synchronous twins. */
export declare const preprocessSync: typeof preprocess;
/** {@link compressRules}, by the name of the other synchronous twins. */
export declare const compressRulesSync: typeof compressRules;
/**
 * Copies everything that a store holds into another, which must be empty; reads it back from there and compares. Nobody
 * else can write to either meanwhile. The source is never changed. A copy that does not end leaves the target empty;
 * one that reads otherwise is an error that says where.
 *
 * @param input.progress is told about once a second how many originals were copied; what it throws comes out once all
 * are
 * @throws Error with a `code`: `CONCERTINA_BAD_ARGUMENT` where the target is not empty
 */
export declare function migrate(input: {
	from: StorePlace;
	to: StorePlace;
	progress?: (originals: number) => void;
}): Promise<Migrated>;
/**
 * Evicts what is stale from a conversation: a drop-in for ClawSqueezer 1.0, pure and synchronous.
 *
 * The input is never changed. Messages that do not change are the same objects, and the same array comes back when none
 * did.
 */
export declare function squeeze<M extends AnyMessage>(messages: readonly M[], options?: Options): {
	messages: M[];
	stats: SqueezeStats;
};
/**
 * Makes every tool call have exactly one result, right behind it and before the words of its message, so that providers
 * accept the conversation. Results of one answer that user messages carry come together in one of them; an output of
 * the Responses API may stand anywhere behind its call.
 *
 * The same array comes back when nothing had to change, and where a message that may hold a call or a result cannot be
 * read: `stats.unreadable` is then its index. Items of the Responses API whose calls the provider keeps
 * (`previous_response_id`) are no whole conversation: their outputs would be orphans.
 */
export declare function repairToolPairing<M extends AnyMessage>(messages: readonly M[]): {
	messages: M[];
	stats: RepairStats;
};
/**
 * Counts the tokens of a text, exactly, in a published vocabulary; with `approx`, as colony's published estimate does.
 */
export declare function countTokens(text: string, options?: {
	encoding?: Encoding | "approx";
}): number;
/**
 * Counts the tokens of messages: texts and arguments by the vocabulary, images by the provider's rule for their real
 * size.
 */
export declare function countMessageTokens(messages: readonly AnyMessage[], options?: {
	model?: string;
	encoding?: Encoding;
}): number;
/** Says in at most `maxChars` characters (300 by default) what a text is. */
export declare function summarize(text: string, options?: {
	maxChars?: number;
	hints?: Hints;
}): string;
/** Says what kind of text something is, and what its parts are. */
export declare function detect(text: string, hints?: Hints): Detection;
/** A tool call as OpenAI's chat completions have it, or its name and arguments alone. */
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
/** A tool call as OpenAI's Responses API has it. */
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
 * The definition that a model is shown and the handler of its calls. The Responses API takes the definition as
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
 * Whose content it is: agents and sessions as OpenClaw names them.
 *
 * OpenClaw tells its engine a session key alone, and tools and middleware also an agent. What one of them puts the
 * others must find, so the plugin goes by the key alone. A caller of the library may have no keys: where there is none,
 * the agent that it states decides.
 */
/** The agent of a session key such as `agent:main:work`; `main` where the key names none. Read as the host reads it. */
export declare function agentOf(sessionKey: string | undefined): string;
/** Whose content a call is about, from whatever of it the host states. */
export declare function scopeOf<Session extends string | undefined>(given: {
	agentId?: string;
	sessionKey?: string;
	sessionId: Session;
}): {
	agentId: string;
	sessionId: Session;
};
/** Where log lines go. */
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
	/** Keeps the host from hiding the tool behind its catalogue, where answers arrive escaped. */
	catalogMode: "direct-only";
	execute(callId: string, parameters: unknown): Promise<{
		content: ContentBlock[];
		details: Record<string, never>;
	}>;
}
/** What an integration offers. */
export interface SccsIntegration {
	enabled: boolean;
	/** Decorates an engine; the very same object comes back when the integration is off. */
	wrapContextEngine<E extends AnyEngine>(engine: E): E;
	/** The tool that takes the ids, for one agent's session where the caller says which. */
	tool: FetchTool;
}
/**
 * References over a store of its own (`sccsStorageDir`, by default `~/.openclaw/sccs`), opened on first use.
 *
 * Options out of range are lifted or fall back to their defaults, with one log line each.
 */
export declare function createSccsIntegration(input: {
	cfg?: Partial<OpenOptions>;
	logger: Logger;
	agentId?: string;
	sessionKey?: string;
	sessionId?: string;
}): SccsIntegration;

export {};
