// Calls methods of a running gateway over its socket. The host's command line does the same, but its process takes
// seconds to start.

const SCOPES = ["operator.admin", "operator.read", "operator.write"];
const CLIENT = { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" };
const WAIT_MS = 120_000;

/** Returns the answer of a method. Rejects with the gateway's message if it refuses. */
export function callGateway({ port, token }, method, params) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const request = (id, called, given) =>
    socket.send(JSON.stringify({ type: "req", id, method: called, params: given }));
  const connect = { minProtocol: 4, maxProtocol: 4, client: CLIENT, role: "operator", scopes: SCOPES, auth: { token } };
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${method} of the gateway: ${why}`));
    const timer = setTimeout(fail, WAIT_MS, `no answer in ${WAIT_MS} ms`);
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.event === "connect.challenge") request("connect", "connect", connect);
      if (frame.type !== "res") return;
      if (!frame.ok) fail(JSON.stringify(frame.error));
      else if (frame.id === "connect") request("call", method, params);
      else resolve(frame.payload);
    });
    socket.addEventListener("close", ({ reason }) => (clearTimeout(timer), fail(`the socket was closed: ${reason}`)));
  }).finally(() => socket.close());
}
