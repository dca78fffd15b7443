/**
 * References for any context engine: a decorator of its `assemble()` that leaves everything else as it is.
 *
 * The wrapped engine may be a class instance. Its own `this`, getters, private fields and prototype methods keep
 * working, because every call except `assemble` goes directly to it.
 */
import { homedir } from "node:os";
import path from "node:path";

import type { AnyMessage, ContentBlock, OpenOptions } from "./api.js";
import { Concertina } from "./concertina.js";
import { type Kind, nullable, object, optional, string, takenOf } from "../binding/arguments.js";
import { badArgument, describe, reading } from "../binding/errors.js";
import { answerFetch, FETCH_DEFINITION, type FETCH_TOOL, type fetchToolParameters } from "./fetch-tool.js";
import { scopeOf } from "./scope.js";

/** The destination of log lines. */
export interface Logger {
  warn(line: string): void;
}

/** Any engine with an `assemble()`. */
export interface AnyEngine {
  assemble(parameters: { sessionId: string; messages: AnyMessage[] }): Promise<{ messages: AnyMessage[] }>;
}

/** The fetch tool, as hosts register it. */
export interface FetchTool {
  name: typeof FETCH_TOOL;
  label: string;
  description: string;
  parameters: typeof fetchToolParameters;
  /** Prevents the host from hiding the tool behind its catalogue, where answers arrive escaped. */
  catalogMode: "direct-only";
  execute(callId: string, parameters: unknown): Promise<{ content: ContentBlock[]; details: Record<string, never> }>;
}

/** The parts of an integration. */
export interface SccsIntegration {
  enabled: boolean;
  /** Decorates an engine. Returns the same object if the integration is off. */
  wrapContextEngine<E extends AnyEngine>(engine: E): E;
  /** The fetch tool, for the session that the caller named. */
  tool: FetchTool;
}

const logger: Kind<Logger> = (name, value) => {
  const { warn } = (value ?? {}) as { warn?: unknown };
  return typeof warn === "function" ? (value as Logger) : badArgument(name, value, "an object with a function `warn`");
};

/** The options, copied because the store is opened later. */
const config: Kind<Partial<OpenOptions>> = (name, value) => reading(name, () => ({ ...object(name, value) }));

const TAKES = {
  logger,
  cfg: optional(config),
  agentId: nullable(string),
  sessionKey: nullable(string),
  sessionId: nullable(string),
};

/**
 * Creates an integration with a store of its own (`sccsStorageDir`, by default `~/.openclaw/sccs`), which is opened on
 * first use.
 *
 * Options out of range are raised to the limit or replaced by their defaults, with one log line each.
 */
export function createSccsIntegration(input: {
  cfg?: Partial<OpenOptions>;
  logger: Logger;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
}): SccsIntegration {
  const { cfg = {}, logger, agentId, sessionKey, sessionId } = takenOf("input", input, TAKES);
  const enabled = cfg.sccsEnabled !== false;
  let opening: Promise<Concertina> | undefined;
  const open = () => {
    opening ??= openStore(cfg, logger).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    enabled,
    wrapContextEngine: (engine) => (enabled ? decorate(engine, open, { logger, agentId }) : engine),
    tool: {
      ...FETCH_DEFINITION,
      execute: async (_callId, parameters) => ({
        content: await answerFetch(await open(), parameters, scopeOf({ agentId, sessionKey, sessionId })),
        details: {},
      }),
    },
  };
}

async function openStore(cfg: Partial<OpenOptions>, logger: Logger): Promise<Concertina> {
  const dir = cfg.sccsStorageDir || cfg.dir || path.join(homedir(), ".openclaw", "sccs");
  const place = cfg.url === undefined ? { dir } : { url: cfg.url, namespace: cfg.namespace, host: cfg.host };
  const concertina = await Concertina.open({ ...cfg, ...place } as OpenOptions);
  for (const line of concertina.warnings) logger.warn(`sccs: ${line}`);
  return concertina;
}

function decorate<E extends AnyEngine>(
  engine: E,
  open: () => Promise<Concertina>,
  { logger, agentId }: { logger: Logger; agentId?: string },
): E {
  const assemble = async (
    parameters: Parameters<E["assemble"]>[0] & { sessionKey?: string; availableTools?: Set<string>; model?: string },
  ) => {
    const assembled = await engine.assemble(parameters);
    try {
      const folded = await (
        await open()
      ).assemble({
        ...scopeOf({ agentId, sessionKey: parameters.sessionKey, sessionId: parameters.sessionId }),
        messages: assembled.messages,
        model: parameters.model,
        availableTools: parameters.availableTools,
        referOversize: true,
      });
      if (folded.report.warning) logger.warn(`sccs: ${folded.report.warning.message}`);
      return { ...assembled, messages: folded.messages };
    } catch (error) {
      logger.warn(`sccs: folding failed (${describe(error)}); outputs are sent in full`);
      return assembled;
    }
  };
  return new Proxy(unlocked(engine), {
    get(_, property) {
      if (property === "assemble") return assemble;
      const value: unknown = Reflect.get(engine, property, engine);
      return typeof value === "function" ? value.bind(engine) : value;
    },
  });
}

/**
 * Returns a proxy target with the properties of an engine. For a frozen engine they are copied as configurable, because
 * a proxy must report locked properties of its target unchanged.
 */
function unlocked<E extends object>(engine: E): E {
  const properties = Reflect.ownKeys(engine).map(
    (key) => [key, Object.getOwnPropertyDescriptor(engine, key) ?? {}] as const,
  );
  if (properties.every(([, { configurable, writable }]) => configurable || writable)) return engine;
  return Object.create(
    Object.getPrototypeOf(engine),
    Object.fromEntries(properties.map(([key, property]) => [key, { ...property, configurable: true }])),
  );
}
