/**
 * The open store of one registration. It is opened at its first use and released when the host replaces the
 * registration.
 *
 * A release does not interrupt uses in progress: the store closes with the last of them. A later use opens it again,
 * such as that of a turn for which the host did not wait.
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

  /** @param open opens the store, or reports the reason and returns undefined; it is called again after a minute */
  constructor(open: () => Promise<Concertina | undefined>, complain: (error: unknown) => void) {
    this.#open = open;
    this.#complain = complain;
  }

  /** Returns the open store, or undefined while it cannot be used. It is certain to stay open only during a `use`. */
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

  /** Runs `run` with the store, if there is one. */
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

  /** Closes the store now or, if it is in use, with the last use. */
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
