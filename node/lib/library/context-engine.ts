/**
 * A context engine over an open Concertina, as OpenClaw's durable turns want it.
 *
 * Hosts make an engine object for every turn and use it on the turn only, so nothing is kept on it.
 */
import type { AnyMessage, Message, Prices, Redactor } from "./api.js";
import type { Concertina } from "./concertina.js";
import { callable, nullable, object, takenOf } from "../binding/arguments.js";
import { describe } from "../binding/errors.js";
import { scopeOf } from "./scope.js";

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
  ingest(parameters: unknown): Promise<{ ingested: boolean }>;
  assemble<M extends AnyMessage>(parameters: AssembleParameters<M>): Promise<AssembleResult<M>>;
  compact: C;
  commitTurn(parameters: CommitParameters): Promise<{ status: "committed" | "duplicate" }>;
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

type Complain = NonNullable<ContextEngineOptions<Compact>["complain"]>;
type PricesOf = NonNullable<ContextEngineOptions<Compact>["pricesOf"]>;
type RedactorOf = NonNullable<ContextEngineOptions<Compact>["redactor"]>;

const warned: Complain = (step, error, consequence) =>
  console.warn(`concertina: ${step} failed (${describe(error)}); ${consequence}`);

/**
 * Makes a context engine. Every failure returns the host's own messages, the same array, and leaves one line.
 *
 * @param concertina an open store, or how to get one on each call; `undefined` while there is none
 */
export function createContextEngine<C extends Compact>(
  concertina: Concertina | (() => Promise<Concertina | undefined>),
  options: ContextEngineOptions<C>,
): ContextEngine<C> {
  if (typeof concertina !== "function") object("concertina", concertina);
  const {
    compact,
    pricesOf,
    redactor: redactorOf,
    complain = warned,
  } = takenOf("options", options, {
    compact: callable<C>,
    complain: nullable(callable<Complain>),
    pricesOf: nullable(callable<PricesOf>),
    redactor: nullable(callable<RedactorOf>),
  });
  const open = typeof concertina === "function" ? concertina : async () => concertina;
  return {
    info: {
      id: "concertina",
      name: "Concertina",
      ownsCompaction: false,
      // Also what compaction needs to be handed back to the host.
      acceptedHostParams: ["sessionKey", "runtimeSettings", "sessionTarget", "runtimeContext", "abortSignal"],
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    ingest: async () => ({ ingested: false }),
    // By the fence that is declared above, the message that begins the turn is not among these.
    async assemble<M extends AnyMessage>(parameters: AssembleParameters<M>) {
      const { messages, tokenBudget, model, availableTools } = parameters;
      const view: AssembleResult<M> = { messages, estimatedTokens: 0 };
      try {
        const store = await open();
        if (store === undefined) return view;
        const prices = pricesOf?.call(options, parameters);
        const redactor = await redactorOf?.call(options);
        const folded = await store.assemble({
          ...scopeOf(parameters),
          messages,
          turnBegins: true,
          tokenBudget,
          model,
          availableTools,
          prices,
          redactor,
        });
        const { warning, changedMeanwhile } = folded.report;
        if (warning) complain("storing", warning, "new content goes to the model unchanged");
        if (changedMeanwhile)
          complain(
            "folding",
            `messages ${changedMeanwhile.join(", ")} changed meanwhile`,
            "they go to the model as they are now",
          );
        return { messages: folded.messages, estimatedTokens: folded.estimatedTokens };
      } catch (error) {
        complain("assembly", error, "this turn uses the unchanged history");
        return view;
      }
    },
    compact: ((parameters) => compact.call(options, parameters)) as C,
    async commitTurn(parameters) {
      const { advancementKey, messages, sessionKey } = parameters;
      try {
        const store = await open();
        const prices = pricesOf?.call(options, parameters);
        const contextWindow = windowOf(parameters);
        if (store)
          return await store.commitTurn({
            ...scopeOf(parameters),
            sessionKey,
            advancementKey,
            messages,
            prices,
            contextWindow,
          });
      } catch (error) {
        complain("recording a turn", error, "the session goes on without this record");
      }
      // An unrecorded turn loses figures, nothing else; a throw would switch the engine off for the session.
      return { status: "committed" };
    },
  };
}

/** The window of a turn's model, where the host says it: as it is configured, or as the model has it. */
function windowOf({ runtimeContext }: CommitParameters): number | undefined {
  const { tokenBudget, modelContextWindow } = (runtimeContext ?? {}) as {
    tokenBudget?: unknown;
    modelContextWindow?: unknown;
  };
  return [tokenBudget, modelContextWindow].find(
    (tokens): tokens is number => typeof tokens === "number" && tokens > 0 && Number.isFinite(tokens),
  );
}
