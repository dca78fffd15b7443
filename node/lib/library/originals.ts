/** Originals as a person asks for them, on a command line or the page: whole, unless a part is asked for. */
import type { ContentBlock, FetchRequest } from "./api.js";
import type { Concertina } from "./concertina.js";
import { count, optional } from "../binding/arguments.js";
import { FETCH_TOOL } from "./fetch-tool.js";

/** More characters than any original has. */
const ALL_CHARS = 2 ** 31;

/** How many characters a person asks for at most. @throws TypeError for what is no whole number of at least 1 */
export function charsOf(given: string | undefined): number | undefined {
  return optional(count())("--max-chars", given !== undefined && /^[1-9]\d*$/.test(given) ? Number(given) : given);
}

/** What was found, and in words what was not. */
export interface FoundOriginals {
  blocks: ContentBlock[];
  missing: string[];
}

/** Fetches originals one by one: each is whole, and what cannot be had is told from what can. */
export async function originalsOf(concertina: Concertina, { refIds, ...asked }: FetchRequest): Promise<FoundOriginals> {
  const found: FoundOriginals = { blocks: [], missing: [] };
  const isPart = [asked.lines, asked.chars, asked.pattern, asked.maxChars].some((given) => given !== undefined);
  for (const refId of refIds) {
    const answer = await concertina.fetch({ ...asked, maxChars: asked.maxChars ?? ALL_CHARS, refIds: [refId] });
    const asksPart = isPart || refId.includes(":");
    // A part ends with a line in brackets that says which one it is; an answer without one says that there is no such
    // part.
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
 * The end of a page, which names the call that goes on, as what a person types for it. A text that is no page stays.
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
 * What a fetch answers the model where nothing is found, said to a person, who can look for other reasons and runs no
 * tool again.
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
    "the original did not fit in $1 characters; --max-chars takes more, and without it all of it is printed",
  );
}

/** The whole original that an agent may see under this id; undefined where there is none. */
export async function originalOf(
  concertina: Concertina,
  agentId: string,
  refId: string,
): Promise<ContentBlock | undefined> {
  const { blocks } = await originalsOf(concertina, { refIds: [refId], agentId });
  return blocks[0];
}
