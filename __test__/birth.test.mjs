import assert from "node:assert/strict";
import test from "node:test";

import { answerFetch, Concertina, FETCH_CHARS, restore } from "openclaw-concertina";

import { freshDir, isFolded, noise } from "./conversation.mjs";

const text = noise(400);

/** Returns a result with an id in each shape, without the tool's name. */
const shapes = {
  OpenClaw: (id) => ({ role: "toolResult", toolCallId: id, content: [{ type: "text", text }] }),
  OpenAI: (id) => ({ role: "tool", tool_call_id: id, content: text }),
  Anthropic: (id) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text }] }],
  }),
  "Anthropic's of one string": (id) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content: text }],
  }),
  "Anthropic's under its own role": (id) => ({
    role: "tool",
    content: [{ type: "tool_result", tool_use_id: id, content: text }],
  }),
};

for (const [shape, result] of Object.entries(shapes)) {
  test(`the fresh result of an exact tool is unchanged in ${shape} shape, and that of another tool is folded`, async () => {
    const concertina = await Concertina.open({ dir: freshDir() });
    for (const id of ["call_1", ""]) {
      const exact = result(id);
      const read = await concertina.admitToolResult({
        sessionId: "s",
        message: exact,
        toolName: "read",
        args: { path: "a.rs" },
      });
      assert.equal(read.message, exact, `read under ${JSON.stringify(id)}`);
      const output = result(id);
      const { message, report } = await concertina.admitToolResult({
        sessionId: "s",
        message: output,
        toolName: "exec",
        args: { command: "sh x.sh" },
      });
      assert.notEqual(message, output, `exec under ${JSON.stringify(id)}`);
      assert.equal(report.actions[0].reason, "large");
      assert.ok(isFolded(message));
    }
  });
}

/** Returns the output of `cat -n` for some lines. */
const listing = (lines) => lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join("\n");

test("only line numbers are removed from an exact tool's listing, and no line changes", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const lines = Array.from({ length: 95 }, (_, at) => `  const value${at} = read("${at % 7}");`);
  const text = listing(lines);
  for (const call of [
    { toolName: "read", args: { path: "a.js" } },
    { toolName: "exec", args: { command: "cat -n a.js" } },
  ]) {
    const { message, report } = await concertina.admitToolResult({
      sessionId: "s",
      message: { role: "toolResult", toolCallId: "c", content: [{ type: "text", text }] },
      ...call,
    });
    const shown = message.content[0].text;
    assert.equal(report.actions[0].reason, "shortened");
    assert.ok(report.tokensAfter < report.tokensBefore * 0.85, `${report.tokensAfter} of ${report.tokensBefore}`);
    assert.equal(shown.split("\n").filter((line) => /^ *\d+\t/.test(line)).length, 10, "the first line and each tenth");
    for (const line of lines) assert.ok(shown.includes(line));
    assert.equal(await restore(shown, []), text);
    const id = report.actions[0].refId;
    assert.equal((await concertina.fetch({ refIds: [id], sessionId: "s" })).content[0].text, text);
  }
});

test("an exact tool's listing is unchanged if a redactor masks something in it", async () => {
  const message = {
    role: "toolResult",
    toolCallId: "c",
    content: [{ type: "text", text: listing(Array.from({ length: 50 }, (_, at) => `token${at} = "hunter2"`)) }],
  };
  const redactor = (text) => text.replaceAll("hunter2", "***");
  for (const secrets of ["keep-inline", "redact"]) {
    const concertina = await Concertina.open({ dir: freshDir(), secrets });
    for (const call of [
      { toolName: "read", args: { path: "a.js" } },
      { toolName: "exec", args: { command: "cat -n a.js" } },
    ]) {
      assert.deepEqual(
        (await concertina.admitToolResult({ sessionId: "s", message, redactor, ...call })).message,
        message,
      );
    }
    assert.equal((await concertina.stats()).originals, 0);
  }
});

test("toolName applies to all results in one message", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const message = {
    role: "user",
    content: ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: id, content: text })),
  };
  assert.equal((await concertina.admitToolResult({ sessionId: "s", message, toolName: "read" })).message, message);
  assert.equal(
    (await concertina.admitToolResult({ sessionId: "s", message, toolName: "exec" })).report.actions.length,
    2,
  );
});

test("the tool name in a message is used if toolName is missing, and a wrong toolName is rejected", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  for (const name of [{ toolName: "read" }, { name: "read" }]) {
    const message = { ...shapes.OpenClaw("c"), ...name };
    assert.equal((await concertina.admitToolResult({ sessionId: "s", message })).message, message);
  }
  await assert.rejects(concertina.admitToolResult({ sessionId: "s", message: shapes.OpenAI("c"), toolName: 7 }), {
    name: "TypeError",
    message: "toolName is 7; it must be a string",
  });
});

test("max_chars of a fetch is limited to the maximum that the host accepts", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const long = noise(3000);
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: { ...shapes.OpenClaw("c"), content: long },
    toolName: "exec",
  });
  const ask = async (max_chars, scope) => {
    const [{ text: answer }] = await answerFetch(concertina, { ref_ids: [report.actions[0].refId], max_chars }, scope);
    return answer.length;
  };
  for (const [asked, scope, most] of [
    [1e9, {}, FETCH_CHARS],
    [undefined, {}, FETCH_CHARS],
    [null, {}, FETCH_CHARS],
    [1e9, { maxChars: 30_000 }, 30_000],
    [5000, { maxChars: 30_000 }, 5000],
    [5000, { maxChars: 4000 }, 4000],
  ]) {
    const length = await ask(asked, scope);
    assert.ok(length <= most && length > most * 0.9, `${asked}: ${length} of ${most}`);
  }
});

test("an invalid max_chars is answered with an explanation", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  for (const [max_chars, shown] of [
    [0, "0"],
    [-1, "-1"],
    [2.5, "2.5"],
    [Number.NaN, "NaN"],
    ["many", '"many"'],
    [{}, "object"],
  ]) {
    const answer = await answerFetch(concertina, { ref_ids: ["0123456789abcdef"], max_chars }, {});
    assert.deepEqual(answer, [
      { type: "text", text: `max_chars is ${shown}; it must be a whole number of at least 1 and at most 15900` },
    ]);
  }
});

test("fetch parameters that are null, or numbers written as strings, are accepted", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: shapes.OpenClaw("c"),
    toolName: "exec",
  });
  const ref_ids = [report.actions[0].refId];
  const [{ text: line }] = await answerFetch(concertina, { ref_ids, lines: 41, chars: null, pattern: null }, {});
  assert.equal(line, `${text.split("\n")[40]}\n[lines 41-41 of 400]`);
});
