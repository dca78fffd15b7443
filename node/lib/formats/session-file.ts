/**
 * Conversion of recorded sessions to messages: JSONL of OpenClaw, Pi and Claude Code, the formats of AGENTS, a JSON
 * array of messages or of items of the Responses API, any of these as `.gz`, an agent's database of OpenClaw, and what
 * OpenCode stores.
 */
import path from "node:path";

import type { Message } from "../library/api.js";
import { isResponseItem, isRolloutLine, messagesOfItems, messagesOfRollout } from "./codex.js";
import { isCopilotEvent, messagesOfCopilot } from "./copilot.js";
import { isPlain, nameOf } from "./files.js";
import { isGeminiHead, messagesOfGemini } from "./gemini.js";
import { type NamedSession, sessionsNamed } from "./named-sessions.js";
import { isOpenCodeExport, messagesOfOpenCode } from "./opencode.js";
import { isOpenCodeStorage, openCodeDatabase, openCodeStorage, type OpenCodeStore } from "./opencode-store.js";
import { rowsOf, rowsOfLines, type SessionRows, unreadableText } from "./session-rows.js";
import { eventsOf, isDatabase, sessionsIn } from "./transcript-database.js";

/** A recorded session. */
export interface RecordedSession {
  /** The name of the file. For a store of several sessions, the id of the session follows. */
  name: string;
  sessionId: string;
  sessionKey?: string;
  messages: Message[];
  /** Numbers of the lines that contain something that is not JSON, counted from 1. Such content was skipped. */
  unreadable: number[];
}

interface Row {
  type?: string;
  message?: Message & { id?: string };
  timestamp?: string;
  /** Present in rows of Claude Code. */
  uuid?: string;
  isSidechain?: boolean;
  /** The text of a `custom_message`, which the host sends to the model in the user's role. */
  content?: unknown;
}

const FORMS =
  "a session is a file of OpenClaw, Pi, Claude Code, Codex, Copilot or Gemini, an export of OpenCode, or a JSON array of messages or of items of the Responses API";

/** Agents whose rows are no messages: which rows only they write, and how the rows of a session become messages. */
const AGENTS: { isRow(row: unknown): boolean; messagesOf(rows: unknown[]): Message[] }[] = [
  { isRow: isRolloutLine, messagesOf: messagesOfRollout },
  { isRow: isCopilotEvent, messagesOf: messagesOfCopilot },
  { isRow: isGeminiHead, messagesOf: messagesOfGemini },
  { isRow: isOpenCodeExport, messagesOf: messagesOfOpenCode },
];

/** The messages of a file or a transcript. */
export interface Read {
  messages: Message[];
  /** Numbers of the lines that contain something that is not JSON, counted from 1. Such content was skipped. */
  unreadable: number[];
}

/** Reads a session and skips torn rows. @throws an Error that names the file if it contains no messages */
export function readSession(file: string): Message[] {
  return readFile(file).messages;
}

function readFile(file: string): Read {
  const read = told(rowsOf(file, FORMS));
  const torn = read.unreadable.length > 0 ? `, and ${unreadableText(read.unreadable)}` : "";
  if (read.messages.length === 0) throw new Error(`${nameOf(file)} contains no messages${torn}; ${FORMS}`);
  return read;
}

/** A file or directory that holds several sessions. */
interface Store {
  sessions: NamedSession[];
  read(name: string, sessionId: string): Promise<Read>;
}

/**
 * Returns the sessions in a file. A database or OpenCode's storage may contain several: those with the id or key
 * `asked` are returned, or all.
 *
 * @throws an Error that names the file and, if it is a store that does not contain the session, lists those that it
 * contains
 */
export async function recordedSessions(
  file: string,
  asked?: string,
): Promise<{ name: string; read(): Promise<RecordedSession> }[]> {
  const store = await storeIn(file);
  if (store === undefined) {
    const name = nameOf(file);
    // A pipe is read now. Signals are handled later, and no handler would run while a synchronous read waits for the
    // writer.
    const early = isPlain(file) ? undefined : readFile(file);
    if (asked !== undefined) throw new Error(`${name} is one session and no database, so --session does not apply`);
    return [{ name, read: async () => ({ name, sessionId: path.basename(file), ...(early ?? readFile(file)) }) }];
  }
  const chosen = asked === undefined ? store.sessions : named(file, asked, store.sessions);
  if (chosen.length === 0) throw new Error(`${file} contains no sessions`);
  return chosen.map(({ sessionId, sessionKey }) => {
    const name = `${file}: ${sessionId}`;
    const key = sessionKey === null ? {} : { sessionKey };
    return { name, read: async () => ({ name, sessionId, ...key, ...(await store.read(name, sessionId)) }) };
  });
}

/** Opens a store of sessions. Returns undefined if the file is none. @throws an Error that names it */
async function storeIn(file: string): Promise<Store | undefined> {
  if (isOpenCodeStorage(file)) return ofOpenCode(openCodeStorage(file));
  if (!isPlain(file) || !isDatabase(file)) return undefined;
  const openCode = await openCodeDatabase(file);
  if (openCode !== undefined) return ofOpenCode(openCode);
  const sessions = await sessionsIn(file);
  return { sessions, read: async (name, sessionId) => readTranscript(name, await eventsOf(file, sessionId)) };
}

function ofOpenCode({ sessions, read }: OpenCodeStore): Store {
  return {
    sessions,
    read: async (_, sessionId) => ({ messages: messagesOfOpenCode([await read(sessionId)]), unreadable: [] }),
  };
}

function named<Known extends NamedSession>(file: string, asked: string, known: Known[]): Known[] {
  try {
    return sessionsNamed(asked, known);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Returns the messages in the lines of a transcript and skips torn lines. @throws an Error that names it if no line is
 * JSON
 */
export function readTranscript(name: string, lines: string[]): Read {
  return told(rowsOfLines(name, Buffer.from(lines.join("\n")), FORMS));
}

function told({ pieces, unreadable, isArray }: SessionRows): Read {
  const rows = pieces.flatMap(({ row }) => (row === undefined ? [] : [row]));
  return { messages: isArray ? messagesOfArray(rows as Message[]) : messagesOfLines(rows as Row[]), unreadable };
}

function messagesOfArray(rows: Message[]): Message[] {
  const tools = new Map<string, string>();
  if (rows.some(isResponseItem)) return messagesOfItems(rows as Parameters<typeof messagesOfItems>[0]);
  return rows.filter((message) => typeof message?.role === "string").flatMap((message) => resultsApart(message, tools));
}

function messagesOfLines(rows: Row[]): Message[] {
  const agent = AGENTS.find(({ isRow }) => rows.some(isRow));
  if (agent !== undefined) return agent.messagesOf(rows);
  const messages: Message[] = [];
  const started = new Map<string, Message>();
  const tools = new Map<string, string>();
  const said = new Set<string>();
  // The conversations of Claude Code's sub-agents stand beside the main one, or in a file of their own.
  const isBeside = rows.some((row) => row?.isSidechain === false);
  for (const row of rows) {
    const told: Row["message"] = row?.type === "custom_message" ? { role: "user", content: row.content } : row?.message;
    if (
      (row?.isSidechain && isBeside) ||
      typeof told?.role !== "string" ||
      !["message", "custom_message", "user", "assistant"].includes(row.type ?? "")
    )
      continue;
    const message = unsaid(row, told, said);
    if (message === undefined) continue;
    // Claude Code writes one line for each block of an assistant message, with results of its first calls between them.
    const begun = message.id === undefined ? undefined : started.get(message.id);
    if (begun && Array.isArray(begun.content) && Array.isArray(message.content)) {
      nameTools(message, tools);
      begun.content.push(...(message.content as Part[]));
      begun.usage = message.usage ?? begun.usage;
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
 * Returns the part of a message that no earlier row contains, or undefined if there is none. When Claude Code resumes a
 * conversation from an earlier point, it writes the rows that it keeps again, with new row ids only.
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

/** Stores the tool name of each call in a message. */
function nameTools({ content }: Message, tools: Map<string, string>): void {
  if (!Array.isArray(content)) return;
  for (const part of content as (Part | null)[])
    if (part?.type === "tool_use" && part.id && part.name) tools.set(part.id, part.name);
}

/**
 * Moves tool results to messages of their own. Anthropic's messages carry them in the user's role, where they would be
 * taken for a user's turn.
 */
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
  return results.length === parts.length
    ? apart
    : [...apart, { ...message, content: parts.filter((part) => part?.type !== "tool_result") }];
}
