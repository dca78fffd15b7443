/**
 * The host's own redactor. It knows secrets that the core cannot know: the values in the host's configuration and the
 * patterns of `logging.redactPatterns`. It also masks `token = nextToken()`, which only reduces the savings.
 */

import type { Redactor } from "../node/lib/for-plugin.js";

/** The error codes of an import that the installed host does not export. */
const NOT_OFFERED = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

/** Returns the host's function that masks secrets, or undefined if the host exports none. */
export async function hostRedactor(): Promise<Redactor | undefined> {
  try {
    const { redactToolPayloadText } = await import("openclaw/plugin-sdk/logging-core");
    return typeof redactToolPayloadText === "function" ? redactToolPayloadText : undefined;
  } catch (error) {
    if (NOT_OFFERED.has((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
