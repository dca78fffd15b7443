/** Searches as a person asks for them and reads their results. */
import type { SearchResult } from "../library/api.js";

/** Joins the arguments of a command to a query. An argument with spaces is one word. */
export function queryOf(words: string[]): string {
  return words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
}

/** Returns the originals that a search found, each with its session. */
export function searchText({ originals, note }: SearchResult): string {
  const shown = originals.map(
    ({ refId, label, sessionId, agentId, excerpt }) =>
      `${refId}  ${label}  (session ${sessionId} of ${agentId})\n${excerpt}`,
  );
  return [...shown, ...(note === "" ? [] : [`[${note}]`])].join("\n\n");
}
