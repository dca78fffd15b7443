/** The computation of the status. The gateway and the command line both use it, and open the store in the same way. */

import { existsSync } from "node:fs";
import { join } from "node:path";

import {
  agentOf,
  byWeight,
  type Concertina,
  counted,
  FETCH_TOOL,
  type Figures,
  type Finding,
  finding,
  type KnownSession,
  readTranscript,
  type SkippedCode,
  type Status,
  type Trouble,
  troubleText,
} from "../node/lib/for-plugin.js";
import {
  checkSelf,
  conditionFindings,
  engineFinding,
  hostFindings,
  ownRights,
  prunerFinding,
  SELF_CHECK,
  skippedFindings,
  turnFinding,
  whyNot,
} from "./findings.js";
import { prunerWarning } from "./host-pruner.js";
import { type HostSession, transcriptOf } from "./host-sessions.js";
import type { PluginState } from "./state.js";
import { probe, STORE, troubleOf } from "./store-trouble.js";

/**
 * The maximum number of transcripts that are searched for lost originals if no session is named. The gateway is blocked
 * meanwhile.
 */
const SEARCHED = 10;
/** A string in every placeholder of a transcript. */
const MARK = "REF_ID";

/** The data from the store. */
interface Read {
  figures: Pick<Figures, "lastFoldAt" | "store">;
  session: KnownSession | undefined;
  lastSeen: number | undefined;
  skipped: SkippedCode[];
}

/** The subject of the status. */
interface Asked {
  /** The session; the whole plugin by default. */
  sessionId?: string;
  /** True if the store's file is verified and a text is folded and fetched. It may take seconds. */
  isThorough?: boolean;
}

/**
 * Returns the current status, of a session or of the whole plugin. It opens the store separately, changes nothing in
 * it, and never fails because of it.
 */
export async function statusOf(state: PluginState, { sessionId, isThorough = false }: Asked = {}): Promise<Status> {
  const { conditions } = state;
  if (isThorough) await checkSelf(state);
  const rights = ownRights(state);
  const read = await readStore(state, sessionId, isThorough);
  const unusable = conditions.list().find(({ key }) => key === STORE);
  const pruner =
    sessionId === undefined
      ? prunerWarning(state.config, { sessionId: "", messages: [] })
      : state.sessions.warning(sessionId);
  const why =
    whyNot(state) ?? unusable ?? (sessionId === undefined ? undefined : whyNotIn(state, sessionId, read?.session));
  const store = read?.figures.store ?? noStore(unusable === undefined ? state.storeFile() : "");
  return {
    version: state.version,
    engine: why !== undefined ? "inactive" : state.observes ? "observing" : "active",
    why: why === undefined ? null : troubleText(why),
    lastFoldAt: read?.figures.lastFoldAt ?? null,
    store,
    findings: byWeight([
      engineFinding(state, why),
      ...conditionFindings(conditions.list()),
      ...(unusable === undefined ? [storeFinding(store, isThorough)] : []),
      turnFinding(read?.lastSeen, Date.now()),
      prunerFinding(pruner),
      ...hostFindings(state),
      ...rights,
      ...skippedFindings(read?.skipped ?? []),
      ...(isThorough && state.hasLibrary && !conditions.list().some(({ key }) => key === SELF_CHECK)
        ? [finding(SELF_CHECK, "ok", "a text was folded and fetched back byte for byte")]
        : []),
    ]),
  };
}

function storeFinding({ path, maxBytes }: Figures["store"], isThorough: boolean): Finding {
  if (maxBytes === 0) return finding(STORE, "ok", `there is none yet; it will be ${path}`);
  return finding(STORE, "ok", `${path} can be read and written${isThorough ? ", and is undamaged" : ""}`);
}

/**
 * Reads the store. Returns undefined if there is none yet or it cannot be used. It raises and ends the conditions about
 * the store.
 */
async function readStore(
  state: PluginState,
  sessionId: string | undefined,
  isThorough: boolean,
): Promise<Read | undefined> {
  if (!state.hasLibrary) return undefined;
  const { conditions } = state;
  const place = state.isShared ? undefined : state.directory();
  let store: Concertina | undefined;
  try {
    if (place !== undefined && existsSync(place)) probe(place);
    if (!state.hasStore) {
      conditions.end(STORE);
      return undefined;
    }
    store = await state.open({ setsAside: false });
    if (isThorough) await store.check();
    const sessions = await store.sessions();
    const read = {
      figures: await store.figures({ sessionId }),
      session: sessions.find((known) => known.sessionId === sessionId),
      lastSeen: sessions[0]?.lastSeen,
      skipped: store.skipped(),
    };
    conditions.end(STORE);
    await noteLost(state, store, sessionId).catch((error: unknown) =>
      state.tell("checking transcripts for missing originals", error, "the status does not report them"),
    );
    return read;
  } catch (error) {
    conditions.raise({ key: STORE, ...troubleOf(error, place) });
    return undefined;
  } finally {
    await store?.close();
  }
}

/**
 * Raises a condition for each transcript with placeholders whose originals the store lacks, and ends it if the store
 * has them again.
 */
async function noteLost(state: PluginState, store: Concertina, sessionId: string | undefined): Promise<void> {
  const { conditions } = state;
  // Placeholders in transcripts are never those of observed sessions.
  if (state.observes || !existsSync(join(state.stateDir, "agents"))) return;
  const sessions = await state.hostSessions();
  const keyOf = (session: { sessionId: string }) => `originals of ${session.sessionId}`;
  const keys = new Set(sessions.map(keyOf));
  for (const { key } of conditions.list()) if (key.startsWith("originals of ") && !keys.has(key)) conditions.end(key);
  for (const session of sessions
    .filter((one) => sessionId === undefined || one.sessionId === sessionId)
    .slice(0, SEARCHED)) {
    const key = keyOf(session);
    const events = await transcriptOf(session);
    const missing = events.some((event) => event.includes(MARK)) ? await missingIn(store, session, events) : [];
    if (missing.length === 0) conditions.end(key);
    else {
      const lost = "whose originals the store does not have: its file was deleted or replaced, or they expired";
      const text = `chat ${session.sessionKey} shows ${counted(missing.length, "placeholder")} ${lost}`;
      const remedy = "Restore the store's file from a backup; until then the model is told to run the tool again";
      conditions.raise({ key, text, remedy });
    }
  }
}

/** Returns the ids of placeholders in a transcript whose originals are missing. */
async function missingIn(
  store: Concertina,
  { sessionId, sessionKey }: HostSession,
  events: string[],
): Promise<string[]> {
  const { missing } = await store.unfold({
    sessionId,
    agentId: agentOf(sessionKey),
    messages: readTranscript(sessionId, events).messages,
  });
  return missing;
}

/**
 * Returns the store part of the status without a store. `path` is where the store will be, or empty if it cannot be
 * used.
 */
function noStore(path: string): Figures["store"] {
  return { originals: 0, originalBytes: 0, storedBytes: 0, maxBytes: 0, path };
}

/** Returns the reason in this session why nothing is folded, or undefined. */
function whyNotIn({ sessions }: PluginState, sessionId: string, known: KnownSession | undefined): Trouble | undefined {
  if (sessions.isHeldOut(sessionId) ?? known?.isHeldOut)
    return {
      text: "this session is left untouched, so that others can be compared with it (holdout)",
      remedy: "Begin another session to have it folded",
    };
  if (known?.isOff) return { text: "it is switched off in this session", remedy: "/concertina on switches it on" };
  if (!sessions.isKnown(sessionId)) {
    // After a change of options the host registers the plugin again in the same process.
    const since = Date.now() - process.uptime() * 1000;
    if (known !== undefined && known.lastSeen >= since) return undefined;
    return {
      text: "this session has had no turn since the gateway started or the options changed",
      remedy: "Send a message. If this does not help, see the gateway's log for why the host uses its own engine",
    };
  }
  return sessions.canFetch(sessionId)
    ? undefined
    : {
        text: `this session's model cannot use ${FETCH_TOOL}, and without that tool nothing is folded`,
        remedy: "Allow it in the agent's tool profile or policy",
      };
}
