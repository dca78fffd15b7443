/** What of a finished turn the figures need: which calls were made, and what the provider said of them. */
import type { AnyMessage, Message } from "./api.js";
import { FETCH_TOOL, fetchToolDescription, fetchToolParameters } from "./fetch-tool.js";

/** The fetch tool as a request holds it. */
export const FETCH_TOOL_JSON = JSON.stringify({ name: FETCH_TOOL, description: fetchToolDescription, parameters: fetchToolParameters });

interface Usage {
  input?: unknown;
  cacheRead?: unknown;
  cacheWrite?: unknown;
}

/** The messages of a turn; without their texts where every answer says what the provider counted, so that nothing large crosses. */
export function toRecord(given: readonly AnyMessage[]): Message[] {
  const messages = given as readonly Message[];
  const answers = messages.filter(({ role }) => role === "assistant");
  return answers.every(isMeasured) ? answers.map(bare) : [...messages];
}

function isMeasured({ usage }: Message): boolean {
  const { input, cacheRead, cacheWrite } = (usage ?? {}) as Usage;
  return [input, cacheRead, cacheWrite].some((tokens) => typeof tokens === "number" && tokens > 0);
}

function bare({ role, timestamp, model, provider, stopReason, usage, content }: Message): Message {
  const parts = Array.isArray(content) ? (content as ({ type?: unknown; name?: unknown } | null)[]) : [];
  const calls = parts.filter((part) => typeof part?.name === "string").map((part) => ({ type: part?.type, id: "", name: part?.name, arguments: {} }));
  return { role, timestamp, model, provider, stopReason, usage, content: calls };
}
