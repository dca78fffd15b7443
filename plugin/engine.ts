/**
 * The host's context engine: the library's engine with facts that only the host knows, such as the availability of the
 * fetch tool, the prices of the model, and the parents of sub-agents.
 *
 * The host creates a new engine for every turn, so an engine has no state. It must not throw, because the host would
 * then stop using it.
 */

import { agentOf, type AnyMessage, createContextEngine, FETCH_TOOL } from "../node/lib/for-plugin.js";
import type { AssembleParams, Compact, ContextEngine, ContextProjection, HostConfig } from "./host.js";
import { prunerWarning } from "./host-pruner.js";
import { memorySection } from "./memory.js";
import { pricesOf } from "./prices.js";
import { hostRedactor } from "./redactor.js";
import { noteBudget } from "./answer-budget.js";
import { isIncognito, type Scope } from "./sessions.js";
import type { PluginState } from "./state.js";

/** The id of the execution host if Codex runs the turn. */
const CODEX = "codex-app-server";
const INHERITING = "granting the originals of the session before";

/**
 * Returns the projection for a runtime that keeps its own thread, such as Codex. The runtime takes the history when its
 * thread begins, and again after an answer of another runtime, which its thread lacks. Without a projection it would
 * add the whole history to every prompt although its thread already contains it. OpenClaw's own runtime ignores this.
 */
function projectionOf(messages: readonly AnyMessage[]): ContextProjection {
  const answers = messages as readonly {
    role?: unknown;
    provider?: unknown;
    idempotencyKey?: unknown;
    timestamp?: unknown;
  }[];
  // Messages that the host itself writes into a transcript are not answers.
  const others = answers.findLast(
    ({ role, provider, idempotencyKey }) =>
      role === "assistant" && provider !== "openclaw" && !String(idempotencyKey).startsWith(`${CODEX}:`),
  );
  return { mode: "thread_bootstrap", epoch: others === undefined ? "concertina" : `concertina:${others.timestamp}` };
}

/** Creates the engine of one turn. */
export function createEngine(state: PluginState, config: HostConfig | undefined): ContextEngine {
  const engine = createContextEngine(() => state.store(), {
    compact: async (params: Parameters<Compact>[0]) => {
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return delegateCompactionToRuntime(params);
    },
    complain: (step, error, consequence) => state.complain(step, error, consequence),
    pricesOf: (params) => pricesOf(config, params),
    // Secrets that the host masks in its transcript must not be in our store either.
    redactor: hostRedactor,
  });
  return {
    ...engine,
    async assemble<M extends AnyMessage>(params: AssembleParams<M>) {
      const { availableTools = new Set() } = params;
      const canFetch = availableTools.has(FETCH_TOOL) && !isIncognito(params.sessionKey);
      const scope = { agentId: agentOf(params.sessionKey), sessionId: params.sessionId };
      const model = params.runtimeSettings?.model?.resolved ?? params.model;
      const isInCodex = params.runtimeSettings?.executionHost?.id === CODEX;
      const isFirst = !state.sessions.isKnown(params.sessionId);
      state.sessions.noteTurn(params.sessionKey, scope, { canFetch, model, isInCodex });
      noteBudget(params.sessionId, params.tokenBudget);
      // Codex has its own instructions for the host's memory.
      const systemPromptAddition = isInCodex ? undefined : await memorySection(state, params);
      const contextProjection = projectionOf(params.messages);
      const untouched = { messages: params.messages, estimatedTokens: 0, systemPromptAddition, contextProjection };
      if (!state.enabled || isIncognito(params.sessionKey) || !state.hasLibrary) {
        // The store must learn which sessions this gateway still shows, even while folding is off.
        state.sweepWhenDue();
        return untouched;
      }
      if (canFetch && !isInCodex) warnOfPruner(state, config, params);
      await inherit(state, params, scope, isFirst);
      // Folding has no effect in Codex: the content is already in its thread, which nobody can change.
      const view = isInCodex
        ? untouched
        : await state.use(
            () => engine.assemble({ ...params, model, availableTools }),
            "assembly",
            "storing",
            "folding",
          );
      state.sweepWhenDue();
      return { ...(view ?? untouched), systemPromptAddition, contextProjection };
    },
    async commitTurn(params) {
      // Codex reports the bill of a turn but not its requests, so figures of them would be guesses.
      if (!state.enabled || isIncognito(params.sessionKey) || state.sessions.isInCodex(params.sessionId))
        return { status: "committed" };
      return (await state.use(() => engine.commitTurn(params), "recording a turn")) ?? { status: "committed" };
    },
    // The child's session has no id yet, so it inherits at the start of its first turn.
    prepareSubagentSpawn({ parentSessionKey, childSessionKey }) {
      state.sessions.noteSpawn(parentSessionKey, childSessionKey);
      return Promise.resolve({ rollback: () => state.sessions.forgetSpawn(childSessionKey) });
    },
  };
}

/** Logs the warning about the host's pruner, once for each session and text. */
function warnOfPruner(state: PluginState, config: HostConfig | undefined, params: AssembleParams): void {
  const warning = prunerWarning(config, params);
  if (state.sessions.noteWarning(params.sessionId, warning)) state.warn(`session ${params.sessionId}: ${warning}`);
}

/**
 * Grants originals to a session that continues another one. A sub-agent of the same agent, and a copy of a session, may
 * fetch everything that the other session may, and see it in the same form. A sub-agent of another agent may fetch the
 * originals that its first turn and its later prompts name.
 */
async function inherit(state: PluginState, params: AssembleParams, child: Scope, isFirst: boolean): Promise<void> {
  const { prompt = "", messages, sessionKey } = params;
  try {
    const parent =
      state.sessions.parent(sessionKey) ??
      (isFirst && messages.length > 0 ? await forkedFrom(state, child) : undefined);
    if (parent === undefined) return;
    const isOwn = parent.agentId === child.agentId;
    const named = isOwn ? undefined : idsIn(isFirst ? `${prompt}\n${JSON.stringify(messages)}` : prompt);
    if (isFirst || named?.length) await state.use((store) => store.inherit({ parent, child, named }), INHERITING);
  } catch (error) {
    state.complain(INHERITING, error, "the new session cannot fetch them");
  }
}

/**
 * Returns the session of the same agent that a session was copied from, or undefined if the store already knows the
 * session.
 */
async function forkedFrom(state: PluginState, session: Scope): Promise<Scope | undefined> {
  const known = await state.use((store) => store.sessions());
  if (
    known === undefined ||
    known.some(({ agentId, sessionId }) => agentId === session.agentId && sessionId === session.sessionId)
  )
    return undefined;
  const source = await state.forkSource(session);
  return source?.agentId === session.agentId ? source : undefined;
}

/** Returns the ids in a text, in markers or bare. A model may write them in capitals. */
function idsIn(text: string): string[] {
  const ids = text.match(/(?<![0-9a-f])[0-9a-f]{16,64}(?![0-9a-f])/gi) ?? [];
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
