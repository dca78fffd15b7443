/** Sessions as an operator names them: by their id or by the key of their conversation. */

/** A session that an operator can name. */
export interface NamedSession {
  sessionId: string;
  sessionKey: string | null;
}

const LISTED = 20;

/**
 * Returns the sessions with a name, in the order of `known`. @throws an Error that lists the known sessions if there is
 * none
 */
export function sessionsNamed<Known extends NamedSession>(named: string, known: Known[]): [Known, ...Known[]] {
  const [first, ...others] = known.filter(({ sessionId, sessionKey }) => named === sessionId || named === sessionKey);
  if (first !== undefined) return [first, ...others];
  const lines = known
    .slice(0, LISTED)
    .map(({ sessionId, sessionKey }) => `\n  ${sessionId}${sessionKey === null ? "" : `  ${sessionKey}`}`);
  const more = known.length > LISTED ? `\n  and ${known.length - LISTED} more` : "";
  throw new Error(
    `there is no session ${JSON.stringify(named)}. ${lines.length === 0 ? "No session is known." : `Known sessions:${lines.join("")}${more}`}`,
  );
}

/**
 * Returns the sessions of an agent with a name. @throws an Error like `sessionsNamed`, and one if several agents have a
 * session of that name and no agent is given
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
      `the agents ${agents.join(", ")} each have a session ${JSON.stringify(named)}; name the agent with --agent`,
    );
  return found;
}
