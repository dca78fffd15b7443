// Uses the message and tool types of OpenAI's SDK.
import type {
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";
import {
  compressMessages,
  Concertina,
  countMessageTokens,
  repairToolPairing,
  rewindTool,
  squeeze,
} from "openclaw-concertina";

export const tools: ChatCompletionTool[] = [rewindTool.definition];

export async function answered(call: ChatCompletionMessageFunctionToolCall): Promise<ChatCompletionMessageParam> {
  return rewindTool.handle(call);
}

export async function folded(
  messages: ChatCompletionMessageParam[],
  concertina: Concertina,
): Promise<ChatCompletionMessageParam[]> {
  const squeezed: ChatCompletionMessageParam[] = squeeze(messages).messages;
  const paired: ChatCompletionMessageParam[] = repairToolPairing(squeezed).messages;
  const compressed = await compressMessages(paired, { preset: "lossless" });
  const assembled = await concertina.assemble({ sessionId: "s", messages: compressed.messages });
  const unfolded: ChatCompletionMessageParam[] = (await concertina.unfold({ messages: assembled.messages })).messages;
  countMessageTokens(unfolded);
  // @ts-expect-error They are still OpenAI's messages, and not just anything.
  const numbers: number[] = assembled.messages;
  return numbers.length > 0 ? assembled.messages : unfolded;
}
