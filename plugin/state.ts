/**
 * What one registration of the plugin holds: its options and the store, opened when first needed.
 *
 * The host evaluates this module several times in one process and registers each copy, so nothing here is shared
 * between the engine and the tool. What must be shared is in the store's file.
 */

import { existsSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

import {
  Concertina,
  describe,
  HOST_DEFAULTS,
  native,
  type Options,
  type OptionsInForce,
  optionsInForce,
  STORE_FILE,
  type StorePlace,
} from "../node/lib/for-plugin.js";
import { complaintLine, isNews } from "./repeated-warnings.js";
import { Conditions } from "./conditions.js";
import { HeldStore } from "./held-store.js";
import type { HostConfig, PluginApi } from "./host.js";
import { hostId } from "./host-id.js";
import { forkSource, hostSessions, type HostSession } from "./host-sessions.js";
import { noteOfMove } from "./moved-store.js";
import { ownDirectory, withOwner } from "./own-files.js";
import { resolvedSecret } from "./host-secret.js";
import { isLeaving, UNFOLD_FIRST, whyUnused } from "./engine-slot.js";
import { type Scope, Sessions } from "./sessions.js";
import { isOfStore, STORE, troubleOf } from "./store-trouble.js";

const SWEEP_EVERY_MS = 3_600_000;
/** How long a call may go on that began before a damaged file was set aside. */
const UNDER_WAY_MS = 5_000;
/** Where the address of a database is set. */
const SETTING = "plugins.entries.concertina.config.sccsStoreUrl";
/** Keys of conditions. */
const MOVED = "the place of the store";
const NOTING = "noting where the store is";
const UNCHANGED = "context goes to the model unchanged";

export class PluginState {
  /** What the host handed over. A host that checks its configuration hands over nothing wrong. */
  readonly given: Options;
  /** Off means that nothing is replaced or stored; what was stored before can still be fetched. */
  readonly enabled: boolean;
  readonly sessions = new Sessions();
  readonly version: string;
  readonly #api: PluginApi;
  /** The directory that an option names. */
  readonly #stated: string | undefined;
  #inForce: OptionsInForce | undefined;
  #conditions: Conditions | undefined;
  #hasLibrary: boolean | undefined;
  readonly #held = new HeldStore(
    () => this.#openOrComplain(),
    (error) => this.complain("closing the store", error, "its files stay open until the gateway ends"),
  );
  #mending: Promise<boolean> | undefined;
  #setAsideAt = 0;
  #sweptAt = 0;

  constructor(api: PluginApi) {
    this.#api = api;
    this.version = api.version ?? "of unknown version";
    this.given = (api.pluginConfig ?? {}) as Options;
    this.enabled = this.given.sccsEnabled !== false;
    const { sccsStorageDir } = this.given;
    if (typeof sccsStorageDir === "string" && sccsStorageDir !== "") this.#stated = resolved(api, sccsStorageDir);
  }

  /** The options in force. @throws where the native library does not load. */
  get options(): Required<Options> {
    return this.#checked().options;
  }

  /**
   * One line for each option that is wrong, with what is used instead. @throws where the native library does not load.
   */
  get optionWarnings(): string[] {
    return this.#checked().warnings;
  }

  #checked(): OptionsInForce {
    this.#inForce ??= optionsInForce(this.given, HOST_DEFAULTS);
    return this.#inForce;
  }

  /** The host's state directory. */
  get stateDir(): string {
    return this.#api.runtime.state.resolveStateDir();
  }

  /** What is wrong now, as the status says it. */
  get conditions(): Conditions {
    return (this.#conditions ??= new Conditions(this.stateDir));
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

  /**
   * The open store, or undefined while it cannot be used. A failure is tried again after a minute. It stays open for as
   * long as somebody uses it.
   */
  store(): Promise<Concertina | undefined> {
    return this.#held.get();
  }

  /**
   * Lets go of the store when the host has replaced this registration: at once, or with the last use that is under way.
   */
  letGo(): Promise<void> {
    if (this.hasStore && isLeaving(this.#api.config, this.config))
      this.warn(`it is disabled or uninstalled now. ${UNFOLD_FIRST}: enable it again for that`);
    return this.#held.letGo();
  }

  async #openOrComplain(): Promise<Concertina | undefined> {
    if (!this.hasLibrary) return undefined;
    try {
      const store = await this.open();
      this.conditions.end(STORE);
      this.ended("opening the store");
      await this.#tellOfMove(store);
      this.warnOfConfiguration();
      this.#logNotices(store);
      return store;
    } catch (error) {
      this.complain("opening the store", error, UNCHANGED);
      return undefined;
    }
  }

  async #tellOfMove(store: Concertina): Promise<void> {
    try {
      const line = await noteOfMove(this.#api.runtime.state.resolveStateDir(), await this.place(), store);
      if (line !== undefined) {
        this.warn(line);
        this.conditions.raise({ key: MOVED, text: line, remedy: null });
      } else if ((await store.sessions()).some(({ isHere }) => isHere)) this.conditions.end(MOVED);
      this.ended(NOTING);
    } catch (error) {
      this.complain(NOTING, error, "the next opening tries again");
    }
  }

  /**
   * Opens the store; a damaged file is set aside under today's date, but for who only looks beside a gateway. @throws
   * when it cannot be opened.
   */
  async open({ setsAside = true } = {}): Promise<Concertina> {
    try {
      const place = await this.place();
      // Beside a database, notes of what parsers are given stay on this machine.
      const journalDir = place.url === undefined ? undefined : this.directory();
      return await Concertina.open({
        ...this.options,
        ...place,
        journalDir,
        retention: "host",
        today: setsAside ? today() : undefined,
      });
    } catch (error) {
      throw withOwner(error, [ownDirectory(this.#api.runtime.state.resolveStateDir()), this.directory()]);
    }
  }

  /** Where the store lives. @throws where the host cannot resolve the address of a database. */
  async place(): Promise<StorePlace> {
    const stateDir = this.#api.runtime.state.resolveStateDir();
    const isOwn = !this.isShared && isWithin(stateDir, this.directory());
    const host = hostId(stateDir, !isOwn, (line) => this.warn(line));
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

  /**
   * Does something with the store, where there is one, and logs what the store has to tell about it. Meanwhile it stays
   * open. The conditions of the steps end, unless one of them failed meanwhile.
   */
  use<Value>(run: (store: Concertina) => Promise<Value>, ...steps: string[]): Promise<Value | undefined> {
    return this.#held.use(async (store) => {
      const marks = steps.map((step) => this.conditions.mark(step));
      try {
        const value = await run(store);
        steps.forEach((step, at) => this.conditions.end(step, marks[at]));
        return value;
      } finally {
        this.#logNotices(store);
      }
    });
  }

  #logNotices(store: Concertina): void {
    try {
      for (const notice of store.notices()) this.warn(notice);
    } catch (error) {
      this.complain("asking the store what it noticed", error, "it is asked again at its next use");
    }
  }

  /** Logs one line. */
  warn(line: string): void {
    this.#api.logger.warn(`concertina: ${line}`);
  }

  /** Where the store lives that is not in a database. */
  directory(): string {
    const stateDir = this.#api.runtime.state.resolveStateDir();
    if (this.#stated === undefined) return ownDirectory(stateDir);
    return isAbsolute(this.#stated) ? this.#stated : join(stateDir, this.#stated);
  }

  /** The store's file. */
  storeFile(): string {
    return join(this.directory(), STORE_FILE);
  }

  /** Every session that the host can still show. @throws when the host cannot tell. */
  hostSessions(): Promise<HostSession[]> {
    return hostSessions(this.#api.runtime.state.resolveStateDir());
  }

  /** The session whose transcript the host copied when this one began. @throws when the host cannot tell. */
  forkSource(session: Scope): Promise<Scope | undefined> {
    return forkSource(this.#api.runtime.state.resolveStateDir(), session);
  }

  /**
   * Logs, in one line, that a step failed and what that means for the conversation; not again for ten minutes. The
   * status says so until the step has succeeded again (`ended`, or a use that names the step), or, where the store is
   * at fault, until that can be used.
   */
  complain(step: string, error: unknown, consequence: string): void {
    if (isOfStore(error))
      this.conditions.raise({ key: STORE, ...troubleOf(error, this.isShared ? undefined : this.directory()) });
    else
      this.conditions.raise({ key: step, text: `${step} failed (${describe(error)}); ${consequence}`, remedy: null });
    if ((error as { code?: unknown } | undefined)?.code !== "CONCERTINA_STORE_DAMAGED")
      return this.#complain(step, error, consequence);
    this.#mending ??= this.#setAside().finally(() => (this.#mending = undefined));
    this.#mending.then(
      (isNew) => isNew || this.#complain(step, error, consequence),
      () => this.#complain(step, error, consequence),
    );
  }

  /**
   * Whether the open store's file was damaged under it and a new one is in use: the store's own line says so, for
   * whatever was under way.
   */
  async #setAside(): Promise<boolean> {
    if (await this.use((store) => store.check({ today: today() }))) this.#setAsideAt = Date.now();
    return Date.now() - this.#setAsideAt < UNDER_WAY_MS;
  }

  /** A step succeeded: what its failure raised ends. */
  ended(step: string): void {
    this.conditions.end(step);
  }

  /** Logs, in one line, that something failed that nothing is wrong after; not again for ten minutes. */
  tell(step: string, error: unknown, consequence: string): void {
    this.#complain(step, error, consequence);
  }

  #complain(step: string, error: unknown, consequence: string): void {
    const line = complaintLine(step, error, consequence);
    if (line !== undefined) this.#api.logger.warn(line);
  }

  /**
   * Tells the store, where there is one, which sessions the host still has, and removes what expired: at most hourly;
   * nobody waits for it.
   */
  sweepWhenDue(): void {
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS || !this.hasStore) return;
    this.#sweptAt = now;
    const swept = this.use(async (store) => {
      await this.settle(store);
      await store.sweep({});
    }, "the sweep");
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
    this.ended("asking the host for its sessions");
    await store.settle({ sessionIds: sessions.map(({ sessionId }) => sessionId) });
  }
}

/** The date by which files are named, in UTC. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Whether a directory is another one or in it. */
function isWithin(outer: string, directory: string): boolean {
  const way = relative(outer, directory);
  return !isAbsolute(way) && way.split(sep)[0] !== "..";
}

/**
 * A directory as the host resolves it, which it does during registration only. A relative one the host would look for
 * in the plugin's package, which goes with the next update: it stays as it is, and is one in the state directory.
 */
function resolved(api: PluginApi, directory: string): string {
  return isAbsolute(directory) || directory.startsWith("~") ? api.resolvePath(directory) : directory;
}
