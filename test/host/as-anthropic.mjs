// Preloaded into the host's processes: what they send to Anthropic goes to the scripted model, so that the host takes it for the real route.

const model = process.env.CONCERTINA_SCRIPTED_MODEL;
const send = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.hostname !== "api.anthropic.com") return send(input, init);
  const here = new URL(url.pathname + url.search, model);
  return send(input instanceof Request ? new Request(here, input) : here, init);
};
