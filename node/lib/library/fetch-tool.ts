/** The tool `fetch_original_data`: its definition for hosts, and its handler. */
import type { Abortable, ContentBlock } from "./api.js";
import { SIGNAL } from "../binding/abort.js";
import {
  anything,
  count,
  identity,
  type Kind,
  list,
  nullable,
  oneOf,
  optional,
  string,
  taken,
  takenOf,
} from "../binding/arguments.js";
import { badArgument, isMisuse, reading } from "../binding/errors.js";
import { type Concertina, FETCH_CHARS } from "./concertina.js";

/** The name of the tool. */
export const FETCH_TOOL = "fetch_original_data";

/**
 * The parameters of the tool. The schema names only `ref_ids`, because an id may carry the part that is wanted, `done`,
 * and `query`, which without ids searches the session.
 */
export interface FetchToolParameters {
  ref_ids?: string[];
  query?: string;
  done?: string[];
  lines?: string;
  chars?: string;
  pattern?: string;
  max_chars?: number;
}

/**
 * The description of the tool, which the model reads in every request and which is therefore short. The first
 * placeholder of a session explains when to fetch.
 */
export const fetchToolDescription = "What was folded: id, id:41-80 (lines) or id:/regex/. done: ids no longer needed";

/** The JSON schema of the parameters. */
export const fetchToolParameters: {
  type: "object";
  properties: Record<"ref_ids" | "done", { type: "array"; items: { type: "string" } }> & { query: { type: "string" } };
} = {
  type: "object",
  properties: {
    ref_ids: { type: "array", items: { type: "string" } },
    query: { type: "string" },
    done: { type: "array", items: { type: "string" } },
  },
};

/** The tool as hosts register it, without the handler. */
export const FETCH_DEFINITION = {
  name: FETCH_TOOL,
  label: "Fetch original data",
  description: fetchToolDescription,
  parameters: fetchToolParameters,
  catalogMode: "direct-only",
} as const;

/** The caller of the tool. */
export interface FetchScope extends Abortable {
  agentId?: string;
  sessionId?: string;
  /**
   * The maximum number of characters that the host accepts as one tool result. A larger request of the model is cut to
   * it.
   */
  maxChars?: number;
}

/** A part of an answer in Anthropic's format. */
export type AnthropicBlock =
  | { type: "text"; text: string }
  | {
      type: "image";
      source: { type: "base64"; media_type: "image/gif" | "image/jpeg" | "image/png" | "image/webp"; data: string };
    };

/** A part of a user message in the format of OpenAI's chat completions. */
export type OpenAIPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/**
 * An answer for OpenAI's chat completions: the `content` of a `tool` message, which can hold text only. Images are in
 * `images`, a user message that must follow all tool messages that answer the same assistant message.
 */
export type OpenAIAnswer = string | { content: string; images: { role: "user"; content: OpenAIPart[] } };

/** A part of an answer in the format of OpenAI's Responses API. */
export type ResponsesPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" };

/**
 * Answers a call of the tool. The parameters may be an object or, as OpenAI passes them, JSON. `form` selects the
 * format. `"anthropic"`: blocks of Anthropic. `"openai"`: the content of a `tool` message and, if there are images, a
 * user message ({@link OpenAIAnswer}). `"responses"`: the output of an item, which is a string or, if there are images,
 * parts. Mistakes of the model are answered in words, so that it can call again.
 */
export async function answerFetch(
  concertina: Concertina,
  parameters: unknown,
  scope: FetchScope & { form: "responses" },
): Promise<string | ResponsesPart[]>;
export async function answerFetch(
  concertina: Concertina,
  parameters: unknown,
  scope: FetchScope & { form: "openai" },
): Promise<OpenAIAnswer>;
export async function answerFetch(
  concertina: Concertina,
  parameters: unknown,
  scope: FetchScope & { form: "anthropic" },
): Promise<AnthropicBlock[]>;
export async function answerFetch(
  concertina: Concertina,
  parameters: unknown,
  scope: FetchScope,
): Promise<ContentBlock[]>;
export async function answerFetch(
  concertina: Concertina,
  parameters: unknown,
  scope: FetchScope & { form?: unknown },
): Promise<OpenAIAnswer | (AnthropicBlock | ContentBlock | ResponsesPart)[]> {
  const isOpen = reading("concertina", () => typeof concertina?.fetch === "function");
  if (!isOpen) badArgument("concertina", concertina, "an open Concertina");
  const { agentId, sessionId, maxChars = FETCH_CHARS, form, signal } = taken("scope", scope, SCOPE);
  const content = await answerTo(concertina, parameters, { agentId, sessionId, maxChars, signal });
  if (form === "openai") return toOpenAI(content);
  if (form === "responses") return textIn(content) ?? content.map(toResponses);
  return form === "anthropic" ? content.map(toAnthropic) : content;
}

const SCOPE = {
  agentId: nullable(identity),
  sessionId: nullable(identity),
  maxChars: optional(count()),
  form: optional(oneOf("anthropic", "openai", "responses")),
  ...SIGNAL,
};

/** Joins an answer to one text. Returns undefined if it contains an image. */
function textIn(content: ContentBlock[]): string | undefined {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.length === content.length ? texts.join("\n\n") : undefined;
}

function toOpenAI(blocks: ContentBlock[]): OpenAIAnswer {
  const images = blocks.flatMap((block) => (block.type === "text" ? [] : [block]));
  if (images.length === 0) return textIn(blocks) ?? "";
  const said =
    images.length === 1 ? "The image follows in a user message." : `${images.length} images follow in a user message.`;
  const texts = blocks.filter(({ type }) => type === "text");
  const content = textIn([...texts, { type: "text", text: said }]) ?? "";
  const parts = images.map(({ mimeType, data }): OpenAIPart => ({
    type: "image_url",
    image_url: { url: `data:${mimeType};base64,${data}` },
  }));
  return { content, images: { role: "user", content: parts } };
}

function toResponses(block: ContentBlock): ResponsesPart {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", image_url: `data:${block.mimeType};base64,${block.data}`, detail: "auto" };
}

/** A string. Some models send null for an absent value and `41` for `"41"`. */
const text: Kind<string> = (name, value) => string(name, typeof value === "number" ? String(value) : value);

const PARAMETERS = {
  ref_ids: nullable(list(text, "an array of ids")),
  query: nullable(text),
  done: nullable(list(text, "an array of ids")),
  lines: nullable(text),
  chars: nullable(text),
  pattern: nullable(text),
  max_chars: anything,
};

/** Returns the model's parameters, parsed if the provider passes them as JSON. */
function parsed(parameters: unknown): unknown {
  if (typeof parameters !== "string") return parameters;
  try {
    return JSON.parse(parameters);
  } catch (error) {
    badArgument("the arguments", parameters, `JSON (${(error as Error).message})`);
  }
}

async function answerTo(
  concertina: Concertina,
  parameters: unknown,
  { maxChars, ...asks }: FetchScope & { maxChars: number },
): Promise<ContentBlock[]> {
  try {
    const {
      ref_ids: refIds,
      query: words,
      max_chars: most,
      ...wanted
    } = takenOf("the arguments", parsed(parameters) ?? {}, PARAMETERS);
    // Some models send an empty string for an absent value.
    const query = words?.trim() || undefined;
    if (refIds === undefined && query === undefined && wanted.done === undefined)
      badArgument("ref_ids", refIds, "an array of ids");
    const { content } = await concertina.fetch({
      ...asks,
      ...wanted,
      refIds,
      query,
      maxChars: charsOf(most, maxChars),
    });
    // Providers refuse lone surrogates. `fetch` returns them.
    return content.map((block) => (block.type === "text" ? { ...block, text: block.text.toWellFormed() } : block));
  } catch (error) {
    if (isMisuse(error)) return [{ type: "text", text: error.message }];
    throw error;
  }
}

function toAnthropic(block: ContentBlock): AnthropicBlock {
  if (block.type === "text") return block;
  return { type: "image", source: { type: "base64", media_type: block.mimeType as "image/png", data: block.data } };
}

function charsOf(asked: unknown, most: number): number {
  return Math.min(nullable(count(1, most))("max_chars", asked) ?? most, most);
}
