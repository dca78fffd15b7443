// Tests of session files that a crash, a kill or two writers left damaged: intact rows are read, analysed and unfolded.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";
import path from "node:path";

import { run } from "./cli.mjs";
import { freshDir, noise, written } from "./conversation.mjs";

const require = createRequire(import.meta.url);
const { readTranscript, recordedSessions } = require("../dist/node/lib/formats/session-file.js");
const { unfoldFile } = require("../dist/node/lib/formats/unfold-file.js");

const at = (second) => new Date(Date.UTC(2026, 0, 31) + second * 1000).toISOString();
const item = (second, payload) => ({ timestamp: at(second), type: "response_item", payload });

/** Small sessions with one row per line: one call and its result, in each line-based format. */
const FORMATS = {
  "OpenClaw and Pi": [
    { type: "session", version: 3 },
    { type: "message", message: { role: "user", content: 'go {"é": [1' } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "t", name: "exec", arguments: { command: "make {" } }],
      },
    },
    {
      type: "message",
      message: { role: "toolResult", toolCallId: "t", toolName: "exec", content: [{ type: "text", text: "@" }] },
    },
  ],
  "Claude Code": [
    { type: "user", uuid: "u0", timestamp: at(0), message: { role: "user", content: "go ✓" } },
    {
      type: "assistant",
      uuid: "a0",
      timestamp: at(1),
      message: {
        id: "m0",
        role: "assistant",
        content: [{ type: "tool_use", id: "t", name: "Bash", input: { command: "make" } }],
      },
    },
    {
      type: "user",
      uuid: "r0",
      timestamp: at(2),
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "@" }] }],
      },
    },
  ],
  Codex: [
    { timestamp: at(0), type: "turn_context", payload: { model: "gpt-5-codex" } },
    item(1, { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }),
    item(2, { type: "function_call", name: "exec_command", arguments: '{"cmd":"make"}', call_id: "t" }),
    item(3, { type: "function_call_output", call_id: "t", output: "@" }),
  ],
};

const read = async (bytes) => {
  const [session] = await recordedSessions(written("s.jsonl", bytes));
  const { messages, unreadable } = await session.read();
  return { messages, unreadable };
};

/** Returns the messages of some lines, or an empty list if there are none. */
const messagesOf = async (lines) =>
  (await read(Buffer.from(lines.join("\n"))).catch(() => ({ messages: [] }))).messages;

/**
 * Yields damaged forms of a session's lines, with the rows that must be read and the numbers of the unreadable lines.
 */
function* torn(lines) {
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  const ends = [...bytes.keys()].filter((place) => bytes[place] === 0x0a);
  // The file may end at any byte. Complete rows before it must be read.
  for (let end = ends[1]; end < bytes.length; end++) {
    const whole = ends.filter((place) => place <= end).length;
    yield {
      bytes: bytes.subarray(0, end),
      rows: lines.slice(0, whole),
      unreadable: ends.includes(end) || ends.includes(end - 1) ? [] : [whole + 1],
    };
  }
  for (const [index, line] of lines.entries()) {
    const own = Buffer.from(line);
    const others = (...at) =>
      Buffer.concat(
        [
          lines
            .slice(0, index)
            .map((before) => `${before}\n`)
            .join(""),
          ...at,
          `\n${lines.slice(index + 1).join("\n")}`,
        ].map((part) => Buffer.from(part)),
      );
    for (let cut = 1; cut < own.length; cut++) {
      // A partial row is followed by the whole row on the same line, or by zeros instead of its end.
      yield { bytes: others(own.subarray(0, cut), own), rows: lines, unreadable: [index + 1] };
      yield {
        bytes: others(own.subarray(0, cut), Buffer.alloc(own.length - cut)),
        rows: lines.toSpliced(index, 1),
        unreadable: [index + 1],
      };
    }
    for (const zeros of [1, 300]) {
      yield { bytes: others(Buffer.alloc(zeros), own), rows: lines, unreadable: [index + 1] };
      yield { bytes: others(own, Buffer.alloc(zeros)), rows: lines, unreadable: [index + 1] };
      yield { bytes: others(Buffer.alloc(zeros), "\n", own), rows: lines, unreadable: [index + 1] };
    }
  }
  // Two rows are on one line: nothing is damaged.
  for (let index = 1; index < lines.length; index++)
    yield {
      bytes: Buffer.from(lines.toSpliced(index - 1, 2, lines[index - 1] + lines[index]).join("\n")),
      rows: lines,
      unreadable: [],
    };
}

// Covers for each format: the file truncated at every byte, each row begun and written again from every byte on, its
// end zeroed from every byte on, zeros before, after and between rows, and every two rows joined.
for (const [format, rows] of Object.entries(FORMATS)) {
  test(`a torn session of ${format} is read except for its torn lines`, async () => {
    const lines = rows.map((row) => JSON.stringify(row));
    let count = 0;
    for (const { bytes, rows: whole, unreadable } of torn(lines)) {
      const expected = await messagesOf(whole);
      if (expected.length === 0) {
        await assert.rejects(read(bytes), /contains no messages|is not JSON/);
      } else {
        assert.deepEqual(await read(bytes), { messages: expected, unreadable }, bytes.toString());
      }
      count++;
    }
    assert.ok(count > 500, String(count));
  });
}

test("unfolding a torn session keeps its torn lines byte for byte", async () => {
  const unfolding = {
    async unfold({ messages }) {
      const unfolded = messages.map((message) => JSON.parse(JSON.stringify(message).replace('"@"', '"original"')));
      return { messages: unfolded, unfolded: unfolded.length, missing: [] };
    },
  };
  for (const format of ["OpenClaw and Pi", "Claude Code"]) {
    const lines = FORMATS[format].map((row) => JSON.stringify(row));
    for (const { bytes, rows, unreadable } of torn(lines)) {
      if ((await messagesOf(rows)).length === 0) continue;
      const done = await unfoldFile(unfolding, written("s.jsonl", bytes), {});
      // A placeholder in a damaged row stays.
      const expected = bytes
        .toString("latin1")
        .split("\n")
        .map((line) => {
          const place = line.lastIndexOf(Buffer.from(lines.at(-1)).toString("latin1"));
          return place < 0 ? line : line.slice(0, place) + line.slice(place).replace('"@"', '"original"');
        });
      assert.equal(done.bytes.toString("latin1"), expected.join("\n"));
      assert.deepEqual(done.unreadable, unreadable);
    }
  }
});

test("a torn event of an OpenClaw database is skipped", async () => {
  const lines = FORMATS["OpenClaw and Pi"].map((row) => JSON.stringify(row));
  const read = readTranscript("s", lines.toSpliced(2, 0, lines[2].slice(0, 50)));
  assert.deepEqual(read, { messages: await messagesOf(lines), unreadable: [3] });
});

test("the analysis of a torn session reports the number of skipped lines, with exit status 0", () => {
  const lines = Array.from({ length: 20 }, (_, turn) => [
    { type: "message", message: { role: "user", content: `and ${turn}?` } },
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "toolCall", id: `t${turn}`, name: "exec", arguments: {} }] },
    },
    {
      type: "message",
      message: {
        role: "toolResult",
        toolCallId: `t${turn}`,
        toolName: "exec",
        content: [{ type: "text", text: noise(60, turn + 1) }],
      },
    },
  ])
    .flat()
    .map((row) => JSON.stringify(row));
  const file = written(
    "s.jsonl",
    [
      ...lines.slice(0, 9),
      lines[9].slice(0, 60) + lines[9],
      "\0".repeat(300),
      ...lines.slice(10),
      lines[2].slice(0, 60),
    ].join("\n"),
  );
  const asJson = run("analyze", file, "--json");
  const {
    read: [{ messages, skippedLines }],
    warnings,
  } = JSON.parse(asJson.stdout);
  assert.deepEqual([asJson.status, messages, skippedLines], [0, 60, 3]);
  const said = "3 lines (10, 11, 62) are not JSON; torn lines were skipped";
  assert.ok(
    warnings.some((line) => line.endsWith(said)),
    warnings.join("\n"),
  );
  const inWords = run("analyze", file);
  assert.deepEqual([inWords.status, inWords.stdout.includes(said)], [0, true]);
  const asPage = run("analyze", file, "--html", path.join(freshDir(), "page.html"));
  assert.deepEqual([asPage.status, asPage.stderr.includes(said)], [0, true]);
});

test("a file without a line of JSON is an error with its first line, and so are torn lines without any message", () => {
  const { status, stderr } = run("analyze", written("s.jsonl", '{"type":"mess\n'));
  assert.deepEqual([status, /s\.jsonl, line 1 is not JSON/.test(stderr)], [1, true], stderr);
  const none = run("analyze", written("s.jsonl", '{"type":"session"}\n{"type":"mess\n'));
  assert.deepEqual(
    [none.status, /contains no messages, and 1 line \(2\) is not JSON;/.test(none.stderr)],
    [1, true],
    none.stderr,
  );
});
