/**
 * The part of OpenClaw's plugin interface that this plugin uses. These are types only: nothing here imports the host at
 * run time. A test compiles the plugin against the host's own types, which are not available when it is built.
 *
 * The host passes more than is declared here and may add keys. Undeclared keys are passed on unchanged.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

import type {
  AnyMessage,
  AssembleParameters,
  AssembleResult,
  ContentBlock,
  ContextEngine as LibraryEngine,
} from "../node/lib/for-plugin.js";

export type { AssembleResult, ContentBlock };

export interface Logger {
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** The part of the host's configuration that this plugin reads. */
export interface HostConfig {
  models?: { providers?: Record<string, RuntimePolicy & { models?: readonly HostModel[] }> };
  agents?: { defaults?: AgentConfig & { contextPruning?: ContextPruning }; entries?: Record<string, AgentConfig> };
  plugins?: { slots?: { contextEngine?: string }; entries?: Record<string, { enabled?: boolean } | undefined> };
  tools?: { deny?: readonly string[] };
  [key: string]: unknown;
}

/** The configuration of one agent, or the defaults of all agents. */
export interface AgentConfig {
  model?: string | { primary?: string };
  params?: { cacheRetention?: string };
  models?: Record<string, RuntimePolicy & { params?: { cacheRetention?: string } }>;
}

/** The runtime that runs a model. */
export interface RuntimePolicy {
  agentRuntime?: { id?: string };
}

/** The host's own pruning of tool results. */
export interface ContextPruning {
  mode?: string;
  tools?: { allow?: readonly string[]; deny?: readonly string[] };
}

export interface HostModel extends RuntimePolicy {
  id: string;
  /** Prices in US dollars per million tokens. */
  cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
}

/** The parameters of the library's engine, with the host's facts about the model and the turn. */
export interface AssembleParams<M extends AnyMessage = AnyMessage> extends AssembleParameters<M> {
  /** The citation mode for content from the host's memory. */
  citationsMode?: "auto" | "on" | "off";
  runtimeSettings?: {
    model?: { resolved?: string | null; provider?: string | null };
    executionHost?: { id?: string | null };
  };
}

/** The start of a sub-agent. Session ids come with it only if the child continues its parent's transcript. */
export interface SubagentSpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
}

/** The host's own function that compacts a transcript. */
export type Compact = typeof import("openclaw/plugin-sdk/core").delegateCompactionToRuntime;

/** Tells a runtime that keeps its own thread to take the assembled messages once for each epoch. */
export interface ContextProjection {
  mode: "thread_bootstrap";
  epoch: string;
}

/** The library's engine with the functions that only the host calls. */
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
  /** The id of the thread, if the runtime keeps its own. */
  threadId?: string;
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  isError?: boolean;
  result: ToolResult;
}

/** The runtime of an agent. */
export type Runtime = "openclaw" | "codex";

/** The conversation of a tool call. */
export interface CallContext {
  agentId?: string;
  sessionId?: string;
  sessionKey?: string;
}

/** The conversation of a tool call and its runtime. */
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

/** The event of the hook before a prompt. */
export interface PromptBuild {
  prompt: string;
  messages: unknown[];
}

/** The conversation of a prompt. */
export interface PromptContext extends CallContext {
  workspaceDir?: string;
}

/** The event of the hook at the end of a session. */
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
  /** The last part of the tab's address in the Control UI. */
  slug: string;
  requiredScopes: "operator.read"[];
}

/** The subset of a commander command that the CLI registration uses. */
export interface CliCommand {
  command(nameAndArgs: string): CliCommand;
  description(text: string): CliCommand;
  option(flags: string, description: string): CliCommand;
  requiredOption(flags: string, description: string): CliCommand;
  // Typed like in commander: the arguments depend on the declared options.
  action(run: (...args: any[]) => Promise<void> | void): CliCommand;
  allowExcessArguments(allow: boolean): CliCommand;
  outputHelp(): void;
}

/** Properties and not methods, because TypeScript checks the parameters of methods less strictly. */
export interface PluginApi {
  registrationMode: string;
  /** The version in the manifest. */
  version?: string;
  config?: HostConfig;
  pluginConfig?: Record<string, unknown>;
  logger: Logger;
  /** Reading this throws in the modes `cli-metadata` and `setup-only`. */
  runtime: { version?: string; state: { resolveStateDir: () => string }; config?: { current: () => HostConfig } };
  /** The hooks at the end of this registration. Hosts of 2026.8 have no `onDispose`. */
  lifecycle?: {
    onDispose?: (dispose: () => Promise<void>) => () => void;
    registerRuntimeLifecycle: (lifecycle: {
      id: string;
      cleanup: (context: { reason: string }) => Promise<void> | undefined;
    }) => void;
  };
  resolvePath: (input: string) => string;
  registerContextEngine: (id: string, factory: (context: { config?: HostConfig }) => ContextEngine) => void;
  registerTool: (factory: (context: CallContext) => Tool | null, options: { name: string }) => void;
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
