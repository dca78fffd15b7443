/**
 * The context engine: asks the library for the view of the history and hands the host its own messages back when that fails.
 *
 * The host makes a new engine for every turn, so an engine remembers nothing. It must not throw: the host would stop using it.
 */

import { agentOf, FETCH_TOOL } from "../node/lib/index.js";
import type { AssembleParams, AssembleResult, CommitParams, ContextEngine, HostConfig } from "./host.js";
import { pricesOf } from "./prices.js";
import type { PluginState } from "./state.js";

export const ENGINE_ID = "concertina";

const INFO: ContextEngine["info"] = {
  id: ENGINE_ID,
  name: "Concertina",
  ownsCompaction: false,
  // Also what compaction needs to be handed back to the host.
  acceptedHostParams: ["sessionKey", "runtimeSettings", "sessionTarget", "runtimeContext", "abortSignal"],
  transcriptSemantics: {
    currentTurnFence: "before-current-turn-entry-v1",
    turnAdvancementIdempotency: "atomic-idempotent-v1",
  },
};

/** The engine of one turn. */
export function createEngine(state: PluginState, config: HostConfig | undefined): ContextEngine {
  return {
    info: INFO,
    ingest: () => Promise.resolve({ ingested: false }),
    assemble: (params) => assemble(state, config, params),
    compact: async (params) => {
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return delegateCompactionToRuntime(params);
    },
    commitTurn: (params) => commitTurn(state, params),
    // The child's session has no id yet: it inherits at the start of its first turn.
    prepareSubagentSpawn({ parentSessionKey, childSessionKey }) {
      state.sessions.noteSpawn(parentSessionKey, childSessionKey);
      return Promise.resolve({ rollback: () => state.sessions.forgetSpawn(childSessionKey) });
    },
  };
}

async function assemble(
  state: PluginState,
  config: HostConfig | undefined,
  params: AssembleParams,
): Promise<AssembleResult> {
  // Zero as the host's own engine says it: the caller counts.
  let view: AssembleResult = { messages: params.messages, estimatedTokens: 0 };
  const canFetch = params.availableTools?.has(FETCH_TOOL) ?? false;
  const scope = { agentId: agentOf(params.sessionKey), sessionId: params.sessionId };
  state.sessions.noteTurn(params.sessionKey, scope, canFetch);
  if (!state.enabled || !canFetch) return view;
  const systemPromptAddition = state.guidance();
  if (systemPromptAddition === undefined) return view;
  // From here on also when something fails: guidance that comes and goes would re-bill the whole prompt.
  view = { ...view, systemPromptAddition };
  try {
    const store = await state.store();
    if (store === undefined) return view;
    const parent = state.sessions.takeParent(params.sessionKey);
    if (parent !== undefined) await store.inherit({ parent, child: scope });
    const { messages, estimatedTokens, report } = await store.assemble({
      ...scope,
      messages: params.messages,
      tokenBudget: params.tokenBudget,
      model: params.runtimeSettings?.model?.resolved ?? params.model,
      prices: pricesOf(config, params),
      availableTools: params.availableTools,
    });
    if (report.warning) state.complain("storing", report.warning, "new content goes to the model unchanged");
    view = { ...view, messages, estimatedTokens };
    state.sweepWhenDue(store);
  } catch (error) {
    state.complain("assembly", error, "this turn uses the unchanged history");
  }
  return view;
}

async function commitTurn(state: PluginState, params: CommitParams): Promise<{ status: "committed" | "duplicate" }> {
  if (!state.enabled) return { status: "committed" };
  try {
    const store = await state.store();
    if (store !== undefined) {
      const { status } = await store.commitTurn({
        sessionId: params.sessionId,
        agentId: agentOf(params.sessionKey),
        advancementKey: params.advancementKey,
        messages: params.messages,
      });
      return { status };
    }
  } catch (error) {
    state.complain("recording a turn", error, "the session goes on without this record");
  }
  // An unrecorded turn loses figures, nothing else; an error here would switch the engine off for the session.
  return { status: "committed" };
}
