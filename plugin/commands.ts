/** The `/concertina` chat command. */

import {
  agentOf,
  type Concertina,
  counted,
  figuresText,
  type Removed,
  removedText,
  statusText,
} from "../node/lib/for-plugin.js";
import type { CallContext } from "./host.js";
import { whyKeptIn } from "./known-sessions.js";
import type { PluginState } from "./state.js";
import { statusOf } from "./status.js";

const QUESTIONS = ["", "stats", "status"];
const WORDS = [...QUESTIONS, "off", "on", "purge", "purge confirmed"];

/**
 * Answers `/concertina`: without an argument with the status and this session's figures. `off` and `on` switch folding
 * in this session, `purge` reports what a purge would remove, and `purge confirmed` does it.
 */
export async function runSlashCommand(
  state: PluginState,
  context: CallContext & { args?: string },
): Promise<{ text: string }> {
  const word = (context.args ?? "").trim().toLowerCase().replace(/\s+/g, " ");
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
      answerTo(store, word, { sessionId, agentId: agentOf(sessionKey) }, state.observes),
    );
    // If the store cannot be used, the status states the reason.
    if (answer === undefined)
      return { text: isQuestion ? status.join() : statusText(await statusOf(state, { sessionId })) };
    return { text: [...status, answer].join("\n\n") };
  } catch (error) {
    state.tell(`/concertina ${word}`, error, "nothing was changed");
    return {
      text: [...status, `The command failed: ${error instanceof Error ? error.message : String(error)}`].join("\n\n"),
    };
  }
}

async function answerTo(
  store: Concertina,
  word: string,
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

function purgeWarning({ originals }: Removed): string {
  if (originals === 0)
    return "No originals are stored for this session alone. Its figures would be removed. /concertina purge confirmed does it.";
  return `This removes ${counted(originals, "original")} for good, and this conversation still shows their placeholders. /concertina purge confirmed does it.`;
}
