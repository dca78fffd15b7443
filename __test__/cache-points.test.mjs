// Tests of prompt-cache breakpoints (`cache_control`) of a caller: a block with a breakpoint is not changed, wherever
// it is in a message, unless an epoch folds all of it.
import assert from "node:assert/strict";
import test from "node:test";

import { Concertina, compressMessages } from "openclaw-concertina";

import { freshDir, isFolded, noise, talk } from "./conversation.mjs";

const MARK = { cache_control: { type: "ephemeral", ttl: "1h" } };
const sessionId = "s";
const line = "the very same line of output, again and again\n";
const TEXT = line.repeat(200) + noise(300);
const opened = (options = {}) => Concertina.open({ dir: freshDir(), ...options });

const part = (text, mark) => ({ type: "text", text, ...mark });
const user = { role: "user", content: "go" };
const args = { command: "make" };
const openClaw = (id, input, mark = {}) => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "exec", arguments: input, ...mark }],
  timestamp: 5,
});
const anthropic = (id, input, mark = {}) => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "exec", input, ...mark }],
});
const openAi = (id, input, mark = {}) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "exec", arguments: JSON.stringify(input) }, ...mark }],
});

/** A call with its result, with the breakpoint at a different place of the result each time. */
const RESULTS = {
  "OpenClaw, on the message": (mark) => [
    openClaw("a", args),
    { role: "toolResult", toolCallId: "a", toolName: "exec", content: [part(TEXT)], timestamp: 6, ...mark },
  ],
  "OpenClaw, on a part": (mark) => [
    openClaw("a", args),
    { role: "toolResult", toolCallId: "a", toolName: "exec", content: [part(TEXT, mark)], timestamp: 6 },
  ],
  "Anthropic, on the message": (mark) => [
    anthropic("a", args),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: TEXT }], ...mark },
  ],
  "Anthropic, on the result": (mark) => [
    anthropic("a", args),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: TEXT, ...mark }] },
  ],
  "Anthropic, on the result of parts": (mark) => [
    anthropic("a", args),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [part(TEXT)], ...mark }] },
  ],
  "Anthropic, on a part in the result": (mark) => [
    anthropic("a", args),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [part(TEXT, mark)] }] },
  ],
  "OpenAI, on the message": (mark) => [openAi("a", args), { role: "tool", tool_call_id: "a", content: TEXT, ...mark }],
  "OpenAI, on a part": (mark) => [openAi("a", args), { role: "tool", tool_call_id: "a", content: [part(TEXT, mark)] }],
};

/** Returns the value without any breakpoint. */
const unmarked = (value) =>
  JSON.parse(JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner)));
const marks = (value) => JSON.stringify(value).split(JSON.stringify(MARK.cache_control)).length - 1;

for (const [place, round] of Object.entries(RESULTS)) {
  test(`a result with a cache breakpoint (${place}) is unchanged until an epoch folds all of it`, async () => {
    const [plain, marked] = [{}, MARK].map((mark) => [user, ...round(mark)]);
    assert.notDeepEqual((await compressMessages(plain)).messages, plain);
    assert.equal((await compressMessages(marked)).messages, marked);

    // Fresh, and larger than the threshold of references.
    const large = { sessionId, referOversize: true, model: "claude-opus-4-5" };
    assert.ok(isFolded((await (await opened()).assemble({ ...large, messages: plain })).messages));
    assert.equal((await (await opened()).assemble({ ...large, messages: marked })).messages, marked);

    // Stale: an epoch evicts the whole text, and the breakpoint stays at its place.
    const concertina = await opened();
    const history = [...marked, ...talk(6)];
    const { messages, report } = await concertina.assemble({ sessionId, messages: history });
    assert.ok(report.epoch && isFolded(messages[2]));
    assert.equal(marks(messages), 1);
    // A caller moves its breakpoint: what was sent does not change.
    const moved = await concertina.assemble({ sessionId, messages: [...plain, ...talk(6)] });
    assert.deepEqual(moved.messages, unmarked(messages));
    assert.equal(moved.report.epoch, undefined);
  });
}

test("a result with a cache breakpoint is unchanged at birth", async () => {
  for (const [place, round] of Object.entries(RESULTS)) {
    const born = async (mark) => {
      const concertina = await opened();
      const [, message] = round(mark);
      return [message, (await concertina.admitToolResult({ sessionId, message, toolName: "exec", args })).message];
    };
    const [plain, shown] = await born({});
    assert.notDeepEqual(shown, plain, place);
    const [marked, same] = await born(MARK);
    assert.equal(same, marked, place);
  }
});

test("a call with a cache breakpoint keeps its arguments, and earlier shortened arguments stay short", async () => {
  const long = { path: "a.rs", content: noise(200) };
  for (const call of [openClaw, anthropic, openAi]) {
    const history = (mark) => [
      user,
      call("a", long, mark),
      { role: "tool", tool_call_id: "a", content: "done" },
      ...talk(9),
    ];
    for (const schedule of ["every-turn", "cache-aware"]) {
      const concertina = await opened({ schedule });
      const { messages } = await concertina.assemble({ sessionId, messages: history({}) });
      assert.notDeepEqual(messages[1], history({})[1], "without a mark they shrink");
      const later = await concertina.assemble({ sessionId, messages: history(MARK) });
      assert.deepEqual(unmarked(later.messages), messages, "what was sent stays, mark or not");
      assert.equal(later.report.epoch, undefined);
      const other = await opened({ schedule });
      const marked = history(MARK);
      assert.deepEqual((await other.assemble({ sessionId, messages: marked })).messages, marked);
    }
  }
});

test("system, assistant and tool-definition blocks with a cache breakpoint are unchanged", async () => {
  const rows = JSON.stringify(
    Array.from({ length: 60 }, (_, id) => ({ id, name: `n${id}`, state: "ready and waiting" })),
    null,
    2,
  );
  const now = `You are an agent.\nCurrent date: 2026-01-31\n${"You do what you are asked to do, and say so.\n".repeat(60)}`;
  const tools = [{ name: "make", description: rows, input_schema: { type: "object" }, ...MARK }];
  const options = { roles: ["system", "assistant", "tool"], preset: "max" };
  for (const [role, text] of [
    ["system", now],
    ["assistant", rows],
  ]) {
    const { messages } = await compressMessages([{ role, content: [part(text)], tools }, user], options);
    assert.notEqual(messages[0].content[0].text, text, `${role}: without a mark it is compressed`);
    assert.deepEqual(messages[0].tools, tools, "definitions of tools are none of the conversation");
    const marked = [{ role, content: [part(text, MARK)], tools }, { role, content: text, ...MARK }, user];
    assert.equal((await compressMessages(marked, options)).messages, marked);
    const concertina = await opened();
    const history = [...marked, ...talk(9)];
    assert.equal((await concertina.assemble({ sessionId, messages: history })).messages, history);
  }
});

test("of two duplicate blocks the one with the cache breakpoint is kept", async () => {
  const text = noise(80);
  const round = (id, mark) => [
    anthropic(id, args),
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text, ...mark }] },
  ];
  const { messages } = await compressMessages([user, ...round("a", {}), ...round("b", MARK)]);
  assert.deepEqual(messages[4].content[0], { type: "tool_result", tool_use_id: "b", content: text, ...MARK });
});
