// The ways of sending a session. Each is an engine with three moments: `admit` a result when it is born, `assemble` a
// history, and `send` what was assembled, which in mode "host" comes before every call while assembling does not. An
// engine that keeps originals has `fetch`.
//
// The reference engines follow what their authors publish, not their code: the figures show what the idea costs.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { Concertina, countTokens, squeeze, summarize } from "openclaw-concertina";

import { hostPruning, serverClearing, softTrimmed, trimmable } from "./pruning.mjs";
import { isResult, withTexts } from "./transcript.mjs";

const require = createRequire(import.meta.url);
const { HOST_DEFAULTS } = require("../../dist/node/lib/library/host-defaults.js");
const { FETCH_TOOL_JSON } = require("../../dist/node/lib/binding/finished-turn.js");

const plain = {
  overhead: 0,
  admit: (message) => message,
  assemble: (messages) => messages,
  send: (messages) => messages,
  close() {},
};

/**
 * References only, as SCCS does it: a result of more than 3,000 characters is sent as an id and 300 characters of
 * summary from birth.
 */
function references() {
  const originals = new Map();
  const admit = (message) =>
    withTexts(message, (text) => {
      if (text.length <= 3000) return text;
      const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
      originals.set(id, text);
      return `[REF_ID: ${id}]\n${summarize(text, { maxChars: 300, hints: { toolName: message.toolName } })}`;
    });
  // Its authors' fetch tool answers with the whole original.
  return { ...plain, admit, fetch: async (id) => originals.get(id) };
}

/** OpenClaw's own soft trim, without the gates on age and size of the context that it has besides. */
function softTrim() {
  const trimmed = new WeakMap();
  const trim = (message) => {
    if (!trimmed.has(message)) trimmed.set(message, withTexts(message, softTrimmed));
    return trimmed.get(message);
  };
  const assemble = (messages) => {
    const cutoff = trimmable(messages);
    return messages.map((message, index) => (index < cutoff && isResult(message) ? trim(message) : message));
  };
  return { ...plain, assemble };
}

/** Concertina with a store of its own, or that of a database. Its tool is billed with every request. */
async function concertina({ config, schedule, prices, model }) {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-replay-"));
  const opened = await Concertina.open({ ...(config.url === undefined ? { dir } : {}), ...config, schedule });
  const sessionId = "replay";
  const warned = (report) => {
    if (report.warning) throw new Error(`the store failed during the replay: ${report.warning.message}`);
  };
  let last = 0;
  return {
    ...plain,
    overhead: countTokens(FETCH_TOOL_JSON),
    async admit(message, call, now) {
      const admitted = await opened.admitToolResult({ sessionId, message, ...call, now });
      warned(admitted.report);
      return admitted.message;
    },
    async assemble(messages, now, turnBegins = false) {
      last = now;
      const assembled = await opened.assemble({ sessionId, messages, turnBegins, model, prices, now });
      warned(assembled.report);
      return assembled.messages;
    },
    async fetch(id, { whole, ...range }) {
      const { content, found } = await opened.fetch({
        sessionId,
        refIds: [id],
        ...range,
        now: last,
        ...(whole ? { maxChars: 2 ** 31 - 1 } : {}),
      });
      return found > 0 ? content.map((block) => block.text ?? "").join("\n") : undefined;
    },
    async close() {
      await opened.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Every policy by name. `priced` ones look at prices, so they are replayed for each price point. */
export const POLICIES = {
  never: { title: "never touch", open: () => plain },
  references: { title: "references only (SCCS)", open: references },
  squeeze: {
    title: "squeeze() on each call (ClawSqueezer)",
    open: () => ({ ...plain, assemble: (messages) => squeeze(messages).messages }),
  },
  trim: { title: "soft trim (OpenClaw)", open: softTrim },
  "server-clearing": {
    title: "server clearing (Anthropic, via OpenClaw)",
    open: (options) => ({ ...plain, ...serverClearing(options) }),
  },
  "host-pruning": {
    title: "host pruning (OpenClaw cache-ttl)",
    open: (options) => ({ ...plain, ...hostPruning(options) }),
  },
  "every-turn": {
    title: "Concertina, every turn",
    open: (options) => concertina({ ...options, schedule: "every-turn" }),
  },
  "cache-aware": {
    title: "Concertina, cache-aware",
    priced: true,
    open: ({ config, ...moment }) =>
      concertina({ ...moment, config: { ...HOST_DEFAULTS, ...config }, schedule: "cache-aware" }),
  },
};
