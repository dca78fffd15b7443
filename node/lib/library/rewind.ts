/**
 * `rewind_retrieve` for agents outside OpenClaw: an OpenAI function-calling definition and its handler.
 *
 * The handler answers from the originals that `compress` and `compressMessages` returned in this process. It keeps up
 * to 64 MB of them and forgets the oldest first. A caller that needs them for longer stores `originals` itself or uses
 * a `Concertina`.
 */
import type { Original } from "./api.js";
import { object } from "../binding/arguments.js";
import { badArgument, reading } from "../binding/errors.js";

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

/** A tool call in the format of OpenAI's chat completions, or only its name and arguments. */
export type RewindCall =
  | { id?: string; function: { name: string; arguments: string } }
  | { id?: string; name: string; arguments: string | { hash: string } };

/** A tool call in the format of OpenAI's Responses API. */
export interface RewindItem {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

/** Returns the original with an id of 16 to 64 digits, or in a whole marker. */
function find(hash: string): Original | undefined {
  const id = /^(?:\[\[REWIND:sha256:|\[REF_ID: )?([0-9a-f]{16,64})(?:\]\]?)?$/i.exec(hash.trim())?.[1]?.toLowerCase();
  if (id === undefined) return undefined;
  const matches = [...kept.values()].filter(({ refId }) => refId.startsWith(id));
  return matches.length === 1 ? matches[0] : undefined;
}

/** Answers a call with the message or the item to append. Mistakes of the model are answered in words. */
interface Handler {
  (call: RewindItem): Promise<{ type: "function_call_output"; call_id: string; output: string }>;
  (call: RewindCall): Promise<{ role: "tool"; tool_call_id: string; content: string }>;
}

async function handle(call: RewindCall | RewindItem): Promise<object> {
  return reading("call", () => {
    object("call", call);
    const asked = object("call.function", "function" in call ? call.function : call);
    const named = asked as { name?: unknown; arguments?: unknown };
    if (named.name !== "rewind_retrieve") badArgument("name", named.name, '"rewind_retrieve"');
    const content = answer(named.arguments);
    if ("call_id" in call) return { type: "function_call_output", call_id: call.call_id, output: content };
    return { role: "tool", tool_call_id: call.id ?? "", content };
  });
}

/**
 * The tool's definition for a model and the handler of its calls. The Responses API takes the definition as
 * `{ type: "function", ...rewindTool.definition.function, strict: false }`.
 */
export const rewindTool = {
  definition: {
    type: "function" as const,
    function: {
      name: "rewind_retrieve",
      description:
        "Returns the original of a text that was shortened, byte for byte. Takes the id of its [[REWIND:sha256:<id>]] marker.",
      parameters: {
        type: "object",
        additionalProperties: false,
        required: ["hash"],
        properties: { hash: { type: "string", description: "The 16 to 64 hexadecimal digits of the marker" } },
      },
    },
  },
  handle: handle as Handler,
};

function answer(given: unknown): string {
  let read: { hash?: unknown } | null;
  try {
    read = (typeof given === "string" ? JSON.parse(given) : given) as { hash?: unknown } | null;
  } catch (error) {
    return `The arguments are not JSON (${(error as Error).message}); they must be {"hash": "<id>"}.`;
  }
  const hash = read?.hash;
  if (typeof hash !== "string")
    return 'The arguments have no string named hash; they must be {"hash": "<id>"}, with the 16 to 64 hexadecimal digits of the marker.';
  const original = find(hash);
  if (original?.mimeType !== undefined)
    return `The original is an image (${original.mimeType}), and a tool's answer is text. Asking again will not help.`;
  return (
    original?.data.toString("utf8") ??
    `No original is stored under ${JSON.stringify(hash.slice(0, 80))}. Asking again will not help; get the data from its source.`
  );
}
