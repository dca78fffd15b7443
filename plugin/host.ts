/**
 * The part of OpenClaw's plugin interface that this plugin uses, as types only: nothing here imports the host at run
 * time. A test compiles the plugin against the host's own types, which are not there when it is built.
 *
 * The host passes more than is listed and may add keys; whatever is not named here goes through untouched.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import type {
  AnyMessage,
  AssembleParameters,
  AssembleResult,
  ContentBlock,
  ContextEngine as LibraryEngine,
} from "../node/lib/for-plugin.js";

export type { ContentBlock };

export interface Logger {
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** The branch of the host's configuration that is read here. */
export interface HostConfig {
  models?: { providers?: Record<string, { models?: readonly HostModel[] }> };
  agents?: { defaults?: AgentConfig & { contextPruning?: ContextPruning }; entries?: Record<string, AgentConfig> };
  plugins?: { slots?: { contextEngine?: string }; entries?: Record<string, { enabled?: boolean } | undefined> };
  tools?: { deny?: readonly string[] };
  [key: string]: unknown;
}

/** What all agents, or one of them, are configured with. */
export interface AgentConfig {
  params?: { cacheRetention?: string };
  models?: Record<string, { params?: { cacheRetention?: string } }>;
}

/** The host's own pruning of tool results. */
export interface ContextPruning {
  mode?: string;
  tools?: { allow?: readonly string[]; deny?: readonly string[] };
}

export interface HostModel {
  id: string;
  /** US dollars per million tokens. */
  cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
}

/** What the library's engine takes, and what the host says of the model and of the turn. */
export interface AssembleParams<M extends AnyMessage = AnyMessage> extends AssembleParameters<M> {
  /** What the turn was started with. */
  prompt?: string;
  /** How the model is to name what it finds in the host's memory. */
  citationsMode?: "auto" | "on" | "off";
  runtimeSettings?: {
    model?: { resolved?: string | null; provider?: string | null };
    executionHost?: { id?: string | null };
  };
}

/** Session ids come with it only when the child continues its parent's transcript. */
export interface SubagentSpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
}

/** Compacts as the host does by itself. */
export type Compact = typeof import("openclaw/plugin-sdk/core").delegateCompactionToRuntime;

/** How a runtime that keeps a thread of its own takes what was assembled: once for each epoch. */
export interface ContextProjection {
  mode: "thread_bootstrap";
  epoch: string;
}

/** The library's engine, and what the host asks of it beside that. */
export interface ContextEngine extends LibraryEngine<Compact> {
  assemble<M extends AnyMessage>(
    params: AssembleParams<M>,
  ): Promise<AssembleResult<M> & { contextProjection: ContextProjection }>;
  prepareSubagentSpawn(params: SubagentSpawnParams): Promise<{ rollback(): void }>;
}

export interface ToolResult {
  content: ContentBlock[];
  details: unknown;
}

export interface ToolResultEvent {
  /** The thread of a runtime that keeps its own. */
  threadId?: string;
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  isError?: boolean;
  result: ToolResult;
}

/** Who runs the agent. */
export type Runtime = "openclaw" | "codex";

/** Which conversation a tool call belongs to. */
export interface CallContext {
  agentId?: string;
  sessionId?: string;
  sessionKey?: string;
}

/** The same, and which runtime asks. */
export interface ToolResultContext extends CallContext {
  runtime: Runtime;
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: object;
  catalogMode: "direct-only";
  execute(toolCallId: string, parameters: unknown): Promise<ToolResult>;
}

/** What the hook before a prompt is told. */
export interface PromptBuild {
  prompt: string;
  messages: unknown[];
}

/** Whose prompt it is. */
export interface PromptContext extends CallContext {
  workspaceDir?: string;
}

/** What a session-ending hook is told. */
export interface SessionEnd {
  sessionId: string;
  sessionKey?: string;
  reason?: string;
}

/** A tab of the Control UI that shows a route of this plugin in a frame. */
export interface Tab {
  surface: "tab";
  id: string;
  label: string;
  description: string;
  icon: string;
  group: "control" | "agent";
  path: string;
  /** The tab's address in the Control UI. */
  slug: string;
  requiredScopes: "operator.read"[];
}

/** The subset of a commander command that the CLI registration uses. */
export interface CliCommand {
  command(nameAndArgs: string): CliCommand;
  description(text: string): CliCommand;
  option(flags: string, description: string): CliCommand;
  requiredOption(flags: string, description: string): CliCommand;
  // As commander types it: what is passed depends on the words above.
  action(run: (...args: any[]) => Promise<void> | void): CliCommand;
  allowExcessArguments(allow: boolean): CliCommand;
  outputHelp(): void;
}

/** As properties, not methods: so TypeScript holds what is handed over against what the host passes, both ways. */
export interface PluginApi {
  registrationMode: string;
  /** Of the manifest. */
  version?: string;
  config?: HostConfig;
  pluginConfig?: Record<string, unknown>;
  logger: Logger;
  /** Reading this throws in the modes `cli-metadata` and `setup-only`. */
  runtime: { state: { resolveStateDir: () => string }; config?: { current: () => HostConfig } };
  /** What ends with this registration. Hosts of 2026.8 have no `onDispose`. */
  lifecycle?: {
    onDispose?: (dispose: () => Promise<void>) => () => void;
    registerRuntimeLifecycle: (lifecycle: {
      id: string;
      cleanup: (context: { reason: string }) => Promise<void> | undefined;
    }) => void;
  };
  resolvePath: (input: string) => string;
  registerContextEngine: (id: string, factory: (context: { config?: HostConfig }) => ContextEngine) => void;
  registerTool: (factory: (context: CallContext) => Tool, options: { name: string }) => void;
  registerAgentToolResultMiddleware: (
    handler: (event: ToolResultEvent, context: ToolResultContext) => Promise<{ result: ToolResult } | undefined>,
    options: { runtimes: Runtime[] },
  ) => void;
  registerCommand: (command: {
    name: string;
    description: string;
    acceptsArgs: boolean;
    handler: (context: CallContext & { args?: string }) => Promise<{ text: string }>;
  }) => void;
  registerCli: (
    registrar: (context: { program: CliCommand }) => void,
    options: { descriptors: { name: string; description: string; hasSubcommands: boolean }[] },
  ) => void;
  registerHttpRoute: (route: {
    path: string;
    auth: "gateway";
    match: "prefix";
    handler: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
  }) => void;
  session?: { controls: { registerControlUiDescriptor: (tab: Tab) => void } };
  on: {
    (hook: "gateway_start", handler: () => void): void;
    (hook: "session_end", handler: (event: SessionEnd) => Promise<void>): void;
    (
      hook: "before_prompt_build",
      handler: (event: PromptBuild, context: PromptContext) => Promise<{ appendContext: string } | undefined>,
    ): void;
  };
}
