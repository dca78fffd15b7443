/**
 * The host's context engine: the library's engine with facts that only the host knows, such as the availability of the
 * fetch tool, the prices of the model, and the parents of sub-agents.
 *
 * The host creates a new engine for every turn, so an engine has no state. It must not throw, because the host would
 * then stop using it.
 */

import { agentOf, type AnyMessage, createContextEngine, FETCH_TOOL, withoutUsage } from "../node/lib/for-plugin.js";
import type { AssembleParams, AssembleResult, Compact, ContextEngine, ContextProjection, HostConfig } from "./host.js";
import { isUntouched } from "./holdout.js";
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
      const { observer } = state;
      // While nothing changes, the model needs no tool to fetch originals with.
      const availableTools = new Set([...(params.availableTools ?? []), ...(observer ? [FETCH_TOOL] : [])]);
      const canFetch = availableTools.has(FETCH_TOOL) && !isIncognito(params.sessionKey);
      const scope = { agentId: agentOf(params.sessionKey), sessionId: params.sessionId };
      const model = params.runtimeSettings?.model?.resolved ?? params.model;
      const isInCodex = params.runtimeSettings?.executionHost?.id === CODEX;
      const isFirst = !state.sessions.isKnown(params.sessionId);
      const isOn = state.enabled && !isIncognito(params.sessionKey) && state.hasLibrary;
      const before = isOn ? await continued(state, params, scope, isFirst) : undefined;
      const isHeldOut = isOn && (await isUntouched(state, scope, before, params.messages.length === 0));
      state.sessions.noteTurn(params.sessionKey, scope, { canFetch, model, isInCodex, isHeldOut });
      noteBudget(params.sessionId, params.tokenBudget);
      // Codex has its own instructions for the host's memory.
      const systemPromptAddition = isInCodex ? undefined : await memorySection(state, params);
      const contextProjection = projectionOf(params.messages);
      const untouched = { messages: params.messages, estimatedTokens: 0, systemPromptAddition, contextProjection };
      if (!isOn) {
        // The store must learn which sessions this gateway still shows, even while folding is off.
        state.sweepWhenDue();
        return untouched;
      }
      if (canFetch && !isInCodex) warnOfPruner(state, config, params);
      const assemble = (messages: M[], tools: Set<string>) =>
        state.use(
          () => engine.assemble({ ...params, messages, model, availableTools: tools }),
          "assembly",
          "storing",
          "folding",
        );
      const fold = async (messages: M[]) => {
        await inherit(state, params, { parent: before, child: scope }, isFirst);
        return assemble(messages, availableTools);
      };
      let view: AssembleResult<M> | undefined;
      // Folding has no effect in Codex: the content is already in its thread, which nobody can change.
      if (isInCodex) await inherit(state, params, { parent: before, child: scope }, isFirst);
      else if (observer) observer.later(params, () => fold(observer.view(params, params.messages)));
      // Without tools nothing is folded, but the figures know what was sent.
      else if (isHeldOut) await assemble(params.messages, new Set());
      else view = await fold(params.messages);
      state.sweepWhenDue();
      return { ...(view ?? untouched), systemPromptAddition, contextProjection };
    },
    async commitTurn(params) {
      // Codex reports the bill of a turn but not its requests, so figures of them would be guesses.
      if (!state.enabled || isIncognito(params.sessionKey) || state.sessions.isInCodex(params.sessionId))
        return { status: "committed" };
      const { observer } = state;
      await observer?.after(params);
      const messages = observer ? withoutUsage(observer.view(params, params.messages)) : params.messages;
      const heldOut = state.sessions.isHeldOut(params.sessionId);
      const recorded = await state.use(() => engine.commitTurn({ ...params, messages, heldOut }), "recording a turn");
      return recorded ?? { status: "committed" };
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
async function inherit(
  state: PluginState,
  { prompt = "", messages }: AssembleParams,
  { parent, child }: { parent: Scope | undefined; child: Scope },
  isFirst: boolean,
): Promise<void> {
  if (parent === undefined) return;
  try {
    const isOwn = parent.agentId === child.agentId;
    const named = isOwn ? undefined : idsIn(isFirst ? `${prompt}\n${JSON.stringify(messages)}` : prompt);
    if (isFirst || named?.length) await state.use((store) => store.inherit({ parent, child, named }), INHERITING);
  } catch (error) {
    state.complain(INHERITING, error, "the new session cannot fetch them");
  }
}

/** Returns the session that another one continues: its parent or, at its first turn, the one it was copied from. */
async function continued(
  state: PluginState,
  { messages, sessionKey }: AssembleParams,
  session: Scope,
  isFirst: boolean,
): Promise<Scope | undefined> {
  const parent = state.sessions.parent(sessionKey);
  if (parent !== undefined || !isFirst || messages.length === 0) return parent;
  try {
    return await forkedFrom(state, session);
  } catch (error) {
    state.complain(INHERITING, error, "the new session cannot fetch them");
    return undefined;
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
