/**
 * The host's own redactor. It knows what the core cannot: the values of the secrets in the host's configuration, and
 * the patterns of `logging.redactPatterns`. It also takes `token = nextToken()` for a secret, which costs savings and
 * nothing else.
 */

import type { Redactor } from "../node/lib/for-plugin.js";

/** What Node says of an import that the installed host does not offer. */
const NOT_OFFERED = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

/** What masks secrets in texts as the host does; undefined where the host exports no redactor. */
export async function hostRedactor(): Promise<Redactor | undefined> {
  try {
    const { redactToolPayloadText } = await import("openclaw/plugin-sdk/logging-core");
    return typeof redactToolPayloadText === "function" ? redactToolPayloadText : undefined;
  } catch (error) {
    if (NOT_OFFERED.has((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
