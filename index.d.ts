// Generated from node/lib by `npm run generate`. Do not edit.
/// <reference types="node" />

/** Every option. */
export interface Options {
    /** How far rewriting may go: only restorable rewrites, also rewrites that the store can undo, or also shortened prose. Default "balanced". */
    preset?: "lossless" | "balanced" | "max";
    /** When content that was already sent may change: by ages alone, or when it pays with the provider's prompt cache. Default "every-turn". */
    schedule?: "every-turn" | "cache-aware";
    /** With "cache-aware": content that may go waits at most this many user turns. Default 100, at least 1. */
    maxDeferredTurns?: number;
    /** With "cache-aware": above this percentage of the token budget the context counts as full and is folded at once. Default 70, at least 10. */
    contextThresholdPercent?: number;
    /** With "cache-aware": content smaller than this many tokens stays. Default 150, at least 50. */
    minTokensToFold?: number;
    /** With "cache-aware": "auto" lets a model's thinking of finished turns leave together with what is folded before it, where the provider documents that it may be omitted; "keep" sends all of it. Default "auto". */
    thinking?: "auto" | "keep";
    /** With "cache-aware": at most how many names, paths and numbers of what goes are kept, so that the agent can go on using them; fewer of what is short. Default 120, at least 0. */
    keepNames?: number;
    /** Content older than this many user turns may go. Default 4, at least 1. */
    staleTurns?: number;
    /** Content older than this many model calls may go, even within one user turn. Default 12, at least 1. */
    staleCalls?: number;
    /** Content smaller than this many tokens stays. Default 200, at least 50. */
    minTokensToSqueeze?: number;
    /** How many characters of what goes are kept as a preview. Default 200, at least 0. */
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
    /** Directory of the store; empty means the host's state directory for this plugin. Default "". */
    sccsStorageDir?: string;
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
    /** Tools whose results stay exact while fresh, because the next edit needs them (globs). Default ["read","read_*","*_read","view","view_file","open_file","cat"]. */
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

/** The shapes of the public interface. Options are generated from the core's own table: see `options.ts`. */
/** A message of any of the three shapes: OpenClaw, Anthropic, OpenAI. Unknown fields come back as they were. */
export type Message = {
    role: string;
    content?: unknown;
    [field: string]: unknown;
};
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
/** What `squeeze()` did. */
export interface SqueezeStats {
    messagesProcessed: number;
    blocksEvicted: number;
    /** Tokens really freed: what went, less the placeholders that came. */
    tokensFreed: number;
    imagesEvicted: number;
    toolResultsEvicted: number;
    toolCallsEvicted: number;
    heartbeatsPruned: number;
    largeResultsTruncated: number;
}
/** What `repairToolPairing()` did. */
export interface RepairStats {
    syntheticResultsInserted: number;
    orphanResultsDropped: number;
    duplicateResultsDropped: number;
    /** Whether anything changed. */
    repaired: boolean;
}
/** A vocabulary. */
export type Encoding = "o200k_base" | "cl100k_base";
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
    tokensBefore: number;
    tokensAfter: number;
}
/** What a job did. */
export interface Report {
    actions: Action[];
    /** Tokens of all messages as they came. */
    tokensBefore: number;
    /** Tokens of all messages as returned. */
    tokensAfter: number;
    /** Set when already-sent content changed in this call. */
    epoch?: {
        reason: string;
        tokensFreed: number;
        tokensRebilled: number;
    };
    /** Set when the store failed and new content went out unreplaced. */
    warning?: {
        code: string;
        message: string;
    };
    /** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no action names them. */
    changedMeanwhile?: number[];
}
/** Prices per token, in any one currency, and how long the provider's cache lives. */
export interface Prices {
    input: number;
    cacheRead: number;
    cacheWrite: number;
    cacheTtlMs: number;
}
/** A part of an answer, as hosts and providers take it. */
export type ContentBlock = {
    type: "text";
    text: string;
} | {
    type: "image";
    data: string;
    mimeType: string;
};
/** What `fetch` takes. */
export interface FetchRequest {
    /** Bare ids, or whole markers as placeholders print them. */
    refIds: string[];
    agentId?: string;
    sessionId?: string;
    /** 1-based inclusive line range: `"41-420"`, `"41-"`, `"41"`. */
    lines?: string;
    /** 1-based inclusive character range, for texts of few long lines. */
    chars?: string;
    /** Regular expression: only matching lines come back, numbered, with two lines around each. */
    pattern?: string;
    /** Most characters of the whole answer; 15,900 by default, which every host accepts. */
    maxChars?: number;
    now?: number;
}
/** Totals of a session or of the whole store. */
export interface Stats {
    sessions: number;
    originals: number;
    originalBytes: number;
    storedBytes: number;
    turns: number;
    tokensBefore: number;
    tokensAfter: number;
    receipts: {
        at: number;
        kind: string;
        tokensBefore: number;
        tokensAfter: number;
        detail: unknown;
    }[];
    epochs: {
        at: number;
        reason: string;
        tokensFreed: number;
        tokensRebilled: number;
        blocks: number;
    }[];
}
/** What a sweep or purge removed. */
export interface Removed {
    originals: number;
    bytes: number;
    sessions: number;
}
/** Where a store lives, how long it keeps originals, and every option. */
export type OpenOptions = {
    dir: string;
    /** `clock`: for `sccsStorageTtlSeconds` after their last use. `host`: for as long as the host holds their session; see `settle`. */
    retention?: "clock" | "host";
    /** A date such as `2026-01-31`: a damaged store is set aside under it, and a new one takes its place. Without it, it is an error. */
    today?: string;
} & Options;
/** The exact bytes that a marker stands for. */
export interface Original {
    /** All 64 digits of the SHA-256 of the bytes; markers print the first 16. */
    refId: string;
    data: Buffer;
    /** Where it came from, for people. */
    label: string;
}
/** What one stage did. */
export interface StageRow {
    name: string;
    fired: boolean;
    tokensBefore: number;
    tokensAfter: number;
    /** Time spent on deciding whether to look closer. */
    gateMs: number;
    /** Time spent on proposing, measuring and proving. */
    workMs: number;
    /** What the stage has to say. */
    notes: Record<string, string>;
}
/** A stage of the pipeline. */
export interface StageInfo {
    name: string;
    order: number;
    /** Whether all its rewrites are restorable from the output alone. */
    lossless: boolean;
    contentTypes: string[];
}
/** What a custom stage looks at. */
export interface StageContext {
    text: string;
    contentType: string;
    language: string | null;
    role: string;
}
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
/** A compressed text. When nothing paid, the text is the input. */
export interface CompressResult {
    text: string;
    tokensBefore: number;
    tokensAfter: number;
    contentType: string;
    language: string | null;
    /** Whether the text alone restores the input. */
    lossless: boolean;
    stages: StageRow[];
    /** What must be stored before the text is shown. */
    originals: Original[];
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
    report: {
        tokensBefore: number;
        tokensAfter: number;
        blocks: {
            message: number;
            block: number;
            action: "repeat" | "delta" | "runs" | "compressed" | "shrunk";
            tokensBefore: number;
            tokensAfter: number;
            stages: StageRow[];
        }[];
        /** Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no block names them. */
        changedMeanwhile?: number[];
    };
}
/** How prose is shortened. */
export interface ProseOptions {
    /** How much goes: `full` by default. */
    intensity?: "lite" | "full" | "ultra";
    /** What becomes less: real tokens by default. Abbreviations save none, so they are for `chars` only. */
    objective?: "tokens" | "chars";
}
/** What shortening a text came to; never part of the text. */
export interface ProseReceipt {
    tokens_before: number;
    tokens_after: number;
    /** Negative when saving characters cost tokens. */
    saved_tokens: number;
    /** The saved part of `tokens_before`, 0 to 1. */
    saved_ratio: number;
    compression_intensity: "lite" | "full" | "ultra";
    /** The short forms that stand for longer ones; `expand` undoes just these. */
    substitutions: {
        long: string;
        short: string;
        count: number;
    }[];
}
/** A shortened text with its receipt. */
export interface CompressedProse {
    text: string;
    receipt: ProseReceipt;
}
/** A part of a text: a protected span (`fence`, `inline-code`, `url`, `path`, `command`, ...) or `prose`. */
export interface ProseToken {
    kind: string;
    text: string;
}
/** A part of a rule file that stays. Offsets are UTF-16 units. */
export interface ProtectedSpan {
    start: number;
    end: number;
    /** A kind of `tokenize`, or `negation`, `assertion`, `action`. */
    category: string;
}
/** How much of a rule file's wording goes: formatting, also fillers and abbreviations, also vowels inside long words. */
export type RulesLevel = 0 | 1 | 2 | 3 | "off" | "light" | "standard" | "aggressive";
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
    name: string;
    text: string;
}
/** Rule files in one text. */
export interface CompressedRules {
    text: string;
    /** Names of the files in the text, in order. */
    included: string[];
    /** Names of the files that did not fit. */
    omitted: string[];
    report: {
        level: number;
        objective: "chars" | "tokens";
        charsBefore: number;
        charsAfter: number;
        tokensBefore: number;
        tokensAfter: number;
        files: {
            name: string;
            priority: number;
            included: boolean;
            charsBefore: number;
            charsAfter: number;
            tokensBefore: number;
            tokensAfter: number;
        }[];
    };
}
/** A text -> the same with masks in place of its secrets. */
export type Redactor = (text: string) => string;

/** Native errors -> JavaScript errors with a stable `code`. */
/** An error with a stable code. */
export type CodedError = (Error | TypeError) & {
    code: string;
};
/** Turns what the addon raised into an `Error`, or a `TypeError` where the caller made a mistake. */
declare function toError(raised: unknown): unknown;
/** Runs a synchronous call into the addon. */
declare function calling<T>(body: () => T): T;
/** Runs an asynchronous call into the addon. */
declare function awaiting<T>(body: () => Promise<T>): Promise<T>;
/** Throws the TypeError of a bad argument: its name, what it was, and what it may be. */
declare function badArgument(name: string, got: unknown, expected: string): never;
/** Checks an argument that must be an array. */
declare function needArray(name: string, value: unknown): asserts value is unknown[];
/** Checks an argument that must be a string. */
declare function needString(name: string, value: unknown): asserts value is string;
/** Checks an argument that must be an array of strings. */
declare function needStrings(name: string, value: unknown): asserts value is string[];
/** Checks an argument that must be an object. */
declare function needObject(name: string, value: unknown): asserts value is Record<string, unknown>;
/** @throws TypeError unless the value is a finite number in the range. */
declare function needNumber(name: string, value: unknown, range: "above 0" | "of at least 0"): asserts value is number;

/** Functions without a store. */
/**
 * Evicts what is stale from a conversation: a drop-in for ClawSqueezer 1.0, pure and synchronous.
 *
 * The input is never changed. Messages that do not change are the same objects, and the same array comes back when none did.
 */
export declare function squeeze<M extends Message>(messages: M[], options?: Options): {
    messages: M[];
    stats: SqueezeStats;
};
/**
 * Makes every tool call have exactly one result, right behind it, so that providers accept the conversation.
 *
 * The same array comes back when nothing had to change.
 */
export declare function repairToolPairing<M extends Message>(messages: M[]): {
    messages: M[];
    stats: RepairStats;
};
/** Counts the tokens of a text, exactly, in a published vocabulary; with `approx`, as colony's published estimate does. */
export declare function countTokens(text: string, options?: {
    encoding?: Encoding | "approx";
}): number;
/** Counts the tokens of messages: texts and arguments by the vocabulary, images by the provider's rule for their real size. */
export declare function countMessageTokens(messages: Message[], options?: {
    model?: string;
    encoding?: Encoding;
}): number;
/** Says in at most `maxChars` characters (300 by default) what a text is. */
export declare function summarize(text: string, options?: {
    maxChars?: number;
    hints?: Hints;
}): string;
/** A run of text of one kind. Offsets are UTF-16 units, as `String.prototype.slice` counts. */
export interface Segment {
    start: number;
    end: number;
    contentType: string;
    language: string | null;
}
/** Says what kind of text something is, and what its parts are. */
export declare function detect(text: string, hints?: Hints): {
    contentType: string;
    language: string | null;
    segments: Segment[];
};

/** Prose with protected words, and rule files. Functions without a suffix run on the calling thread; long work has an `…Async` twin. */
/**
 * Says prose in fewer tokens. Code, names, numbers and whatever else is technical comes out byte for byte; what is lost are fillers,
 * hedges, pleasantries, articles and, for `objective: "chars"`, the long forms of listed abbreviations.
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
 * Shortens one rule file. What it forbids, demands or names comes out byte for byte, and the result never has more o200k tokens than
 * the text. What saves characters and costs tokens is done only with `maxChars`, for a text that would otherwise be longer.
 */
export declare function preprocess(text: string, level: RulesLevel, options?: Omit<RulesOptions, "level">): string;
/** {@link preprocess} on a worker thread. */
export declare function preprocessAsync(text: string, level: RulesLevel, options?: Omit<RulesOptions, "level">): Promise<string>;
/**
 * Shortens rule files and joins them, `priority: N` of the front matter first (5 by default), up to `maxChars` characters (8000 by
 * default). A file that does not fit is left out whole and named in `omitted`; a smaller one behind it may still fit.
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

/** The fusion pipeline: texts and conversations in fewer tokens, and back. */
/**
 * Rewrites a text so that it costs fewer tokens, on a worker thread.
 *
 * `restore(result.text, result.originals)` is the text again, byte for byte. A lossless result needs no originals; others must be
 * stored before the text is shown. The result is never longer than the text.
 */
export declare function compress(text: string, options?: CompressOptions): Promise<CompressResult>;
/** {@link compress} on the calling thread. */
export declare function compressSync(text: string, options?: CompressOptions): CompressResult;
/**
 * Removes what a conversation says twice, then compresses each tool result, on a worker thread. Words of users and of the system
 * stay; messages of any of the three shapes.
 */
export declare function compressMessages<M extends Message>(messages: M[], options?: CompressMessagesOptions): Promise<CompressMessagesResult<M>>;
/** {@link compressMessages} on the calling thread. */
export declare function compressMessagesSync<M extends Message>(messages: M[], options?: CompressMessagesOptions): CompressMessagesResult<M>;
/** Undoes {@link compress}: folds by themselves, markers with the originals they name. Anything else stays as it is. */
export declare function restore(text: string, originals?: Pick<Original, "data">[]): string;
/** The stages of the pipeline, in the order in which they run. */
export declare function stages(): StageInfo[];

/**
 * `rewind_retrieve` for agents outside OpenClaw: an OpenAI function-calling definition and its handler.
 *
 * It answers from the originals that this process's `compress` and `compressMessages` calls returned: up to 64 MB of them, the
 * oldest forgotten first. Whoever needs them longer keeps `originals`, or uses a `Concertina`.
 */
/** Keeps an original for the handler. */
declare function remember(original: Original): void;
/** A tool call as OpenAI sends it, or its name and arguments alone. */
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
/** The definition that a model is shown and the handler of its calls. */
export declare const rewindTool: {
    definition: {
        type: string;
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
    /** Answers a call with the message to append. An unknown id, and arguments that are no JSON, are answered in words. */
    handle(call: RewindCall): Promise<{
        role: "tool";
        tool_call_id: string;
        content: string;
    }>;
};

/** The class with a store: what a host calls at the two moments, and the way back. */
/** Most characters of a fetched answer that every host accepts as one tool result, with room for the host's own words. */
export declare const FETCH_CHARS = 15900;
/** Tells the agent what placeholders are and when to fetch. Constant: a prompt that changes is billed again. */
export declare function guidance(): string;
/** One open store with one set of options. Several may be open on one directory, in one process or in several. */
export declare class Concertina {
    private constructor();
    /**
     * Opens the store in `dir`, creating it on first use, readable by its owner only.
     *
     * @throws TypeError for an unknown option or a bad value; Error with a `code` where the directory cannot be used.
     */
    static open(options: OpenOptions): Promise<Concertina>;
    /** One line for each lenient option that had to be corrected. */
    get warnings(): string[];
    /**
     * The moment of birth: replaces oversize texts of a fresh tool result by references, durably, before the result is first
     * sent. Resolves to the same message object when nothing was replaced. A failing store is a `report.warning`, never a
     * rejection.
     *
     * @param input.toolName the tool, where the message does not name it itself
     * @param input.args what the tool was given, where the caller knows it
     * @param input.redactor masks what only the host knows for a secret. With `secrets: "keep-inline"` a result in which it masks
     * something stays as it is, and out of the store; with `"redact"` what it returns is what is stored and shown; with `"store"`, and
     * for texts that are not stored at birth, it is not asked
     * @param input.hostCutAt a text of exactly so many UTF-16 units was cut by the host, and what is shown of it says so
     */
    admitToolResult<M extends Message>(input: {
        sessionId: string;
        agentId?: string;
        message: M;
        toolName?: string;
        args?: unknown;
        hostCutAt?: number;
        redactor?: Redactor;
        now?: number;
    }): Promise<{
        message: M;
        report: Report;
    }>;
    /**
     * Folds a history for the next model call: replays byte for byte what earlier calls decided, then folds what has become
     * stale. Messages that do not change are the same objects, and the same array comes back when none did. A failing store is
     * a `report.warning`, never a rejection.
     */
    assemble<M extends Message>(input: {
        sessionId: string;
        agentId?: string;
        messages: M[];
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
        now?: number;
    }): Promise<{
        messages: M[];
        estimatedTokens: number;
        systemPromptAddition: string;
        report: Report;
    }>;
    /** Records a finished turn: atomic, and the same key again is a duplicate. */
    commitTurn(input: {
        sessionId: string;
        agentId?: string;
        advancementKey: string;
        messages?: Message[];
        now?: number;
    }): Promise<{
        status: "committed" | "duplicate";
    }>;
    /**
     * Gives a sub-agent's session what its parent's session may see and how it is shown: everything, or only the originals with the
     * named ids.
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
     * Brings originals back. Alone and within `maxChars`, an original comes back byte for byte with nothing added; a part of one
     * ends with a line that says which part it is and which call continues. Unknown ids are answered in words.
     */
    fetch(input: FetchRequest): Promise<{
        content: ContentBlock[];
        found: number;
    }>;
    /**
     * Puts originals back in place of their placeholders, in any order and whatever the age of the messages. Thinking that left comes
     * back only where `sessionId` is given: nothing stands in its place. Placeholders whose
     * originals cannot be had stay as they are and are named in `missing`. Messages that do not change are the same objects, and the
     * same array comes back when none did.
     */
    unfold<M extends Message>(input: {
        sessionId?: string;
        agentId?: string;
        messages: M[];
        now?: number;
    }): Promise<{
        messages: M[];
        unfolded: number;
        missing: string[];
    }>;
    /**
     * With `retention: "host"`: ends every session that the host no longer knows, and takes back the end of those that it does. The
     * time to live of what a session held begins with its end.
     */
    settle(input: {
        sessionIds: string[];
        now?: number;
    }): Promise<{
        ended: number;
    }>;
    /** The host has ended a session: the time to live of what it held begins. A later call for the session takes it back. */
    endSession(input: {
        sessionId: string;
        now?: number;
    }): Promise<void>;
    /** What an operator should know and has not been told yet, one line each. */
    notices(): string[];
    /** Totals of one session, or of the whole store. */
    stats(input?: {
        sessionId?: string;
    }): Promise<Stats>;
    /** Removes what expired and, above `storeMaxBytes`, what was least recently referred to. */
    sweep(input?: {
        now?: number;
    }): Promise<Removed>;
    /**
     * Forgets a session and every original that no other session shares: placeholders of those are then all that is left of them.
     * With `dry` nothing is removed, and the answer is what would be.
     */
    purge(input: {
        sessionId: string;
        dry?: boolean;
    }): Promise<Removed>;
    /** Lets go of the store. Later calls reject with code `CONCERTINA_CLOSED`. */
    close(): Promise<void>;
}

/** `fetch_original_data` as hosts register it: definition and handler. */
/** The tool's name. */
export declare const FETCH_TOOL = "fetch_original_data";
/** What the model gives the tool. */
export interface FetchToolParameters {
    ref_ids: string[];
    lines?: string;
    chars?: string;
    pattern?: string;
    max_chars?: number;
}
/** What the model reads about the tool, in every request: few words. */
export declare const fetchToolDescription = "What was folded, byte for byte: whole, by lines, or what matches a regular expression.";
/** JSON schema of the parameters. Without a maximum: hosts answer a number above one with an error, and here the answer is cut. */
export declare const fetchToolParameters: {
    readonly type: "object";
    readonly required: readonly ["ref_ids"];
    readonly properties: {
        readonly ref_ids: {
            readonly type: "array";
            readonly items: {
                readonly type: "string";
            };
        };
        readonly lines: {
            readonly type: "string";
            readonly description: "41-420";
        };
        readonly chars: {
            readonly type: "string";
        };
        readonly pattern: {
            readonly type: "string";
        };
        readonly max_chars: {
            readonly type: "integer";
        };
    };
};
/**
 * Answers one call of the tool.
 *
 * @param scope.maxChars most characters that the host takes as one tool result; what the model asks for beyond that is cut to it
 * @throws TypeError when the parameters are not what the schema says.
 */
export declare function answerFetch(concertina: Concertina, parameters: unknown, scope: {
    agentId?: string;
    sessionId?: string;
    maxChars?: number;
}): Promise<ContentBlock[]>;

/**
 * Whose content it is: agents and sessions as OpenClaw names them.
 *
 * The engine is told a session key alone, tools and middleware also an agent. What one of them puts the others must find, so where
 * there is a key it decides, and where there is none the agent that was stated.
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

/**
 * A context engine over an open Concertina, as OpenClaw's durable turns want it.
 *
 * Hosts make an engine object for every turn and use it on the turn only, so nothing is kept on it.
 */
/** What the host passes to `assemble`. */
export interface AssembleParameters {
    sessionId: string;
    sessionKey?: string;
    agentId?: string;
    messages: Message[];
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
    messages: Message[];
    [parameter: string]: unknown;
}
/** What the host gets back from `assemble`. */
export interface AssembleResult {
    messages: Message[];
    /** 0 where nothing was counted: the host counts itself. */
    estimatedTokens: number;
    systemPromptAddition?: string;
}
/** A context engine that declares durable turns; without the declaration hosts silently run without it. */
export interface ContextEngine {
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
    assemble(parameters: AssembleParameters): Promise<AssembleResult>;
    compact(parameters: unknown): Promise<unknown>;
    commitTurn(parameters: CommitParameters): Promise<{
        status: "committed" | "duplicate";
    }>;
}
/** What a host tells its engine beside the store. */
export interface ContextEngineOptions {
    /** Compacts the stored transcript: delegate it to the host. */
    compact(parameters: unknown): Promise<unknown>;
    /** Gets one line for each step that failed, with what that means for the conversation; `console.warn` by default. */
    complain?(step: string, error: unknown, consequence: string): void;
    /** Prices of the model of a turn, where the host knows them. */
    pricesOf?(parameters: AssembleParameters): Prices | undefined;
}
/**
 * Makes a context engine. Every failure returns the host's own messages, the same array, and leaves one line.
 *
 * @param concertina an open store, or how to get one on each call; `undefined` while there is none
 */
export declare function createContextEngine(concertina: Concertina | (() => Promise<Concertina | undefined>), options: ContextEngineOptions): ContextEngine;
/** Message and code of an error, on one line of at most 300 characters. */
export declare function describe(error: unknown): string;

/** Where log lines go. */
export interface Logger {
    warn(line: string): void;
}
/** Any engine with an `assemble()`. */
export interface AnyEngine {
    assemble(parameters: {
        sessionId: string;
        messages: Message[];
    }): Promise<{
        messages: Message[];
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
