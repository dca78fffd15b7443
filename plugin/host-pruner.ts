/**
 * The host's own pruner of tool results (`agents.defaults.contextPruning`), which edits the output of the engine.
 *
 * It knows neither placeholders nor fetched originals: whatever it clears is lost together with the id in it. Its
 * configuration belongs to the operator. Nothing here changes it; the operator is told what to change.
 */

import { FETCH_TOOL } from "../node/lib/for-plugin.js";
import type { AssembleParams, ContextPruning, HostConfig } from "./host.js";

const SETTING = "agents.defaults.contextPruning";
/** The provider whose service clears old results itself if it is reached with an API key. */
const CLEARS_ITSELF = "anthropic";

/** Returns the warning about the host's pruner for a session on this model, or undefined if the pruner is off. */
export function prunerWarning(config: HostConfig | undefined, params: AssembleParams): string | undefined {
  const pruning = config?.agents?.defaults?.contextPruning;
  if (pruning?.mode !== "cache-ttl") return undefined;
  const does =
    params.runtimeSettings?.model?.provider === CLEARS_ITSELF
      ? "with an API key the provider is asked to clear all but the three newest tool results of a long context, otherwise the host cuts or clears old ones"
      : "where the model's provider caches prompts, the host cuts or clears old tool results after a pause";
  const fetched = prunes(pruning.tools, FETCH_TOOL)
    ? `to keep at least fetched originals, set ${SETTING}.tools.deny: ["${FETCH_TOOL}"]`
    : "it does not prune fetched originals";
  return (
    `the host's own pruner is on (${SETTING}.mode: "cache-ttl"): ${does}, and the ids of folded results go with them. ` +
    `To let Concertina fold old results instead, set ${SETTING}.mode: "off"; ${fetched}`
  );
}

/**
 * Returns true if the host may prune the results of a tool. Denied tools are never pruned, and if some are allowed,
 * only those are.
 */
function prunes(tools: ContextPruning["tools"], name: string): boolean {
  return !matchesAny(tools?.deny, name) && ((tools?.allow ?? []).length === 0 || matchesAny(tools?.allow, name));
}

/** Returns true if one of the globs matches a name. Globs are read like in the host. */
export function matchesAny(globs: readonly string[] | undefined, name: string): boolean {
  return (globs ?? []).some((glob) => pattern(glob).test(name));
}

function pattern(glob: string): RegExp {
  const escaped = glob.trim().replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`, "i");
}
