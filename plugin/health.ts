/** Whether Concertina works here, and if not, why not: what an operator asks first. */

import { type Concertina, FETCH_TOOL, type Figures, type KnownSession, type SkippedCode } from "../node/lib/index.js";
import type { Health } from "../node/lib/page.js";
import { bytes, rows } from "../node/lib/table.js";
import { matchesAny, prunerWarning } from "./host-pruner.js";
import type { PluginState } from "./state.js";

const DAY_MS = 86_400_000;

/** What a caller has at hand: the session that is asked about, and figures of it or, without one, of all time. */
interface Known {
  sessionId?: string;
  agentId?: string;
  figures?: Figures;
  /** Why the store cannot be opened. */
  unusable?: string;
}

/** Asks the configuration and the store; of a session, also what is known of its turns in this process. */
export async function healthOf(state: PluginState, store: Concertina | undefined, { sessionId, agentId, figures: read, unusable }: Known = {}): Promise<Health> {
  const now = Date.now();
  const figures = read ?? (await store?.figures({ sessionId, agentId })) ?? { lastFoldAt: null, store: noStore(unusable === undefined ? state.storeFile() : "") };
  const warnings = (await store?.warned({ since: now - (now % DAY_MS) })) ?? [];
  const session = (await store?.sessions())?.find((known) => known.sessionId === sessionId && known.agentId === agentId);
  const why = whyNot(state) ?? unusable ?? (sessionId === undefined ? undefined : whyNotIn(state, sessionId, session));
  const pruner = sessionId === undefined ? prunerWarning(state.config, { sessionId: "", messages: [] }) : state.sessions.warning(sessionId);
  return {
    version: state.version,
    engine: why === undefined ? "active" : "inactive",
    why: why ?? null,
    lastFoldAt: figures.lastFoldAt,
    store: figures.store,
    warnings: [...[pruner, ...(state.hasLibrary ? state.optionWarnings : [])].filter((text) => text !== undefined).map((text) => ({ at: now, text })), ...warnings],
    skipped: (store?.skipped() ?? []).map(skippedText),
  };
}

/** The path is where it will be, and empty for one that is there and cannot be opened. */
function noStore(path: string): Figures["store"] {
  return { originals: 0, originalBytes: 0, storedBytes: 0, maxBytes: 0, path };
}

/** What the configuration says against it. */
function whyNot(state: PluginState): string | undefined {
  const { plugins, tools } = state.config ?? {};
  if (plugins?.entries?.concertina?.enabled === false) return "the plugin is disabled: openclaw plugins enable concertina";
  const unused = state.unused();
  if (unused !== undefined) return unused;
  if (!state.enabled) return "sccsEnabled is false: nothing is replaced or stored";
  if (matchesAny(tools?.deny, FETCH_TOOL)) return `tools.deny takes ${FETCH_TOOL} away, and nothing is folded that cannot be fetched back`;
  return state.hasLibrary ? undefined : "the native library does not load: the gateway's log says why";
}

/** What this process knows of a session. */
function whyNotIn({ sessions }: PluginState, sessionId: string, known: KnownSession | undefined): string | undefined {
  if (known?.isOff) return "it is switched off in this session: /concertina on";
  if (!sessions.isKnown(sessionId)) {
    // After a change of options the host registers the plugin anew, in the same process.
    const since = Date.now() - process.uptime() * 1000;
    if (known !== undefined && known.lastSeen >= since) return undefined;
    return "no turn of this session has reached it since the gateway started or its options were changed: send a message; if this stays, the gateway's log says why the host degraded to its own engine";
  }
  return sessions.canFetch(sessionId) ? undefined : `${FETCH_TOOL} is not available to this session's model (its tool profile or policy), and nothing is folded that cannot be fetched back`;
}

/** Health in words. */
export function healthText({ version, engine, why, lastFoldAt, store, warnings, skipped }: Health): string {
  const at = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
  const ofStore: [string, string][] = [["last fold", lastFoldAt === null ? "none yet" : at(lastFoldAt)], ["store", storeText(store)]];
  return rows([
    ["Concertina", `${version}, ${engine}${why === null ? "" : `: ${why}`}`],
    ...(store.path === "" ? [] : ofStore),
    ...skipped.map((line): [string, string] => ["skipped", line]),
    ["warnings", warnings.length === 0 ? "none today" : `${warnings.length} today`],
  ]).concat(warnings.slice(0, 5).map((warning) => `  ${at(warning.at)}  ${warning.text}`)).join("\n");
}

function storeText({ path, storedBytes, maxBytes }: Health["store"]): string {
  return maxBytes === 0 ? `none yet; it will be ${path}` : `${path}, ${bytes(storedBytes)} of originals, at most ${bytes(maxBytes)}`;
}

/** What is left out, in words. */
function skippedText({ code, texts, isOff }: SkippedCode): string {
  const what = `${code} ended the process, or did not come back, with ${texts} ${texts === 1 ? "text" : "texts"}`;
  return `${what}: ${isOff ? "it is given none" : "not given to it"} any more, until the next version`;
}
