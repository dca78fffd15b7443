// Conversations for tests, and directories to store them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

let scratch;

/** Creates a directory for one test. It is removed when the process ends. */
export function freshDir() {
  if (!scratch) {
    scratch = mkdtempSync(path.join(tmpdir(), "concertina-tests-"));
    process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
  }
  return mkdtempSync(path.join(scratch, "concertina-test-"));
}

/** Writes a file in a new directory, and returns its path. */
export function written(name, bytes) {
  const file = path.join(freshDir(), name);
  writeFileSync(file, bytes);
  return file;
}

/** Returns lines that do not repeat, so that only eviction shortens them. */
export function noise(lines, seed = 1) {
  let x = seed >>> 0;
  return Array.from({ length: lines }, (_, at) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return `${at} unit_${x.toString(36)} took ${x % 977} ms é✓`;
  }).join("\n");
}

/** Returns one tool call with its result, in OpenClaw's shape. */
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

/** Returns a user message. */
export const user = (text, timestamp = 1_000_000) => ({ role: "user", content: text, timestamp });

/** Returns user turns with an answer each, in the shape of providers. */
export const talk = (turns) =>
  Array.from({ length: turns }, (_, turn) => [
    { role: "user", content: `and then ${turn}?` },
    { role: "assistant", content: "done" },
  ]).flat();

/** Returns a conversation whose first result is stale, because `turns` user turns follow it. */
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

/** Returns the id in the first placeholder of a message or of its text. */
export const idIn = (value) => /\[REF_ID: ([0-9a-f]{16,64})\]/.exec(JSON.stringify(value))?.[1];

/** Returns true if the value contains a placeholder. */
export const isFolded = (value) => idIn(value) !== undefined;
