// The values taken from the host, imported lazily: `openclaw` is an optional peer and not installed when this is built.
declare module "openclaw/plugin-sdk/core" {
  export function delegateCompactionToRuntime(params: Record<string, unknown>): Promise<unknown>;
}

declare module "openclaw/plugin-sdk/logging-core" {
  /** A host of another version may not have it. */
  export const redactToolPayloadText: ((text: string) => string) | undefined;
}
