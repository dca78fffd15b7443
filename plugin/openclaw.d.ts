// The one value taken from the host, imported lazily: `openclaw` is an optional peer and not installed when this is built.
declare module "openclaw/plugin-sdk/core" {
  export function delegateCompactionToRuntime(params: Record<string, unknown>): Promise<unknown>;
}
