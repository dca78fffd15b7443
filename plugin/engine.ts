/**
 * The host's context engine: the library's, with what only the host knows: whether the fetch tool is there, what the
 * model costs, and which session is whose sub-agent.
 *
 * The host makes a new engine for every turn, so an engine remembers nothing. It must not throw: the host would stop
 * using it.
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

/** How the host calls Codex when it runs the turn. */
const CODEX = "codex-app-server";
const INHERITING = "preparing a session that goes on from another one";

/**
 * For a runtime that keeps a thread of its own, as Codex does: it takes the history once, when its thread begins, and
 * anew after an answer that its thread does not hold, because another runtime gave it. Without this it would take all
 * of it again into every prompt, beside the thread that holds it already. OpenClaw's own runtime does not read this.
 */
function projectionOf(messages: readonly AnyMessage[]): ContextProjection {
  const answers = messages as readonly {
    role?: unknown;
    provider?: unknown;
    idempotencyKey?: unknown;
    timestamp?: unknown;
  }[];
  // What the host itself writes into a transcript is no answer.
  const others = answers.findLast(
    ({ role, provider, idempotencyKey }) =>
      role === "assistant" && provider !== "openclaw" && !String(idempotencyKey).startsWith(`${CODEX}:`),
  );
  return { mode: "thread_bootstrap", epoch: others === undefined ? "concertina" : `concertina:${others.timestamp}` };
}

/** The engine of one turn. */
export function createEngine(state: PluginState, config: HostConfig | undefined): ContextEngine {
  const engine = createContextEngine(() => state.store(), {
    compact: async (params: Parameters<Compact>[0]) => {
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return delegateCompactionToRuntime(params);
    },
    complain: (step, error, consequence) => state.complain(step, error, consequence),
    pricesOf: (params) => pricesOf(config, params),
    // What the host masks in its transcript must not stand in our store.
    redactor: hostRedactor,
  });
  return {
    ...engine,
    // The prompt names what the session of another agent may fetch.
    info: { ...engine.info, acceptedHostParams: [...engine.info.acceptedHostParams, "prompt"] },
    async assemble<M extends AnyMessage>(params: AssembleParams<M>) {
      const { availableTools = new Set() } = params;
      const canFetch = availableTools.has(FETCH_TOOL) && !isIncognito(params.sessionKey);
      const scope = { agentId: agentOf(params.sessionKey), sessionId: params.sessionId };
      const model = params.runtimeSettings?.model?.resolved ?? params.model;
      const isInCodex = params.runtimeSettings?.executionHost?.id === CODEX;
      const isFirst = !state.sessions.isKnown(params.sessionId);
      state.sessions.noteTurn(params.sessionKey, scope, { canFetch, model, isInCodex });
      noteBudget(params.sessionId, params.tokenBudget);
      // Codex is told of the host's memory by Codex's own instructions.
      const systemPromptAddition = isInCodex ? undefined : await memorySection(state, params);
      const contextProjection = projectionOf(params.messages);
      const untouched = { messages: params.messages, estimatedTokens: 0, systemPromptAddition, contextProjection };
      if (!state.enabled || isIncognito(params.sessionKey) || !state.hasLibrary) {
        // While it is off, too, its store has to know which sessions this gateway still shows.
        state.sweepWhenDue();
        return untouched;
      }
      if (canFetch && !isInCodex) warnOfPruner(state, config, params);
      await inherit(state, params, scope, isFirst);
      // What would be folded here stands in Codex's thread, which nobody can change.
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
      // Codex tells what a turn was billed, not its requests: figures of them would be guesses.
      if (!state.enabled || isIncognito(params.sessionKey) || state.sessions.isInCodex(params.sessionId))
        return { status: "committed" };
      return (await state.use(() => engine.commitTurn(params), "recording a turn")) ?? { status: "committed" };
    },
    // The child's session has no id yet: it inherits at the start of its first turn.
    prepareSubagentSpawn({ parentSessionKey, childSessionKey }) {
      state.sessions.noteSpawn(parentSessionKey, childSessionKey);
      return Promise.resolve({ rollback: () => state.sessions.forgetSpawn(childSessionKey) });
    },
  };
}

/** Once for each session and what there is to say. */
function warnOfPruner(state: PluginState, config: HostConfig | undefined, params: AssembleParams): void {
  const warning = prunerWarning(config, params);
  if (state.sessions.noteWarning(params.sessionId, warning)) state.warn(`session ${params.sessionId}: ${warning}`);
}

/**
 * A sub-agent of the same agent, and a session that began as a copy of another one, may fetch all that the other
 * session may, and see it as it was shown there. A sub-agent of another agent may fetch what its first turn and its
 * later prompts name.
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
    state.complain(INHERITING, error, "it cannot fetch that one's originals");
  }
}

/** The session of the same agent that one which the store does not know was copied from. */
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

/** The ids that a text names, in markers or bare; a model may write them in capitals. */
function idsIn(text: string): string[] {
  const ids = text.match(/(?<![0-9a-f])[0-9a-f]{16,64}(?![0-9a-f])/gi) ?? [];
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
