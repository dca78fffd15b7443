// Uses the message types of Anthropic's SDK.
import type { Message, MessageParam, Tool, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import {
  answerFetch,
  compressMessages,
  compressMessagesSync,
  Concertina,
  countMessageTokens,
  FETCH_TOOL,
  fetchToolDescription,
  fetchToolParameters,
  repairToolPairing,
  squeeze,
} from "openclaw-concertina";

export async function folded(
  messages: MessageParam[],
  concertina: Concertina,
  result: MessageParam,
): Promise<MessageParam[]> {
  const squeezed: MessageParam[] = squeeze(messages, { staleTurns: 4 }).messages;
  const paired: MessageParam[] = repairToolPairing(squeezed).messages;
  const compressed: MessageParam[] = (await compressMessages(paired)).messages;
  const again: MessageParam[] = compressMessagesSync(compressed, { roles: ["tool"] }).messages;
  const { message } = await concertina.admitToolResult({ sessionId: "s", message: result });
  const assembled = await concertina.assemble({ sessionId: "s", messages: [...again, message] });
  const unfolded: MessageParam[] = (await concertina.unfold({ messages: assembled.messages })).messages;
  countMessageTokens(unfolded);
  // @ts-expect-error They are still Anthropic's messages, and not just anything.
  const numbers: number[] = assembled.messages;
  return numbers.length > 0 ? assembled.messages : unfolded;
}

export const tools: Tool[] = [
  { name: FETCH_TOOL, description: fetchToolDescription, input_schema: fetchToolParameters },
];

/** One step of the agent in docs/library.md. */
export async function step(
  concertina: Concertina,
  history: MessageParam[],
  callModel: (messages: MessageParam[]) => Promise<Message>,
): Promise<void> {
  const { messages } = await concertina.assemble({ sessionId: "s", messages: history });
  const { content } = await callModel(messages);
  history.push({ role: "assistant", content });
  const results: ToolResultBlockParam[] = [];
  for (const call of content.filter((block) => block.type === "tool_use")) {
    const answer = await answerFetch(concertina, call.input, { sessionId: "s", form: "anthropic" });
    const message = {
      role: "user" as const,
      content: [{ type: "tool_result" as const, tool_use_id: call.id, content: answer }],
    };
    const admitted = await concertina.admitToolResult({
      sessionId: "s",
      message,
      toolName: call.name,
      args: call.input,
    });
    results.push(...admitted.message.content);
  }
  if (results.length > 0) history.push({ role: "user", content: results });
}
