/**
 * The record of what folding would have done, while nothing that is sent changes.
 *
 * The host's transcript holds results as tools printed them, so this keeps how they would have been shown since birth,
 * in one file for each session. Steps of a session run one after the other in the background: nobody waits for a fold
 * that is not sent.
 */

import { join } from "node:path";

import { agentOf, type AnyMessage, Journals } from "../node/lib/for-plugin.js";
import { keep } from "./process-memory.js";

const OBSERVING = "observing";
/** The time after its last line for which a file is kept. */
const KEPT_MS = 30 * 86_400_000;

/** The conversation of a step. */
interface Conversation {
  sessionId: string;
  sessionKey?: string;
}

/** A result as it would have been shown since its birth, by the id of its call. The first line about it is in force. */
interface Birth {
  birth: string;
  shown: AnyMessage;
}

export class Observer {
  readonly #directory: () => string;
  readonly #tell: (step: string, error: unknown, consequence: string) => void;
  readonly #queues = new Map<string, Promise<void>>();
  #journals: Journals<Birth> | undefined;

  /** @param directory the directory of the store of observed sessions */
  constructor(directory: () => string, tell: (step: string, error: unknown, consequence: string) => void) {
    [this.#directory, this.#tell] = [directory, tell];
  }

  #files(): Journals<Birth> {
    return (this.#journals ??= new Journals<Birth>(join(this.#directory(), "births")));
  }

  /** Runs a step behind the earlier ones of its session. A failure is logged. */
  later(conversation: Conversation, run: () => Promise<unknown>): void {
    const name = nameOf(conversation);
    const done = this.after(conversation)
      .then(run)
      .then(
        () => undefined,
        (error: unknown) => this.#tell(OBSERVING, error, "the figures lack a part of this session"),
      );
    keep(this.#queues, name, done);
  }

  /** Resolves when the steps of a session so far are done. */
  after(conversation: Conversation): Promise<void> {
    return this.#queues.get(nameOf(conversation)) ?? Promise.resolve();
  }

  /** Records how a result would have been shown. */
  born(conversation: Conversation, callId: string, shown: AnyMessage): void {
    this.#files().append(nameOf(conversation), [{ birth: callId, shown }]);
  }

  /** Returns messages with their results as they would have been shown since birth. A failure is logged. */
  view<M extends AnyMessage>(conversation: Conversation, messages: readonly M[]): M[] {
    const births = new Map<unknown, AnyMessage>();
    try {
      for (const { birth, shown } of this.#files().read(nameOf(conversation), 0).lines)
        if (!births.has(birth)) births.set(birth, shown as AnyMessage);
    } catch (error) {
      this.#tell(OBSERVING, error, "the figures count results in full");
    }
    return messages.map((message) => {
      const born = births.get((message as { toolCallId?: unknown }).toolCallId);
      return born === undefined ? message : { ...message, content: born.content };
    });
  }

  /** Removes the files of sessions that were not observed for a month. */
  forget(now = Date.now()): void {
    for (const id of this.#files().ids()) if (this.#files().changedAt(id) < now - KEPT_MS) this.#files().remove(id);
  }
}

function nameOf({ sessionId, sessionKey }: Conversation): string {
  return encodeURIComponent(`${agentOf(sessionKey)} ${sessionId}`);
}
