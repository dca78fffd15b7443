// Plays a session on a host: sets the model's steps for each turn, sends the user's message, and collects the requests.

import { say } from "./host.mjs";
import { about, findResult, idsIn } from "./reading.mjs";

/** The reply after a fetch. */
const RECALLED = "Here it is.";

/**
 * Plays turns one after the other.
 *
 * @returns one `{ user, reply, ms, requests }` per turn
 */
export async function playTurns(host, provider, sessionKey, turns) {
  const played = [];
  for (const turn of turns) {
    const from = provider.requests.length;
    provider.play(turn.recall === undefined ? turn.steps : [recall(turn.recall), RECALLED]);
    const { reply, ms } = await host.turn(sessionKey, turn.user);
    const requests = provider.requests.slice(from);
    played.push({ ...turn, reply, ms, requests });
    say(
      `${host.name}: turn ${played.length} took ${ms} ms, requests of ${requests.map(({ chars }) => chars).join(", ")} characters`,
    );
  }
  return played;
}

/** Fetches the original of an earlier result. If the result is still there in full, answers at once. */
function recall(subject) {
  return (request) => {
    const [id] = idsIn(findResult(request, about(subject)).text);
    if (id === undefined) return RECALLED;
    return [{ name: "fetch_original_data", args: { ref_ids: [id] } }];
  };
}

/** Returns the result of a fetch in a played turn. */
export function fetched(turn) {
  return findResult(turn.requests.at(-1), (call) => call.name === "fetch_original_data" && !isOlder(turn, call))?.text;
}

function isOlder(turn, call) {
  return turn.requests[0].rows.some((row) => row.calls.some(({ id }) => id === call.id));
}

/** Returns the number of characters that were sent. */
export function totalChars(played) {
  return played.flatMap(({ requests }) => requests).reduce((sum, { chars }) => sum + chars, 0);
}
