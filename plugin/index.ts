/**
 * The entry point that OpenClaw loads. `register` runs many times, in several processes and modes, so it only registers
 * functions.
 */

import { FETCH_TOOL } from "../node/lib/for-plugin.js";
import { registerCli } from "./cli.js";
import { runSlashCommand } from "./commands.js";
import { createEngine } from "./engine.js";
import { endSession, letGoWhenReplaced } from "./session-ends.js";
import type { PluginApi } from "./host.js";
import { foldToolResult } from "./middleware.js";
import { registerPage } from "./page.js";
import { checkSelf } from "./findings.js";
import { refreshEvery, refreshRules } from "./rules.js";
import { PluginState } from "./state.js";
import { createFetchTool } from "./tool.js";

export default {
  id: "concertina",
  name: "Concertina",
  description: "Folds stale and bulky context before the model is billed for it, and unfolds any of it byte for byte.",
  register(api: PluginApi): void {
    const state = new PluginState(api);
    registerCli(api, state);
    if (api.registrationMode === "cli-metadata" || api.registrationMode === "setup-only") return;
    letGoWhenReplaced(api, state);
    api.registerContextEngine("concertina", (context) => createEngine(state, context.config));
    // While this observes, only transcripts that were folded before have something to fetch.
    api.registerTool(
      (context) => (state.folding.hasStore || !state.observes ? createFetchTool(state, context) : null),
      {
        name: FETCH_TOOL,
      },
    );
    api.registerAgentToolResultMiddleware((event, context) => foldToolResult(state, event, context), {
      runtimes: ["openclaw", "codex"],
    });
    api.registerCommand({
      name: "concertina",
      description:
        "Shows whether Concertina is active and what it saved in this session. `off` and `on` switch folding in this session. `purge` deletes its originals after a confirmation.",
      acceptsArgs: true,
      handler: (context) => runSlashCommand(state, context),
    });
    registerPage(api, state);
    if (refreshEvery(state.given) > 0)
      api.on("before_prompt_build", (event, context) => refreshRules(state, event, context));
    api.on("gateway_start", () => {
      state.warnOfConfiguration();
      void checkSelf(state);
    });
    api.on("session_end", (event) => endSession(state, event));
  },
};
