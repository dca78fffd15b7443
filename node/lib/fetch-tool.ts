/** `fetch_original_data` as hosts register it: definition and handler. */
import type { ContentBlock } from "./api.js";
import { badArgument } from "./errors.js";
import { type Concertina, FETCH_CHARS } from "./concertina.js";

/** The tool's name. */
export const FETCH_TOOL = "fetch_original_data";

/** What the model gives the tool. What follows the ids the schema does not name: the words of an id say it. */
export interface FetchToolParameters {
  ref_ids: string[];
  lines?: string;
  chars?: string;
  pattern?: string;
  max_chars?: number;
}

/** What the model reads about the tool, in every request: few words. The first placeholder of a session says when to fetch. */
export const fetchToolDescription = "What was folded: id, id:41-80 (lines) or id:/regex/";

/** JSON schema of the parameters. */
export const fetchToolParameters = {
  type: "object",
  required: ["ref_ids"],
  properties: { ref_ids: { type: "array", items: { type: "string" } } },
} as const;

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
