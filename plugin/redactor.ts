/**
 * The host's own redactor, as a question: would the host mask something in these texts?
 *
 * It knows what the core cannot: the values of the secrets in the host's configuration, and the patterns of
 * `logging.redactPatterns`. It works on the event loop and takes 20 to 60 ms for 100,000 characters, so it is asked piece by piece,
 * with a turn of the loop between. It also takes `token = nextToken()` for a secret, which costs savings and nothing else.
 */

type Redact = (text: string) => string;

/** What Node says of an import that the installed host does not offer. */
const NOT_OFFERED = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

/** Characters looked at in one turn of the event loop: one or two milliseconds. */
const PIECE = 4000;

/** Characters of a piece that the next one sees again, so that no secret is cut in half. */
const OVERLAP = 400;

/** Whether the host would mask something in one of the texts; false where the host exports no redactor. */
export async function hostMasks(texts: readonly string[]): Promise<boolean> {
  const redact = await load();
  if (redact === undefined) return false;
  for (const text of texts) {
    for (let from = 0; from < text.length; from += PIECE - OVERLAP) {
      const piece = text.slice(from, from + PIECE);
      if (redact(piece) !== piece) return true;
      if (text.length > PIECE) await new Promise((resolve) => void setImmediate(resolve));
    }
  }
  return false;
}

async function load(): Promise<Redact | undefined> {
  try {
    const { redactToolPayloadText } = await import("openclaw/plugin-sdk/logging-core");
    return typeof redactToolPayloadText === "function" ? redactToolPayloadText : undefined;
  } catch (error) {
    if (NOT_OFFERED.has((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
