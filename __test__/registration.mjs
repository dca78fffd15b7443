// A registration of the plugin, without a host.
import { PluginState } from "../dist/plugin/state.js";
import { freshDir } from "./conversation.mjs";

/** The host's configuration with our engine in its place. */
export const IN_USE = { plugins: { slots: { contextEngine: "concertina" } } };

/**
 * What the host hands to one registration whose state is in a directory, the plugin's state of it, and what it logs.
 */
export function registered(stateDir = freshDir(), given = {}) {
  const lines = [];
  const log = (line) => lines.push(line);
  const runtime = { state: { resolveStateDir: () => stateDir } };
  const api = {
    config: IN_USE,
    pluginConfig: {},
    logger: { info: log, warn: log, error: log },
    runtime,
    resolvePath: (name) => name,
    ...given,
  };
  return { api, state: new PluginState(api), lines };
}
