/** The `/concertina` chat command. */

import { agentOf, type Concertina, type Removed } from "../node/lib/index.js";
import { figuresText, removedText } from "../node/lib/figures-text.js";
import { counted } from "../node/lib/table.js";
import { healthOf, healthText } from "./health.js";
import type { CallContext } from "./host.js";
import { whyKeptIn } from "./known-sessions.js";
import type { PluginState } from "./state.js";

const WORDS = ["", "stats", "status", "off", "on", "purge", "purge confirmed"];

/**
 * Answers `/concertina` with whether it is active and this session's figures, `off` and `on` by doing that for this session, `purge` with what
 * that would strand, and `purge confirmed` by doing it.
 */
export async function runSlashCommand(
  state: PluginState,
  context: CallContext & { args?: string },
): Promise<{ text: string }> {
  const word = (context.args ?? "").trim().toLowerCase().replace(/\s+/g, " ");
  if (!WORDS.includes(word)) return { text: `${word === "help" ? "" : `Unknown: ${word}. `}Use /concertina with nothing behind it, or with one of ${WORDS.filter(Boolean).join(", ")}.` };
  const { sessionId, sessionKey } = context;
  if (sessionId === undefined) return { text: "There is no session here yet." };
  try {
    const answer = await state.use((store) => answerTo(state, store, word, { sessionId, agentId: agentOf(sessionKey) }));
    return { text: answer ?? "Concertina is not active: see the gateway log for the reason." };
  } catch (error) {
    state.complain(`/concertina ${word}`, error, "nothing was changed");
    return { text: `That failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function answerTo(state: PluginState, store: Concertina, word: string, scope: { sessionId: string; agentId: string }): Promise<string> {
  switch (word) {
    case "off":
      await store.switch({ ...scope, off: true });
      return "Nothing more is folded in this session. What is folded stays so, and can be fetched. /concertina on takes this back.";
    case "on":
      await store.switch({ ...scope, off: false });
      return "This session is folded again.";
    case "purge confirmed":
    case "purge": {
      const why = await whyKeptIn(store, scope);
      if (why !== undefined) return why;
      const removed = await store.purge({ ...scope, dry: word === "purge" });
      return word === "purge" ? purgeWarning(removed) : removedText(removed);
    }
    default: {
      const figures = await store.figures(scope);
      const health = healthText(await healthOf(state, store, { ...scope, figures }));
      return word === "status" ? health : `${health}\n\n${figuresText(figures)}`;
    }
  }
}

function purgeWarning({ originals }: Removed): string {
  if (originals === 0) return "No originals are stored for this session alone; what goes is its figures. /concertina purge confirmed does it.";
  return `This removes ${counted(originals, "original")} for good, and this conversation still shows their placeholders. /concertina purge confirmed does it.`;
}
