/**
 * The provider's prices and the lifetime of its cache from the operator's configuration. If it states nothing, the core
 * uses those of the model's family.
 *
 * A price of zero means that it is not stated (a local model, a subscription, a list without cache prices): no prices
 * are better than wrong ones.
 */

import { agentOf, type Message, type Prices } from "../node/lib/for-plugin.js";
import type { AssembleParams, HostConfig } from "./host.js";

const SHORT_CACHE_MS = 5 * 60_000;
const LONG_CACHE_MS = 60 * 60_000;

/** Returns the prices of the model of a turn in US dollars per million tokens, or undefined if they are not stated. */
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
    // Model lists contain 0 if a provider bills cache writes like other input.
    cacheWrite: cost.cacheWrite || cost.input,
    ...(cost.output ? { output: cost.output } : {}),
    usdPerMillion: true,
    cacheTtlMs: keepsLong(config, `${provider}/${model.id}`, agentOf(params.sessionKey))
      ? LONG_CACHE_MS
      : SHORT_CACHE_MS,
  };
}

/** Returns true if the operator configured the long cache. The first place with a setting decides, like in the host. */
function keepsLong(config: HostConfig | undefined, modelRef: string, agentId: string): boolean {
  const { defaults, entries } = config?.agents ?? {};
  const agent = entries?.[agentId];
  const places = [agent, agent?.models?.[modelRef], defaults?.models?.[modelRef], defaults];
  return places.find((place) => place?.params?.cacheRetention !== undefined)?.params?.cacheRetention === "long";
}
