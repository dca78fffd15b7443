/**
 * The proxy's own notes about a session, in one file each: which messages the client has sent, how its tool results
 * were shown at birth, and which fetches the client does not know.
 *
 * The store keeps decisions of assemblies; these notes keep the rest of what was sent, so that a restarted proxy, or
 * another one that uses the same directory, sends the same bytes. Lines are only appended, and the first line about a
 * result is in force. A line that a crash cut short is skipped.
 */
import path from "node:path";

import type { AnyMessage } from "../library/api.js";
import { type Journals, removeNotes } from "../library/journals.js";
import type { FetchResult } from "./dialect.js";
import type { Json } from "./sse.js";

/** The fetches of one exchange. */
export interface HiddenRounds {
  /** The pieces of each answer that was followed by another request for its fetches only. */
  rounds: Json[][];
  /** The results of the fetches in each of these answers. */
  results: FetchResult[][];
  /** The pieces of the last answer and the results of its fetches, if it also calls tools of the client. */
  last?: { pieces: Json[]; results: FetchResult[] };
}

/** A line of the file. Each has one of these fields. */
export type Line =
  /** The hashes of the client's messages from index `at` on. */
  | { at: number; links: string[] }
  /** A tool result as it was shown at birth. */
  | { birth: string; shown: AnyMessage }
  /** The fetches in the answer to the messages with this hash. */
  | { answerTo: string; hidden: HiddenRounds }
  /** The session of the answer with the id for which the file is named. */
  | { session: string }
  /** True if the session goes through untouched. */
  | { untouched: true };

/** The agent of all sessions of a proxy. */
export const AGENT = "proxy";

/** Removes the notes about a session that is removed from the store. */
export function removeJournal(dir: string, { sessionId, agentId }: { sessionId: string; agentId?: string }): void {
  if (agentId === AGENT) removeNotes(dir, path.basename(sessionId));
}

/** The notes about all sessions. */
export type Notes = Journals<Line>;
