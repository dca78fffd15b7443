// Tests every public function with invalid arguments: it throws a TypeError with a code that names the argument. It
// never crashes and never ignores the error.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import * as library from "../index.js";
import { freshDir, noise } from "./conversation.mjs";

const { Concertina, rewindTool, squeeze } = library;

const dir = freshDir();
const concertina = await Concertina.open({ dir });
after(() => concertina.close());

const text = ["text", [[], [null], [5], [{}]]];
const messages = ["messages", [[], [null], [5], ["x"], [{}]]];

const files = ["files", [[], [null], [5], ["x"]]];

const proseOptions = [
  [
    "intensity",
    [
      ["x", { intensity: 5 }],
      ["x", { intensity: "x" }],
    ],
  ],
  ["bogus", [["x", { bogus: 1 }]]],
];

const rulesOptions = (...first) => [
  [
    "maxChars",
    [
      [...first, { maxChars: "x" }],
      [...first, { maxChars: -1 }],
    ],
  ],
  ["objective", [[...first, { objective: 5 }]]],
  [
    "abbreviations",
    [
      [...first, { abbreviations: { entries: { long: 5 } } }],
      [...first, { abbreviations: () => 5 }],
    ],
  ],
  ["bogus", [[...first, { bogus: 1 }]]],
];

/** For each export, the name with which each error must begin, and the invalid arguments. */
const FUNCTIONS = {
  agentOf: [["sessionKey", [[5], [{}]]]],
  answerFetch: [
    ["concertina", [[], [null, {}, {}]]],
    [
      "scope",
      [
        [concertina, { ref_ids: [] }],
        [concertina, { ref_ids: [] }, null],
      ],
    ],
    ["agentId", [[concertina, {}, { agentId: 5 }]]],
    ["maxChars", [[concertina, {}, { maxChars: 0.5 }]]],
    ["form", [[concertina, {}, { form: "x" }]]],
  ],
  compress: [text, ["custom[0]", [["x", { custom: [null] }]]], ["signal", [["x", { signal: {} }]]]],
  compressAsync: [text],
  compressMessages: [messages],
  compressMessagesAsync: [messages],
  compressMessagesSync: [messages],
  compressProse: [text, ...proseOptions],
  compressProseAsync: [text, ...proseOptions],
  compressProseSync: [text, ...proseOptions],
  compressRules: [files, ...rulesOptions([])],
  compressRulesAsync: [files, ...rulesOptions([])],
  compressRulesSync: [files, ...rulesOptions([])],
  compressSync: [text, ["signal", [["x", { signal: AbortSignal.abort() }]]]],
  countMessageTokens: [
    messages,
    ["model", [[[], { model: 5 }]]],
    [
      "encoding",
      [
        [[], { encoding: 5 }],
        [[], { encoding: "x" }],
      ],
    ],
    ["modl", [[[], { modl: "x" }]]],
  ],
  countTokens: [
    text,
    [
      "encoding",
      [
        ["x", { encoding: 5 }],
        ["x", { encoding: "x" }],
      ],
    ],
    ["encodng", [["x", { encodng: "x" }]]],
  ],
  createContextEngine: [
    ["concertina", [[], [null], [5], ["x", {}]]],
    ["options", [[concertina], [concertina, null], [concertina, 5]]],
  ],
  createSccsIntegration: [
    ["input", [[], [null], [5]]],
    ["logger", [[{}], [{ logger: 5 }], [{ logger: {} }]]],
    ["cfg", [[{ cfg: 5, logger: console }]]],
  ],
  detect: [
    text,
    ["toolName", [["x", { toolName: 5 }]]],
    ["language", [["x", { language: "x" }]]],
    ["pth", [["x", { pth: "a" }]]],
  ],
  expand: [
    text,
    [
      "receipt.substitutions[0]",
      [
        ["x", { substitutions: [5] }],
        ["x", { substitutions: [{ long: 5 }] }],
      ],
    ],
  ],
  migrate: [
    ["input", [[], [null], [5]]],
    ["from", [[{ to: { dir } }]]],
    ["to", [[{ from: { dir } }]]],
    ["progress", [[{ from: { dir }, to: { dir }, progress: 5 }]]],
    ["dir", [[{ from: {}, to: { dir } }], [{ from: { dir, url: "postgresql://x" }, to: { dir } }]]],
    ["namespace", [[{ from: { dir, namespace: "x" }, to: { dir } }]]],
    ["url", [[{ from: { url: "nonsense" }, to: { dir } }], [{ from: { url: 5 }, to: { dir } }]]],
  ],
  preprocess: [text, ...rulesOptions("x", 2)],
  preprocessAsync: [text, ...rulesOptions("x", 2)],
  preprocessSync: [text, ...rulesOptions("x", 2)],
  protectedSpans: [text],
  redactPrivate: [text],
  repairToolPairing: [messages],
  restore: [
    text,
    [
      "originals",
      [
        ["x", 5],
        ["x", {}],
      ],
    ],
    [
      "originals[0].data",
      [
        ["x", [{}]],
        ["x", [null]],
        ["x", [{ data: "x" }]],
      ],
    ],
  ],
  restoreMessages: [
    ["compressed", [[], [null], [5]]],
    ["messages", [[{}], [{ messages: 5 }]]],
    ["originals", [[{ messages: [] }], [{ messages: [], originals: 5 }]]],
    ["originals[0].data", [[{ messages: [], originals: [null] }]]],
    ["report", [[{ messages: [], originals: [] }]]],
    ["report.blocks", [[{ messages: [], originals: [], report: {} }]]],
    [
      "report.blocks[0].message",
      [-1, 2 ** 32, "0"].map((message) => [
        { messages: [], originals: [], report: { blocks: [{ message, block: 0 }] } },
      ]),
    ],
    [
      "report.blocks[0]",
      [
        [{ messages: [], originals: [], report: { blocks: [null] } }],
        [{ messages: [], originals: [], report: { blocks: [{ message: 0, block: 0 }] } }],
      ],
    ],
  ],
  restoreReport: [text, ["originals", [["x", 5]]]],
  scopeOf: [
    ["given", [[], [null], [5]]],
    ["agentId", [[{ agentId: 0 }]]],
  ],
  squeeze: [messages],
  summarize: [
    text,
    ["hints", [["x", { hints: 5 }]]],
    ["path", [["x", { hints: { path: [] } }]]],
    ["maxchars", [["x", { maxchars: 5 }]]],
    ["pth", [["x", { hints: { pth: "a" } }]]],
  ],
  tokenize: [text],
};

/** The same for the methods of an open `Concertina`. */
const METHODS = {
  admitToolResult: [
    ["input", [[], [null], [5]]],
    ["message", [[{ sessionId: "s" }], [{ sessionId: "s", message: 5 }]]],
    ["sessionId", [[{ message: {} }], [{ sessionId: 5, message: {} }]]],
  ],
  assemble: [
    ["input", [[], [null], [5]]],
    ["messages", [[{ sessionId: "s" }], [{ sessionId: "s", messages: {} }]]],
    ["sessionId", [[{ messages: [] }], [{ sessionId: 5, messages: [] }], [{ sessionId: "", messages: [] }]]],
    ["tokenbudget", [[{ sessionId: "s", messages: [], tokenbudget: 5 }]]],
    ["model", [[{ sessionId: "s", messages: [], model: 5 }]]],
    ["availableTools", [-1, "exec", [5]].map((availableTools) => [{ sessionId: "s", messages: [], availableTools }])],
    ["redactor", [[{ sessionId: "s", messages: [], redactor: 5 }]]],
  ],
  check: [
    ["input", [[null], [5]]],
    ["replaceDamaged", [[{ replaceDamaged: "2026-01-31" }]]],
    ["today", [[{ today: 5 }], [{ today: "../x" }]]],
  ],
  commitTurn: [
    ["input", [[], [null]]],
    ["sessionId", [[{ advancementKey: "k" }]]],
    ["advancementKey", [[{ sessionId: "s", messages: [] }], [{ sessionId: "s", advancementKey: 5 }]]],
    ["messages", [[{ sessionId: "s", advancementKey: "k", messages: {} }]]],
    ["messages[0]", [[{ sessionId: "s", advancementKey: "k", messages: [null] }]]],
  ],
  endSession: [
    ["input", [[], [null]]],
    ["sessionId", [[{}], [{ sessionId: 5 }]]],
  ],
  fetch: [
    ["input", [[], [null]]],
    ["refIds", [[{}], [{ refIds: "x" }]]],
    ["lines", [[{ refIds: [], lines: 5 }], [{ refIds: [], lines: "x" }], [{ sessionId: "s", query: "x", lines: "1" }]]],
    ["maxchars", [[{ refIds: ["0123456789abcdef"], maxchars: 5 }]]],
    [
      "query",
      [[{ query: 5 }], [{ query: " ", sessionId: "s" }], [{ refIds: ["0123456789abcdef"], query: "x", pattern: "x" }]],
    ],
  ],
  figures: [
    ["input", [[null], [5]]],
    ["sessionId", [[{ sessionId: 5 }]]],
    ["since", [[{ since: "x" }]]],
    ["until", [[{ until: Number.NaN }]]],
  ],
  inherit: [
    ["input", [[], [null]]],
    ["named", [[{ parent: { sessionId: "s" }, child: { sessionId: "c" }, named: "x" }]]],
  ],
  foldAll: [
    ["input", [[], [null]]],
    ["sessionId", [[{}], [{ sessionId: 5 }]]],
  ],
  folded: [
    ["input", [[], [null]]],
    ["sessionId", [[{}], [{ sessionId: 5 }]]],
  ],
  pin: [
    ["input", [[], [null]]],
    ["sessionId", [[{}], [{ sessionId: 5 }]]],
  ],
  restore: [
    ["input", [[], [null]]],
    ["refIds", [[{ sessionId: "s" }], [{ sessionId: "s", refIds: "x" }]]],
  ],
  unpin: [
    ["input", [[], [null]]],
    ["sessionId", [[{}], [{ sessionId: 5 }]]],
  ],
  purge: [
    ["input", [[], [null]]],
    ["sessionId", [[{}], [{ sessionId: 5 }]]],
    ["dry", [[{ sessionId: "s", dry: 0 }]]],
    ["Dry", [[{ sessionId: "s", Dry: true }]]],
  ],
  recordRules: [
    ["input", [[], [null]]],
    ["report", [[{ sessionId: "s" }], [{ sessionId: "s", report: {} }]]],
  ],
  search: [
    ["input", [[], [null]]],
    ["query", [[{}], [{ query: 5 }], [{ query: "" }]]],
    ["agentId", [[{ query: "x", agentId: "main" }]]],
    ["maxChars", [[{ query: "x", maxChars: 0 }]]],
  ],
  settle: [
    ["input", [[], [null]]],
    ["sessionIds[0]", [[{ sessionIds: [1] }]]],
  ],
  stats: [
    ["input", [[null], [5]]],
    ["sessionId", [[{ sessionId: 5 }]]],
    ["session", [[{ session: "x" }]]],
  ],
  sessions: [["signal", [[{ signal: 5 }]]]],
  switch: [
    ["input", [[], [null]]],
    ["off", [[{ sessionId: "s" }]]],
    ["sessionId", [[{ off: true }]]],
  ],
  sweep: [
    ["input", [[null], [5]]],
    ["now", [[{ now: "x" }]]],
  ],
  unfold: [
    ["input", [[], [null]]],
    ["messages", [[{ sessionId: "s" }], [{ sessionId: "s", messages: 5 }]]],
    ["sessionId", [[{ messages: [], sessionId: 7 }]]],
  ],
};

const url = "postgresql://127.0.0.1:1/x";

/** The same for its options. A store in a directory keeps its journals there. */
const OPTIONS = [
  ["bogus", [[{ dir, bogus: 1 }]]],
  ["dir", [[{ dir, url }]]],
  ["namespace", [[{ url, namespace: "No Tenant" }]]],
  ["journalDir", [[{ dir, journalDir: dir }]]],
];

/** The texts of errors: the value, and what it must be. */
const COMPLAINTS = [
  [() => library.squeeze("x"), 'messages is "x"; it must be an array'],
  [() => library.squeeze([], { staleTurns: 0 }), "staleTurns is 0; it must be a whole number of at least 1"],
  [() => library.squeeze([], null), "options is null; it must be an object"],
  [() => library.countTokens(7), "text is 7; it must be a string"],
  [
    () => library.countTokens("x", { encoding: "p50k" }),
    'encoding is "p50k"; it must be one of "o200k_base", "cl100k_base", "approx"',
  ],
  [() => library.summarize("x", { maxChars: 0 }), "maxChars is 0; it must be a whole number of at least 1"],
  [
    () => library.compressProse("a", { intensity: "max" }),
    'intensity is "max"; it must be one of "lite", "full", "ultra"',
  ],
  [() => library.compressProse("a", { much: 1 }), "much is not an option; it must be one of intensity, objective"],
  [
    () => library.preprocess("a", 4),
    'level is 4; it must be one of 0, 1, 2, 3, "off", "light", "standard", "aggressive"',
  ],
  [() => library.compressRules([{ name: "a" }]), "files[0].text is undefined; it must be a string"],
  [() => library.compressRules([], { maxChars: -1 }), "maxChars is -1; it must be a whole number of at least 0"],
  [() => library.expand("a", {}), "receipt.substitutions is undefined; it must be an array"],
  [
    () => concertina.assemble({ sessionId: "s", messages: [], turnBegins: "x" }),
    'turnBegins is "x"; it must be true or false',
  ],
  [
    () => concertina.assemble({ sessionId: "s", messages: [], referOversize: 1 }),
    "referOversize is 1; it must be true or false",
  ],
  [() => Concertina.open({ dir, retention: "never" }), 'retention is "never"; it must be one of "clock", "host"'],
];

async function refuses(call, args, name) {
  const about = `${call.name}(${args.map((value) => (value === concertina ? "concertina" : JSON.stringify(value))).join(", ")})`;
  await assert.rejects(
    async () => call(...args),
    (error) => {
      assert.ok(error instanceof TypeError, `${about} throws ${error?.constructor?.name}: ${error?.message}`);
      assert.equal(error.code, "CONCERTINA_BAD_ARGUMENT", `${about}: ${error.message}`);
      assert.ok(error.message.startsWith(name), `${about} says: ${error.message}`);
      return true;
    },
  );
}

test("every function names the wrong argument in its error", async () => {
  for (const [name, rows] of Object.entries(FUNCTIONS)) {
    for (const [argument, calls] of rows) for (const args of calls) await refuses(library[name], args, argument);
  }
});

test("every method names the wrong argument in its error", async () => {
  for (const [name, rows] of Object.entries(METHODS)) {
    const method = Object.defineProperty(async (...args) => concertina[name](...args), "name", { value: name });
    for (const [argument, calls] of rows) for (const args of calls) await refuses(method, args, argument);
  }
});

test("open names the wrong option in its error", async () => {
  const open = (options) => Concertina.open(options);
  for (const [argument, calls] of OPTIONS) for (const args of calls) await refuses(open, args, argument);
});

test("an argument error states the value and the allowed values", async () => {
  for (const [call, message] of COMPLAINTS)
    await assert.rejects(async () => call(), { name: "TypeError", code: "CONCERTINA_BAD_ARGUMENT", message });
});

test("an option that JSON would drop, or that cannot be read, is named in the error", async () => {
  const loop = {};
  loop.models = loop;
  const throwing = {
    get preset() {
      throw new Error("do not look");
    },
  };
  const takes = [
    squeeze,
    library.compressMessages,
    library.compressMessagesSync,
    (_, options) => library.compress("x", options),
    (_, options) => library.compressSync("x", options),
  ];
  for (const [options, says] of [
    [{ preset: 10n }, /^preset is bigint; it must be a JSON value/],
    [{ preset: () => 1 }, /^preset is function/],
    [{ preset: Symbol("x") }, /^preset is symbol/],
    [loop, /^models cannot be read: it contains itself/],
    [throwing, /^preset cannot be read: do not look/],
    [new Map(), /^options is object; it must be a plain object/],
    [{ toJSON() {} }, /^toJSON is function/],
  ]) {
    for (const take of takes)
      await assert.rejects(async () => take([], options), {
        name: "TypeError",
        code: "CONCERTINA_BAD_ARGUMENT",
        message: says,
      });
  }
  await assert.rejects(Concertina.open({ dir, staleTurns: 10n }), {
    name: "TypeError",
    code: "CONCERTINA_BAD_ARGUMENT",
    message: /^staleTurns is bigint/,
  });
});

test("an array that cannot be read, or claims four billion messages, is named in the error", async () => {
  const revoked = Proxy.revocable([], {});
  revoked.revoke();
  const trapped = new Proxy([], {
    get() {
      throw new Error("do not look");
    },
  });
  const takes = [
    squeeze,
    library.repairToolPairing,
    library.countMessageTokens,
    library.compressMessages,
    library.compressMessagesSync,
    (messages) => concertina.assemble({ sessionId: "s", messages }),
    (messages) => concertina.unfold({ messages }),
    (messages) => concertina.commitTurn({ sessionId: "s", advancementKey: "k", messages }),
    (messages) => library.restoreMessages({ messages, originals: [], report: { blocks: [] } }),
  ];
  for (const messages of [revoked.proxy, trapped, Object.assign([], { length: 2 ** 32 - 1 })]) {
    for (const take of takes)
      await assert.rejects(async () => take(messages), {
        name: "TypeError",
        code: "CONCERTINA_BAD_ARGUMENT",
        message: /^messages /,
      });
  }
});

test("names with lone surrogates are rejected, because two of them could become equal", async () => {
  for (const [name, call] of [
    ["sessionId", () => concertina.assemble({ sessionId: "\ud800", messages: [] })],
    ["agentId", () => concertina.assemble({ sessionId: "s", agentId: "\ud800", messages: [] })],
    ["sessionId", () => concertina.fetch({ sessionId: "\ud800", refIds: [] })],
    ["sessionId", () => concertina.purge({ sessionId: "\ud800" })],
    ["sessionIds[0]", () => concertina.settle({ sessionIds: ["\ud800"] })],
  ]) {
    await assert.rejects(call, (error) => error.code === "CONCERTINA_BAD_ARGUMENT" && error.message.startsWith(name));
  }
});

test("a malformed call of the rewind tool is an error that names the field", async () => {
  for (const [call, says] of [
    [null, /^call is null/],
    [{ function: null }, /^call.function is null/],
    [{ name: "other" }, /^name is "other"/],
    [
      {
        get name() {
          throw new Error("do not look");
        },
      },
      /^call cannot be read/,
    ],
  ]) {
    await assert.rejects(rewindTool.handle(call), {
      name: "TypeError",
      code: "CONCERTINA_BAD_ARGUMENT",
      message: says,
    });
  }
});

test("a method of a closed store fails with its code", async () => {
  const closed = await Concertina.open({ dir });
  await closed.close();
  assert.throws(() => closed.notices(), { code: "CONCERTINA_CLOSED" });
  // This list belongs to the process, not to the store.
  assert.ok(Array.isArray(closed.skipped()));
});

test("a Concertina cannot be constructed with new", async () => {
  const made = Object.defineProperty(() => new Concertina({}), "name", { value: "new Concertina" });
  await refuses(made, [], "new Concertina()");
});

test("mistakes of a model in a tool call are answered with an explanation", async () => {
  for (const [written, says] of [
    ...["no JSON", "", "{", '{"hash": "0123'].map((text) => [text, /^The arguments are not JSON \(.+\); they must be/]),
    ...["{}", '{"hash":5}', "null"].map((text) => [text, /^The arguments have no string named hash/]),
  ]) {
    const { content } = await rewindTool.handle({ id: "c", function: { name: "rewind_retrieve", arguments: written } });
    assert.match(content, says);
  }
  const { report } = await concertina.admitToolResult({
    sessionId: "s",
    message: { role: "toolResult", toolCallId: "c", toolName: "exec", content: noise(400) },
  });
  const ref_ids = [report.actions[0].refId];
  for (const [parameters, says] of [
    [null, /^ref_ids is undefined/],
    [{}, /^ref_ids is undefined/],
    [{ ref_ids: "x" }, /^ref_ids is "x"; it must be an array of ids/],
    [{ ref_ids, pattern: "[" }, /^the pattern "\[" is not a regular expression/],
    [{ ref_ids: [`${ref_ids[0]}:/[/`] }, /is not a regular expression/],
    [{ ref_ids, lines: "x" }, /^lines is "x"/],
    [{ ref_ids, lines: [1, 2] }, /^lines is an array; it must be a string/],
  ]) {
    const [{ type, text }] = await library.answerFetch(concertina, parameters, {});
    assert.equal(type, "text");
    assert.match(text, says);
  }
});

test("the tables of this test list every function and method of the library", () => {
  const takesNothing = ["describe", "describeError", "stages"];
  const functions = Object.entries(library).filter(
    ([name, value]) => typeof value === "function" && value !== Concertina && !takesNothing.includes(name),
  );
  assert.deepEqual(functions.map(([name]) => name).sort(), Object.keys(FUNCTIONS).sort());
  const methods = Object.getOwnPropertyNames(Concertina.prototype).filter(
    (name) => !["constructor", "close", "notices", "skipped", "warnings"].includes(name),
  );
  assert.deepEqual(methods.sort(), Object.keys(METHODS).sort());
});

test("an address in the place of something else is not printed with its password", async () => {
  const { createSccsIntegration, migrate } = library;
  const words = ["S3kr3t", "S3/kr@3t", "S3kr3t@half"];
  for (const word of words) {
    for (const address of [
      `postgresql://me:${word}@127.0.0.1:1/db`,
      `host=127.0.0.1 password=${word} dbname=x`,
      `host=127.0.0.1 password = '${word} x' dbname=x`,
    ]) {
      const isUrl = address.includes("://");
      const calls = {
        open: () => Concertina.open(address),
        "a namespace": () => Concertina.open({ url: "postgresql://127.0.0.1:1/x", namespace: address }),
        "a url with a lone surrogate": () => Concertina.open({ url: `${address}\ud800` }),
        "an unknown option": () => Concertina.open({ dir: freshDir(), [address]: 1 }),
        "the source of a migration": () => migrate({ from: address, to: { dir: freshDir() } }),
        cfg: async () => createSccsIntegration({ cfg: address, logger: { warn() {} } }),
        ...(isUrl ? { "a directory": () => Concertina.open({ dir: address }) } : {}),
      };
      for (const [name, call] of Object.entries(calls)) {
        await assert.rejects(
          async () => call(),
          (error) => error.code === "CONCERTINA_BAD_ARGUMENT" && !error.message.includes("kr"),
          `${name}: ${address}`,
        );
      }
    }
  }
});
