/** Sessions as an operator names them: by their id or by the key of their conversation. */

/** A session. */
export interface NamedSession {
  sessionId: string;
  sessionKey: string | null;
}

const LISTED = 20;

/** The sessions of that name, in the order of those known. @throws an Error that lists what is known. */
export function sessionsNamed<Known extends NamedSession>(named: string, known: Known[]): [Known, ...Known[]] {
  const [first, ...others] = known.filter(({ sessionId, sessionKey }) => named === sessionId || named === sessionKey);
  if (first !== undefined) return [first, ...others];
  const lines = known.slice(0, LISTED).map(({ sessionId, sessionKey }) => `\n  ${sessionId}${sessionKey === null ? "" : `  ${sessionKey}`}`);
  const more = known.length > LISTED ? `\n  and ${known.length - LISTED} more` : "";
  throw new Error(`there is no session ${JSON.stringify(named)}. ${lines.length === 0 ? "None is known." : `These are known:${lines.join("")}${more}`}`);
}
