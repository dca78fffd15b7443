// Uses the item and tool types of OpenAI's SDK for the Responses API.
import type {
  FunctionTool,
  ResponseFunctionToolCall,
  ResponseInput,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import {
  answerFetch,
  compressMessages,
  Concertina,
  countMessageTokens,
  FETCH_TOOL,
  fetchToolDescription,
  fetchToolParameters,
  repairToolPairing,
  restoreMessages,
  rewindTool,
  squeeze,
} from "openclaw-concertina";

export const tools: FunctionTool[] = [
  { type: "function", ...rewindTool.definition.function, strict: false },
  {
    type: "function",
    name: FETCH_TOOL,
    description: fetchToolDescription,
    parameters: fetchToolParameters,
    strict: false,
  },
];

export async function answered(call: ResponseFunctionToolCall, concertina: Concertina): Promise<ResponseInputItem> {
  if (call.name !== FETCH_TOOL) return rewindTool.handle(call);
  const output = await answerFetch(concertina, call.arguments, { sessionId: "s", form: "responses" });
  return { type: "function_call_output", call_id: call.call_id, output };
}

export async function folded(
  input: ResponseInput,
  concertina: Concertina,
  result: ResponseInputItem.FunctionCallOutput,
): Promise<ResponseInput> {
  const squeezed: ResponseInput = squeeze(input).messages;
  const paired: ResponseInput = repairToolPairing(squeezed).messages;
  const compressed = await compressMessages(paired, { preset: "lossless" });
  const restored: ResponseInput = restoreMessages(compressed);
  const { message } = await concertina.admitToolResult({ sessionId: "s", message: result });
  const assembled = await concertina.assemble({ sessionId: "s", messages: [...restored, message] });
  const unfolded: ResponseInput = (await concertina.unfold({ messages: assembled.messages })).messages;
  countMessageTokens(unfolded);
  // @ts-expect-error They are still OpenAI's items, and not just anything.
  const numbers: number[] = assembled.messages;
  return numbers.length > 0 ? assembled.messages : unfolded;
}
