/**
 * The agents that `openclaw-concertina run` knows: how each is told the address of its provider. It is told by the
 * environment or the arguments of its own process, and no file of it is changed.
 */

import path from "node:path";

/** Variables that many clients and SDKs read. Agents that are not in the table get these. */
export function commonVariables(url: string): Record<string, string> {
  return { ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_BASE: `${url}/v1` };
}

/** An agent's command. */
export interface Agent {
  command: string;
  variables(url: string): Record<string, string>;
  /** Arguments to put before the user's. */
  args?(url: string): string[];
}

export const AGENTS: Agent[] = [
  { command: "claude", variables: (url) => ({ ANTHROPIC_BASE_URL: url }) },
  {
    command: "codex",
    variables: () => ({}),
    args: (url) =>
      [
        ["model_provider", "concertina"],
        ["model_providers.concertina.name", "OpenAI"],
        ["model_providers.concertina.base_url", `${url}/v1`],
        ["model_providers.concertina.env_key", "OPENAI_API_KEY"],
        ["model_providers.concertina.wire_api", "responses"],
      ].flatMap(([key, value]) => ["-c", `${key}="${value}"`]),
  },
  {
    command: "opencode",
    variables: (url) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: {
          anthropic: { options: { baseURL: `${url}/v1` } },
          openai: { options: { baseURL: `${url}/v1` } },
        },
      }),
    }),
  },
  {
    command: "pi",
    variables: (url) => ({ CONCERTINA_PROXY: url }),
    args: () => ["--extension", path.join(__dirname, "pi-extension.js")],
  },
  {
    command: "aider",
    variables: (url) => ({ ANTHROPIC_API_BASE: url, ANTHROPIC_BASE_URL: url, OPENAI_API_BASE: `${url}/v1` }),
  },
];
