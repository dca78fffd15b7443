/**
 * What the engine was told about the sessions it serves, for those parts of the plugin that the host does not tell.
 *
 * In memory only: it is learned anew at the start of every turn. Whoever is forgotten is treated as unknown, which
 * costs savings and never content.
 */

import { keep } from "./process-memory.js";

/** Whose content it is. */
export interface Scope {
  agentId: string;
  sessionId: string;
}

/** What is known of a session's last turn. */
export interface Turn {
  /** Whether its model can call the fetch tool. */
  canFetch: boolean;
  /** The model's id, where the host says it. */
  model?: string | undefined;
  /** Whether Codex ran it. */
  isInCodex: boolean;
}

/** Keys of sessions that the host keeps in memory only, as it tells them itself. */
const INCOGNITO = /^agent:[^:]+:(?:dashboard|subagent|internal-session-effects):incognito-[^:]+$/i;

/** Whether nothing of a session may reach a disk. */
export function isIncognito(sessionKey: string | undefined): boolean {
  return INCOGNITO.test(sessionKey?.trim() ?? "");
}

export class Sessions {
  readonly #warnings = new Map<string, string>();
  readonly #turns = new Map<string, Turn>();
  readonly #current = new Map<string, Scope>();
  readonly #parents = new Map<string, Scope>();

  /** Notes a turn, and which session runs under a key. */
  noteTurn(sessionKey: string | undefined, scope: Scope, turn: Turn): void {
    if (sessionKey !== undefined) keep(this.#current, sessionKey, scope);
    keep(this.#turns, scope.sessionId, turn);
  }

  /** Notes what its operator should know about a session. @returns whether that is news */
  noteWarning(sessionId: string, warning: string | undefined): boolean {
    if (warning === undefined) {
      this.#warnings.delete(sessionId);
      return false;
    }
    const isNew = this.#warnings.get(sessionId) !== warning;
    keep(this.#warnings, sessionId, warning);
    return isNew;
  }

  /** What the operator of a session should know. */
  warning(sessionId: string): string | undefined {
    return this.#warnings.get(sessionId);
  }

  /** Whether what is folded in this session can be unfolded by its model. */
  canFetch(sessionId: string): boolean {
    return this.#turns.get(sessionId)?.canFetch ?? false;
  }

  /** The model of a session's turn. */
  model(sessionId: string): string | undefined {
    return this.#turns.get(sessionId)?.model;
  }

  /** Whether Codex runs this session's turns. */
  isInCodex(sessionId: string): boolean {
    return this.#turns.get(sessionId)?.isInCodex ?? false;
  }

  /** Whether a turn of this session was noted. */
  isKnown(sessionId: string): boolean {
    return this.#turns.has(sessionId);
  }

  /** Notes that a session under `childKey` is about to start for the one that runs under `parentKey`. */
  noteSpawn(parentKey: string, childKey: string): void {
    const parent = this.#current.get(parentKey);
    if (parent !== undefined) keep(this.#parents, childKey, parent);
  }

  /** Takes back a spawn that did not happen. */
  forgetSpawn(childKey: string): void {
    this.#parents.delete(childKey);
  }

  /** The session for which the one under this key was started. */
  parent(childKey: string | undefined): Scope | undefined {
    return this.#parents.get(childKey ?? "");
  }
}
