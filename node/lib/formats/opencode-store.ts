/**
 * The sessions that OpenCode keeps, each in the form of its export: in the directory `storage`, which has a file for
 * each session, message and part, and in the database `opencode.db` of newer versions, which is opened read-only.
 */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

import { bytesOf, jsonOf, textIn } from "./files.js";
import type { NamedSession } from "./named-sessions.js";
import type { OpenCodeExport } from "./opencode.js";
import { reading } from "./transcript-database.js";

/** The sessions of a store. Their keys are their titles. */
export interface OpenCodeStore {
  sessions: NamedSession[];
  read(sessionId: string): Promise<OpenCodeExport>;
}

const IS_OPENCODE = "SELECT count(*) = 3 AS yes FROM sqlite_schema WHERE name IN ('session', 'message', 'part')";
const SESSIONS = "SELECT id, title FROM session ORDER BY time_created, id";
const MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id";
const PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id";

/** Returns true for a directory `storage` of OpenCode. */
export function isOpenCodeStorage(directory: string): boolean {
  return ["session", "message"].every((name) => existsSync(path.join(directory, name)));
}

/** Opens a directory `storage`. @throws an Error that names the file that cannot be read */
export function openCodeStorage(directory: string): OpenCodeStore {
  const files = filesIn(path.join(directory, "session")).map((file) => [path.basename(file, ".json"), file] as const);
  return {
    sessions: files.map(([sessionId, file]) => ({ sessionId, sessionKey: titleOf(parsed(file)) })),
    read: async (sessionId) => ({
      info: { id: sessionId },
      messages: filesIn(path.join(directory, "message", sessionId)).map((file) => ({
        info: parsed(file),
        parts: filesIn(path.join(directory, "part", path.basename(file, ".json"))).map(parsed),
      })),
    }),
  };
}

/** Opens a database. Returns undefined if it is not one of OpenCode. @throws an Error that names it */
export async function openCodeDatabase(database: string): Promise<OpenCodeStore | undefined> {
  const sessions = await reading(database, (open) =>
    open.prepare(IS_OPENCODE).get()?.yes === 1 ? open.prepare(SESSIONS).all() : undefined,
  );
  return (
    sessions && {
      sessions: sessions.map((row) => ({ sessionId: String(row.id), sessionKey: titleOf(row) })),
      read: (sessionId) =>
        reading(database, (open) => {
          const parts = open.prepare(PARTS);
          const messages = open.prepare(MESSAGES).all(sessionId);
          return {
            info: { id: sessionId },
            messages: messages.map(({ id = null, data }) => ({
              info: JSON.parse(String(data)),
              parts: parts.all(id).map((part) => JSON.parse(String(part.data))),
            })),
          };
        }),
    }
  );
}

function titleOf({ title }: { title?: unknown }): string | null {
  return typeof title === "string" ? title : null;
}

/** Returns the JSON files in a directory and those below it in the order of their names, which is that of time. */
function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  // A file whose name begins with a period is still being written.
  const written = names.filter((name) => name.endsWith(".json") && !path.basename(name).startsWith("."));
  return written.toSorted().map((name) => path.join(directory, name));
}

function parsed(file: string): Record<string, unknown> {
  const value = jsonOf(file, textIn(file, bytesOf(file)), "OpenCode's storage has a JSON object in each file");
  if (typeof value !== "object" || value === null) throw new Error(`${file} is not a JSON object`);
  return value as Record<string, unknown>;
}
