/**
 * The checks behind the status, the page and `doctor`: one list, in which each finding states its remedy. Conditions
 * are findings that an operation noticed; the others are found when somebody asks.
 */

import {
  agentOf,
  type Condition,
  counted,
  FETCH_TOOL,
  type Finding,
  finding,
  hostVersions,
  native,
  rightsFindings,
  selfCheck,
  type SkippedCode,
  storePaths,
  type Trouble,
} from "../node/lib/for-plugin.js";
import { leftBehind } from "./damaged-stores.js";
import { UNFOLD_FIRST } from "./engine-slot.js";
import { matchesAny } from "./host-pruner.js";
import { ownDirectory } from "./own-files.js";
import { pricesOf } from "./prices.js";
import { isElsewhere, modelsInUse } from "./runtimes.js";
import type { PluginState } from "./state.js";
import { STORE } from "./store-trouble.js";

/** The key of the condition that folding does not work here. */
export const SELF_CHECK = "self-check";
const DAY_MS = 86_400_000;
/** The consequence of a provider that accepts reasoning only after the exact prefix that it was made with. */
const BOUND =
  "its provider ties reasoning to the exact prefix, so sent content is folded only where the reasoning is lost anyway";
const OPTIONS = "plugins.entries.concertina.config";

const CHECK_AGAIN =
  'Mend what the error names, or install the plugin again; "openclaw concertina doctor" repeats the check';

/** Returns the remedy that is a command of the host. */
const run = (command: string) => `Run "openclaw ${command}"`;

/** Folds and fetches a text, and raises a condition if that fails. */
export async function checkSelf(state: PluginState): Promise<void> {
  if (!state.enabled || !state.hasLibrary) return;
  try {
    await selfCheck();
    state.ended(SELF_CHECK);
  } catch (error) {
    state.complain(SELF_CHECK, error, "folding does not work on this machine; turns continue unchanged", CHECK_AGAIN);
  }
}

/** Returns the reason in the configuration why nothing is folded, or undefined. */
export function whyNot(state: PluginState): Trouble | undefined {
  const { plugins, tools } = state.config ?? {};
  if (plugins?.entries?.concertina?.enabled === false)
    return { text: "the plugin is disabled", remedy: `${run("plugins enable concertina")}. ${UNFOLD_FIRST}` };
  const unused = state.unused();
  if (unused !== undefined) return { ...unused, remedy: `${unused.remedy}. ${UNFOLD_FIRST}` };
  if (!state.enabled)
    return {
      text: "sccsEnabled is false: nothing is replaced or stored",
      remedy: run(`config set ${OPTIONS}.sccsEnabled true`),
    };
  if (matchesAny(tools?.deny, FETCH_TOOL))
    return {
      text: `tools.deny excludes ${FETCH_TOOL}, and without that tool nothing is folded`,
      remedy: `Remove what excludes it from tools.deny ("openclaw config get tools.deny" prints it)`,
    };
  return state.hasLibrary
    ? undefined
    : {
        text: "the native library does not load; see the gateway's log for the reason",
        remedy: run("plugins install openclaw-concertina --force"),
      };
}

/** Returns the finding about the engine. */
export function engineFinding(state: PluginState, why: Trouble | undefined): Finding {
  if (why !== undefined) return finding("engine", "failure", why.text, why.remedy);
  return state.observes
    ? finding(
        "engine",
        "note",
        "it only observes: nothing that is sent changes",
        run(`config set ${OPTIONS}.sccsEnabled true`),
      )
    : finding("engine", "ok", "OpenClaw uses Concertina as its context engine");
}

/** Returns what conditions say. One about the store means that nothing is folded. */
export function conditionFindings(conditions: readonly Condition[]): Finding[] {
  return conditions.map(({ key, text, remedy, since }) => {
    const level = key === STORE || key === SELF_CHECK ? "failure" : "warning";
    return { key, level, text, remedy, since };
  });
}

/** Returns the findings that need neither the store nor a session. */
export function hostFindings(state: PluginState): Finding[] {
  return [
    ...versionFindings(state),
    ...modelFindings(state),
    ...(state.hasLibrary ? state.optionWarnings : []).map((text) =>
      finding("option", "warning", text, run(`config unset ${OPTIONS}.${text.split(" ")[0]}`)),
    ),
    ...leftBehind(state.directory()).map(({ text, remedy }) => finding("damaged store", "warning", text, remedy)),
  ];
}

/** Returns the finding about the pruner of the host. */
export function prunerFinding(warning: string | undefined): Finding {
  return warning === undefined
    ? finding("host's pruner", "ok", "it is off")
    : finding("host's pruner", "warning", warning, run("config set agents.defaults.contextPruning.mode off"));
}

/** Returns the finding about the latest turn that the engine saw. */
export function turnFinding(lastSeen: number | undefined, now: number): Finding {
  if (lastSeen === undefined) return finding("last turn", "note", "no turn was seen yet", "Send a message to an agent");
  const when = new Date(lastSeen).toISOString();
  const days = Math.floor((now - lastSeen) / DAY_MS);
  return finding(
    "last turn",
    "ok",
    `the last turn was seen at ${when}${days > 0 ? `, ${counted(days, "day")} ago` : ""}`,
  );
}

/** Returns the findings about parsers that are disabled for some texts. */
export function skippedFindings(skipped: readonly SkippedCode[]): Finding[] {
  return skipped.map(({ code, texts, isOff }) => {
    const what = `parser ${code} crashed or hung on ${texts} ${texts === 1 ? "text" : "texts"}`;
    const consequence = isOff
      ? `${what} and is disabled until the next release`
      : `${what}, and is not called for ${texts === 1 ? "it" : "them"} again until the next release`;
    return finding("parser", "warning", consequence, "Report the language, and update Concertina at the next release");
  });
}

/** Returns the findings about versions: the host's is tested, or newer, or too old. */
function versionFindings(state: PluginState): Finding[] {
  const { oldest, tested } = hostVersions();
  const { hostVersion } = state;
  const own = `Concertina ${state.version}, Node ${process.versions.node}`;
  if (hostVersion === undefined) return [finding("versions", "ok", own)];
  const all = `${own}, OpenClaw ${hostVersion}`;
  if (isNewer(oldest, hostVersion))
    return [finding("versions", "failure", `${all}: OpenClaw ${oldest} or later is needed`, run("update"))];
  if (isNewer(hostVersion, tested))
    return [finding("versions", "note", `${all}: newer than ${tested}, with which this release was tested`)];
  return [finding("versions", "ok", `${all}, which is tested`)];
}

/** Returns true if one version is newer than another. Both are numbers between points; the rest is ignored. */
export function isNewer(one: string, other: string): boolean {
  const [left, right] = [one, other].map((version) => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number));
  for (const at of [0, 1, 2]) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** Returns the findings about the models in use: their runtimes, their prices and the rules of their providers. */
function modelFindings(state: PluginState): Finding[] {
  const { config } = state;
  return modelsInUse(config).map((used) => {
    const { agentId, model, runtime } = used;
    const whose = agentId === undefined ? model : `${model} of agent ${agentId}`;
    if (isElsewhere(used))
      return finding(
        "model",
        "warning",
        `${whose} runs in ${runtime}, whose turns do not pass through Concertina: nothing of them is folded`,
        run(`config set 'agents.defaults.models["${model}"].agentRuntime.id' openclaw`),
      );
    if (runtime === "codex")
      return finding("model", "note", `${whose} runs in Codex, where only fresh tool results are folded`);
    const [provider = "", ...id] = model.split("/");
    const sessionKey = `agent:${agentOf(agentId === undefined ? undefined : `agent:${agentId}:x`)}:x`;
    const settings = { model: { provider, resolved: id.join("/") } };
    const prices = pricesOf(config, { sessionId: "", sessionKey, messages: [], runtimeSettings: settings });
    const binding = state.hasLibrary && native().bindsReasoning(model) ? `; ${BOUND}` : "";
    return prices === undefined
      ? finding(
          "model",
          "note",
          `${whose}: its prices are not configured, so those of its family decide when to fold, and bills are in input tokens${binding}`,
          `State "cost" of the model in models.providers.${provider}.models`,
        )
      : finding("model", "ok", `${whose}: folding follows its configured prices${binding}`);
  });
}

/** Returns the finding about the rights of the plugin's files. The store is opened after it. */
export function ownRights(state: PluginState): Finding[] {
  const own = [ownDirectory(state.stateDir), state.conditions.file];
  return rightsFindings(state.isShared ? own : [...own, ...storePaths(state.directory())]);
}
