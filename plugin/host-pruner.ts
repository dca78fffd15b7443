/**
 * The host's own pruner of tool results (`agents.defaults.contextPruning`), which works on what the engine hands over.
 *
 * It knows neither placeholders nor fetched originals: what it clears, it clears with the id in it. Its configuration
 * is the operator's: nothing here changes it, the operator is told what to change.
 */

import { FETCH_TOOL } from "../node/lib/for-plugin.js";
import type { AssembleParams, ContextPruning, HostConfig } from "./host.js";

const SETTING = "agents.defaults.contextPruning";
/** The provider whose service clears old results itself, when it is reached with an API key. */
const CLEARS_ITSELF = "anthropic";

/** What the operator should know about the host's pruner in a session on this model, or undefined where it is off. */
export function prunerWarning(config: HostConfig | undefined, params: AssembleParams): string | undefined {
  const pruning = config?.agents?.defaults?.contextPruning;
  if (pruning?.mode !== "cache-ttl") return undefined;
  const does =
    params.runtimeSettings?.model?.provider === CLEARS_ITSELF
      ? "with an API key the provider is asked to clear all but the three newest tool results of a long context, otherwise the host cuts or clears old ones"
      : "where the model's provider caches prompts, the host cuts or clears old tool results after a pause";
  const fetched = prunes(pruning.tools, FETCH_TOOL)
    ? `to keep at least fetched originals whole, set ${SETTING}.tools.deny: ["${FETCH_TOOL}"]`
    : "fetched originals are kept out of it";
  return (
    `the host's own pruner is on (${SETTING}.mode: "cache-ttl"): ${does}, and the ids of folded results go with them. ` +
    `To leave old results to Concertina, set ${SETTING}.mode: "off"; ${fetched}`
  );
}

/** Whether the host may prune a tool's results: what it denies stays, and where it allows some, only they go. */
function prunes(tools: ContextPruning["tools"], name: string): boolean {
  return !matchesAny(tools?.deny, name) && ((tools?.allow ?? []).length === 0 || matchesAny(tools?.allow, name));
}

/** Whether one of the globs, as the host reads them, is for a name. */
export function matchesAny(globs: readonly string[] | undefined, name: string): boolean {
  return (globs ?? []).some((glob) => pattern(glob).test(name));
}

function pattern(glob: string): RegExp {
  const escaped = glob.trim().replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`, "i");
}
