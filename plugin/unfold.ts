/**
 * Copies of the host's transcripts with the originals in place of placeholders. They are never written into the host's
 * own files.
 *
 * A transcript may also name ids in texts such as a task, an answer or a summary. An original cannot be inserted there,
 * so it is written to a file of its own.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import {
  agentOf,
  changeBetween,
  type Concertina,
  type ContentBlock,
  type Message,
  originalOf,
  withChange,
} from "../node/lib/for-plugin.js";
import { transcriptOf, type HostSession } from "./host-sessions.js";

/** The written files, and the originals that were not available. */
export interface Unfolded {
  transcripts: string[];
  originals: string[];
  missing: { refId: string; session: HostSession }[];
}

const MARKERS = /\[(?:REF_ID: |\[?REWIND:sha256:)([0-9a-f]{16,64})\]/gi;

/** Writes each session with folded content to `<directory>/<agent>/<session>.jsonl`. @throws if a file exists */
export async function unfoldSessions(store: Concertina, sessions: HostSession[], directory: string): Promise<Unfolded> {
  const done: Unfolded = { transcripts: [], originals: [], missing: [] };
  const written = new Set<string>();
  for (const session of sessions) {
    const lines = await transcriptOf(session);
    const copy = await unfolded(store, session, lines);
    const named = idsIn(copy.lines);
    if (copy.changed === 0 && named.length === 0) continue;
    const below = join(directory, encodeURIComponent(session.agentId));
    done.transcripts.push(
      await write(below, `${encodeURIComponent(session.sessionId)}.jsonl`, `${copy.lines.join("\n")}\n`),
    );
    for (const refId of new Set([...named, ...copy.missing])) {
      if (written.has(`${session.agentId} ${refId}`)) continue;
      const original = await originalOf(store, agentOf(session.sessionKey), refId);
      if (original === undefined) {
        done.missing.push({ refId, session });
        continue;
      }
      written.add(`${session.agentId} ${refId}`);
      const { data, suffix } = fileOf(original);
      done.originals.push(await write(join(below, "originals"), `${refId}${suffix}`, data));
    }
  }
  return done;
}

interface Event {
  type?: string;
  message?: Message;
}

/** Returns the lines of a transcript, in which only unfolded values differ. */
async function unfolded(
  store: Concertina,
  session: HostSession,
  lines: string[],
): Promise<{ lines: string[]; changed: number; missing: string[] }> {
  const events = lines.map((line) => JSON.parse(line) as Event);
  const at = events.flatMap(({ message }, index) => (typeof message?.role === "string" ? [index] : []));
  const before = at.map((index) => events[index]?.message as Message);
  const { sessionId, sessionKey } = session;
  const { messages, missing } = await store.unfold({ sessionId, agentId: agentOf(sessionKey), messages: before });
  const copy = [...lines];
  let changed = 0;
  messages.forEach((message, index) => {
    const line = at[index] as number;
    const change = changeBetween(events[line], { ...events[line], message });
    if (change === undefined) return;
    copy[line] = withChange(lines[line] as string, change);
    changed++;
  });
  return { lines: copy, changed, missing };
}

function fileOf(block: ContentBlock): { data: string | Buffer; suffix: string } {
  if (block.type === "text") return { data: block.text, suffix: ".txt" };
  return {
    data: Buffer.from(block.data, "base64"),
    suffix: `.${block.mimeType.replace(/^.*\//, "").replace(/[^a-z0-9]+/gi, "-")}`,
  };
}

function idsIn(lines: string[]): string[] {
  const found = lines.flatMap((line) => [...line.matchAll(MARKERS)].map(([, id = ""]) => id.toLowerCase()));
  return [...new Set(found)];
}

async function write(directory: string, name: string, data: string | Buffer): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, name);
  await writeFile(file, data, { mode: 0o600, flag: "wx" });
  return file;
}
