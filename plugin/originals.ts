/** An original by its id, for people: nothing of it is recorded in a session. */

import type { Concertina, ContentBlock } from "../node/lib/index.js";

const ALL = 2 ** 31;

/** The whole original that an agent may see under this id; undefined where there is none. */
export async function originalOf(store: Concertina, agentId: string, refId: string): Promise<ContentBlock | undefined> {
  const { content, found } = await store.fetch({ refIds: [refId], agentId, maxChars: ALL });
  return found === 0 ? undefined : content[0];
}
