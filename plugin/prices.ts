/**
 * The provider's prices and the lifetime of its cache from the operator's configuration. What it leaves out, the core
 * takes from the charges in the transcript, which the host computed from its resolved catalogue, or from the published
 * prices of the model.
 *
 * A price of zero means that it is not stated (a local model, a subscription, a list without cache prices): no prices
 * are better than wrong ones.
 */

import { agentOf, type Message, type Prices } from "../node/lib/for-plugin.js";
import type { AssembleParams, HostConfig, HostModel } from "./host.js";

const LONG_CACHE_MS = 60 * 60_000;

/** Returns what is stated of the model of a turn, with prices in US dollars per million tokens. */
export function pricesOf(config: HostConfig | undefined, params: AssembleParams): Prices {
  const settings = params.runtimeSettings?.model;
  const answer = (params.messages as Message[]).findLast(
    ({ role, provider }) => role === "assistant" && provider !== "openclaw",
  );
  const provider = settings?.provider ?? (answer?.provider as string | undefined) ?? "";
  const ids = [settings?.resolved, params.model, settings?.provider === undefined ? answer?.model : undefined];
  const model = config?.models?.providers?.[provider]?.models?.find(({ id }) => ids.includes(id));
  const id = model?.id ?? ids.find((name) => typeof name === "string");
  const isLong = keepsLong(config, `${provider}/${id}`, agentOf(params.sessionKey));
  return { ...costOf(model), ...(isLong ? { cacheTtlMs: LONG_CACHE_MS } : {}) };
}

function costOf(model: HostModel | undefined): Prices {
  const { input, output, cacheRead, cacheWrite } = model?.cost ?? {};
  if (!input) return {};
  return {
    input,
    usdPerMillion: true,
    ...(output ? { output } : {}),
    // Model lists contain 0 if a provider bills cache writes like other input.
    ...(cacheRead ? { cacheRead, cacheWrite: cacheWrite || input } : {}),
  };
}

/** Returns true if the operator configured the long cache. The first place with a setting decides, like in the host. */
function keepsLong(config: HostConfig | undefined, modelRef: string, agentId: string): boolean {
  const { defaults, entries } = config?.agents ?? {};
  const agent = entries?.[agentId];
  const places = [agent, agent?.models?.[modelRef], defaults?.models?.[modelRef], defaults];
  return places.find((place) => place?.params?.cacheRetention !== undefined)?.params?.cacheRetention === "long";
}
