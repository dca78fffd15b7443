// What is imported from the host, at run time and lazily. For building without the host, which is an optional peer;
// where the host's tests are installed, `test/host/tsconfig.json` leaves this file out, and the plugin is compiled
// against the host's own types.
declare module "openclaw/plugin-sdk/core" {
  export function delegateCompactionToRuntime(params: Record<string, unknown>): Promise<unknown>;
  export function buildMemorySystemPromptAddition(params: {
    availableTools: Set<string>;
    citationsMode?: "auto" | "on" | "off";
    agentSessionKey?: string;
  }): string | undefined;
}

declare module "openclaw/plugin-sdk/routing" {
  export function isCronSessionKey(sessionKey: string | undefined): boolean;
  export function isSubagentSessionKey(sessionKey: string | undefined): boolean;
}

declare module "openclaw/plugin-sdk/logging-core" {
  /** A host of another version may not have it. */
  export const redactToolPayloadText: ((text: string) => string) | undefined;
}

declare module "openclaw/plugin-sdk/secret-input-runtime" {
  export function resolveConfiguredSecretInputString(params: {
    config: Record<string, unknown>;
    env: NodeJS.ProcessEnv;
    value: unknown;
    path: string;
  }): Promise<{ value?: string; unresolvedRefReason?: string }>;
}
