/**
 * What the provider charges, as the operator's model list says it; absent when it says nothing (the core then knows the family).
 *
 * A price of zero means "not stated" (a local model, a subscription, a list that omits caching): no prices are better than false ones.
 */

import type { AssembleParams, HostConfig } from "./host.js";

export interface Prices {
  input: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Prices of the model a turn runs on, in US dollars per million tokens. */
export function pricesOf(config: HostConfig | undefined, params: AssembleParams): Prices | undefined {
  const settings = params.runtimeSettings?.model;
  const provider = config?.models?.providers?.[settings?.provider ?? ""];
  const ids = [settings?.resolved, params.model];
  const cost = provider?.models?.find((model) => ids.includes(model.id))?.cost;
  if (!cost?.input || !cost.cacheRead) return undefined;
  // Model lists write 0 where a provider bills cache writes as plain input.
  return { input: cost.input, cacheRead: cost.cacheRead, cacheWrite: cost.cacheWrite || cost.input };
}
