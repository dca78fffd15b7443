// The modules that the plugin imports from the host, lazily and at run time. They are declared here for building
// without the host, which is an optional peer. The host's tests leave this file out in `test/host/tsconfig.json` and
// compile the plugin against the host's own types.
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
  /** Undefined in hosts of other versions. */
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
