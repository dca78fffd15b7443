// Tools for the tests: one prints more than the host passes on, one answers with a sound, one with JSON that a script
// may parse, and one with the output of tests.

import { testOutput } from "../session.mjs";

const line = (at) => `step ${at} took ${(at * 7919) % 9973} ms`;

/** Returns numbered lines of at least `chars` characters. */
export function numberedLines(chars) {
  const lines = [];
  for (let length = 0; length < chars; length += lines.at(-1).length + 1) lines.push(line(lines.length));
  return lines.join("\n");
}

export const SOUND = Buffer.alloc(24_000, "RIFF sound ").toString("base64");

/** Returns records of a ledger. */
export const records = (count) =>
  Array.from({ length: count }, (_, at) => ({ id: at, name: `record ${at}`, amount: (at * 7919) % 9973 }));

const parameters = { type: "object", additionalProperties: true, properties: {} };
const tool = (name, content, more = { catalogMode: "direct-only" }) => ({
  name,
  label: name,
  description: name,
  parameters,
  ...more,
  execute: async (_id, given) => ({ content: content(given), details: {} }),
});

export default {
  id: "odd-results",
  name: "Odd results",
  description: "Tools whose results no ordinary tool has",
  register(api) {
    const sound = { type: "audio", data: SOUND, mimeType: "audio/wav" };
    api.registerTool(() => tool("print_much", ({ chars }) => [{ type: "text", text: numberedLines(chars) }]), {
      name: "print_much",
    });
    api.registerTool(
      () => tool("list_records", ({ count }) => [{ type: "text", text: JSON.stringify(records(count), null, 1) }], {}),
      { name: "list_records" },
    );
    api.registerTool(() => tool("print_tests", () => [{ type: "text", text: testOutput(false) }]), {
      name: "print_tests",
    });
    api.registerTool(
      () => tool("record_sound", ({ caption }) => (caption ? [{ type: "text", text: caption }, sound] : [sound])),
      { name: "record_sound" },
    );
  },
};
