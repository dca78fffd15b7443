/** Recorded sessions -> messages: JSONL of OpenClaw, Pi, Claude Code or Codex, a JSON array of messages or of items of the Responses API, `.gz` of any; an agent's database of OpenClaw. */
import path from "node:path";
import { gunzipSync } from "node:zlib";

import type { Message } from "./api.js";
import { isResponseItem, isRolloutLine, messagesOf, messagesOfItems, type RolloutLine } from "./codex.js";
import { bytesOf, isPlain, jsonOf, nameOf } from "./files.js";
import { type NamedSession, sessionsNamed } from "./named-sessions.js";
import { eventsOf, isDatabase, sessionsIn } from "./transcript-database.js";

/** A recorded session. */
export interface RecordedSession {
  /** The file, and of a database the session. */
  name: string;
  sessionId: string;
  sessionKey?: string;
  messages: Message[];
}

interface Row {
  type?: string;
  message?: Message & { id?: string };
  timestamp?: string;
  /** Of a row of Claude Code. */
  uuid?: string;
  isSidechain?: boolean;
  /** Of a `custom_message`: what the host says to the model in the user's role. */
  content?: unknown;
}

const FORMS = "a session is JSONL of OpenClaw, Pi, Claude Code or Codex, or a JSON array of messages or of items of the Responses API";

/** The bytes of a session, of standard input for `-`, in UTF-8, unpacked and without the byte order mark that some editors write. */
export function sessionBytes(file: string): Buffer {
  const read = bytesOf(file);
  const bytes = file.endsWith(".gz") ? unpacked(file, read) : read;
  const mark = bytes.toString("latin1", 0, 3);
  if (mark === "\u00ef\u00bb\u00bf") return bytes.subarray(3);
  const encoding = mark.startsWith("\u00ff\u00fe") ? "utf-16le" : mark.startsWith("\u00fe\u00ff") ? "utf-16be" : undefined;
  return encoding === undefined ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes));
}

function unpacked(file: string, bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes);
  } catch (error) {
    throw new Error(`${file} cannot be unpacked: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads a session. @throws an Error that names the file, and the line where one is not JSON. */
export function readSession(file: string): Message[] {
  const text = sessionBytes(file).toString("utf8");
  const messages = text.trimStart().startsWith("[") ? readArray(file, text) : readLines(nameOf(file), text);
  if (messages.length === 0) throw new Error(`${nameOf(file)} holds no messages; ${FORMS}`);
  return messages;
}

/**
 * The sessions of a file: its one, or of a database those that are asked for, by id or key, or all.
 *
 * @throws an Error that names the file, and for a session that a database does not know lists those that it does
 */
export async function recordedSessions(file: string, asked?: string): Promise<{ name: string; read(): Promise<RecordedSession> }[]> {
  const isFile = isPlain(file);
  if (!isFile || !isDatabase(file)) {
    const name = nameOf(file);
    // A pipe is read here: later signals are caught, and none would be heard while it waits for its writer.
    const early = isFile ? undefined : readSession(file);
    if (asked !== undefined) throw new Error(`${name} is no database of OpenClaw, in which a session could be chosen`);
    return [{ name, read: async () => ({ name, sessionId: path.basename(file), messages: early ?? readSession(file) }) }];
  }
  const known = await sessionsIn(file);
  const chosen = asked === undefined ? known : named(file, asked, known);
  if (chosen.length === 0) throw new Error(`${file} holds no sessions`);
  return chosen.map(({ sessionId, sessionKey }) => {
    const name = `${file}: ${sessionId}`;
    return { name, read: async () => ({ name, sessionId, sessionKey, messages: readTranscript(name, await eventsOf(file, sessionId)) }) };
  });
}

function named<Known extends NamedSession>(file: string, asked: string, known: Known[]): Known[] {
  try {
    return sessionsNamed(asked, known);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The messages of the lines of a transcript. @throws an Error that names the file and the line that is not JSON. */
export function readTranscript(name: string, lines: string[]): Message[] {
  return readLines(name, lines.join("\n"));
}

function readArray(file: string, text: string): Message[] {
  const tools = new Map<string, string>();
  const rows = jsonOf(nameOf(file), text, FORMS) as Message[];
  if (rows.some(isResponseItem)) return messagesOfItems(rows as Parameters<typeof messagesOfItems>[0]);
  return rows.filter((message) => typeof message?.role === "string").flatMap((message) => resultsApart(message, tools));
}

function readLines(file: string, text: string): Message[] {
  const rows = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [jsonOf(`${file}, line ${index + 1}`, line, FORMS) as Row]));
  const rollout = rows.filter(isRolloutLine);
  if (rollout.length > 0) return messagesOf(rollout as RolloutLine[]);
  const messages: Message[] = [];
  const started = new Map<string, Message>();
  const tools = new Map<string, string>();
  const said = new Set<string>();
  // What sub-agents of Claude Code said stands beside the conversation, or in a file of its own.
  const isBeside = rows.some((row) => row?.isSidechain === false);
  for (const row of rows) {
    const told: Row["message"] = row?.type === "custom_message" ? { role: "user", content: row.content } : row?.message;
    if ((row?.isSidechain && isBeside) || typeof told?.role !== "string" || !["message", "custom_message", "user", "assistant"].includes(row.type ?? "")) continue;
    const message = unsaid(row, told, said);
    if (message === undefined) continue;
    // Claude Code writes one line for each block of an assistant message, results of its first calls between them.
    const begun = message.id === undefined ? undefined : started.get(message.id);
    if (begun && Array.isArray(begun.content) && Array.isArray(message.content)) {
      nameTools(message, tools);
      begun.content.push(...(message.content as Part[]));
      continue;
    }
    const timestamp = message.timestamp ?? (row.timestamp === undefined ? undefined : Date.parse(row.timestamp));
    const read: Message = timestamp === undefined ? { ...message } : { ...message, timestamp };
    if (message.id !== undefined) started.set(message.id, read);
    messages.push(...resultsApart(read, tools));
  }
  return messages;
}

/**
 * What of a message stands in no row before; undefined where that is nothing. Claude Code, where it takes a conversation up again from
 * an earlier point, writes what it keeps once more, as it was but for the rows' own ids.
 */
function unsaid({ uuid, timestamp }: Row, message: NonNullable<Row["message"]>, said: Set<string>): Row["message"] {
  if (uuid === undefined) return message;
  const parts: unknown[] = Array.isArray(message.content) ? message.content : [message.content];
  const keys = parts.map((part) => JSON.stringify([timestamp, message.id, part]));
  const isNew = keys.map((key) => !said.has(key));
  for (const key of keys) said.add(key);
  if (isNew.every(Boolean)) return message;
  return isNew.some(Boolean) ? { ...message, content: parts.filter((_, index) => isNew[index]) } : undefined;
}

interface Part {
  type?: string;
  id?: string;
  name?: string;
  tool_use_id?: string;
  content?: unknown;
  is_error?: boolean;
}

/** Keeps which tools the calls of a message name. */
function nameTools({ content }: Message, tools: Map<string, string>): void {
  if (!Array.isArray(content)) return;
  for (const part of content as (Part | null)[]) if (part?.type === "tool_use" && part.id && part.name) tools.set(part.id, part.name);
}

/** Anthropic's messages have tool results in the user's role. They become messages of their own, so that none is taken for a user's turn. */
function resultsApart(message: Message, tools: Map<string, string>): Message[] {
  nameTools(message, tools);
  const parts = Array.isArray(message.content) ? (message.content as Part[]) : [];
  const results = parts.filter((part) => part?.type === "tool_result");
  if (message.role !== "user" || results.length === 0) return [message];
  const apart = results.map((part): Message => ({
    role: "toolResult",
    toolCallId: part.tool_use_id,
    toolName: tools.get(part.tool_use_id ?? ""),
    content: typeof part.content === "string" ? [{ type: "text", text: part.content }] : (part.content ?? []),
    isError: part.is_error ?? false,
    timestamp: message.timestamp,
  }));
  return results.length === parts.length ? apart : [...apart, { ...message, content: parts.filter((part) => part?.type !== "tool_result") }];
}
