/** The `/concertina` chat command. */

import {
  agentOf,
  type Concertina,
  counted,
  figuresText,
  foldedText,
  isMisuse,
  type Removed,
  removedText,
  type RestoredIds,
  statusText,
} from "../node/lib/for-plugin.js";
import type { CallContext } from "./host.js";
import { whyKeptIn } from "./known-sessions.js";
import type { PluginState } from "./state.js";
import { statusOf } from "./status.js";

const QUESTIONS = ["", "stats", "status"];
const WORDS = [...QUESTIONS, "show", "fold", "restore ID", "pin", "unpin", "off", "on", "purge", "purge confirmed"];

/**
 * Answers `/concertina`: without an argument with the status and this session's figures. `show` lists what is folded in
 * this session. From the next turn on, `fold` folds all that may, `restore ID` shows an original in full and pins it,
 * `pin` pins the last result, and `unpin` takes back every pin. `off` and `on` switch folding in this session, `purge`
 * reports what a purge would remove, and `purge confirmed` does it.
 */
export async function runSlashCommand(
  state: PluginState,
  context: CallContext & { args?: string },
): Promise<{ text: string }> {
  const given = (context.args ?? "").trim().toLowerCase().replace(/\s+/g, " ");
  const ids = given.startsWith("restore ") ? idsIn(given.slice("restore ".length)) : [];
  const word = ids.length > 0 ? "restore ID" : given;
  if (!WORDS.includes(word))
    return {
      text: `${word === "help" ? "" : `Unknown command: ${word}. `}Use /concertina alone or with one of ${WORDS.filter(Boolean).join(", ")}.`,
    };
  const { sessionId, sessionKey } = context;
  if (sessionId === undefined) return { text: "There is no session yet." };
  const isQuestion = QUESTIONS.includes(word);
  const status = isQuestion ? [statusText(await statusOf(state, { sessionId }))] : [];
  if (word === "status") return { text: status.join() };
  try {
    // A purge removes what transcripts show. While this observes, that is in another store.
    const answer = await (word.startsWith("purge") ? state.folding : state).use((store) =>
      answerTo(store, word, ids, { sessionId, agentId: agentOf(sessionKey) }, state.observes),
    );
    // If the store cannot be used, the status states the reason.
    if (answer === undefined)
      return { text: isQuestion ? status.join() : statusText(await statusOf(state, { sessionId })) };
    return { text: [...status, answer].join("\n\n") };
  } catch (error) {
    // A wrong id is a mistake of the person, not a failure.
    if (isMisuse(error)) return { text: (error as Error).message };
    state.tell(`/concertina ${word}`, error, "nothing was changed");
    return {
      text: [...status, `The command failed: ${error instanceof Error ? error.message : String(error)}`].join("\n\n"),
    };
  }
}

/** The words of markers, beside their ids. */
const OF_MARKERS = new Set(["ref_id", "rewind", "sha256"]);

/** Returns the ids that a person names: bare, as markers, in quotation marks, separated by blanks or commas. */
const idsIn = (text: string) => text.split(/\W+/).filter((word) => word !== "" && !OF_MARKERS.has(word));

async function answerTo(
  store: Concertina,
  word: string,
  ids: readonly string[],
  scope: { sessionId: string; agentId: string },
  observes: boolean,
): Promise<string> {
  switch (word) {
    case "off":
      await store.switch({ ...scope, off: true });
      return "Nothing more is folded in this session. Folded content stays folded and can be fetched. /concertina on switches folding on again.";
    case "on":
      await store.switch({ ...scope, off: false });
      return "Folding is on in this session.";
    case "show":
      return foldedText(await store.folded(scope));
    case "fold":
      await store.foldAll(scope);
      return "Everything that may fold is folded at the next turn, as one epoch.";
    case "pin":
      await store.pin(scope);
      return "The last result stays in sight in this session. /concertina unpin takes back every pin.";
    case "unpin":
      return `${counted((await store.unpin(scope)).unpinned, "pin")} taken back.`;
    case "restore ID":
      return restoredText(await store.restore({ ...scope, refIds: [...ids] }));
    case "purge confirmed":
    case "purge": {
      const why = await whyKeptIn(store, scope);
      if (why !== undefined) return why;
      const removed = await store.purge({ ...scope, dry: word === "purge" });
      return word === "purge" ? purgeWarning(removed) : removedText(removed);
    }
    default:
      return figuresText(await store.figures(scope), observes);
  }
}

function restoredText({ restored, unknown }: RestoredIds): string {
  const lines = [];
  if (restored.length > 0)
    lines.push(
      `${restored.join(", ")}: shown in full from the next turn on, and pinned. /concertina unpin takes it back.`,
    );
  if (unknown.length > 0)
    lines.push(`${unknown.join(", ")}: nothing is folded under it in this session. /concertina show lists what is.`);
  return lines.join("\n");
}

function purgeWarning({ originals }: Removed): string {
  if (originals === 0)
    return "No originals are stored for this session alone. Its figures would be removed. /concertina purge confirmed does it.";
  return `This removes ${counted(originals, "original")} for good, and this conversation still shows their placeholders. /concertina purge confirmed does it.`;
}
