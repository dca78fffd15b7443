// Messages of Anthropic's SDK, as it types them.
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { compressMessages, compressMessagesSync, Concertina, countMessageTokens, repairToolPairing, squeeze } from "openclaw-concertina";

export async function folded(messages: MessageParam[], concertina: Concertina, result: MessageParam): Promise<MessageParam[]> {
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
