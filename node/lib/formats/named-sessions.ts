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
  const lines = known
    .slice(0, LISTED)
    .map(({ sessionId, sessionKey }) => `\n  ${sessionId}${sessionKey === null ? "" : `  ${sessionKey}`}`);
  const more = known.length > LISTED ? `\n  and ${known.length - LISTED} more` : "";
  throw new Error(
    `there is no session ${JSON.stringify(named)}. ${lines.length === 0 ? "None is known." : `These are known:${lines.join("")}${more}`}`,
  );
}

/**
 * The same, of one agent. @throws an Error, too, where several agents have a session of that name and none of them is
 * named.
 */
export function sessionsOfAgent<Known extends NamedSession & { agentId: string }>(
  named: string,
  agent: string | undefined,
  known: Known[],
): [Known, ...Known[]] {
  const found = sessionsNamed(named, agent === undefined ? known : known.filter(({ agentId }) => agentId === agent));
  const agents = [...new Set(found.map(({ agentId }) => agentId))];
  if (agents.length > 1)
    throw new Error(
      `the agents ${agents.join(", ")} each have a session ${JSON.stringify(named)}; --agent says whose is meant`,
    );
  return found;
}
