/** Originals as a person asks for them, on a command line or the page: whole, unless a part is asked for. */
import type { ContentBlock, FetchRequest } from "./api.js";
import type { Concertina } from "./concertina.js";
import { count, optional } from "./arguments.js";

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
  for (const refId of refIds) {
    const answer = await concertina.fetch({ ...asked, maxChars: asked.maxChars ?? ALL_CHARS, refIds: [refId] });
    const asksPart = [asked.lines, asked.chars, asked.pattern].some((part) => part !== undefined) || refId.includes(":");
    // A part ends with a line in brackets that says which one it is; an answer without one says that there is no such part.
    const isThere = answer.found > 0 && !(asksPart && answer.content.every((block) => block.type === "text" && !block.text.endsWith("]")));
    if (isThere) found.blocks.push(...answer.content);
    else found.missing.push(answer.content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
  }
  return found;
}

/** The whole original that an agent may see under this id; undefined where there is none. */
export async function originalOf(concertina: Concertina, agentId: string, refId: string): Promise<ContentBlock | undefined> {
  const { blocks } = await originalsOf(concertina, { refIds: [refId], agentId });
  return blocks[0];
}
