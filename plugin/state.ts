/**
 * What one registration of the plugin holds: its options and the store, opened when first needed.
 *
 * The host evaluates this module several times in one process and registers each copy, so nothing here is shared between the
 * engine and the tool. What must be shared is in the store, which the addon opens once per directory and process.
 */

import { join } from "node:path";

import { Concertina, describe, guidance, type Options } from "../node/lib/index.js";
import { PLUGIN_DEFAULTS } from "./defaults.js";
import type { PluginApi } from "./host.js";
import { Sessions } from "./sessions.js";

const SWEEP_EVERY_MS = 3_600_000;
const REOPEN_AFTER_MS = 60_000;
const UNCHANGED = "context goes to the model unchanged";

export class PluginState {
  readonly options: Options;
  /** Off means that nothing is replaced or stored; what was stored before can still be fetched. */
  readonly enabled: boolean;
  readonly sessions = new Sessions();
  readonly #api: PluginApi;
  #guidance: string | undefined;
  #hasNoLibrary = false;
  #store: Promise<Concertina | undefined> | undefined;
  #reopenAt = 0;
  #sweptAt = 0;
  #lastComplaint = "";

  constructor(api: PluginApi) {
    this.#api = api;
    this.options = (api.pluginConfig ?? {}) as Options;
    this.enabled = this.options.sccsEnabled !== false;
  }

  /** What the model is told about placeholders: always the same text. Undefined when the native library does not load here. */
  guidance(): string | undefined {
    if (this.#hasNoLibrary) return undefined;
    try {
      this.#guidance ??= guidance();
    } catch (error) {
      this.#hasNoLibrary = true;
      this.#api.logger.error(`concertina: the native library does not load (${describe(error)}); ${UNCHANGED}`);
    }
    return this.#guidance;
  }

  /** The open store, or undefined while it cannot be used. A failure is tried again after a minute and logged when it is a new one. */
  async store(): Promise<Concertina | undefined> {
    if (this.guidance() === undefined) return undefined;
    if (this.#reopenAt !== 0 && Date.now() >= this.#reopenAt) this.#store = undefined;
    this.#store ??= this.#openOrComplain();
    return this.#store;
  }

  async #openOrComplain(): Promise<Concertina | undefined> {
    this.#reopenAt = 0;
    try {
      const store = await this.open();
      for (const warning of store.warnings) this.#api.logger.warn(`concertina: ${warning}`);
      return store;
    } catch (error) {
      this.#reopenAt = Date.now() + REOPEN_AFTER_MS;
      const complaint = `concertina: the store cannot be opened (${describe(error)}); ${UNCHANGED}`;
      if (complaint !== this.#lastComplaint) this.#api.logger.warn(complaint);
      this.#lastComplaint = complaint;
      return undefined;
    }
  }

  /** Opens the store. @throws when it cannot be opened. */
  open(): Promise<Concertina> {
    return Concertina.open({ ...PLUGIN_DEFAULTS, ...this.options, dir: this.directory() });
  }

  /** Where the store lives. */
  directory(): string {
    const { sccsStorageDir } = this.options;
    return typeof sccsStorageDir === "string" && sccsStorageDir !== ""
      ? this.#api.resolvePath(sccsStorageDir)
      : join(this.#api.runtime.state.resolveStateDir(), "concertina");
  }

  /** Logs, in one line, that a step failed and what that means for the conversation. */
  complain(step: string, error: unknown, consequence: string): void {
    this.#api.logger.warn(`concertina: ${step} failed (${describe(error)}); ${consequence}`);
  }

  /** Removes expired originals, at most hourly; nobody waits for it. */
  sweepWhenDue(): void {
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    const swept = this.store().then((store) => store?.sweep({}));
    swept.catch((error: unknown) => this.complain("the sweep", error, "expired originals stay until the next one"));
  }
}
