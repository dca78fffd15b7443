// A scripted model on loopback that records every request.

import { once } from "node:events";
import http from "node:http";

import { readRows, readTools, streamAnthropic, streamOpenAi, streamResponses } from "./dialects.mjs";
import { partsOf, sharedParts } from "./reading.mjs";

/** The beginning of the host's prompt for a sub-agent. */
const SUBAGENT = "[Subagent Context]";

/** The stream writers by the end of the path. Everything else uses OpenAI's older dialect. */
const STREAMS = { messages: streamAnthropic, responses: streamResponses };

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/**
 * Starts the model. A test calls `play(steps)` before a turn, and each request of that turn takes the next step: an
 * array of `{ name, args }` (concurrent tool calls), a string (the reply), `{ thinks, says, calls }` with any of the
 * three, or a function from the request to one of these. Requests of a sub-agent take their steps from
 * `play(steps, delegated)`. `left()` returns the number of steps that were not requested yet.
 *
 * With `signatures` the model thinks before each answer. A request that {@link Signatures} refuses is answered with an
 * error and kept in `refused`.
 *
 * `requests` contains `{ body, chars, rows, tools, tokens, cached }` of the agent's requests, in order. `tokens` are
 * the counts of the parts of a request (each message, the tool list) by `count`, or a quarter of their characters.
 * Requests without tools (the host's own, for titles and summaries) are answered and kept as text in `others`. The
 * usage reports what a prompt cache would have held, separately for the agent and its sub-agent. `forget()` empties the
 * cache.
 */
export async function startProvider({ signatures, count = (part) => Math.ceil(JSON.stringify(part).length / 4) } = {}) {
  const refused = [];
  const requests = [];
  const others = [];
  const failures = [];
  let [steps, delegated] = [[], []];
  let calls = 0;
  /** The last request of the agent and that of its sub-agent. */
  const cache = new Map();

  const isDelegated = (request) => request.rows.some(({ role, text }) => role === "user" && text.includes(SUBAGENT));

  function answer(request) {
    const next = (isDelegated(request) ? delegated : steps).shift();
    const step = typeof next === "function" ? next(request) : next;
    if (step === undefined)
      failures.push(
        `request ${requests.length} came after the last step of its turn, with ${JSON.stringify(request.rows.at(-1)).slice(0, 500)}`,
      );
    const {
      thinks,
      says,
      calls: made,
    } = Array.isArray(step)
      ? { calls: step }
      : typeof step === "object"
        ? step
        : { says: step ?? "The script has no more steps." };
    return {
      thought: signatures?.think(request, thinks),
      text: says,
      calls: made?.map((call) => ({ ...call, id: `call_${++calls}` })),
    };
  }

  /** Returns the number of a request's tokens that a prompt cache holds. */
  function cachedOf(request, counts) {
    const who = isDelegated(request);
    const shared = sharedParts(cache.get(who), request);
    cache.set(who, request);
    return sum(counts.slice(0, shared));
  }

  const server = http.createServer(async (request, response) => {
    // Codex first requests a WebSocket.
    if (request.headers.upgrade !== undefined) return void response.writeHead(426).end();
    const parts = [];
    for await (const part of request) parts.push(part);
    const json = Buffer.concat(parts).toString();
    const stream = STREAMS[/[^/]*$/.exec(request.url.split("?")[0])[0]] ?? streamOpenAi;
    try {
      const body = JSON.parse(json);
      const record = { body, chars: json.length, rows: readRows(body), tools: readTools(body) };
      if (record.tools.length > 0) requests.push(record);
      const counts = partsOf(body).map(count);
      const tokens = sum(counts);
      const cached = record.tools.length > 0 ? cachedOf(record, counts) : 0;
      Object.assign(record, { tokens, cached });
      if (record.tools.length === 0) others.push(json);
      const refusal = signatures?.refusal(record);
      if (refusal !== undefined) {
        refused.push(refusal);
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: refusal } }));
        return;
      }
      const answered = record.tools.length > 0 ? answer(record) : { text: "NO_REPLY" };
      stream(response, body.model, answered, tokens, cached);
    } catch (error) {
      failures.push(String(error.stack ?? error));
      response.writeHead(500).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    others,
    refused,
    failures,
    play(own, ofOthers = []) {
      [steps, delegated] = [[...own], [...ofOthers]];
    },
    left: () => steps.length + delegated.length,
    forget: () => cache.clear(),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
