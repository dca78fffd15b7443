// Conversations for tests, and where they are put.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A directory for one test; the system removes it. */
export const freshDir = () => mkdtempSync(path.join(tmpdir(), "concertina-test-"));

/** A file of a directory of its own. */
export function written(name, bytes) {
  const file = path.join(freshDir(), name);
  writeFileSync(file, bytes);
  return file;
}

/** Lines that do not repeat, so that nothing but folding makes them short. */
export function noise(lines, seed = 1) {
  let x = seed >>> 0;
  return Array.from({ length: lines }, (_, at) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return `${at} unit_${x.toString(36)} took ${x % 977} ms é✓`;
  }).join("\n");
}

/** One tool call with its result, in OpenClaw's shape. */
export function toolRound(id, toolName, args, text, timestamp = 1_000_000) {
  return [
    { role: "assistant", content: [{ type: "toolCall", id, name: toolName, arguments: args }], timestamp },
    {
      role: "toolResult",
      toolCallId: id,
      toolName,
      content: [{ type: "text", text }],
      isError: false,
      timestamp: timestamp + 1,
      extra: { kept: true },
    },
  ];
}

/** A user turn. */
export const user = (text, timestamp = 1_000_000) => ({ role: "user", content: text, timestamp });

/** User turns with an answer each, as providers have them. */
export const talk = (turns) =>
  Array.from({ length: turns }, (_, turn) => [
    { role: "user", content: `and then ${turn}?` },
    { role: "assistant", content: "done" },
  ]).flat();

/** A conversation whose first result is stale: `turns` user turns follow it. */
export function staleConversation(text = noise(200), turns = 6) {
  const messages = [user("run it", 1), ...toolRound("call_1", "exec", { command: "sh build.sh" }, text, 2)];
  for (let turn = 0; turn < turns; turn++) {
    messages.push(user(`and then ${turn}?`, 10 + turn * 10), {
      role: "assistant",
      content: [{ type: "text", text: "done" }],
      timestamp: 11 + turn * 10,
    });
  }
  return messages;
}

/** The id that the first placeholder in a message, or in its text, names. */
export const idIn = (value) => /\[REF_ID: ([0-9a-f]{16,64})\]/.exec(JSON.stringify(value))?.[1];

/** Whether anything in it is a placeholder. */
export const isFolded = (value) => idIn(value) !== undefined;
