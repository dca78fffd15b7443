/**
 * The models in the host's configuration, and the runtimes that run them. A turn of a runtime with a transcript of its
 * own, such as `claude-cli`, does not pass through a context engine.
 */

import type { AgentConfig, HostConfig } from "./host.js";

/** The runtimes whose turns pass through the engine. In Codex only fresh results are folded. */
const OURS = new Set(["auto", "openclaw", "pi", "codex"]);
/** Providers that name a runtime instead of a service. */
const CLI = /-cli$/;

/** A model in use, as `provider/model`, and the runtime that the configuration names for it. */
export interface ModelInUse {
  agentId: string | undefined;
  model: string;
  runtime: string;
}

/** Returns the primary model of the defaults and of each agent that has its own. */
export function modelsInUse(config: HostConfig | undefined): ModelInUse[] {
  const { defaults, entries = {} } = config?.agents ?? {};
  const named: [string | undefined, AgentConfig | undefined][] = [[undefined, defaults], ...Object.entries(entries)];
  return named.flatMap(([agentId, agent]) => {
    const model = typeof agent?.model === "string" ? agent.model : agent?.model?.primary;
    return model === undefined ? [] : [{ agentId, model, runtime: runtimeOf(config, agentId, model) }];
  });
}

/** Returns true if turns of a model do not pass through the engine. */
export function isElsewhere({ runtime }: ModelInUse): boolean {
  return !OURS.has(runtime);
}

/** Returns the runtime of a model. The host looks in these places, the most exact first. */
function runtimeOf(config: HostConfig | undefined, agentId: string | undefined, model: string): string {
  const [provider = "", ...rest] = model.split("/");
  if (CLI.test(provider)) return provider;
  const { defaults, entries } = config?.agents ?? {};
  const ofProvider = config?.models?.providers?.[provider];
  const agents = [agentId === undefined ? undefined : entries?.[agentId], defaults];
  const places = [
    ...agents.map((agent) => agent?.models?.[model]),
    ofProvider?.models?.find(({ id }) => id === rest.join("/")),
    ...agents.map((agent) => agent?.models?.[`${provider}/*`]),
    ofProvider,
  ];
  return places.find((place) => place?.agentRuntime?.id !== undefined)?.agentRuntime?.id ?? "auto";
}
