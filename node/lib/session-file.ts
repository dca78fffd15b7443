/** Recorded sessions -> messages: OpenClaw and Pi JSONL, Claude Code JSONL, or a JSON array of messages; `.gz` of any. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import type { Message } from "./api.js";

interface Row {
  type?: string;
  message?: Message & { id?: string };
  timestamp?: string;
  isSidechain?: boolean;
}

/** Reads a session. @throws an Error that names the file, and the line where one is not JSON. */
export function readSession(file: string): Message[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const messages = text.trimStart().startsWith("[") ? readArray(file, text) : readLines(file, text);
  if (messages.length === 0) throw new Error(`${file} holds no messages; it must be a session in JSON or JSONL`);
  return messages;
}

function readArray(file: string, text: string): Message[] {
  try {
    return (JSON.parse(text) as Message[]).filter((message) => typeof message?.role === "string");
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function readLines(file: string, text: string): Message[] {
  const messages: Message[] = [];
  let open: { id: string; message: Message } | undefined;
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    let row: Row;
    try {
      row = JSON.parse(line) as Row;
    } catch (error) {
      throw new Error(`${file}, line ${index + 1} is not JSON: ${(error as Error).message}`, { cause: error });
    }
    const message = row.message;
    if (row.isSidechain || typeof message?.role !== "string" || !["message", "user", "assistant"].includes(row.type ?? "")) return;
    // Claude Code writes one line for each block of an assistant message; they belong together.
    if (message.id !== undefined && open?.id === message.id && Array.isArray(message.content)) {
      (open.message.content as unknown[]).push(...message.content);
      return;
    }
    const timestamp = message.timestamp ?? (row.timestamp === undefined ? undefined : Date.parse(row.timestamp));
    const read: Message = timestamp === undefined ? { ...message } : { ...message, timestamp };
    open = message.id === undefined ? undefined : { id: message.id, message: read };
    messages.push(read);
  });
  return messages;
}
