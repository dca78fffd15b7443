/** The store as the plugin opens it: kept as long as the host can show what it stands for. */

import { Concertina, type Message, type OpenOptions, type Removed, type Report } from "../node/lib/index.js";
import type { Scope } from "./sessions.js";

/** An open store with what a host asks of it. */
export type Store = Concertina & {
  /** Ends the sessions that are not among these; what they hold then ages. */
  settle(input: { sessionIds: string[]; now?: number }): Promise<{ ended: number }>;
  endSession(input: { sessionId: string; now?: number }): Promise<void>;
  purge(input: { sessionId: string; dry?: boolean }): Promise<Removed>;
  inherit(input: { parent: Scope; child: Scope; named?: string[] }): Promise<void>;
  unfold<M extends Message>(input: { sessionId?: string; agentId?: string; messages: M[] }): Promise<{ messages: M[]; missing: string[] }>;
  /** What is to be logged, once. */
  notices(): string[];
  admitToolResult<M extends Message>(
    input: Scope & { message: M; args?: unknown; hostCutAt?: number },
  ): Promise<{ message: M; report: Report }>;
};

/** Opens the store of a host: a damaged one is set aside under today's date. @throws when it cannot be opened. */
export async function openStore(options: OpenOptions): Promise<Store> {
  const kept = { ...options, retention: "host" as const, today: new Date().toISOString().slice(0, 10) };
  return (await Concertina.open(kept)) as Store;
}
