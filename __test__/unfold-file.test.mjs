import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { written } from "./conversation.mjs";

const require = createRequire(import.meta.url);
const { unfoldFile } = require("../dist/node/lib/formats/unfold-file.js");
const { readSession } = require("../dist/node/lib/formats/session-file.js");
const { changeBetween, withChange } = require("../dist/node/lib/formats/json-changes.js");

/** A text with everything that JSON must escape, to which every text `@` is unfolded. */
const ORIGINAL = 'line 1\n"é\\✓"\t\u0000';
const unfolding = {
  async unfold({ messages }) {
    let unfolded = 0;
    const block = (part) => (part.text === "@" ? (unfolded++, { ...part, text: ORIGINAL }) : part);
    const unfoldedMessages = messages.map((message) => {
      const content = Array.isArray(message.content) ? message.content.map(block) : message.content;
      return Array.isArray(content) && content.some((part, index) => part !== message.content[index])
        ? { ...message, content }
        : message;
    });
    return { messages: unfoldedMessages, unfolded, missing: ["0123456789abcdef"] };
  },
};

const escaped = JSON.stringify(ORIGINAL);
const lines = [
  '{"type":"session","version":3,  "big":12345678901234567890}',
  '{"type":"message","big":12345678901234567890,"message":{"role":"toolResult" , "ratio":1.0, "content":[{"type":"text","text":"@"},{"type":"text","text":"\\u0041"}]}}\r',
  "",
  '{"type":"message","message":{"role":"user","content":"@"}}',
  '{"role":"toolResult","content":[{"text":"first","text":"@"}]}',
  '{"type":"message","message":{"role":"us',
];
const unfoldedLines = lines.with(1, lines[1].replace('"@"', escaped)).with(4, lines[4].replace('"@"', escaped));

test("an unfolded JSONL file differs only in its placeholders", async () => {
  const broken = Buffer.concat([Buffer.from(`${lines.join("\n")}\n`), Buffer.from([0x22, 0xff, 0x22, 0x0a])]);
  const { bytes, unfolded, missing, unreadable } = await unfoldFile(unfolding, written("s.jsonl", broken), {});
  assert.deepEqual(
    bytes,
    Buffer.concat([Buffer.from(`${unfoldedLines.join("\n")}\n`), Buffer.from([0x22, 0xff, 0x22, 0x0a])]),
  );
  assert.deepEqual([unfolded, missing, unreadable], [2, ["0123456789abcdef"], [6, 7]]);
});

test("a compressed session is written uncompressed", async () => {
  const text = lines.slice(0, 5).join("\n");
  const { bytes } = await unfoldFile(unfolding, written("s.jsonl.gz", gzipSync(text)), {});
  assert.equal(bytes.toString(), unfoldedLines.slice(0, 5).join("\n"));
});

test("items of the Responses API are read as messages and unfolded in place", async () => {
  const items = [
    '{"role":"user", "content":"go"}',
    '{"type":"reasoning","id":"rs_1","summary":[]}',
    '{"type":"function_call","call_id":"c","name":"exec","arguments":"{\\"command\\":\\"x\\"}"}',
    '{"type":"function_call_output","call_id":"c","output":"@" ,"n":1.0}',
  ];
  const file = written("s.json", `[${items.join(",\n ")}]`);
  const session = readSession(file);
  assert.deepEqual(
    session.map(({ role }) => role),
    ["user", "assistant", "toolResult"],
  );
  assert.deepEqual(session[1].content.at(-1), { type: "toolCall", id: "c", name: "exec", arguments: { command: "x" } });
  assert.deepEqual([session[2].toolName, session[2].content], ["exec", [{ type: "text", text: "@" }]]);
  const outputs = {
    unfold: async ({ messages }) => ({
      messages: messages.map((item) => (item.output === "@" ? { ...item, output: ORIGINAL } : item)),
      unfolded: 1,
      missing: [],
    }),
  };
  const { bytes } = await unfoldFile(outputs, file, {});
  assert.equal(bytes.toString(), `[${items.with(3, items[3].replace('"@"', escaped)).join(",\n ")}]`);
});

test("a session with a byte order mark or in UTF-16 is read", async () => {
  const text = lines.slice(0, 5).join("\n");
  const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
  for (const written16 of [Buffer.from(`\ufeff${text}`), utf16, Buffer.from(utf16).swap16()]) {
    const file = written("s.jsonl", written16);
    assert.equal((await unfoldFile(unfolding, file, {})).bytes.toString(), unfoldedLines.slice(0, 5).join("\n"));
    assert.deepEqual(readSession(file), readSession(written("s.jsonl", text)));
  }
});

test("a JSON array keeps its layout", async () => {
  const text = ` [\n  { "role": "user", "content": "go", "n": 1.50 },\n\t${lines[4]} ,\n  null, [ 1 ]\n]\n`;
  const { bytes, unfolded } = await unfoldFile(unfolding, written("s.json", text), {});
  assert.equal(bytes.toString(), text.replace('"@"', escaped));
  assert.equal(unfolded, 1);
});

test("a file without messages is named in the error", async () => {
  for (const [text, message] of [
    ["{}\n", /contains no messages/],
    ["[]", /contains no messages/],
    ["[{]", /is not JSON/],
    ["", /contains no messages/],
  ]) {
    const file = written("s.json", text);
    await assert.rejects(
      unfoldFile(unfolding, file, {}),
      (error) => error.message.startsWith(file) && message.test(error.message),
    );
  }
});

test("a change of a value changes no other byte of its JSON", () => {
  const text = '{ "a": [1.0, {"b\\"": "x]}\\\\"}, 1e3], "a2" : {}, "c": null, "__proto__": {"d": [true]} }';
  const before = JSON.parse(text);
  const after = JSON.parse('{"a": [1, {"b\\"": "y"}, 1000], "a2": {}, "c": {"n": 1}, "__proto__": {"d": [false]}}');
  assert.equal(
    withChange(text, changeBetween(before, after)),
    text.replace('"x]}\\\\"', '"y"').replace("null", '{"n":1}').replace("true", "false"),
  );
  assert.equal(changeBetween(before, structuredClone(before)), undefined);
  assert.equal(withChange(" [1, 2]", changeBetween([1, 2], [1, 2, 3])), "[1,2,3]".padStart(8));
  assert.equal(withChange("[]", changeBetween([], {})), "{}");
});
