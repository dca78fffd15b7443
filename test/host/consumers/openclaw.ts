// Uses the message and engine types of OpenClaw's plugin SDK.
import type { AgentMessage } from "openclaw/plugin-sdk/agent-harness-runtime" with { "resolution-mode": "import" };
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/core" with { "resolution-mode": "import" };
import { compressMessages, Concertina, createContextEngine, createSccsIntegration, squeeze } from "openclaw-concertina";

/** The host's own engine, and its function for compaction. */
type HostEngine = Awaited<ReturnType<Parameters<OpenClawPluginApi["registerContextEngine"]>[1]>>;
type Compact = typeof import(
  "openclaw/plugin-sdk/core",
  { with: { "resolution-mode": "import" } }
).delegateCompactionToRuntime;

export function register(api: OpenClawPluginApi, concertina: Concertina, compact: Compact, engine: HostEngine): void {
  api.registerContextEngine("folding", () => createContextEngine(concertina, { compact }));
  const integration = createSccsIntegration({ cfg: { sccsCompressThreshold: 5000 }, logger: api.logger });
  api.registerContextEngine("wrapped", () => integration.wrapContextEngine(engine));
  api.registerTool(integration.tool);
}

export async function folded(messages: AgentMessage[], concertina: Concertina): Promise<AgentMessage[]> {
  const squeezed: AgentMessage[] = squeeze(messages).messages;
  const compressed: AgentMessage[] = (await compressMessages(squeezed)).messages;
  const assembled = await concertina.assemble({ sessionId: "s", messages: compressed });
  // @ts-expect-error They are still the host's messages, and not just anything.
  const numbers: number[] = assembled.messages;
  return numbers.length > 0 ? assembled.messages : squeezed;
}
