/**
 * A context engine over an open Concertina, as OpenClaw's durable turns want it.
 *
 * Hosts make an engine object for every turn and use it on the turn only, so nothing is kept on it.
 */
import type { Message, Report } from "./api.js";
import type { Concertina } from "./concertina.js";
import { FETCH_TOOL } from "./fetch-tool.js";

/** What the host passes to `assemble`. */
export interface AssembleParameters {
  sessionId: string;
  sessionKey?: string;
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
  advancementKey: string;
  messages: Message[];
  [parameter: string]: unknown;
}

/** What the host gets back from `assemble`. */
export interface AssembleResult {
  messages: Message[];
  estimatedTokens: number;
  systemPromptAddition?: string;
}

/** A context engine that declares durable turns; without the declaration hosts silently run without it. */
export interface ContextEngine {
  readonly info: {
    id: string;
    name: string;
    version?: string;
    ownsCompaction: false;
    acceptedHostParams: string[];
    transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1";
      turnAdvancementIdempotency: "atomic-idempotent-v1";
    };
  };
  ingest(parameters: unknown): Promise<{ ingested: boolean }>;
  assemble(parameters: AssembleParameters): Promise<AssembleResult>;
  compact(parameters: unknown): Promise<unknown>;
  commitTurn(parameters: CommitParameters): Promise<{ status: "committed" | "duplicate" }>;
}

/** Where one line about a failure goes. */
export type Warn = (line: string) => void;

/** The agent of a session key such as `agent:main:work`; `main` where there is none. */
export function agentOf(sessionKey: string | undefined): string {
  return /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1] ?? "main";
}

/**
 * Makes a context engine.
 *
 * Every failure returns the host's own messages, the same array, and leaves one line with `warn`.
 *
 * @param concertina an open store, or how to get one (awaited on each call, so that opening may fail and be tried again)
 * @param options.compact what compacts the stored transcript: delegate it to the host
 */
export function createContextEngine(
  concertina: Concertina | (() => Promise<Concertina>),
  options: { compact: (parameters: unknown) => Promise<unknown>; warn?: Warn; onReport?: (report: Report) => void },
): ContextEngine {
  const warn = options.warn ?? ((line) => console.warn(line));
  const open = typeof concertina === "function" ? concertina : async () => concertina;
  return {
    info: {
      id: "concertina",
      name: "Concertina",
      ownsCompaction: false,
      acceptedHostParams: ["sessionKey", "runtimeSettings"],
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    async ingest() {
      return { ingested: true };
    },
    async assemble({ sessionId, sessionKey, messages, tokenBudget, model, availableTools }) {
      const untouched = { messages, estimatedTokens: 0 };
      if (availableTools && !availableTools.has(FETCH_TOOL)) return untouched;
      try {
        const folded = await (await open()).assemble({
          sessionId, agentId: agentOf(sessionKey), messages, tokenBudget, model, availableTools,
        });
        options.onReport?.(folded.report);
        if (folded.report.warning) warn(`concertina: ${folded.report.warning.message}; new content is sent in full`);
        return {
          messages: folded.messages,
          estimatedTokens: folded.estimatedTokens,
          systemPromptAddition: folded.systemPromptAddition,
        };
      } catch (error) {
        warn(`concertina: assembly failed, the host's own messages are used: ${describe(error)}`);
        return untouched;
      }
    },
    compact: options.compact,
    async commitTurn({ sessionId, sessionKey, advancementKey, messages }) {
      try {
        return await (await open()).commitTurn({ sessionId, agentId: agentOf(sessionKey), advancementKey, messages });
      } catch (error) {
        // A throw would disable the engine for the session until a retry succeeds. Nothing hangs on the record of a turn
        // but the answer to "was it recorded", and an unrecorded turn answers that as a new one.
        warn(`concertina: the turn could not be recorded: ${describe(error)}`);
        return { status: "committed" };
      }
    },
  };
}

/** Message and code of an error, on one line. */
export function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return `${message ?? String(error)}${code ? ` (${code})` : ""}`.replaceAll("\n", " ");
}
