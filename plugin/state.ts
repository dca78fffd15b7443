/**
 * The state of one registration of the plugin: its options and the store, which is opened at its first use.
 *
 * The host evaluates this module several times in one process and registers each copy, so nothing here is shared
 * between the engine and the tool. Shared state is in the store's file.
 */

import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

import {
  Concertina,
  describe,
  HOST_DEFAULTS,
  native,
  observedDirectory,
  observedPlace,
  type Options,
  type OptionsInForce,
  optionsInForce,
  STORE_FILE,
  type StorePlace,
  type Trouble,
  troubleText,
} from "../node/lib/for-plugin.js";
import { complaintLine, isNews } from "./repeated-warnings.js";
import { Conditions } from "./conditions.js";
import { HeldStore } from "./held-store.js";
import type { HostConfig, PluginApi } from "./host.js";
import { hostId } from "./host-id.js";
import { forkSource, hostSessions, type HostSession } from "./host-sessions.js";
import { noteOfMove } from "./moved-store.js";
import { Observer } from "./observer.js";
import { ownDirectory, withOwner } from "./own-files.js";
import { resolvedSecret } from "./host-secret.js";
import { isLeaving, UNFOLD_FIRST, whyUnused } from "./engine-slot.js";
import { type Scope, Sessions } from "./sessions.js";
import { isOfStore, STORE, troubleOf } from "./store-trouble.js";

const SWEEP_EVERY_MS = 3_600_000;
/** The maximum remaining duration of a call that began before a damaged file was set aside. */
const UNDER_WAY_MS = 5_000;
/** The setting with the URL of the database. */
const SETTING = "plugins.entries.concertina.config.sccsStoreUrl";
/** The key of the condition that the options name another place for the store than before. */
const MOVED = "the place of the store";
const NOTING = "recording the place of the store";
/** The remedy for failures that are not expected. */
const RESTART = 'Run "openclaw gateway restart"; if it fails again, report this line';
const UNCHANGED = "context is sent to the model unchanged";

export class PluginState {
  /** The options as the host passed them. A host that validates its configuration passes no wrong ones. */
  readonly given: Options;
  /** If false, nothing is replaced or stored, but stored originals can still be fetched. */
  readonly enabled: boolean;
  /** True if everything runs but nothing that is sent changes. The store is then that of observed sessions. */
  readonly observes: boolean;
  /** The record of what folding would have done, if this observes. */
  readonly observer: Observer | undefined;
  /** The state with the store whose placeholders are in the host's transcripts: this one, unless it observes. */
  readonly folding: PluginState;
  readonly sessions = new Sessions();
  readonly version: string;
  readonly #api: PluginApi;
  /** The directory in the option `sccsStorageDir`. */
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

  /** @param observes true to open the store of observed sessions; by default as the options say */
  constructor(api: PluginApi, observes = api.pluginConfig?.sccsEnabled === "observe") {
    this.#api = api;
    this.observes = observes;
    this.folding = observes ? new PluginState(api, false) : this;
    const tell = (...[step, error, consequence]: [string, unknown, string]) => this.tell(step, error, consequence);
    this.observer = observes ? new Observer(() => this.directory(), tell) : undefined;
    this.version = api.version ?? "of unknown version";
    this.given = (api.pluginConfig ?? {}) as Options;
    this.enabled = this.given.sccsEnabled !== false;
    const { sccsStorageDir } = this.given;
    if (typeof sccsStorageDir === "string" && sccsStorageDir !== "") this.#stated = resolved(api, sccsStorageDir);
  }

  /** The options in force. @throws if the native library does not load */
  get options(): Required<Options> {
    return this.#checked().options;
  }

  /**
   * The warnings about wrong options, one line each, with the values that are used instead. @throws if the native
   * library does not load
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

  /** The current problems, as the status shows them. */
  get conditions(): Conditions {
    return (this.#conditions ??= new Conditions(this.stateDir));
  }

  /** The version of the host, if the host provides it. */
  get hostVersion(): string | undefined {
    return this.#api.runtime.version;
  }

  /** The host's current configuration, if the host provides it. */
  get config(): HostConfig | undefined {
    return this.#api.runtime.config?.current() ?? this.#api.config;
  }

  /**
   * Returns the reason why the host does not use this engine. Undefined if the host uses it or its configuration is
   * unknown.
   */
  unused(): Trouble | undefined {
    return this.config && whyUnused(this.config);
  }

  /** Logs the problems of the configuration. The same line is not repeated for ten minutes. */
  warnOfConfiguration(): void {
    if (!this.hasLibrary) return;
    const unused = this.unused();
    const lines = [...(unused === undefined ? [] : [troubleText(unused)]), ...this.optionWarnings];
    for (const line of lines) if (isNews(line)) this.warn(line);
  }

  /** True if the native library loads. The reason for a failure is logged once. */
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
   * Returns the open store, or undefined while it cannot be used. A failed opening is repeated after a minute. The
   * store stays open as long as it is in use.
   */
  store(): Promise<Concertina | undefined> {
    return this.#held.get();
  }

  /** Releases the store when the host replaces this registration: at once, or with the last use in progress. */
  letGo(): Promise<void> {
    if (this.folding.hasStore && isLeaving(this.#api.config, this.config))
      this.warn(`the plugin is now disabled or uninstalled. ${UNFOLD_FIRST}; enable it again to do so`);
    return Promise.all([this.#held.letGo(), this.observes && this.folding.#held.letGo()]).then(() => undefined);
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
    // No transcript shows placeholders of observed sessions.
    if (this.observes) return;
    try {
      const trouble = await noteOfMove(this.#api.runtime.state.resolveStateDir(), await this.place(), store);
      if (trouble !== undefined) {
        this.warn(troubleText(trouble));
        this.conditions.raise({ key: MOVED, ...trouble });
      } else if ((await store.sessions()).some(({ isHere }) => isHere)) this.conditions.end(MOVED);
      this.ended(NOTING);
    } catch (error) {
      this.complain(NOTING, error, "it is repeated when the store is opened again");
    }
  }

  /**
   * Opens the store. With `setsAside`, a damaged file is renamed to include today's date and replaced; commands beside
   * a gateway do not do this. @throws if the store cannot be opened
   */
  async open({ setsAside = true } = {}): Promise<Concertina> {
    try {
      const place = await this.place();
      // For a database, the journal of parser calls stays on this machine.
      const journalDir = place.url === undefined ? undefined : this.directory();
      return await Concertina.open({
        ...this.options,
        ...place,
        journalDir,
        retention: "host",
        replaceDamaged: setsAside,
      });
    } catch (error) {
      throw withOwner(error, [ownDirectory(this.#api.runtime.state.resolveStateDir()), this.directory()]);
    }
  }

  /** Returns the place of the store. @throws if the host cannot resolve the URL of a database */
  async place(): Promise<StorePlace> {
    const stateDir = this.#api.runtime.state.resolveStateDir();
    const isOwn = !this.isShared && isWithin(stateDir, this.directory());
    const host = hostId(stateDir, !isOwn, (line) => this.warn(line));
    if (!this.isShared) return { dir: this.directory(), host };
    const url = await resolvedSecret(this.given.sccsStoreUrl, SETTING, this.config);
    const place = { url, namespace: this.options.sccsStoreNamespace, host };
    return this.observes ? observedPlace(place) : place;
  }

  /** True if the store is in a database. */
  get isShared(): boolean {
    return ![undefined, ""].includes(this.given.sccsStoreUrl);
  }

  /** True if there is a store. Checking does not create one. */
  get hasStore(): boolean {
    return this.isShared || existsSync(this.storeFile());
  }

  /**
   * Runs `run` with the store, if there is one, and logs the store's notices. The store stays open meanwhile. On
   * success the conditions of `steps` end, unless one of the steps failed meanwhile.
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
      this.complain("reading the notices of the store", error, "they are read again at its next use");
    }
  }

  /** Logs one line. */
  warn(line: string): void {
    this.#api.logger.warn(`concertina: ${line}`);
  }

  /** Returns the directory of a store that is not in a database. */
  directory(): string {
    const stateDir = this.#api.runtime.state.resolveStateDir();
    const directory = this.#stated === undefined ? ownDirectory(stateDir) : resolve(stateDir, this.#stated);
    return this.observes ? observedDirectory(directory) : directory;
  }

  /** Returns the path of the store's file. */
  storeFile(): string {
    return join(this.directory(), STORE_FILE);
  }

  /** Returns every session that the host can still show. @throws if the host's databases cannot be read */
  hostSessions(): Promise<HostSession[]> {
    return hostSessions(this.#api.runtime.state.resolveStateDir());
  }

  /**
   * Returns the session whose transcript the host copied when this one began. @throws if the host's databases cannot be
   * read
   */
  forkSource(session: Scope): Promise<Scope | undefined> {
    return forkSource(this.#api.runtime.state.resolveStateDir(), session);
  }

  /**
   * Logs in one line that a step failed and what follows for the conversation, at most once in ten minutes. The status
   * shows it with the remedy until the step succeeds (`ended`, or a use with that step) or, if the store is the cause,
   * until the store can be used.
   */
  complain(step: string, error: unknown, consequence: string, remedy = RESTART): void {
    if (isOfStore(error))
      this.conditions.raise({ key: STORE, ...troubleOf(error, this.isShared ? undefined : this.directory()) });
    else this.conditions.raise({ key: step, text: `${step} failed (${describe(error)}); ${consequence}`, remedy });
    if ((error as { code?: unknown } | undefined)?.code !== "CONCERTINA_STORE_DAMAGED")
      return this.#complain(step, error, consequence);
    this.#mending ??= this.#setAside().finally(() => (this.#mending = undefined));
    this.#mending.then(
      (isNew) => isNew || this.#complain(step, error, consequence),
      () => this.#complain(step, error, consequence),
    );
  }

  /**
   * Returns true if the open store's file was damaged and has been replaced by a new one. The store's own notice
   * reports that for all calls in progress.
   */
  async #setAside(): Promise<boolean> {
    if (await this.use((store) => store.check({ replaceDamaged: true }))) this.#setAsideAt = Date.now();
    return Date.now() - this.#setAsideAt < UNDER_WAY_MS;
  }

  /** Ends the condition of a step that succeeded. */
  ended(step: string): void {
    this.conditions.end(step);
  }

  /** Logs in one line a failure that leaves no problem behind, at most once in ten minutes. */
  tell(step: string, error: unknown, consequence: string): void {
    this.#complain(step, error, consequence);
  }

  #complain(step: string, error: unknown, consequence: string): void {
    const line = complaintLine(step, error, consequence);
    if (line !== undefined) this.#api.logger.warn(line);
  }

  /**
   * Tells the store, if there is one, which sessions the host still has, and removes expired originals. It runs at most
   * once an hour and in the background.
   */
  sweepWhenDue(): void {
    if (this.observes) this.folding.sweepWhenDue();
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS || !this.hasStore) return;
    this.#sweptAt = now;
    const swept = this.use(async (store) => {
      await this.settle(store);
      await store.sweep({});
      this.observer?.forget();
    }, "the sweep");
    swept.catch((error: unknown) =>
      this.complain("the sweep", error, "expired originals are kept until the next sweep"),
    );
  }

  /**
   * Ends the sessions that the host no longer has. If the host's sessions cannot be read, none ends and their originals
   * stay.
   */
  async settle(store: Concertina): Promise<void> {
    let sessions: HostSession[];
    try {
      sessions = await this.hostSessions();
    } catch (error) {
      this.complain("reading the sessions of the host", error, "the originals of all sessions are kept");
      return;
    }
    this.ended("reading the sessions of the host");
    await store.settle({ sessionIds: sessions.map(({ sessionId }) => sessionId) });
  }
}

/** Returns the current UTC date, for the names of files. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Returns true if a directory is `outer` or inside it. */
function isWithin(outer: string, directory: string): boolean {
  const way = relative(outer, directory);
  return !isAbsolute(way) && way.split(sep)[0] !== "..";
}

/**
 * Resolves a directory like the host, which is possible only during registration. A relative path is kept, because the
 * host would resolve it in the plugin's package, which the next update replaces. It is relative to the state directory
 * instead.
 */
function resolved(api: PluginApi, directory: string): string {
  return isAbsolute(directory) || directory.startsWith("~") ? api.resolvePath(directory) : directory;
}
