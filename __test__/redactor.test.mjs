// Tests of a caller's redactor, which knows secrets that only the caller can know.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { Concertina, createContextEngine } from "openclaw-concertina";

import { png } from "../test/png.mjs";
import { freshDir, idIn, noise, staleConversation, toolRound, user } from "./conversation.mjs";

const { masked } = createRequire(import.meta.url)("../dist/node/lib/binding/redaction.js");

const SECRET = "lantern-under-the-harbour";
const KEY = Array.from({ length: 12 }, (_, line) => `${line}+harbour/lantern`.repeat(3)).join("\n");
/** Returns a redactor that masks a word, and a block of many lines. The texts that it received are in `seen`. */
function standIn() {
  const seen = [];
  const redactor = (text) => {
    seen.push(text);
    return text.replaceAll(SECRET, "lant…our").replaceAll(`<<${KEY}>>`, "<<key>>");
  };
  return { redactor, seen };
}

const result = (text) => ({ role: "toolResult", toolCallId: "c", toolName: "exec", content: [{ type: "text", text }] });

/** Returns the text of an original in a store. */
async function original(concertina, id) {
  return (await concertina.fetch({ refIds: [id], maxChars: 2 ** 31 })).content[0].text;
}

test("masking a text in pieces gives the same result as masking it at once, wherever the secrets are", async () => {
  const { redactor, seen } = standIn();
  for (const filler of [noise(900), "x".repeat(20_000), `${SECRET}\n`.repeat(700)]) {
    for (let at = 2000; at < 9000; at += 331) {
      const text = filler.slice(0, at) + SECRET + filler.slice(at, at + 700) + `<<${KEY}>>` + filler.slice(at + 700);
      assert.equal(await masked(text, redactor), redactor(text), `at ${at}`);
      seen.pop();
    }
  }
  assert.ok(Math.max(...seen.map((text) => text.length)) <= 4000, "no piece is long");
});

test("a text that cannot be split is masked at once", async () => {
  const redactor = (text) => (text.includes("a") ? `${text.length} characters` : text);
  assert.equal(await masked("a".repeat(30_000), redactor), "30000 characters");
});

test("a cyclic or unreadable result is returned unchanged", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const { redactor } = standIn();
  const loop = { type: "tool_result", tool_use_id: "c" };
  loop.content = [loop];
  let deep = { type: "text", text: SECRET };
  for (let depth = 0; depth < 20_000; depth++) deep = { type: "tool_result", content: [deep] };
  let shared = { type: "text", text: "x" };
  for (let level = 0; level < 60; level++) shared = { type: "tool_result", content: [shared, shared] };
  for (const message of [
    { role: "user", content: [loop] },
    { role: "user", content: [deep] },
    { role: "user", content: [shared] },
    { role: "tool", content: Object.assign([], { length: 2 ** 32 - 1 }) },
    {
      role: "tool",
      get content() {
        throw new Error("do not look");
      },
    },
    {
      role: "tool",
      content: [
        {
          type: "text",
          get text() {
            throw new Error("do not look");
          },
        },
      ],
    },
    {
      role: "tool",
      content: "x",
      get name() {
        throw new Error("do not look");
      },
    },
  ]) {
    assert.equal((await concertina.admitToolResult({ sessionId: "s", message, redactor })).message, message);
  }
  const unreadable = {
    get command() {
      throw new Error("do not look");
    },
  };
  const { message } = await concertina.admitToolResult({
    sessionId: "s",
    message: result(noise(400)),
    args: unreadable,
    redactor,
  });
  assert.match(message.content[0].text, /^\[REF_ID: /);
});

test("the output of an item of the Responses API is masked, too", async () => {
  const concertina = await Concertina.open({ dir: freshDir(), secrets: "redact" });
  const { redactor } = standIn();
  const output = `${noise(120)}\n${SECRET}\n${noise(400)}`;
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: { type: "function_call_output", call_id: "c", output },
    toolName: "exec",
    redactor,
  });
  assert.equal(await original(concertina, report.actions[0].refId), redactor(output));
});

test("a redactor that returns no text is named in the error", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  await assert.rejects(concertina.admitToolResult({ sessionId: "s", message: result(noise(400)), redactor: () => 5 }), {
    name: "TypeError",
    message: /^the result of the redactor is 5/,
  });
});

test("with `redact`, store, placeholder and names contain only redacted text", async () => {
  const text = `${noise(120)}\n${SECRET}\n${noise(400)}`;
  const concertina = await Concertina.open({ dir: freshDir(), secrets: "redact" });
  const { redactor } = standIn();
  const { message, report } = await concertina.admitToolResult({
    sessionId: "s",
    message: result(text),
    args: { command: `echo ${SECRET}` },
    redactor,
  });
  assert.equal(await original(concertina, report.actions[0].refId), redactor(text));
  assert.doesNotMatch(JSON.stringify(message), new RegExp(SECRET));
});

test("with `keep-inline`, a result is unchanged if the redactor masks something in it", async () => {
  const concertina = await Concertina.open({ dir: freshDir() });
  const { redactor } = standIn();
  const text = noise(400);
  for (const [words, command] of [
    [`${text}\n${SECRET}`, "ls"],
    [text, `echo ${SECRET}`],
  ]) {
    const message = result(words);
    assert.equal(
      (await concertina.admitToolResult({ sessionId: "s", message, args: { command }, redactor })).message,
      message,
    );
  }
  assert.equal((await concertina.stats()).originals, 0);
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: result(text),
    args: { command: "ls" },
    redactor,
  });
  assert.equal(report.actions.length, 1);
});

test("with `redact`, a result that the host cut is marked as cut, whatever its redacted length", async () => {
  const text = `${noise(120)}\n${SECRET}\n${noise(400)}`;
  const { redactor } = standIn();
  assert.notEqual(redactor(text).length, text.length);
  for (const [hostCutAt, isCut] of [
    [text.length, true],
    [redactor(text).length, false],
  ]) {
    const concertina = await Concertina.open({ dir: freshDir(), secrets: "redact" });
    const { message } = await concertina.admitToolResult({
      sessionId: "s",
      message: result(text),
      args: { command: "ls" },
      redactor,
      hostCutAt,
    });
    assert.equal(/cut by the host at/.test(JSON.stringify(message)), isCut);
  }
});

test("with `store` the redactor is not called, and the text of an exact tool is unchanged", async () => {
  const text = `${SECRET}\n${noise(400)}`;
  const { redactor, seen } = standIn();
  const storing = await Concertina.open({ dir: freshDir(), secrets: "store" });
  const { report } = await storing.admitToolResult({ sessionId: "s", message: result(text), redactor });
  assert.equal(await original(storing, report.actions[0].refId), text);
  const redacting = await Concertina.open({ dir: freshDir(), secrets: "redact" });
  const message = { ...result(text), toolName: "read" };
  assert.equal(
    (await redacting.admitToolResult({ sessionId: "s", message, args: { path: "a.rs" }, redactor })).message,
    message,
  );
  assert.ok(seen[0] === "a.rs" && seen.some((asked) => asked.includes(SECRET)), "of its listing numbers may go");
});

const talk = (turns) =>
  Array.from({ length: turns }, (_, turn) => [
    user(`and ${turn}?`, 100 + turn * 2),
    { role: "assistant", content: [{ type: "text", text: "done" }], timestamp: 101 + turn * 2 },
  ]).flat();

/** Returns every file of a store, and every original in it, as one text. */
async function allOf(dir, concertina, shown) {
  const files = readdirSync(dir).map((name) => readFileSync(path.join(dir, name)).toString("latin1"));
  const ids = [...JSON.stringify(shown).matchAll(/\[REF_ID: ([0-9a-f]{16,64})/g)].map(([, id]) => id);
  const originals = [];
  for (const id of ids) originals.push(await original(concertina, id));
  return [...files, ...originals].join("\n");
}

/** Returns a stale image with other fields, of its own or of its source. */
const imageWith = (fields, source = {}) => {
  const data = png(800, 600, () => [7, 7, 7]).toString("base64");
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data, ...source }, ...fields };
  return [{ role: "user", content: [{ type: "text", text: "look" }, image], timestamp: 1 }];
};

/** Ways in which a secret enters a history without an admission at birth. */
const WAYS = {
  "the detail of an image": imageWith({ detail: SECRET }),
  "the text of an image": imageWith({ text: `of ${SECRET}` }),
  "the name of an image's field": imageWith({ [SECRET]: 1 }),
  "the source of an image": imageWith({}, { origin: `https://example.com/a.png?key=${SECRET}` }),
  "a result that was not folded at birth": [
    user("go", 1),
    ...toolRound("a", "read", { path: "a.rs" }, `${noise(200)}\n${SECRET}\n${noise(100)}`, 2),
  ],
  "the command of a result": [
    user("go", 1),
    ...toolRound("a", "exec", { command: `deploy --with ${SECRET}` }, noise(300), 2),
  ],
  arguments: [
    user("go", 1),
    ...toolRound("a", "write", { path: "a.env", content: `${noise(100)}\n${SECRET}\n${noise(100)}` }, "done", 2),
  ],
  "a short argument beside a long one": [
    user("go", 1),
    ...toolRound("a", "write", { path: "a.env", content: noise(200), note: SECRET }, "done", 2),
  ],
  "a result that repeats a later one": [
    user("go", 1),
    ...toolRound("a", "exec", { command: "env" }, `${noise(200)}${SECRET}`, 2),
    ...toolRound("b", "exec", { command: "env" }, `${noise(200)}${SECRET}`, 4),
  ],
};

for (const secrets of ["keep-inline", "redact"]) {
  for (const [way, messages] of Object.entries(WAYS)) {
    test(`with \`${secrets}\` an assembly stores nothing that the redactor masks: ${way}`, async () => {
      const dir = freshDir();
      const concertina = await Concertina.open({ dir, secrets, schedule: "every-turn" });
      const other = toolRound("z", "exec", { command: "make" }, noise(200, 7), 20);
      const history = [...messages, ...other, ...talk(9)];
      const { redactor, seen } = standIn();
      const { messages: shown } = await concertina.assemble({ sessionId: "s", messages: history, redactor });
      assert.ok(idIn(shown[messages.length + 1]), "what holds no secret is folded");
      assert.doesNotMatch(await allOf(dir, concertina, shown), new RegExp(SECRET));
      const isRedacted =
        secrets === "redact" && JSON.stringify(messages.filter(({ role }) => role === "toolResult")).includes(SECRET);
      assert.equal(
        messages.some((_, at) => idIn(shown[at]) && JSON.stringify(history[at]).includes(SECRET)),
        isRedacted,
      );
      // Results of the redactor are cached, and what was sent does not change.
      seen.length = 0;
      assert.deepEqual((await concertina.assemble({ sessionId: "s", messages: history, redactor })).messages, shown);
      assert.deepEqual(seen, []);
      await concertina.close();
    });
  }
}

test("a result whose tool's name holds a secret is not stored at birth", async () => {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir, secrets: "redact" });
  const message = { ...result(noise(900)), toolName: `deploy_${SECRET}` };
  const { redactor } = standIn();
  assert.equal((await concertina.admitToolResult({ sessionId: "s", message, redactor })).message, message);
  assert.doesNotMatch(await allOf(dir, concertina, []), new RegExp(SECRET));
});

test("with `redact` an assembly stores the redacted text of a result", async () => {
  const concertina = await Concertina.open({ dir: freshDir(), secrets: "redact", schedule: "every-turn" });
  const text = `${noise(200)}\n${SECRET}\n${noise(100)}`;
  const { redactor } = standIn();
  const { messages } = await concertina.assemble({ sessionId: "s", messages: staleConversation(text), redactor });
  assert.equal(await original(concertina, idIn(messages[2])), redactor(text));
});

test("with `store` an assembly does not call the redactor, and if a redactor throws nothing is stored", async () => {
  const { redactor, seen } = standIn();
  const storing = await Concertina.open({ dir: freshDir(), secrets: "store", schedule: "every-turn" });
  assert.ok(idIn((await storing.assemble({ sessionId: "s", messages: staleConversation(), redactor })).messages));
  assert.deepEqual(seen, []);
  const concertina = await Concertina.open({ dir: freshDir(), schedule: "every-turn" });
  const broken = () => {
    throw new Error("no redactor today");
  };
  await assert.rejects(
    concertina.assemble({ sessionId: "s", messages: staleConversation(), redactor: broken }),
    /no redactor today/,
  );
  assert.equal((await concertina.stats()).originals, 0);
  await assert.rejects(concertina.assemble({ sessionId: "s", messages: [], redactor: "***" }), TypeError);
});

test("an engine calls the host's redactor, and without one folds as before", async () => {
  for (const [redactor, isFolded] of [
    [async () => standIn().redactor, false],
    [async () => undefined, true],
    [undefined, true],
  ]) {
    const concertina = await Concertina.open({ dir: freshDir(), schedule: "every-turn" });
    const complaints = [];
    const engine = createContextEngine(concertina, {
      compact: async () => ({}),
      redactor,
      complain: (...line) => complaints.push(line),
    });
    const { messages } = await engine.assemble({
      sessionId: "s",
      messages: staleConversation(`${noise(200)}\n${SECRET}`),
    });
    assert.deepEqual([idIn(messages[2]) !== undefined, complaints], [isFolded, []]);
  }
});

/**
 * Secrets with characters that JSON escapes, with blanks, which separate words of a command, and with other alphabets.
 */
const SECRETS = [
  'zebra"quilt-97',
  "zebra\\quilt-97",
  "zebra\nquilt-97",
  "zebra\tquilt 97",
  "zebra quilt 97",
  "zebra-quilt-97",
  "зебра-quilt-97🦓",
  "zebra'quilt$97",
  'ze"br\\a\nquilt',
];

/**
 * Returns arguments of a tool that contain a secret: as a string, as words, as several words, nested, as a key, and all
 * of it as JSON.
 */
const GIVEN = (secret) => [
  { command: `deploy ${secret} now` },
  { command: ["deploy", secret] },
  { command: ["bash", "-lc", `deploy ${secret} now`] },
  { command: ["deploy", ...secret.split(" ")] },
  { cmd: [secret] },
  { path: `/srv/${secret}/x` },
  { command: "deploy", env: { token: secret } },
  { command: "deploy", list: [["a", secret]] },
  { command: "deploy", [secret]: 1 },
  { command: "deploy", text: `${noise(60)}\n${secret}` },
];

/**
 * Checks that neither the store nor the originals of its placeholders contain the secret, in plain form or escaped as
 * JSON.
 */
async function assertAbsent(name, secret, dir, concertina, shown) {
  const forms = [secret, JSON.stringify(secret).slice(1, -1)];
  const originals = [...JSON.stringify(shown).matchAll(/\[REF_ID: ([0-9a-f]{16,64})\]/g)].map(([, id]) => id);
  for (const id of new Set(originals)) {
    const text = await original(concertina, id);
    assert.ok(
      forms.every((form) => !text.includes(form)),
      `${name}: an original holds it`,
    );
  }
  const figures = JSON.stringify(await concertina.figures());
  await concertina.close();
  for (const file of readdirSync(dir)) {
    const bytes = readFileSync(path.join(dir, file));
    assert.ok(
      forms.every((form) => !bytes.includes(form)),
      `${name}: it is in ${file}`,
    );
  }
  assert.ok(
    forms.every((form) => !figures.includes(form)),
    `${name}: it is in the figures`,
  );
}

for (const secrets of ["keep-inline", "redact"]) {
  test(`a secret in arguments that the redactor knows is never stored, however it is encoded, ${secrets}`, async () => {
    for (const [at, secret] of SECRETS.entries()) {
      const redactor = (text) => text.replaceAll(secret, "***");
      for (const [form, args] of GIVEN(secret).entries()) {
        const name = `${JSON.stringify(secret)} in form ${form}`;
        const message = {
          role: "toolResult",
          toolCallId: "c1",
          toolName: "exec",
          content: [{ type: "text", text: noise(300, at + 1) }],
        };
        for (const given of [args, JSON.stringify(args)]) {
          const dir = freshDir();
          const concertina = await Concertina.open({ dir, secrets });
          const born = await concertina.admitToolResult({ sessionId: "s", message, args: given, redactor });
          if (secrets === "redact") assert.ok(idIn(born.message), `${name}: nothing was folded at birth`);
          assert.ok(
            !born.message.content[0].text.startsWith("[REF_ID") || !born.message.content[0].text.includes(secret),
            `${name}: it is in the placeholder`,
          );
          await assertAbsent(`birth, ${name}`, secret, dir, concertina, born.message);
        }
        for (const call of [
          { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "exec", arguments: args }] },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "exec", arguments: JSON.stringify(args) } }],
          },
        ]) {
          const dir = freshDir();
          const concertina = await Concertina.open({ dir, secrets });
          const messages = [
            user("go"),
            call,
            call.tool_calls ? { role: "tool", tool_call_id: "c1", content: noise(300, at + 1) } : message,
          ];
          for (let turn = 0; turn < 8; turn++)
            messages.push(user(`and then ${turn}?`), { role: "assistant", content: "done" });
          const folded = await concertina.assemble({ sessionId: "s", messages, redactor });
          await assertAbsent(`assembly, ${name}`, secret, dir, concertina, folded.messages);
        }
      }
    }
  });
}

test("a secret in JSON inside a text is stored in no form", async () => {
  for (const secret of ['lantern"harbour', "lantern\\harbour", "lantern\nharbour", "lantern\u0001harbour"]) {
    const redactor = (text) => text.replaceAll(secret, () => "***");
    const once = JSON.stringify({ key: secret, lines: noise(300).split("\n") }, null, 1);
    const twice = JSON.stringify({ body: once });
    for (const secrets of ["keep-inline", "redact"]) {
      for (const text of [once, twice]) {
        const concertina = await Concertina.open({ dir: freshDir(), secrets, sccsCompressThreshold: 1000 });
        const born = await concertina.admitToolResult({ sessionId: "s", message: result(text), redactor });
        assert.equal(born.message.content[0].text, text, "a birth leaves it as it is");
        const messages = [
          user("go"),
          { role: "assistant", content: [{ type: "toolCall", id: "c", name: "exec", arguments: { command: "x" } }] },
          result(text),
        ];
        for (let turn = 0; turn < 8; turn++)
          messages.push(user(`and then ${turn}?`), { role: "assistant", content: "done" });
        const shown = await concertina.assemble({ sessionId: "s", messages, redactor });
        assert.equal(shown.messages[2].content[0].text, text, "an assembly leaves it as it is");
        await concertina.close();
      }
    }
  }
});
