/**
 * A context engine on an open `Concertina`, for OpenClaw's durable turns.
 *
 * Hosts create an engine object for every turn and use it for that turn only, so it has no state of its own.
 */
import type { AnyMessage, Message, Prices, Redactor } from "./api.js";
import type { Concertina } from "./concertina.js";
import { callable, nullable, object, takenOf } from "../binding/arguments.js";
import { describe } from "../binding/errors.js";
import { scopeOf } from "./scope.js";

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
  ingest(parameters: unknown): Promise<{ ingested: boolean }>;
  assemble<M extends AnyMessage>(parameters: AssembleParameters<M>): Promise<AssembleResult<M>>;
  compact: C;
  commitTurn(parameters: CommitParameters): Promise<{ status: "committed" | "duplicate" }>;
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

type Complain = NonNullable<ContextEngineOptions<Compact>["complain"]>;
type PricesOf = NonNullable<ContextEngineOptions<Compact>["pricesOf"]>;
type RedactorOf = NonNullable<ContextEngineOptions<Compact>["redactor"]>;

const warned: Complain = (step, error, consequence) =>
  console.warn(`concertina: ${step} failed (${describe(error)}); ${consequence}`);

/**
 * Creates a context engine. On every failure it returns the host's own message array and reports one line.
 *
 * @param concertina an open store, or a function that returns the store for each call, or undefined while there is none
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
      // Some of these are for compaction, which hands them back to the host.
      acceptedHostParams: ["sessionKey", "prompt", "runtimeSettings", "sessionTarget", "runtimeContext", "abortSignal"],
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    ingest: async () => ({ ingested: false }),
    // The fence declared above means that the message that begins the turn is not among these.
    async assemble<M extends AnyMessage>(parameters: AssembleParameters<M>) {
      const { messages, tokenBudget, model, availableTools, prompt } = parameters;
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
          prompt,
          tokenBudget,
          model,
          availableTools,
          prices,
          redactor,
        });
        const { warning, changedMeanwhile } = folded.report;
        if (warning) complain("storing", warning, "new content is sent to the model unchanged");
        if (changedMeanwhile)
          complain(
            "folding",
            `messages ${changedMeanwhile.join(", ")} changed during the call`,
            "they are sent to the model as they are now",
          );
        return { messages: folded.messages, estimatedTokens: folded.estimatedTokens };
      } catch (error) {
        complain("assembly", error, "this turn uses the unchanged history");
        return view;
      }
    },
    compact: ((parameters) => compact.call(options, parameters)) as C,
    async commitTurn(parameters) {
      const { advancementKey, messages, sessionKey, heldOut } = parameters;
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
            heldOut,
          });
      } catch (error) {
        complain("recording a turn", error, "the session continues without this record");
      }
      // An unrecorded turn is only missing in the figures, but an exception would switch the engine off for the
      // session.
      return { status: "committed" };
    },
  };
}

/**
 * Returns the size of the context window of a turn's model if the host states it: the configured size first, then the
 * model's own.
 */
function windowOf({ runtimeContext }: CommitParameters): number | undefined {
  const { tokenBudget, modelContextWindow } = (runtimeContext ?? {}) as {
    tokenBudget?: unknown;
    modelContextWindow?: unknown;
  };
  return [tokenBudget, modelContextWindow].find(
    (tokens): tokens is number => typeof tokens === "number" && tokens > 0 && Number.isFinite(tokens),
  );
}
