/** Who owns a conversation: originals resolve only for the agent whose session issued them. */

import type { CallContext } from "./host.js";

/** The agent of a session key such as `agent:main:telegram` or `agent:main:subagent:<uuid>`. */
export function agentOfSessionKey(sessionKey: string | undefined): string | undefined {
  return sessionKey === undefined ? undefined : /^agent:([^:]+):/.exec(sessionKey)?.[1];
}

/** The agent of a call: as the host names it, else as the session key tells. */
export function agentOf(context: CallContext): string | undefined {
  return context.agentId ?? agentOfSessionKey(context.sessionKey);
}
