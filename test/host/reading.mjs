// Functions that examine recorded requests: placeholders, results by call, and the share of the prompt that was sent
// unchanged.

/** Returns the ids of our markers in a text: of whole outputs that were replaced, and of texts that were shortened. */
export function idsIn(text) {
  return [...text.matchAll(/\[(?:REF_ID: |\[REWIND:sha256:)([0-9a-f]{16,64})\]/g)].map((found) => found[1]);
}

/** Returns true if a text is what is left of a much longer one. A lossless fold can be restored without an id. */
export function isFolded(text, original) {
  return text.length < original.length / 4;
}

/** Returns the conversation in a request as text, without the system prompt. */
export function conversation(request) {
  return JSON.stringify(request.rows.filter((row) => row.role !== "system"));
}

/** Returns the first call in a request that `matches`, with the text of its result. */
export function findResult(request, matches) {
  const call = request.rows.flatMap((row) => row.calls).find(matches);
  const result = request.rows.flatMap((row) => row.results).find(({ id }) => id === call?.id);
  return result && { call, text: result.text };
}

/** Returns a predicate for calls that read a file or ran a command. */
export function about(subject) {
  return ({ args }) => args.path === subject || args.command === subject;
}

/**
 * Returns the share of characters that a request sends exactly as the one before it, which a provider's prompt cache
 * can bill at its lower price. The tools and the system prompt count. A change in them counts as a changed first
 * message.
 */
export function prefixShare(requests) {
  let [same, all] = [0, 0];
  for (let index = 1; index < requests.length; index++) {
    const [before, after] = [pieces(requests[index - 1]), pieces(requests[index])];
    all += before.reduce((sum, piece) => sum + piece.length, 0);
    for (let at = 0; at < before.length && before[at] === after[at]; at++) same += before[at].length;
  }
  return same / all;
}

/** Returns the number of leading parts of a request that equal those of the one before it. */
export function sharedParts(before, after) {
  if (before === undefined) return 0;
  const [old, current] = [pieces(before), pieces(after)];
  let at = 0;
  while (at < old.length && old[at] === current[at]) at++;
  return at;
}

/**
 * Returns how often a request changed what the one before it had sent. The host's trailing note with the current time
 * moves with every request and does not count.
 */
export function prefixBreaks(requests) {
  return requests.slice(1).filter((request, index) => {
    const [before, after] = [pieces(requests[index]), pieces(request)];
    const same = before.findIndex((piece, at) => piece !== after[at]);
    return same >= 0 && same < before.length - 1;
  });
}

/** Returns the parts of a request in the order in which a provider hashes them, without cache breakpoints. */
export function pieces({ body }) {
  return partsOf(body).map((part) => JSON.stringify(part, withoutCacheMarks));
}

/** Returns the parts of a request as they were sent. */
export function partsOf(body) {
  return [body.tools, body.system ?? body.instructions, ...(body.messages ?? body.input)].filter(
    (part) => part !== undefined,
  );
}

function withoutCacheMarks(key, value) {
  if (key === "cache_control") return undefined;
  // A single text part and a plain string are the same prompt.
  if (key === "content" && typeof value === "string") return [{ type: "text", text: value }];
  return value;
}
