/**
 * The host's context engine: the library's, with what only the host knows: whether the fetch tool is there, what the model
 * costs, and which session is whose sub-agent.
 *
 * The host makes a new engine for every turn, so an engine remembers nothing. It must not throw: the host would stop using it.
 */

import { agentOf, createContextEngine, FETCH_TOOL } from "../node/lib/index.js";
import type { AssembleParams, ContextEngine, HostConfig } from "./host.js";
import { pricesOf } from "./prices.js";
import type { PluginState } from "./state.js";

/** The engine of one turn. */
export function createEngine(state: PluginState, config: HostConfig | undefined): ContextEngine {
  const engine = createContextEngine(() => state.store(), {
    compact: async (params) => {
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return delegateCompactionToRuntime(params as Record<string, unknown>);
    },
    complain: (step, error, consequence) => state.complain(step, error, consequence),
    pricesOf: (params: AssembleParams) => pricesOf(config, params),
  });
  return {
    ...engine,
    async assemble(params) {
      const canFetch = params.availableTools?.has(FETCH_TOOL) ?? false;
      const scope = { agentId: agentOf(params.sessionKey), sessionId: params.sessionId };
      state.sessions.noteTurn(params.sessionKey, scope, canFetch);
      // Without the library there is no guidance to give either.
      if (!state.enabled || !canFetch || state.guidance() === undefined) return { messages: params.messages, estimatedTokens: 0 };
      await inheritFromParent(state, params, scope);
      const view = await engine.assemble({ ...params, model: params.runtimeSettings?.model?.resolved ?? params.model });
      state.sweepWhenDue();
      return view;
    },
    commitTurn: async (params) => (state.enabled ? engine.commitTurn(params) : { status: "committed" }),
    // The child's session has no id yet: it inherits at the start of its first turn.
    prepareSubagentSpawn({ parentSessionKey, childSessionKey }) {
      state.sessions.noteSpawn(parentSessionKey, childSessionKey);
      return Promise.resolve({ rollback: () => state.sessions.forgetSpawn(childSessionKey) });
    },
  };
}

async function inheritFromParent(state: PluginState, params: AssembleParams, child: { agentId: string; sessionId: string }): Promise<void> {
  const parent = state.sessions.takeParent(params.sessionKey);
  if (parent === undefined) return;
  try {
    await (await state.store())?.inherit({ parent, child });
  } catch (error) {
    state.complain("preparing a sub-agent", error, "it cannot fetch its parent's originals");
  }
}
