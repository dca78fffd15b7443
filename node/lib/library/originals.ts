/**
 * Fetching of originals for a person, on a command line or on the page. An original is returned whole unless a part is
 * requested.
 */
import type { ContentBlock, FetchRequest } from "./api.js";
import type { Concertina } from "./concertina.js";
import { count, optional } from "../binding/arguments.js";
import { FETCH_TOOL } from "./fetch-tool.js";

/** A number of characters that no original reaches. */
const ALL_CHARS = 2 ** 31;

/** Parses the option `--max-chars`. @throws TypeError unless it is a whole number of at least 1 */
export function charsOf(given: string | undefined): number | undefined {
  return optional(count())("--max-chars", given !== undefined && /^[1-9]\d*$/.test(given) ? Number(given) : given);
}

/** The originals that were found, and messages about the others. */
export interface FoundOriginals {
  blocks: ContentBlock[];
  missing: string[];
}

/** Fetches originals one by one, so that each is whole and missing ones are reported separately. */
export async function originalsOf(
  concertina: Concertina,
  { refIds, ...asked }: FetchRequest & { refIds: string[] },
): Promise<FoundOriginals> {
  const found: FoundOriginals = { blocks: [], missing: [] };
  const { lines, chars, pattern, query, maxChars } = asked;
  const isPart = [lines, chars, pattern, query, maxChars].some((given) => given !== undefined);
  for (const refId of refIds) {
    const answer = await concertina.fetch({ ...asked, maxChars: asked.maxChars ?? ALL_CHARS, refIds: [refId] });
    const asksPart = isPart || refId.includes(":");
    // A part ends with a line in brackets that states which one it is. An answer without that line says that there is
    // no such part.
    const isNoPart = answer.content.every((block) => block.type === "text" && !block.text.endsWith("]"));
    const isThere = answer.found > 0 && !(asksPart && asked.maxChars === undefined && isNoPart);
    const shown = (block: ContentBlock) =>
      isPart && block.type === "text" ? { ...block, text: continued(block.text, refId) } : block;
    if (isThere) found.blocks.push(...answer.content.map(shown));
    else
      found.missing.push(
        forPerson(answer.content.map((block) => (block.type === "text" ? block.text : "")).join("\n"), asked.agentId),
      );
  }
  return found;
}

/**
 * Rewrites the end of a page, which names the call that continues, to the argument that a person types. A text that is
 * not a page stays.
 */
function continued(text: string, refId: string): string {
  const [id = refId] = /[0-9a-f]{16,64}/i.exec(refId) ?? [];
  const call = new RegExp(
    `; continue with ${FETCH_TOOL} \\{"ref_ids":\\["(${id}:c?\\d+-)"\\]\\}(?=[;\\]][^\\n]*$)`,
    "i",
  );
  return text.replace(call, "; continue with $1");
}

/**
 * Rewrites the answer for the model that an original was not found. A person can check other reasons and does not run
 * the tool again.
 */
function forPerson(answer: string, agentId: string | undefined): string {
  const [, unknown] = /^No original is stored under ([0-9a-f]+)/.exec(answer) ?? [];
  if (unknown !== undefined)
    return `no original is stored under ${unknown}${agentId === undefined ? "" : ` for agent ${agentId}`}: it expired, was purged, or belongs to another agent (--agent), or the store's file was replaced`;
  if (/^No valid REF_ID|is not a valid REF_ID/.test(answer))
    return (
      answer
        .replace(/ ?No valid REF_ID was provided; nothing was fetched\./, "")
        .replace("REF_ID", "id")
        .trim() || "no id was given"
    );
  return answer.replace(
    /^\[1 id did not fit in (\d+) characters:.*$/,
    "the original has more than $1 characters; raise --max-chars, or omit it to print the whole original",
  );
}

/** Returns the whole original with this id that an agent may see, or undefined. */
export async function originalOf(
  concertina: Concertina,
  agentId: string,
  refId: string,
): Promise<ContentBlock | undefined> {
  const { blocks } = await originalsOf(concertina, { refIds: [refId], agentId });
  return blocks[0];
}
