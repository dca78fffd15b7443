/**
 * Repetition of the workspace's rules after a number of turns, because agents forget them in long sessions.
 *
 * The rules are appended to the context and never added to the system prompt, with which every cached prefix begins.
 * Text of a user is never shortened. A failure only costs the repetition and not the turn.
 */

import {
  agentOf,
  type CompressedRules,
  compressRulesAsync,
  type Options,
  type RuleFile,
  type RulesOptions,
} from "../node/lib/for-plugin.js";
import type { PromptBuild, PromptContext } from "./host.js";
import { readJson, readRuleFiles } from "./rule-files.js";
import { isIncognito } from "./sessions.js";
import type { PluginState } from "./state.js";

const REPEATING = "repeating the rules";

/** Returns the number of turns between repetitions. 0 means never, and so does anything that is not a whole number. */
export function refreshEvery({ rules }: Options): number {
  const turns = rules?.refreshEveryTurns;
  return typeof turns === "number" && Number.isInteger(turns) && turns > 0 ? turns : 0;
}

/** Appends the rules to the context if they are due in this turn. */
export async function refreshRules(
  state: PluginState,
  event: PromptBuild,
  context: PromptContext,
): Promise<{ appendContext: string } | undefined> {
  const { workspaceDir } = context;
  if (workspaceDir === undefined) return;
  const complaints: unknown[] = [];
  try {
    if ((await turnOf(state, event, context)) % refreshEvery(state.given) !== 0) return;
    const { files: globs = [], level, maxChars } = state.options.rules;
    const files = await readRuleFiles(workspaceDir, globs, (error) => complaints.push(error));
    if (files.length === 0) return;
    const rules = await compressed(state, workspaceDir, files, { level, maxChars }, complaints);
    if (rules.included.length === 0) return;
    await record(state, context, rules, complaints);
    return { appendContext: worded(rules) };
  } catch (error) {
    complaints.push(error);
    return;
  } finally {
    // At most one line is logged for a turn.
    if (complaints.length > 0)
      state.complain(
        REPEATING,
        complaints[0],
        "the turn continues with the rules that could be read",
        "Make the files that rules.files names readable, or change that option",
      );
    else state.ended(REPEATING);
  }
}

/**
 * Returns the number of the turn, 1 for a session's first. The store counts turns, because a history limit and
 * compaction remove messages. If no turns are recorded (in Codex, with another engine, or while folding is off), the
 * user messages in sight are counted.
 */
async function turnOf(
  state: PluginState,
  { messages }: PromptBuild,
  { sessionId, sessionKey }: PromptContext,
): Promise<number> {
  const isCounted = state.enabled && sessionId !== undefined && !state.sessions.isInCodex(sessionId);
  const stats = isCounted
    ? await state.use((store) => store.stats({ sessionId, agentId: agentOf(sessionKey) }))
    : undefined;
  const isUser = (message: unknown) => (message as { role?: unknown } | null)?.role === "user";
  return (stats?.turns || messages.filter(isUser).length) + 1;
}

async function compressed(
  state: PluginState,
  workspace: string,
  files: RuleFile[],
  options: RulesOptions,
  complaints: unknown[],
): Promise<CompressedRules> {
  const name = state.options.rules.abbreviations ?? "";
  if (name !== "") {
    try {
      const abbreviations = (await readJson(workspace, name)) as RulesOptions["abbreviations"];
      return await compressRulesAsync(files, { ...options, abbreviations });
    } catch (error) {
      // The built-in abbreviations stay in force.
      complaints.push(error);
    }
  }
  return compressRulesAsync(files, options);
}

async function record(
  state: PluginState,
  context: PromptContext,
  { report }: CompressedRules,
  complaints: unknown[],
): Promise<void> {
  const { sessionId, sessionKey } = context;
  if (!state.enabled || sessionId === undefined || isIncognito(sessionKey)) return;
  try {
    await state.use((store) => store.recordRules({ sessionId, agentId: agentOf(sessionKey), report }));
  } catch (error) {
    complaints.push(error);
  }
}

function worded({ text, omitted }: CompressedRules): string {
  const rest = omitted.length > 0 ? `\n\n(Omitted for lack of space: ${omitted.join(", ")}.)` : "";
  return `The rules of this workspace, repeated:\n\n${text}${rest}`;
}
