// A scripted model on loopback that records every request it gets.

import { once } from "node:events";
import http from "node:http";

import { readRows, readTools, streamAnthropic, streamOpenAi } from "./dialects.mjs";
import { sharedChars } from "./reading.mjs";

/** How the host begins what it asks a sub-agent. */
const SUBAGENT = "[Subagent Context]";

/**
 * Starts the model. A test sets `play(steps)` before a turn; each request of that turn takes the next step:
 * an array of `{ name, args }` (tool calls made at once), a string (the reply), or a function from the request to one of these.
 * Requests of a sub-agent take their steps from `play(steps, delegated)`.
 *
 * With `signatures` the model thinks before each answer, and what {@link Signatures} refuses is answered with an error and kept in `refused`.
 *
 * `requests` holds `{ body, chars, rows, tools }` of the agent's requests, in order. Requests without tools (the host's own, for
 * titles and summaries) are answered and kept as text in `others`. The usage reports what a prompt cache would have held.
 */
export async function startProvider({ signatures } = {}) {
  const refused = [];
  const requests = [];
  const others = [];
  const failures = [];
  let [steps, delegated] = [[], []];
  let calls = 0;

  function answer(request) {
    const isDelegated = request.rows.some(({ role, text }) => role === "user" && text.includes(SUBAGENT));
    const next = (isDelegated ? delegated : steps).shift();
    const step = typeof next === "function" ? next(request) : next;
    if (step === undefined) failures.push(`request ${requests.length} came after the last step of its turn`);
    if (!Array.isArray(step)) return { text: step ?? "The script has no more steps." };
    return { calls: step.map((call) => ({ ...call, id: `call_${++calls}` })) };
  }

  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const json = Buffer.concat(parts).toString();
    const isAnthropic = request.url.split("?")[0].endsWith("/messages");
    try {
      const body = JSON.parse(json);
      const record = { body, chars: json.length, rows: readRows(body), tools: readTools(body) };
      const stream = isAnthropic ? streamAnthropic : streamOpenAi;
      if (record.tools.length > 0) requests.push(record);
      const tokens = Math.ceil(json.length / 4);
      const cached = record.tools.length > 0 ? Math.min(tokens, Math.floor(sharedChars(requests.at(-2), record) / 4)) : 0;
      if (record.tools.length === 0) others.push(json);
      const refusal = signatures?.refusal(record);
      if (refusal !== undefined) {
        refused.push(refusal);
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: refusal } }));
        return;
      }
      const answered = record.tools.length > 0 ? { thought: signatures?.think(record), ...answer(record) } : { text: "NO_REPLY" };
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
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
