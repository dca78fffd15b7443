/**
 * Secrets of the configuration. The gateway hands a plugin their values; a command of the command line gets the
 * references.
 */
import type { HostConfig } from "./host.js";

/**
 * What a setting holds or refers to. @throws an Error that names the setting, where the reference cannot be resolved.
 */
export async function resolvedSecret(value: unknown, setting: string, config: HostConfig | undefined): Promise<string> {
  if (typeof value === "string") return value;
  const { resolveConfiguredSecretInputString: resolve } = await import("openclaw/plugin-sdk/secret-input-runtime");
  // What the host gave us of its configuration goes back as it came.
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
