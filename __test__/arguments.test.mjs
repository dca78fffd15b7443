// Tests every public function with hostile values at every field of its arguments: it succeeds, or throws a TypeError
// with a code that names the field. Covers the fields of all calls combined with the values below.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

import * as library from "../index.js";
import { freshDir } from "./conversation.mjs";

const { Concertina } = library;
const dir = freshDir();
const concertina = await Concertina.open({ dir });
after(() => concertina.close());

const thrower = () => {
  throw new Error("do not look");
};
const TRAPS = Object.fromEntries(
  Reflect.ownKeys(Reflect)
    .filter((key) => typeof key === "string")
    .map((key) => [key, thrower]),
);
const revoked = (of) => {
  const { proxy, revoke } = Proxy.revocable(of, {});
  revoke();
  return proxy;
};

/** Hostile values of a field. */
const HOSTILE = {
  "no prototype": () => Object.create(null),
  "throwing proxy": () => new Proxy({}, TRAPS),
  "throwing proxy of an array": () => new Proxy([], TRAPS),
  "throwing proxy of a function": () => new Proxy(() => "", TRAPS),
  "revoked proxy": () => revoked({}),
  "revoked proxy of an array": () => revoked([]),
  "throwing element": () => Object.defineProperty([1], 0, { get: thrower }),
  "endless iterable": () => ({
    *[Symbol.iterator]() {
      for (;;) yield "x";
    },
  }),
  "four billion elements": () => Object.assign([], { length: 2 ** 32 - 1 }),
  "a million and one elements": () => Object.assign([], { length: 1_000_001 }),
  "sparse array": () => Object.assign([], { 3: "x" }),
  "getter that throws": () => ({
    get a() {
      return thrower();
    },
    get role() {
      return thrower();
    },
  }),
  "toJSON that throws": () => ({ toJSON: thrower }),
  "toString that throws": () => ({ toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower }),
  bigint: () => 10n,
  symbol: () => Symbol("x"),
  function: () => () => 5,
  NaN: () => Number.NaN,
  Infinity: () => Infinity,
  "-1": () => -1,
  "1e30": () => 1e30,
  "2 ** 32": () => 2 ** 32,
  "2 ** 53": () => 2 ** 53,
  fraction: () => 0.5,
  null: () => null,
  "lone surrogate": () => "\ud800",
  "empty text": () => "",
  "object of another realm": () => vm.runInNewContext("({ a: 1 })"),
  "array of another realm": () => vm.runInNewContext("[1]"),
  "class instance": () =>
    new (class {
      #x = 1;
      get a() {
        return this.#x;
      }
    })(),
  date: () => new Date(Number.NaN),
  map: () => new Map([["a", 1]]),
  bytes: () => new Uint8Array(3),
};

const { signal } = new AbortController();
const message = { role: "user", content: "x" };
const who = { sessionId: "s", agentId: "main" };
const hints = { toolName: "exec", path: "a", command: "ls", contentType: "text", language: "rust" };
const rules = { level: 2, objective: "chars", maxChars: 500, abbreviations: { entries: { long: "l" } } };
const prices = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheTtlMs: 300_000, usdPerMillion: true };
const stage = { name: "mine", order: 20, apply: () => null, shouldApply: () => true };
const fusion = {
  hints,
  role: "tool",
  preset: "balanced",
  lossless: true,
  stages: { rle: false },
  encoding: "o200k_base",
  maxTokens: 5,
};
const substitutions = [{ long: "long", short: "l", count: 1 }];
const compressed = {
  messages: [message],
  originals: [{ data: Buffer.from("x"), mimeType: "image/png" }],
  report: { blocks: [] },
};
const options = {
  staleTurns: 4,
  storeMaxBytes: 2 ** 30,
  sccsStorageTtlSeconds: 86_400,
  sccsMaxEntries: 1000,
  maxDeferredTurns: 5,
  preset: "balanced",
  models: {},
  protect: ["tool:a"],
  fusion: { stages: {} },
  rules: { level: 2 },
};

/** Valid arguments of each export, with all fields. */
const FUNCTIONS = {
  agentOf: ["agent:main:x"],
  answerFetch: [
    concertina,
    { ref_ids: ["0123456789abcdef"], done: ["a"], lines: "1-2", chars: "1-2", pattern: "x", max_chars: 5 },
    { agentId: "main", sessionId: "s", maxChars: 500, form: "openai", signal },
  ],
  compress: ["x", { ...fusion, custom: [stage], signal }],
  compressAsync: ["x", { ...fusion, signal }],
  compressMessages: [[message], { ...fusion, roles: ["tool"], role: undefined, signal }],
  compressMessagesAsync: [[message], { roles: ["tool"], signal }],
  compressMessagesSync: [[message], { ...fusion, roles: ["tool"], role: undefined }],
  compressProse: ["x", { intensity: "lite", objective: "chars" }],
  compressProseAsync: ["x", { intensity: "lite", objective: "chars", signal }],
  compressProseSync: ["x", { intensity: "lite", objective: "chars" }],
  compressRules: [[{ name: "a.md", text: "x" }], rules],
  compressRulesAsync: [[{ name: "a.md", text: "x" }], { ...rules, signal }],
  compressRulesSync: [[{ name: "a.md", text: "x" }], rules],
  compressSync: ["x", { ...fusion, custom: [stage] }],
  countMessageTokens: [[message], { model: "m", encoding: "o200k_base" }],
  countTokens: ["x", { encoding: "o200k_base" }],
  createContextEngine: [
    concertina,
    {
      compact: async () => undefined,
      complain: () => undefined,
      pricesOf: () => undefined,
      redactor: async () => undefined,
    },
  ],
  createSccsIntegration: [
    { cfg: { dir }, logger: { warn: () => undefined }, agentId: "main", sessionKey: "k", sessionId: "s" },
  ],
  describe: [new Error("x")],
  describeError: [new Error("x")],
  detect: ["x", hints],
  expand: ["x", { substitutions }],
  migrate: [
    {
      from: { dir: path.join(dir, "from"), url: undefined, namespace: undefined, host: "h" },
      to: { dir: path.join(dir, "to"), url: undefined, namespace: undefined, host: "h" },
      progress: () => undefined,
    },
  ],
  preprocess: ["x", 2, { objective: "chars", maxChars: 500, abbreviations: rules.abbreviations }],
  preprocessAsync: ["x", 2, { objective: "chars", maxChars: 500, abbreviations: rules.abbreviations, signal }],
  preprocessSync: ["x", 2, { objective: "chars", maxChars: 500, abbreviations: rules.abbreviations }],
  protectedSpans: ["x"],
  redactPrivate: ["x"],
  repairToolPairing: [[message]],
  restore: ["x", compressed.originals],
  restoreMessages: [compressed],
  restoreReport: ["x", compressed.originals],
  scopeOf: [{ ...who, sessionKey: "k" }],
  squeeze: [[message], options],
  stages: [],
  summarize: ["x", { maxChars: 5, hints }],
  tokenize: ["x"],
};

/** The valid argument of each method of an open store, with all fields. */
const METHODS = {
  admitToolResult: {
    ...who,
    message: { role: "toolResult", content: "x" },
    toolName: "exec",
    args: { command: "x" },
    hostCutAt: 5,
    hostKeeps: 5,
    model: "m",
    redactor: (text) => text,
    now: 5,
    signal,
  },
  assemble: {
    ...who,
    messages: [message],
    tokenBudget: 5,
    model: "m",
    prices,
    promptCache: {},
    availableTools: ["x"],
    referOversize: true,
    turnBegins: true,
    prompt: "x",
    redactor: (text) => text,
    now: 5,
    signal,
  },
  check: { replaceDamaged: true, today: "2026-01-31", signal },
  commitTurn: { ...who, sessionKey: "k", advancementKey: "a", messages: [message], prices, now: 5, signal },
  endSession: { sessionId: "s", now: 5, signal },
  fetch: {
    ...who,
    refIds: ["0123456789abcdef"],
    done: ["a"],
    lines: "1",
    chars: "1",
    pattern: "x",
    maxChars: 5,
    now: 5,
    signal,
  },
  foldAll: { ...who, now: 5, signal },
  folded: { ...who, signal },
  figures: { sessionId: "s", since: 1, until: 2, signal },
  inherit: { parent: who, child: { sessionId: "t", agentId: "main" }, named: ["0123456789abcdef"], now: 5, signal },
  pin: { ...who, now: 5, signal },
  purge: { sessionId: "s", dry: true, signal },
  recordRules: { ...who, report: { tokensBefore: 2, tokensAfter: 1 }, now: 5, signal },
  restore: { ...who, refIds: ["0123456789abcdef"], now: 5, signal },
  search: { ...who, query: "x", maxChars: 5, now: 5, signal },
  settle: { sessionIds: ["s"], now: 5, signal },
  stats: { sessionId: "s", signal },
  switch: { ...who, off: false, now: 5, signal },
  sweep: { now: 5, signal },
  unfold: { ...who, messages: [message], now: 5, signal },
  unpin: { ...who, now: 5, signal },
};

/**
 * Yields every way to put one hostile value, or one throwing getter, at one place of some arguments, with the path to
 * that place.
 */
function* mutations(given, path = []) {
  for (const [kind, make] of Object.entries(HOSTILE)) yield { kind, path, value: make() };
  if (
    given === null ||
    typeof given !== "object" ||
    given instanceof Concertina ||
    Buffer.isBuffer(given) ||
    given instanceof Error
  )
    return;
  for (const key of Object.keys(given)) {
    const own = (value) =>
      Array.isArray(given) ? given.map((item, at) => (String(at) === key ? value : item)) : { ...given, [key]: value };
    for (const { kind, path: inner, value } of mutations(given[key], [...path, key]))
      yield { kind, path: inner, value: own(value) };
    const trapped = own(undefined);
    Object.defineProperty(trapped, key, { get: thrower, enumerable: true });
    yield { kind: "getter that throws there", path: [...path, key], value: trapped };
  }
}

/** The names that an error may contain if the whole argument is invalid. */
const NAMES = {
  0: ["text", "messages", "input", "options", "concertina", "files", "sessionKey", "given", "compressed"],
  1: ["options", "originals", "hints", "receipt", "level"],
  2: ["scope", "options"],
};

/** Returns the fault in the outcome of a call, or `undefined` if there is none. */
async function fault(about, call, path, given) {
  try {
    await call();
    return undefined;
  } catch (error) {
    const said = `${about}: ${error?.constructor?.name} ${error?.code} ${error?.message}`;
    if (!(error instanceof TypeError) || !["CONCERTINA_BAD_ARGUMENT", "CONCERTINA_BAD_REF_ID"].includes(error.code))
      return said;
    // This error shows the id instead of a field.
    if (error.code === "CONCERTINA_BAD_REF_ID") return undefined;
    // An element of a list is reported under the list's name. For an invalid object, a missing or an excess field is
    // reported.
    const named = path.filter((key) => !/^\d+$/.test(key));
    const place = path.slice(1).reduce((value, key) => value?.[key], given);
    const fields = place !== null && typeof place === "object" ? Object.keys(place) : [];
    const says =
      named.length === 0
        ? [...NAMES[path[0]], ...fields, "is not an option", "cannot be read", "a JSON value"]
        : [...named.slice(-2), ...fields];
    return says.some((name) => error.message.includes(name)) ? undefined : said;
  }
}

for (const [name, args] of Object.entries(FUNCTIONS)) {
  test(`${name} names each wrong argument in its error`, { timeout: 120_000 }, async () => {
    const faults = [];
    for (const [at, given] of args.entries()) {
      for (const { kind, path: place, value } of mutations(given, [String(at)])) {
        const mutated = args.with?.(at, value) ?? args.map((arg, index) => (index === at ? value : arg));
        faults.push(
          await fault(`${name}, ${kind} at ${place.join(".")}`, () => library[name](...mutated), place, given),
        );
      }
    }
    assert.deepEqual(faults.filter(Boolean), []);
  });
}

for (const [name, input] of Object.entries(METHODS)) {
  test(`a store's ${name} names each wrong argument in its error`, { timeout: 120_000 }, async () => {
    const faults = [];
    for (const { kind, path: place, value } of mutations(input, ["0"])) {
      // Errors thrown by a caller's function are the caller's.
      if (kind === "throwing proxy of a function" && place.at(-1) === "redactor") continue;
      faults.push(await fault(`${name}, ${kind} at ${place.join(".")}`, () => concertina[name](value), place, input));
    }
    assert.deepEqual(faults.filter(Boolean), []);
    const misspelt = { ...input, misspelt: 1 };
    await assert.rejects(concertina[name](misspelt), {
      name: "TypeError",
      code: "CONCERTINA_BAD_ARGUMENT",
      message: /^misspelt is not an option; it must be one of /,
    });
  });
}

test("open names each wrong option in its error", { timeout: 120_000 }, async () => {
  const input = { dir: path.join(dir, "other"), host: "h", retention: "host", today: "2026-01-31", signal, ...options };
  const faults = [];
  for (const { kind, path: place, value } of mutations(input, ["0"])) {
    faults.push(
      await fault(
        `open, ${kind} at ${place.join(".")}`,
        async () => (await Concertina.open(value)).close(),
        place,
        input,
      ),
    );
  }
  assert.deepEqual(faults.filter(Boolean), []);
});

test("the tables of this test list every function and method of the library", () => {
  const functions = Object.entries(library).filter(([, value]) => typeof value === "function" && value !== Concertina);
  assert.deepEqual(functions.map(([name]) => name).sort(), Object.keys(FUNCTIONS).sort());
  const methods = Object.getOwnPropertyNames(Concertina.prototype).filter(
    (name) => concertina[name]?.length > 0 || name in METHODS,
  );
  assert.deepEqual(methods.filter((name) => name !== "constructor").sort(), Object.keys(METHODS).sort());
});

/**
 * Covers the `structuredClone` of a Buffer, one of another realm, and a view of a part of a larger buffer.
 */
test("bytes from another realm are accepted as bytes", () => {
  const text = Array.from({ length: 400 }, (_, at) => `line ${at} took ${(at * 7919) % 977} ms`).join("\n");
  const { text: folded, originals } = library.compressSync(text, {
    custom: [{ name: "mine", order: 1, apply: () => "short\n" }],
  });
  assert.equal(originals.length, 1);
  const [{ data, ...rest }] = originals;
  const foreign = vm.runInNewContext("(bytes) => Uint8Array.from(bytes)")([...data]);
  const wide = Buffer.concat([Buffer.from("before"), data, Buffer.from("after")]);
  for (const bytes of [
    data,
    structuredClone(data),
    new Uint8Array(data),
    foreign,
    new Uint8Array(wide.buffer, wide.byteOffset + 6, data.length),
  ]) {
    assert.equal(library.restore(folded, [{ ...rest, data: bytes }]), text);
  }
});

test("errors that cross realms are recognised by their codes", () => {
  const script = fileURLToPath(new URL("realm.mjs", import.meta.url));
  assert.match(execFileSync(process.execPath, ["--no-warnings", script], { encoding: "utf8" }), /^right$/m);
});

test("under Node's permission model the binary is found, or the error names the missing flag", () => {
  const flag = ["--permission", "--experimental-permission"].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  const root = fileURLToPath(new URL("..", import.meta.url));
  const code = `import(${JSON.stringify(new URL("../index.js", import.meta.url).href)}).then(({ countTokens }) => console.log(countTokens("x"))).catch((error) => console.log(error.code, error.message))`;
  const run = (...allowed) =>
    execFileSync(process.execPath, ["--no-warnings", flag, `--allow-fs-read=${root}*`, ...allowed, "-e", code], {
      encoding: "utf8",
    });
  assert.equal(run("--allow-addons"), "1\n");
  assert.match(run(), /^CONCERTINA_NO_BINARY .*--allow-addons/);
});
