import assert from "node:assert/strict";
import test from "node:test";

import { Concertina, compressMessages, countMessageTokens, repairToolPairing, squeeze } from "openclaw-concertina";

import { freshDir, isFolded, noise, staleConversation, toolRound, user } from "./conversation.mjs";

/** Returns a conversation whose first call, long ago, has these arguments. */
const withArguments = (given) => [
  user("a", 1),
  ...toolRound("c", "write", given, "ok", 2),
  ...Array.from({ length: 6 }, (_, at) => user(`t${at}`, 10 + at)),
];

/** Returns an object with shared references: each level contains the next one twice. */
function shared(levels) {
  let value = { leaf: 1 };
  for (let level = 0; level < levels; level++) value = { a: value, b: value };
  return value;
}

test("a cyclic object is left alone, and blocks beside it are squeezed", () => {
  const loop = {};
  loop.x = loop;
  loop.y = [loop, { loop }];
  const messages = staleConversation();
  messages[1].content[0].arguments.loop = loop;
  messages[0].loop = loop;
  const squeezed = squeeze(messages);
  assert.match(squeezed.messages[2].content[0].text, /^\[tool result squeezed/);
  assert.equal(squeezed.messages[1], messages[1]);
  const conversation = [user("x")];
  conversation[0].all = conversation;
  assert.equal(repairToolPairing(conversation).messages, conversation);
});

test("objects that share parts at every level are left alone in bounded time", () => {
  const given = { content: noise(300), deep: shared(60) };
  const messages = withArguments(given);
  assert.equal(squeeze(messages).messages[1].content[0].arguments, given);
  const wide = Array.from({ length: 1000 }, () => "word");
  assert.ok(
    countMessageTokens([{ role: "user", content: "x", many: Array.from({ length: 100_000 }, () => wide) }]) > 0,
  );
});

test("a block that occurs several times in a message is squeezed in each place", () => {
  const messages = staleConversation();
  const [block] = messages[2].content;
  messages[2].content = [block, block, block];
  for (const { text } of squeeze(messages).messages[2].content) assert.match(text, /^\[tool result squeezed/);
});

test("an endless object is left alone", () => {
  const endless = () =>
    new Proxy(
      {},
      {
        ownKeys: () => ["a", "b"],
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
        get: endless,
      },
    );
  const messages = [{ ...user("a", 1), endless: endless() }, ...staleConversation().slice(1)];
  assert.match(squeeze(messages).messages[2].content[0].text, /^\[tool result squeezed/);
});

test("an object whose getter or trap throws is left alone, and the rest is processed", () => {
  const throwing = {
    body: noise(300),
    get bad() {
      throw new Error("do not look");
    },
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const odd of [throwing, { body: noise(300), revoked: revoked.proxy }, { body: noise(300), list: [throwing] }]) {
    const messages = withArguments(odd);
    messages.splice(1, 0, ...toolRound("c0", "exec", { command: "a" }, noise(200), 2));
    const squeezed = squeeze(messages);
    assert.match(squeezed.messages[2].content[0].text, /^\[tool result squeezed/);
    assert.equal(squeezed.messages[3].content[0].arguments, odd);
  }
});

test("a fresh result that cannot be read is returned unchanged", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const [, message] = toolRound("c", "exec", {}, noise(400));
  Object.defineProperty(message, "toolCallId", {
    enumerable: true,
    get() {
      throw new Error("do not look");
    },
  });
  assert.equal((await concertina.admitToolResult({ sessionId: "s", message })).message, message);
});

test("values that JSON cannot carry are returned unchanged", () => {
  const withGap = Object.assign([1], { 2: 3 });
  for (const odd of [
    withGap,
    Object.assign([], { length: 4e9 }),
    Symbol("s"),
    10n,
    Number.NaN,
    new Date(0),
    new Map([[1, 2]]),
    new Uint8Array(3),
    () => 1,
  ]) {
    const given = { content: noise(300), odd };
    assert.equal(squeeze(withArguments(given)).messages[1].content[0].arguments, given);
  }
});

test("an argument named __proto__ is preserved in both directions", () => {
  const given = JSON.parse(`{"content": ${JSON.stringify(noise(300))}, "__proto__": {"polluted": true, "n": 1}}`);
  const { arguments: shown } = squeeze(withArguments(given)).messages[1].content[0];
  assert.notEqual(shown.content, given.content, "the long argument is squeezed");
  assert.ok(Object.hasOwn(shown, "__proto__"));
  assert.deepEqual(Object.getOwnPropertyDescriptor(shown, "__proto__").value, { polluted: true, n: 1 });
  assert.equal(shown.polluted, undefined);
  const messages = staleConversation();
  Object.defineProperty(messages[2], "__proto__", {
    value: { own: true },
    enumerable: true,
    configurable: true,
    writable: true,
  });
  const [, , squeezed] = squeeze(messages).messages;
  assert.notEqual(squeezed, messages[2]);
  assert.deepEqual(Object.getOwnPropertyDescriptor(squeezed, "__proto__").value, { own: true });
});

/** Returns a part of a message that runs a change of the caller's as soon as the message has crossed to the addon. */
function thatThen(change) {
  let isDone = false;
  return {
    type: "text",
    text: "",
    get crossed() {
      if (!isDone) change();
      return (isDone = true);
    },
  };
}

test("an array that the caller changes during a call is neither overwritten nor misread", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const messages = staleConversation();
  const [given, theirs] = [
    messages.slice(),
    { ...user("never overwrite me", 2), content: [{ type: "text", text: "never overwrite me" }] },
  ];
  const folding = concertina.assemble({ sessionId: "s", messages });
  messages.splice(1, 2, theirs, theirs);
  const folded = await folding;
  assert.ok(isFolded(folded.messages[2]));
  assert.equal(folded.messages.length, given.length);
  assert.equal(folded.messages[1], given[1], "what was given is what comes back");
  assert.equal(messages[1], theirs);
  const chat = [user("go"), ...toolRound("a", "exec", {}, noise(300)), ...toolRound("b", "exec", {}, noise(300))];
  const taken = chat.slice();
  const compressing = compressMessages(chat);
  chat.fill(theirs);
  const compressed = await compressing;
  assert.equal(compressed.messages[0], taken[0]);
  assert.notEqual(compressed.messages[4].content[0].text, taken[4].content[0].text);
});

test("a message that the caller changes during a call is returned unchanged and reported", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const messages = staleConversation();
  messages.splice(1, 0, ...toolRound("call_0", "exec", { command: "a" }, noise(200, 9), 2));
  const [block] = messages[4].content;
  messages.at(-1).content.push(thatThen(() => (block.text = "the user's own words now")));
  const { messages: folded, report, estimatedTokens } = await concertina.assemble({ sessionId: "s", messages });
  assert.equal(folded[4], messages[4]);
  assert.equal(folded[4].content[0].text, "the user's own words now");
  assert.ok(isFolded(folded[2]), "the others are folded");
  assert.deepEqual(report.changedMeanwhile, [4]);
  assert.deepEqual(
    report.actions.map(({ message }) => message),
    [2],
  );
  const [{ tokensBefore, tokensAfter }] = report.actions;
  assert.equal(report.tokensBefore - report.tokensAfter, tokensBefore - tokensAfter);
  assert.equal(estimatedTokens, report.tokensAfter);
});

test("a fresh result or a chat that the caller changes during a call is returned unchanged", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const [, fresh] = toolRound("c", "exec", {}, noise(400));
  fresh.content.push(thatThen(() => fresh.content.unshift({ type: "text", text: "mine" })));
  const admitted = await concertina.admitToolResult({ sessionId: "s", message: fresh });
  assert.equal(admitted.message, fresh);
  assert.deepEqual(admitted.report.changedMeanwhile, [0]);

  // Too short to fold.
  const chat = [user("go"), ...toolRound("a", "exec", {}, noise(2)), ...toolRound("b", "exec", {}, noise(300))];
  chat[4].content.push(thatThen(() => (chat[4].content[0] = { type: "text", text: "mine" })));
  const compressed = await compressMessages(chat);
  assert.equal(compressed.messages[4], chat[4]);
  assert.equal(compressed.messages, chat, "nothing else changed");
  assert.deepEqual(compressed.report.changedMeanwhile, [4]);
  assert.ok(compressed.report.blocks.every(({ message }) => message !== 4));
});

test("changedMeanwhile is absent if nothing was changed during the call", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const messages = staleConversation();
  const folded = await concertina.assemble({ sessionId: "s", messages });
  assert.notEqual(folded.messages, messages);
  assert.equal("changedMeanwhile" in folded.report, false);
  const fresh = [user("hi")];
  assert.equal((await concertina.assemble({ sessionId: "t", messages: fresh })).messages, fresh);
});
