// A registration of the plugin, without a host.
import { PluginState } from "../dist/plugin/state.js";
import { freshDir } from "./conversation.mjs";

/** The host's configuration with our engine selected. */
export const IN_USE = { plugins: { slots: { contextEngine: "concertina" } } };

/**
 * Registers the plugin with its state in a directory. Returns the API that the host passes, the plugin's state, and its
 * log lines.
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
