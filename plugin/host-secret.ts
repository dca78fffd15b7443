/**
 * Secrets in the configuration. The gateway passes their values to a plugin, but a command of the command line receives
 * references.
 */
import type { HostConfig } from "./host.js";

/**
 * Returns the value of a setting or of the reference in it. @throws an Error that names the setting if the reference
 * cannot be resolved
 */
export async function resolvedSecret(value: unknown, setting: string, config: HostConfig | undefined): Promise<string> {
  if (typeof value === "string") return value;
  const { resolveConfiguredSecretInputString: resolve } = await import("openclaw/plugin-sdk/secret-input-runtime");
  // The host's own configuration is passed back unchanged.
  const whole = (config ?? {}) as Parameters<typeof resolve>[0]["config"];
  const { value: resolved, unresolvedRefReason } = await resolve({
    config: whole,
    env: process.env,
    value,
    path: setting,
  });
  if (resolved === undefined) throw new Error(`${setting} cannot be resolved: ${unresolvedRefReason ?? "it is empty"}`);
  return resolved;
}
