/**
 * `rewind_retrieve` for agents outside OpenClaw: an OpenAI function-calling definition and its handler.
 *
 * It answers from the originals that this process's `compress` and `compressMessages` calls returned: up to 64 MB of them, the
 * oldest forgotten first. Whoever needs them longer keeps `originals`, or uses a `Concertina`.
 */
import type { Original } from "./api.js";
import { badArgument, needObject } from "./errors.js";

const LIMIT_BYTES = 64 << 20;
const kept = new Map<string, Original>();
let bytes = 0;

/** Keeps an original for the handler. */
export function remember(original: Original): void {
  if (kept.delete(original.refId)) bytes -= original.data.length;
  kept.set(original.refId, original);
  bytes += original.data.length;
  for (const [refId, oldest] of kept) {
    if (bytes <= LIMIT_BYTES) break;
    kept.delete(refId);
    bytes -= oldest.data.length;
  }
}

/** A tool call as OpenAI sends it, or its name and arguments alone. */
export type RewindCall =
  | { id?: string; function: { name: string; arguments: string } }
  | { id?: string; name: string; arguments: string | { hash: string } };

/** The original behind an id of 16 to 64 digits, or behind a whole marker. */
function find(hash: string): Original | undefined {
  const id = /^(?:\[\[REWIND:sha256:)?([0-9a-f]{16,64})(?:\]\])?$/i.exec(hash.trim())?.[1]?.toLowerCase();
  if (id === undefined) return undefined;
  const matches = [...kept.values()].filter(({ refId }) => refId.startsWith(id));
  return matches.length === 1 ? matches[0] : undefined;
}

/** The definition that a model is shown and the handler of its calls. */
export const rewindTool = {
  definition: {
    type: "function" as const,
    function: {
      name: "rewind_retrieve",
      description: "Returns the original of a text that was shortened, byte for byte. Takes the id of its [[REWIND:sha256:<id>]] marker.",
      parameters: {
        type: "object",
        additionalProperties: false,
        required: ["hash"],
        properties: { hash: { type: "string", description: "The 16 to 64 hexadecimal digits of the marker" } },
      },
    },
  },
  /** Answers a call with the message to append. What the model got wrong is answered in words. */
  async handle(call: RewindCall): Promise<{ role: "tool"; tool_call_id: string; content: string }> {
    needObject("call", call);
    const { name, arguments: given } = "function" in call ? call.function : call;
    if (name !== "rewind_retrieve") badArgument("name", name, '"rewind_retrieve"');
    return { role: "tool", tool_call_id: call.id ?? "", content: answer(given) };
  },
};

function answer(given: string | { hash: string }): string {
  let read: { hash?: unknown } | null;
  try {
    read = (typeof given === "string" ? JSON.parse(given) : given) as { hash?: unknown } | null;
  } catch (error) {
    return `The arguments are no JSON (${(error as Error).message}); they must be {"hash": "<id>"}.`;
  }
  const hash = read?.hash;
  if (typeof hash !== "string") return 'The arguments have no hash that is a string; they must be {"hash": "<id>"}, with the 16 to 64 hexadecimal digits of the marker.';
  return find(hash)?.data.toString("utf8") ??
    `No original is kept under ${JSON.stringify(hash.slice(0, 80))}. Asking again will not help; get the data from its source.`;
}
