/** The usage that a provider or a host states for a model call, in the fields of OpenClaw, Anthropic and OpenAI. */

/** The tokens of a model call. */
export interface Usage {
  /** Tokens of the prompt that were neither read from the cache nor written to it. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** Tokens of the answer. */
  output: number;
  /** True if most of what was written to the cache lives for an hour. */
  livesAnHour: boolean;
}

/** Reads the usage of a message. Returns undefined if it states no prompt. */
export function usageOf(usage: unknown): Usage | undefined {
  const stated = (usage ?? {}) as Record<string, unknown>;
  const first = (...names: string[]) => names.map((name) => tokensIn(stated, name)).find((tokens) => tokens > 0) ?? 0;
  const cached = Math.max(
    tokensIn(stated.prompt_tokens_details, "cached_tokens"),
    tokensIn(stated.input_tokens_details, "cached_tokens"),
  );
  // The input of OpenAI includes the cached tokens; that of the others does not.
  const isWhole = first("prompt_tokens") > 0 || stated.input_tokens_details !== undefined;
  const [cacheRead, cacheWrite] = [
    first("cacheRead", "cache_read_input_tokens") || cached,
    first("cacheWrite", "cache_creation_input_tokens"),
  ];
  const input = first("input", "input_tokens", "prompt_tokens") - (isWhole ? cached : 0);
  const hour = Math.max(tokensIn(stated.cache_creation, "ephemeral_1h_input_tokens"), first("cacheWrite1h"));
  const output = first("output", "output_tokens", "completion_tokens");
  if (input + cacheRead + cacheWrite <= 0) return undefined;
  return { input: Math.max(0, input), cacheRead, cacheWrite, output, livesAnHour: hour * 2 > cacheWrite };
}

/** Returns all tokens of the prompt. */
export const promptOf = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite;

/** Returns the usage of an agent that states all tokens of the prompt, including those of the cache. */
export function usageOfPrompt(
  prompt: number,
  { output = 0, cacheRead = 0, cacheWrite = 0 }: { output?: number; cacheRead?: number; cacheWrite?: number },
): object {
  return { input: Math.max(0, prompt - cacheRead - cacheWrite), output, cacheRead, cacheWrite };
}

function tokensIn(of: unknown, name: string): number {
  const value = (of as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
