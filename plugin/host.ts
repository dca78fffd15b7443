/**
 * The part of OpenClaw's plugin interface that this plugin uses, as types only: nothing here imports the host at run time.
 *
 * The host passes more than is listed and may add keys; whatever is not named here goes through untouched.
 */

import type { AssembleParameters, AssembleResult, ContextEngine as LibraryEngine } from "../node/lib/index.js";

/** One message of the host's transcript. Live objects of the host: copy, never change. */
export interface AgentMessage {
  role: string;
  [key: string]: unknown;
}

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string };

export interface Logger {
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** The branch of the host's configuration that is read here. */
export interface HostConfig {
  models?: { providers?: Record<string, { models?: HostModel[] }> };
  agents?: { defaults?: AgentConfig & { contextPruning?: ContextPruning }; entries?: Record<string, AgentConfig> };
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
  tools?: { allow?: string[]; deny?: string[] };
}

export interface HostModel {
  id: string;
  /** US dollars per million tokens. */
  cost?: { input?: number; cacheRead?: number; cacheWrite?: number };
}

/** What the library's engine takes, and what the host says of the model and of the turn. */
export interface AssembleParams extends AssembleParameters {
  /** What the turn was started with. */
  prompt?: string;
  runtimeSettings?: { model?: { resolved?: string | null; provider?: string | null } };
}

/** Session ids come with it only when the child continues its parent's transcript. */
export interface SubagentSpawnParams {
  parentSessionKey: string;
  childSessionKey: string;
}

/** The library's engine, and what the host asks of it beside that. */
export interface ContextEngine extends LibraryEngine {
  assemble(params: AssembleParams): Promise<AssembleResult>;
  prepareSubagentSpawn(params: SubagentSpawnParams): Promise<{ rollback(): void }>;
}

export interface ToolResult {
  content: ContentBlock[];
  details?: unknown;
  [key: string]: unknown;
}

export interface ToolResultEvent {
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  isError?: boolean;
  result: ToolResult;
}

/** Which conversation a tool call belongs to. */
export interface CallContext {
  agentId?: string;
  sessionId?: string;
  sessionKey?: string;
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
  reason?: string;
}

/** The subset of a commander command that the CLI registration uses. */
export interface CliCommand {
  command(nameAndArgs: string): CliCommand;
  description(text: string): CliCommand;
  option(flags: string, description: string): CliCommand;
  requiredOption(flags: string, description: string): CliCommand;
  action(run: (...args: never[]) => Promise<void>): CliCommand;
}

export interface PluginApi {
  registrationMode: string;
  pluginConfig?: Record<string, unknown>;
  logger: Logger;
  /** Reading this throws in the modes `cli-metadata` and `setup-only`. */
  runtime: { state: { resolveStateDir(): string } };
  resolvePath(input: string): string;
  registerContextEngine(id: string, factory: (context: { config?: HostConfig }) => ContextEngine): void;
  registerTool(factory: (context: CallContext) => Tool, options: { name: string }): void;
  registerAgentToolResultMiddleware(
    handler: (event: ToolResultEvent, context: CallContext) => Promise<{ result: ToolResult } | undefined>,
    options: { runtimes: string[] },
  ): void;
  registerCommand(command: {
    name: string;
    description: string;
    acceptsArgs: boolean;
    handler(context: CallContext & { args?: string }): Promise<{ text: string }>;
  }): void;
  registerCli(
    registrar: (context: { program: CliCommand }) => void,
    options: { descriptors: { name: string; description: string; hasSubcommands: boolean }[] },
  ): void;
  on(hook: "session_end", handler: (event: SessionEnd) => Promise<void>): void;
  on(
    hook: "before_prompt_build",
    handler: (event: PromptBuild, context: PromptContext) => Promise<{ appendContext: string } | undefined>,
  ): void;
}
