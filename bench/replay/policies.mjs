// The policies for sending a session. Each is an engine with three methods: `admit` for a new result, `assemble` for a
// history, and `send` for an assembled request. In mode "host" `send` runs before every call, but `assemble` does not.
// An engine that keeps originals has `fetch`; `fetchesByRange` is false if its tool returns only whole originals. If an
// engine has `ask`, it tells it what the agent fetches.
//
// The reference engines implement what their authors publish, not their code: the figures show the cost of the idea.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { Concertina, countTokens, squeeze, summarize } from "openclaw-concertina";

import { isResult } from "../../dist/node/lib/recall/transcript.js";
import { hostPruning, serverClearing, softTrimmed, trimmable } from "./pruning.mjs";
import { withTexts } from "./texts.mjs";

const require = createRequire(import.meta.url);
const { HOST_DEFAULTS } = require("../../dist/node/lib/library/host-defaults.js");
const { FETCH_TOOL_JSON } = require("../../dist/node/lib/binding/finished-turn.js");

/** An id in a placeholder. */
const ID = /\[REF_ID: ([0-9a-f]{16,64})\]/g;

const plain = {
  overhead: 0,
  admit: (message) => message,
  assemble: (messages) => messages,
  send: (messages) => messages,
  close() {},
};

/**
 * References only, as in SCCS: a result of more than 3,000 characters is sent as an id and a summary of 300 characters
 * from birth.
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
  // The authors' fetch tool returns the whole original.
  return { ...plain, admit, fetchesByRange: false, fetch: async (id) => originals.get(id) };
}

/** OpenClaw's own soft trim, without its conditions on age and context size. */
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

/** Concertina with its own store, or with that of a database. Its tool is billed with every request. */
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
    /** Fetches the originals of messages as the agent would. The answers are not in the history. */
    async ask(messages) {
      const refIds = messages.flatMap((message) => [...JSON.stringify(message).matchAll(ID)].map(([, id]) => id));
      if (refIds.length > 0) await opened.fetch({ sessionId, refIds, now: last });
    },
    async fetch(id, { whole, ...range }) {
      // Without a session, so that measuring has no effect on the replay.
      const { content, found } = await opened.fetch({
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

/** Every policy by name. `priced` ones depend on prices, so they are replayed for each price point. */
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
