/** The `/concertina` chat command, and the plain tables that it and the command line print. */

import type { Removed, Stats } from "../node/lib/index.js";
import type { CallContext } from "./host.js";
import type { PluginState } from "./state.js";

const LISTED = 5;

/** Answers `/concertina` with this session's figures, `purge` with what that would strand, and `purge confirmed` by doing it. */
export async function runSlashCommand(
  state: PluginState,
  context: CallContext & { args?: string },
): Promise<{ text: string }> {
  const word = context.args?.trim() ?? "";
  if (!["", "stats", "purge", "purge confirmed"].includes(word)) {
    return { text: `Unknown: ${word}. Use /concertina or /concertina purge.` };
  }
  const { sessionId } = context;
  if (sessionId === undefined) return { text: "There is no session here yet." };
  try {
    const answer = await state.use(async (store) => {
      if (word === "purge confirmed") return removedTable(await store.purge({ sessionId }));
      if (word === "purge") return purgeWarning(await store.purge({ sessionId, dry: true }));
      const warning = state.sessions.warning(sessionId);
      return statsTable(await store.stats({ sessionId })) + (warning === undefined ? "" : `\n\nNote: ${warning}.`);
    });
    return { text: answer ?? "Concertina is not active: see the gateway log for the reason." };
  } catch (error) {
    state.complain(`/concertina ${word}`, error, "nothing was changed");
    return { text: `That failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function purgeWarning({ originals }: Removed): string {
  return `This removes ${grouped(originals)} originals for good, and this conversation still shows their placeholders. /concertina purge confirmed does it.`;
}

/** What was folded and saved, why bytes already sent were changed, and how much is stored. */
export function statsTable(stats: Stats): string {
  const saved = stats.tokensBefore - stats.tokensAfter;
  const rows: [string, string][] = [
    ["tokens before", grouped(stats.tokensBefore)],
    ["tokens after", grouped(stats.tokensAfter)],
    ["saved", `${grouped(saved)} (${share(saved, stats.tokensBefore)})`],
    ["turns", grouped(stats.turns)],
    ["sessions", grouped(stats.sessions)],
    ["originals", `${grouped(stats.originals)}, ${size(stats.originalBytes)}, ${size(stats.storedBytes)} on disk`],
  ];
  const lines = table(rows);
  const epochs = stats.epochs.slice(0, LISTED);
  if (epochs.length > 0) {
    lines.push("", "latest changes of context already sent");
    lines.push(
      ...table(
        epochs.map((epoch) => [
          `${new Date(epoch.at).toISOString()}  ${epoch.reason}`,
          `${epoch.blocks} blocks, ${grouped(epoch.tokensFreed)} tokens freed, ${grouped(epoch.tokensRebilled)} billed anew`,
        ]),
      ),
    );
  }
  return lines.join("\n");
}

/** What a sweep or purge removed. */
export function removedTable(removed: Removed): string {
  return table([
    ["originals removed", grouped(removed.originals)],
    ["space freed", size(removed.bytes)],
    ["sessions forgotten", grouped(removed.sessions)],
  ]).join("\n");
}

function table(rows: [string, string][]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

function share(part: number, whole: number): string {
  return whole === 0 ? "0 %" : `${((100 * part) / whole).toFixed(1)} %`;
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(3, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1)} ${["B", "KiB", "MiB", "GiB"][power]}`;
}
