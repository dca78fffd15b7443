// The three provider dialects of the scripted model: parsing a request into rows, and writing an answer as a stream.

const text = (content) =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");

/**
 * Returns one row per message: role, text, tool calls, tool results, images (their base64). Rows of all dialects have
 * the same form, so scenarios and assertions are independent of the dialect.
 */
export function readRows(body) {
  if (body.input !== undefined) return [row("system", { text: body.instructions ?? "" }), ...body.input.map(readItem)];
  const rows = [];
  if (body.system !== undefined) rows.push(row("system", { text: text(body.system) }));
  for (const message of body.messages ?? []) {
    if (message.role === "tool") {
      rows.push(row("tool", { results: [{ id: message.tool_call_id, text: text(message.content) }] }));
      continue;
    }
    const parts = Array.isArray(message.content) ? message.content : [{ type: "text", text: message.content ?? "" }];
    const found = row(message.role, { text: text(parts.filter((part) => part.type === "text")) });
    for (const part of parts) readPart(found, part);
    for (const call of message.tool_calls ?? []) {
      found.calls.push({ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments || "{}") });
    }
    rows.push(found);
  }
  return rows;
}

function row(role, fields) {
  return { role, text: "", calls: [], results: [], images: [], ...fields };
}

/** Reads an item of the Responses API. Scripts and commands have an `input` there instead of JSON arguments. */
function readItem({ type, role, content, call_id: id, name, arguments: json, input, output }) {
  if (type === "message") return row(role, { text: text(content) });
  if (type === "function_call") return row("assistant", { calls: [{ id, name, args: JSON.parse(json || "{}") }] });
  if (type === "custom_tool_call") return row("assistant", { calls: [{ id, name, args: { input } }] });
  return row("tool", { results: output === undefined ? [] : [{ id, text: text(output) }] });
}

function readPart(found, part) {
  if (part.type === "tool_use") found.calls.push({ id: part.id, name: part.name, args: part.input });
  if (part.type === "image_url") found.images.push(part.image_url.url.replace(/^data:[^,]*,/, ""));
  if (part.type === "image") found.images.push(part.source.data);
  if (part.type !== "tool_result") return;
  found.results.push({ id: part.tool_use_id, text: text(part.content) });
  for (const inner of Array.isArray(part.content) ? part.content : []) readPart(found, inner);
}

/** Returns the names of the tools that a request offers, without the namespaces of the Responses API. */
export function readTools(body) {
  return (body.tools ?? [])
    .flatMap((tool) => tool.tools ?? [tool])
    .map((tool) => tool.function?.name ?? tool.name ?? tool.type);
}

/** Returns the approximate number of tokens of an answer. */
const tokensOf = (answer) => Math.ceil(JSON.stringify(answer).length / 4);

/**
 * Streams an answer: `{ text, calls: [{ id, name, args }] }`, or one of both. `tokens` is the size of the prompt, of
 * which `cached` tokens were in the cache.
 */
export function streamOpenAi(response, model, answer, tokens, cached) {
  const written = tokensOf(answer);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const frame = (fields) =>
    `data: ${JSON.stringify({ id: "chat", object: "chat.completion.chunk", created: 0, model, ...fields })}\n\n`;
  const choice = (delta, finish_reason = null) => frame({ choices: [{ index: 0, delta, finish_reason }] });
  const tool_calls = answer.calls?.map(({ id, name, args }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  response.write(choice({ role: "assistant", content: answer.text ?? "", ...(tool_calls && { tool_calls }) }));
  response.write(choice({}, tool_calls ? "tool_calls" : "stop"));
  response.write(
    frame({
      choices: [],
      usage: {
        prompt_tokens: tokens,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens: written,
        total_tokens: tokens + written,
      },
    }),
  );
  response.end("data: [DONE]\n\n");
}

/** Streams an answer in the Anthropic dialect, after a `thought` if there is one. */
export function streamAnthropic(response, model, answer, tokens, cached) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, fields = {}) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const written = tokensOf(answer);
  const usage = {
    input_tokens: 0,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: tokens - cached,
    output_tokens: written,
  };
  send("message_start", {
    message: {
      id: "msg",
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  });
  const blocks =
    answer.calls?.map(({ id, name, args }) => [
      { type: "tool_use", id, name, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(args) },
    ]) ?? [];
  if (answer.text !== undefined)
    blocks.unshift([
      { type: "text", text: "" },
      { type: "text_delta", text: answer.text },
    ]);
  if (answer.thought) {
    const { thinking, signature } = answer.thought;
    blocks.unshift([
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ]);
  }
  blocks.forEach(([content_block, ...deltas], index) => {
    send("content_block_start", { index, content_block });
    for (const delta of deltas) send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  });
  const stop_reason = answer.calls ? "tool_use" : "end_turn";
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: written } });
  send("message_stop");
  response.end();
}

/**
 * Streams an answer of OpenAI's Responses API. A call may have a `namespace`. A call with `input` has no arguments.
 */
export function streamResponses(response, _model, answer, tokens, cached) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const written = tokensOf(answer);
  const items = (answer.calls ?? []).map(({ id: call_id, name, namespace, args, input }) =>
    input === undefined
      ? { type: "function_call", id: `item_${call_id}`, call_id, name, namespace, arguments: JSON.stringify(args) }
      : { type: "custom_tool_call", id: `item_${call_id}`, call_id, name, input },
  );
  if (answer.text !== undefined)
    items.unshift({
      type: "message",
      id: `item_${tokens}`,
      role: "assistant",
      content: [{ type: "output_text", text: answer.text }],
    });
  send("response.created", { response: { id: "response" } });
  items.forEach((item, output_index) => {
    send("response.output_item.added", { output_index, item });
    send("response.output_item.done", { output_index, item });
  });
  const usage = {
    input_tokens: tokens,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens + written,
  };
  send("response.completed", { response: { id: "response", usage } });
  response.end();
}
