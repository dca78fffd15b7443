/**
 * The engine's facts about the sessions that it serves, for the parts of the plugin that do not get them from the host.
 *
 * They are in memory only and learned again at the start of every turn. A session that is no longer remembered counts
 * as unknown, which costs savings but never content.
 */

import { keep } from "./process-memory.js";

/** The owner of content: an agent and a session. */
export interface Scope {
  agentId: string;
  sessionId: string;
}

/** The facts about a session's last turn. */
export interface Turn {
  /** True if the model can call the fetch tool. */
  canFetch: boolean;
  /** The id of the model, if the host states it. */
  model?: string | undefined;
  /** True if Codex ran the turn. */
  isInCodex: boolean;
  /** True if the session is left untouched for comparison. */
  isHeldOut: boolean;
}

/** The keys of sessions that the host itself keeps in memory only. */
const INCOGNITO = /^agent:[^:]+:(?:dashboard|subagent|internal-session-effects):incognito-[^:]+$/i;

/** Returns true if nothing of a session may be written to disk. */
export function isIncognito(sessionKey: string | undefined): boolean {
  return INCOGNITO.test(sessionKey?.trim() ?? "");
}

export class Sessions {
  readonly #warnings = new Map<string, string>();
  readonly #turns = new Map<string, Turn>();
  readonly #current = new Map<string, Scope>();
  readonly #parents = new Map<string, Scope>();

  /** Records a turn, and the session that currently runs under a key. */
  noteTurn(sessionKey: string | undefined, scope: Scope, turn: Turn): void {
    if (sessionKey !== undefined) keep(this.#current, sessionKey, scope);
    keep(this.#turns, scope.sessionId, turn);
  }

  /** Records a warning about a session. @returns true if it is new */
  noteWarning(sessionId: string, warning: string | undefined): boolean {
    if (warning === undefined) {
      this.#warnings.delete(sessionId);
      return false;
    }
    const isNew = this.#warnings.get(sessionId) !== warning;
    keep(this.#warnings, sessionId, warning);
    return isNew;
  }

  /** Returns the warning about a session for its operator. */
  warning(sessionId: string): string | undefined {
    return this.#warnings.get(sessionId);
  }

  /** Returns true if the session is left untouched for comparison, or undefined if it had no turn yet. */
  isHeldOut(sessionId: string): boolean | undefined {
    return this.#turns.get(sessionId)?.isHeldOut;
  }

  /** Returns true if the session's model can fetch originals. */
  canFetch(sessionId: string): boolean {
    return this.#turns.get(sessionId)?.canFetch ?? false;
  }

  /** Returns the model of the session's last turn. */
  model(sessionId: string): string | undefined {
    return this.#turns.get(sessionId)?.model;
  }

  /** Returns true if Codex ran the session's last turn. */
  isInCodex(sessionId: string): boolean {
    return this.#turns.get(sessionId)?.isInCodex ?? false;
  }

  /** Returns true if a turn of the session was recorded. */
  isKnown(sessionId: string): boolean {
    return this.#turns.has(sessionId);
  }

  /** Records that a session under `childKey` is about to start for the one that runs under `parentKey`. */
  noteSpawn(parentKey: string, childKey: string): void {
    const parent = this.#current.get(parentKey);
    if (parent !== undefined) keep(this.#parents, childKey, parent);
  }

  /** Removes the record of a start that did not happen. */
  forgetSpawn(childKey: string): void {
    this.#parents.delete(childKey);
  }

  /** Returns the session for which the one under this key was started. */
  parent(childKey: string | undefined): Scope | undefined {
    return this.#parents.get(childKey ?? "");
  }
}
