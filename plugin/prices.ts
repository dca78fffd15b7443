/**
 * What the provider charges and how long its cache lives, as the operator's configuration says it; absent when it says
 * nothing (the core then knows the family).
 *
 * A price of zero means "not stated" (a local model, a subscription, a list that omits caching): no prices are better
 * than false ones.
 */

import { agentOf, type Message, type Prices } from "../node/lib/for-plugin.js";
import type { AssembleParams, HostConfig } from "./host.js";

const SHORT_CACHE_MS = 5 * 60_000;
const LONG_CACHE_MS = 60 * 60_000;

/** Prices of the model a turn runs on, or ran on, in US dollars per million tokens. */
export function pricesOf(config: HostConfig | undefined, params: AssembleParams): Prices | undefined {
  const settings = params.runtimeSettings?.model;
  const answer = (params.messages as Message[]).findLast(
    ({ role, provider }) => role === "assistant" && provider !== "openclaw",
  );
  const provider = settings?.provider ?? (answer?.provider as string | undefined) ?? "";
  const ids = [settings?.resolved, params.model, settings?.provider === undefined ? answer?.model : undefined];
  const model = config?.models?.providers?.[provider]?.models?.find(({ id }) => ids.includes(id));
  const cost = model?.cost;
  if (model === undefined || !cost?.input || !cost.cacheRead) return undefined;
  return {
    input: cost.input,
    cacheRead: cost.cacheRead,
    // Model lists write 0 where a provider bills cache writes as plain input.
    cacheWrite: cost.cacheWrite || cost.input,
    ...(cost.output ? { output: cost.output } : {}),
    usdPerMillion: true,
    cacheTtlMs: keepsLong(config, `${provider}/${model.id}`, agentOf(params.sessionKey))
      ? LONG_CACHE_MS
      : SHORT_CACHE_MS,
  };
}

/**
 * Whether the operator asked for the long cache. The first place that says anything decides, as it does in the host.
 */
function keepsLong(config: HostConfig | undefined, modelRef: string, agentId: string): boolean {
  const { defaults, entries } = config?.agents ?? {};
  const agent = entries?.[agentId];
  const places = [agent, agent?.models?.[modelRef], defaults?.models?.[modelRef], defaults];
  return places.find((place) => place?.params?.cacheRetention !== undefined)?.params?.cacheRetention === "long";
}
