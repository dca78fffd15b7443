// The ways of sending a session. Each is an engine with two moments: `admit` a result when it is born, `assemble` a history before it is sent.
//
// The reference engines follow what their authors publish, not their code: the figures show what the idea costs.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { Concertina, countTokens, squeeze, summarize } from "openclaw-concertina";

import { isResult } from "./transcript.mjs";

const require = createRequire(import.meta.url);
const tool = require("../../dist/node/lib/fetch-tool.js");
const { PLUGIN_DEFAULTS } = require("../../dist/plugin/defaults.js");

/** The message with each of its texts replaced by what `change` makes of it; the same object where nothing changed. */
function mapTexts(message, change) {
  const { content } = message;
  if (typeof content === "string") {
    const text = change(content);
    return text === content ? message : { ...message, content: text };
  }
  if (!Array.isArray(content)) return message;
  const mapped = content.map((block) => {
    if (block?.type === "tool_result") return mapTexts(block, change);
    if (typeof block?.text !== "string") return block;
    const text = change(block.text);
    return text === block.text ? block : { ...block, text };
  });
  return mapped.every((block, index) => block === content[index]) ? message : { ...message, content: mapped };
}

const plain = { price: false, overhead: 0, admit: (message) => message, assemble: (messages) => messages, close() {} };

/** References only, as SCCS does it: a result of more than 3,000 characters is sent as an id and 300 characters of summary from birth. */
function references() {
  const admit = (message) =>
    mapTexts(message, (text) => {
      if (text.length <= 3000) return text;
      const id = createHash("sha256").update(text).digest("hex").slice(0, 16);
      return `[REF_ID: ${id}]\n${summarize(text, { maxChars: 300, hints: { toolName: message.toolName } })}`;
    });
  return { ...plain, admit };
}

/**
 * OpenClaw's own soft trim, without the gates on age and size of the context that it has besides: results before the third-last message
 * of the assistant and of more than 4,000 characters keep their first and last 1,500.
 */
function softTrim() {
  const trimmed = new WeakMap();
  const trim = (message) => {
    if (!trimmed.has(message)) {
      trimmed.set(message, mapTexts(message, (text) => {
        if (text.length <= 4000) return text;
        const note = `[Tool result trimmed: kept first 1500 chars and last 1500 chars of ${text.length} chars.]`;
        return `${text.slice(0, 1500)}\n...\n${text.slice(-1500)}\n\n${note}`;
      }));
    }
    return trimmed.get(message);
  };
  const assemble = (messages) => {
    let [cutoff, left] = [messages.length, 3];
    while (cutoff > 0 && left > 0) if (messages[--cutoff].role === "assistant") left--;
    return messages.map((message, index) => (index < cutoff && isResult(message) ? trim(message) : message));
  };
  return { ...plain, assemble };
}

/** Tokens of the fetch tool's definition, which every request carries. */
const toolTokens = () =>
  countTokens(JSON.stringify({ name: tool.FETCH_TOOL, description: tool.fetchToolDescription, parameters: tool.fetchToolParameters }));

/** Concertina with a store of its own. Its guidance and its tool are billed with every request. */
async function concertina({ config, schedule, prices }) {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-replay-"));
  const opened = await Concertina.open({ ...config, schedule, dir });
  const sessionId = "replay";
  const warned = (report) => {
    if (report.warning) throw new Error(`the store failed during the replay: ${report.warning.message}`);
  };
  const empty = await opened.assemble({ sessionId: "guidance", messages: [], now: 0 });
  return {
    overhead: countTokens(empty.systemPromptAddition ?? "") + toolTokens(),
    async admit(message, args, now) {
      const admitted = await opened.admitToolResult({ sessionId, message, args, now });
      warned(admitted.report);
      return admitted.message;
    },
    async assemble(messages, now) {
      const assembled = await opened.assemble({ sessionId, messages, prices, now });
      warned(assembled.report);
      return assembled.messages;
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
  squeeze: { title: "squeeze() on each call (ClawSqueezer)", open: () => ({ ...plain, assemble: (messages) => squeeze(messages).messages }) },
  trim: { title: "soft trim (OpenClaw)", open: softTrim },
  "every-turn": { title: "Concertina, every turn", open: (options) => concertina({ ...options, schedule: "every-turn" }) },
  "cache-aware": {
    title: "Concertina, cache-aware",
    priced: true,
    open: ({ config, prices }) => concertina({ config: { ...PLUGIN_DEFAULTS, ...config }, schedule: "cache-aware", prices }),
  },
};
