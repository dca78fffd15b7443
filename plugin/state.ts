/**
 * What one registration of the plugin holds: its options and the store, opened when first needed.
 *
 * The host evaluates this module several times in one process and registers each copy, so nothing here is shared between the
 * engine and the tool. What must be shared is in the store's file.
 */

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import type { OptionsInForce } from "../node/lib/addon.js";
import { HOST_DEFAULTS } from "../node/lib/host-defaults.js";
import { optionsInForce } from "../node/lib/in-force.js";
import { Concertina, describe, type Options, type StorePlace } from "../node/lib/index.js";
import { native } from "../node/lib/native.js";
import { complaintLine, isNews } from "./complaints.js";
import type { HostConfig, PluginApi } from "./host.js";
import { hostId } from "./host-id.js";
import { forkSource, hostSessions, type HostSession } from "./host-sessions.js";
import { leftBehind } from "./moved.js";
import { resolvedSecret } from "./secret.js";
import { whyUnused } from "./slot.js";
import { type Scope, Sessions } from "./sessions.js";

const SWEEP_EVERY_MS = 3_600_000;
const REOPEN_AFTER_MS = 60_000;
/** How long a call may go on that began before a damaged file was set aside. */
const UNDER_WAY_MS = 5_000;
/** Where the address of a database is set. */
const SETTING = "plugins.entries.concertina.config.sccsStoreUrl";
const UNCHANGED = "context goes to the model unchanged";

export class PluginState {
  /** What the host handed over. A host that checks its configuration hands over nothing wrong. */
  readonly given: Options;
  /** Off means that nothing is replaced or stored; what was stored before can still be fetched. */
  readonly enabled: boolean;
  readonly sessions = new Sessions();
  readonly version: string;
  readonly #api: PluginApi;
  readonly #ownDirectory: string | undefined;
  #inForce: OptionsInForce | undefined;
  #hasLibrary: boolean | undefined;
  #store: Promise<Concertina | undefined> | undefined;
  #mending: Promise<boolean> | undefined;
  #setAsideAt = 0;
  #reopenAt = 0;
  #sweptAt = 0;

  constructor(api: PluginApi) {
    this.#api = api;
    this.version = api.version ?? "of unknown version";
    this.given = (api.pluginConfig ?? {}) as Options;
    this.enabled = this.given.sccsEnabled !== false;
    const { sccsStorageDir } = this.given;
    if (typeof sccsStorageDir === "string" && sccsStorageDir !== "") this.#ownDirectory = resolved(api, sccsStorageDir);
  }

  /** The options in force. @throws where the native library does not load. */
  get options(): Required<Options> {
    return this.#checked().options;
  }

  /** One line for each option that is wrong, with what is used instead. @throws where the native library does not load. */
  get optionWarnings(): string[] {
    return this.#checked().warnings;
  }

  #checked(): OptionsInForce {
    this.#inForce ??= optionsInForce(this.given, HOST_DEFAULTS);
    return this.#inForce;
  }

  /** The host's configuration as it is now, where the host tells it. */
  get config(): HostConfig | undefined {
    return this.#api.runtime.config?.current() ?? this.#api.config;
  }

  /** Why the host does not use this engine, and what to do about it; undefined where it does, or cannot be asked. */
  unused(): string | undefined {
    return this.config && whyUnused(this.config);
  }

  /** Logs what is wrong with the configuration; the same line not again for ten minutes. */
  warnOfConfiguration(): void {
    if (!this.hasLibrary) return;
    for (const line of [this.unused(), ...this.optionWarnings]) if (line !== undefined && isNews(line)) this.warn(line);
  }

  /** Whether the native library loads here. Logs once why not. */
  get hasLibrary(): boolean {
    if (this.#hasLibrary !== undefined) return this.#hasLibrary;
    try {
      native();
      this.#hasLibrary = true;
    } catch (error) {
      this.#hasLibrary = false;
      this.#api.logger.error(`concertina: the native library does not load (${describe(error)}); ${UNCHANGED}`);
    }
    return this.#hasLibrary;
  }

  /** The open store, or undefined while it cannot be used. A failure is tried again after a minute. */
  async store(): Promise<Concertina | undefined> {
    if (!this.hasLibrary) return undefined;
    if (this.#reopenAt !== 0 && Date.now() >= this.#reopenAt) this.#store = undefined;
    this.#store ??= this.#openOrComplain();
    return this.#store;
  }

  async #openOrComplain(): Promise<Concertina | undefined> {
    this.#reopenAt = 0;
    try {
      const before = this.isShared ? undefined : leftBehind(this.#api.runtime.state.resolveStateDir(), this.directory());
      const store = await this.open();
      if (before !== undefined) this.warn(movedLine(before, this.directory()));
      this.warnOfConfiguration();
      for (const line of store.notices()) this.warn(line);
      return store;
    } catch (error) {
      this.#reopenAt = Date.now() + REOPEN_AFTER_MS;
      this.complain("opening the store", error, UNCHANGED);
      return undefined;
    }
  }

  /**
   * Opens the store; a damaged file is set aside under today's date, but for who only looks beside a gateway. @throws when it cannot be
   * opened.
   */
  async open({ setsAside = true } = {}): Promise<Concertina> {
    const place = await this.place();
    // Beside a database, notes of what parsers are given stay on this machine.
    const journalDir = place.url === undefined ? undefined : this.directory();
    return Concertina.open({ ...this.options, ...place, journalDir, retention: "host", today: setsAside ? today() : undefined });
  }

  /** Where the store lives. @throws where the host cannot resolve the address of a database. */
  async place(): Promise<StorePlace> {
    const host = hostId(this.#api.runtime.state.resolveStateDir());
    if (!this.isShared) return { dir: this.directory(), host };
    const url = await resolvedSecret(this.given.sccsStoreUrl, SETTING, this.config);
    return { url, namespace: this.options.sccsStoreNamespace, host };
  }

  /** Whether the store is in a database. */
  get isShared(): boolean {
    return ![undefined, ""].includes(this.given.sccsStoreUrl);
  }

  /** Whether there is a store; asking makes none. */
  get hasStore(): boolean {
    return this.isShared || existsSync(this.storeFile());
  }

  /** Does something with the store, where there is one, and logs what the store has to tell about it. */
  async use<Value>(run: (store: Concertina) => Promise<Value>): Promise<Value | undefined> {
    const store = await this.store();
    if (store === undefined) return undefined;
    try {
      return await run(store);
    } finally {
      await this.logNotices();
    }
  }

  /** Logs what the open store noticed since the last time. */
  async logNotices(): Promise<void> {
    try {
      for (const notice of (await this.#store)?.notices() ?? []) this.warn(notice);
    } catch (error) {
      this.complain("asking the store what it noticed", error, "it is asked again at its next use");
    }
  }

  /** Logs one line, and keeps it for `status`. */
  warn(line: string): void {
    this.#api.logger.warn(`concertina: ${line}`);
    this.#keep(line);
  }

  /** Keeps a warning in the store where one is open; the log has it anyway. */
  #keep(text: string): void {
    this.#store?.then((store) => store?.warn({ text })).catch(() => {});
  }

  /** Where the store lives that is not in a database. */
  directory(): string {
    const directory = this.#ownDirectory ?? "concertina";
    return isAbsolute(directory) ? directory : join(this.#api.runtime.state.resolveStateDir(), directory);
  }

  /** The store's file. */
  storeFile(): string {
    return join(this.directory(), "concertina.sqlite");
  }

  /** Every session that the host can still show. @throws when the host cannot tell. */
  hostSessions(): Promise<HostSession[]> {
    return hostSessions(this.#api.runtime.state.resolveStateDir());
  }

  /** The session whose transcript the host copied when this one began. @throws when the host cannot tell. */
  forkSource(session: Scope): Promise<Scope | undefined> {
    return forkSource(this.#api.runtime.state.resolveStateDir(), session);
  }

  /** Logs, in one line, that a step failed and what that means for the conversation; not again for ten minutes. */
  complain(step: string, error: unknown, consequence: string): void {
    if ((error as { code?: unknown } | undefined)?.code !== "CONCERTINA_STORE_DAMAGED") return this.#complain(step, error, consequence);
    this.#mending ??= this.#setAside().finally(() => (this.#mending = undefined));
    this.#mending.then(
      (isNew) => isNew || this.#complain(step, error, consequence),
      () => this.#complain(step, error, consequence),
    );
  }

  /** Whether the open store's file was damaged under it and a new one is in use: the store's own line says so, for whatever was under way. */
  async #setAside(): Promise<boolean> {
    const store = await this.#store;
    if (await store?.check({ today: today() })) {
      await this.logNotices();
      this.#setAsideAt = Date.now();
    }
    return Date.now() - this.#setAsideAt < UNDER_WAY_MS;
  }

  #complain(step: string, error: unknown, consequence: string): void {
    const line = complaintLine(step, error, consequence);
    if (line === undefined) return;
    this.#api.logger.warn(line);
    this.#keep(line.replace(/^concertina: /, ""));
  }

  /** Tells the store which sessions the host still has, and removes what expired: at most hourly; nobody waits for it. */
  sweepWhenDue(): void {
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    const swept = this.use(async (store) => {
      await this.settle(store);
      await store.sweep({});
    });
    swept.catch((error: unknown) => this.complain("the sweep", error, "expired originals stay until the next one"));
  }

  /** Ends the sessions that the host no longer has. While the host cannot tell, none ends, and what they hold stays. */
  async settle(store: Concertina): Promise<void> {
    let sessions: HostSession[];
    try {
      sessions = await this.hostSessions();
    } catch (error) {
      this.complain("asking the host for its sessions", error, "the originals of all sessions stay");
      return;
    }
    await store.settle({ sessionIds: sessions.map(({ sessionId }) => sessionId) });
  }
}

function movedLine(before: string, directory: string): string {
  return `the store is in ${directory} now, and placeholders in transcripts name originals in ${before}: set sccsStorageDir back to it, or stop the gateway and move all files whose names begin with "concertina.sqlite"`;
}

/** The date by which files are named, in UTC. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/**
 * A directory as the host resolves it, which it does during registration only. A relative one the host would look for in the plugin's
 * package, which goes with the next update: it stays as it is, and is one in the state directory.
 */
function resolved(api: PluginApi, directory: string): string {
  return isAbsolute(directory) || directory.startsWith("~") ? api.resolvePath(directory) : directory;
}
