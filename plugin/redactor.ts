/**
 * The host's own redactor, as a question: would the host mask something in this text?
 *
 * It knows what the core cannot: the values of the secrets in the host's configuration, and the patterns of
 * `logging.redactPatterns`. It works on the event loop and is slow: 20 to 60 ms for 100,000 characters, so ask it only about
 * what is about to be stored. It also takes `token = nextToken()` for a secret, which costs savings and nothing else.
 */

/** Whether the host would mask something in a text. */
export type Redactor = (text: string) => boolean;

/** What Node says of an import that the installed host does not offer. */
const NOT_OFFERED = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

/** The host's redactor; `undefined` where the host does not export one. Loads it on the first call; later calls are free. */
export async function hostRedactor(): Promise<Redactor | undefined> {
  const redact = await load();
  return redact && ((text) => redact(text) !== text);
}

async function load(): Promise<((text: string) => string) | undefined> {
  try {
    const { redactToolPayloadText } = await import("openclaw/plugin-sdk/logging-core");
    return typeof redactToolPayloadText === "function" ? redactToolPayloadText : undefined;
  } catch (error) {
    if (NOT_OFFERED.has((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
