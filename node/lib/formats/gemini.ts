/**
 * Conversion of the sessions of the Gemini command line (`~/.gemini/tmp/PROJECT/chats/session-*`) to messages.
 *
 * Until 2026 a session is one JSON object with `messages`; later it is JSONL. There a line is the head of the session,
 * a message, `$set` with new fields of the head, or `$rewindTo`, which removes a message and all later ones. A message
 * is written again when its tools have run; the last one counts.
 */
import type { Message } from "../library/api.js";
import { usageOfPrompt } from "./usage.js";

interface Part {
  text?: string;
  inlineData?: { mimeType?: string; data?: string };
  functionResponse?: { response?: { output?: unknown; error?: unknown } };
}

interface Turn {
  id?: string;
  type?: string;
  timestamp?: string;
  content?: string | Part | (Part | string)[];
  toolCalls?: {
    id?: string;
    name?: string;
    args?: unknown;
    result?: Part | (Part | string)[] | string | null;
    status?: string;
  }[];
  thoughts?: { subject?: string; description?: string }[];
  tokens?: { input?: number; output?: number; cached?: number; thoughts?: number } | null;
  model?: string;
}

interface Row extends Turn {
  sessionId?: string;
  projectHash?: string;
  messages?: Turn[];
  $set?: { messages?: Turn[] };
  $rewindTo?: string;
}

/** Returns true for a row that only sessions of Gemini contain. */
export function isGeminiHead(row: unknown): boolean {
  const { sessionId, projectHash } = (row ?? {}) as Row;
  return typeof sessionId === "string" && typeof projectHash === "string";
}

/** Converts a session to messages. */
export function messagesOfGemini(rows: unknown[]): Message[] {
  return turnsOf(rows as Row[]).flatMap(messagesOfTurn);
}

/** Returns the messages that are left of those that were written. */
function turnsOf(rows: Row[]): Turn[] {
  let turns = new Map<string, Turn>();
  const put = (turn: Turn) => turns.set(turn.id ?? `without an id: ${turns.size}`, turn);
  for (const row of rows) {
    const whole = row.messages ?? row.$set?.messages;
    if (whole !== undefined) {
      turns = new Map();
      whole.forEach(put);
    } else if (row.$rewindTo !== undefined) {
      const ids = [...turns.keys()];
      for (const id of ids.slice(Math.max(0, ids.indexOf(row.$rewindTo)))) turns.delete(id);
    } else if (typeof row.type === "string") put(row);
  }
  return [...turns.values()];
}

function messagesOfTurn({ type, timestamp, content, toolCalls = [], thoughts = [], tokens, model }: Turn): Message[] {
  const at = timestamp === undefined ? {} : { timestamp: Date.parse(timestamp) };
  const parts = partsOf(content);
  if (type === "user") return parts.length === 0 ? [] : [{ role: "user", content: parts, ...at }];
  if (type !== "gemini") return [];
  const thinking = thoughts
    .map(({ subject = "", description = "" }) => `${subject}\n${description}`.trim())
    .join("\n\n");
  const answer: Message = {
    role: "assistant",
    content: [
      ...(thinking === "" ? [] : [{ type: "thinking", thinking }]),
      ...parts,
      ...toolCalls.map(({ id, name, args }) => ({ type: "toolCall", id, name, arguments: args ?? {} })),
    ],
    model,
    ...(tokens ? { usage: usageIn(tokens) } : {}),
    ...at,
  };
  const results = toolCalls.map(({ id, name, result, status }): Message => ({
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: outputOf(result),
    isError: status === "error",
    ...at,
  }));
  return [answer, ...results];
}

const listOf = <Value>(value: Value | Value[] | null | undefined): Value[] =>
  value === null || value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Returns texts and images. Responses of functions stand beside their calls. */
function partsOf(content: Turn["content"]): object[] {
  return listOf<Part | string>(content).flatMap((part): object[] => {
    const { text, inlineData } = typeof part === "string" ? { text: part } : part;
    if (inlineData !== undefined) return [{ type: "image", ...inlineData }];
    return text ? [{ type: "text", text }] : [];
  });
}

function outputOf(result: Part | (Part | string)[] | string | null | undefined): object[] {
  return listOf<Part | string>(result).flatMap((part) => {
    const { output, error } = (typeof part === "object" && part.functionResponse?.response) || {};
    const told = output ?? error;
    if (told === undefined) return partsOf(part);
    return [{ type: "text", text: typeof told === "string" ? told : JSON.stringify(told) }];
  });
}

/** The output of Gemini excludes the thoughts. */
function usageIn({ input = 0, output = 0, cached, thoughts = 0 }: NonNullable<Turn["tokens"]>): object {
  return usageOfPrompt(input, { output: output + thoughts, cacheRead: cached });
}
