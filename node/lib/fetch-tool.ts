/** `fetch_original_data` as hosts register it: definition and handler. */
import type { ContentBlock } from "./api.js";
import { badArgument } from "./errors.js";
import { type Concertina, FETCH_CHARS } from "./concertina.js";

/** The tool's name. */
export const FETCH_TOOL = "fetch_original_data";

/** What the model gives the tool. */
export interface FetchToolParameters {
  ref_ids: string[];
  lines?: string;
  chars?: string;
  pattern?: string;
  max_chars?: number;
}

/** What the model reads about the tool. */
export const fetchToolDescription =
  "Returns the original of a folded output, byte for byte. Takes the ids that placeholders print as [REF_ID: <id>]. " +
  "For large originals ask for a part: lines (\"41-420\"), chars, or pattern (matching lines with their numbers).";

/** JSON schema of the parameters, for a host that takes so many characters as one tool result. */
export function fetchToolParametersFor(maxChars?: number) {
  return {
    type: "object",
    additionalProperties: false,
    required: ["ref_ids"],
    properties: {
      ref_ids: { type: "array", items: { type: "string" }, description: "Ids, or whole [REF_ID: …] markers" },
      lines: { type: "string", description: 'Line range counted from 1: "41-420", "41-"' },
      chars: { type: "string", description: "Character range, for originals of few long lines" },
      pattern: { type: "string", description: "Regular expression; only matching lines come back, with two lines around each" },
      max_chars: { type: "integer", minimum: 200, ...(maxChars === undefined ? {} : { maximum: maxChars }), description: "Most characters of the whole answer" },
    },
  } as const;
}

/** JSON schema of the parameters, for every host. Hosts answer a number above a maximum with an error; without one, the answer is cut. */
export const fetchToolParameters = fetchToolParametersFor();

/**
 * Answers one call of the tool.
 *
 * @param scope.maxChars most characters that the host takes as one tool result; what the model asks for beyond that is cut to it
 * @throws TypeError when the parameters are not what the schema says.
 */
export async function answerFetch(
  concertina: Concertina,
  parameters: unknown,
  scope: { agentId?: string; sessionId?: string; maxChars?: number },
): Promise<ContentBlock[]> {
  const given = parameters as Partial<FetchToolParameters> | null;
  if (!Array.isArray(given?.ref_ids)) badArgument("ref_ids", given?.ref_ids, "an array of ids");
  const { content } = await concertina.fetch({
    refIds: given.ref_ids.map(String),
    agentId: scope.agentId,
    sessionId: scope.sessionId,
    lines: textOf("lines", given.lines),
    chars: textOf("chars", given.chars),
    pattern: textOf("pattern", given.pattern),
    maxChars: charsOf(given.max_chars, scope.maxChars ?? FETCH_CHARS),
  });
  return content;
}

/** Some models send null for what they leave out, and `41` for `"41"`. */
function textOf(name: string, given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== "string" && typeof given !== "number") badArgument(name, given, "a string");
  return String(given);
}

function charsOf(asked: unknown, most: number): number {
  if (asked === undefined || asked === null) return most;
  if (typeof asked !== "number" || !Number.isInteger(asked) || asked < 1) {
    badArgument("max_chars", typeof asked === "number" ? String(asked) : asked, `a whole number of at least 1 and at most ${most}`);
  }
  return Math.min(asked, most);
}
