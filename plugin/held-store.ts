/**
 * The open store of one registration: opened at its first use, and let go of when the host has replaced the
 * registration.
 *
 * Nobody loses it amidst a use: it closes with the last one that is under way. Who comes after that, as a turn may for
 * which a host did not wait, has it opened anew.
 */

import type { Concertina } from "../node/lib/for-plugin.js";

const REOPEN_AFTER_MS = 60_000;

export class HeldStore {
  readonly #open: () => Promise<Concertina | undefined>;
  readonly #complain: (error: unknown) => void;
  #store: Promise<Concertina | undefined> | undefined;
  #reopenAt = 0;
  #uses = 0;
  #isLeft = false;

  /** @param open opens it, or says why not and gives `undefined`; it is asked again after a minute */
  constructor(open: () => Promise<Concertina | undefined>, complain: (error: unknown) => void) {
    this.#open = open;
    this.#complain = complain;
  }

  /** The open store, or undefined while it cannot be used. Only within a use does it stay open. */
  get(): Promise<Concertina | undefined> {
    if (this.#reopenAt !== 0 && Date.now() >= this.#reopenAt) this.#store = undefined;
    this.#store ??= this.#opened();
    return this.#store;
  }

  async #opened(): Promise<Concertina | undefined> {
    this.#reopenAt = 0;
    const store = await this.#open();
    if (store === undefined) this.#reopenAt = Date.now() + REOPEN_AFTER_MS;
    return store;
  }

  /** Does something with it, where there is one. */
  async use<Value>(run: (store: Concertina) => Promise<Value>): Promise<Value | undefined> {
    this.#uses++;
    try {
      const store = await this.get();
      return store && (await run(store));
    } finally {
      this.#uses--;
      await this.#closeWhenLeft();
    }
  }

  /** Closes it now, or, where it is used, with the last use. */
  async letGo(): Promise<void> {
    this.#isLeft = true;
    await this.#closeWhenLeft();
  }

  async #closeWhenLeft(): Promise<void> {
    if (!this.#isLeft || this.#uses > 0) return;
    const store = this.#store;
    [this.#isLeft, this.#store] = [false, undefined];
    try {
      await (await store)?.close();
    } catch (error) {
      this.#complain(error);
    }
  }
}
