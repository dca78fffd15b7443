/**
 * The session of a request that names none.
 *
 * Each message has a link: a hash of everything up to it, as the client sent it. A request belongs to the session whose
 * links it extends. If it leaves that session before an answer of the model, it is a branch and a session of its own
 * that begins with everything that the first one was shown. A change behind the last answer, such as a repeated or an
 * edited question, stays in the session.
 */
import { hash, randomBytes } from "node:crypto";

import type { AnyMessage } from "../library/api.js";
import type { Dialect } from "./dialect.js";
import type { HiddenRounds, Line, Notes } from "./journal.js";
import { isObject, type Json } from "./sse.js";

/** The number of sessions in memory: used ones, and compared ones. Others are read from their files again. */
const MOST_IN_MEMORY = 256;
/** The number of sessions with the same first message that a request is compared with, the latest first. */
const MOST_COMPARED = 50;
/** The number of answers that the provider keeps whose sessions are remembered. */
const MOST_KEPT = 10_000;
const LINK_CHARS = 22;

/** The link of a message. The first character tells answers of the model, `a`, from other messages, `m`. */
export type Link = string;

/** The hashes of messages, each with the link that it had last and the one before that. */
const known = new WeakMap<AnyMessage, { digest: string; before: Link; link: Link }>();

/** Returns the links of messages. `beginning` is what precedes the first one. */
export function linksOf(dialect: Dialect, messages: readonly AnyMessage[], beginning: string): Link[] {
  let before = beginning;
  return messages.map((message) => {
    let at = known.get(message);
    if (at?.before !== before) {
      const digest = at?.digest ?? hash("sha256", JSON.stringify(withoutCachePoints(message)), "base64url");
      const chained = hash("sha256", before + digest, "base64url").slice(0, LINK_CHARS);
      at = { digest, before, link: (dialect.isAnswer(message) ? "a" : "m") + chained };
      known.set(message, at);
    }
    return (before = at.link);
  });
}

/** Returns a message without its cache breakpoints, which clients move from request to request. */
export function withoutCachePoints<T extends { content?: unknown }>(message: T): T {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const plain = content.map((block: unknown) => {
    // A result of Anthropic has blocks of its own.
    const inner = isObject(block) ? withoutCachePoints(block) : block;
    return isObject(inner) && "cache_control" in inner ? { ...inner, cache_control: undefined } : inner;
  });
  return plain.some((block, at) => block !== content[at]) ? { ...message, content: plain } : message;
}

const short = (value: unknown) => hash("sha256", JSON.stringify(value) ?? "", "hex").slice(0, 12);

export class Session {
  readonly id: string;
  readonly #journals: Notes;
  #links: Link[] = [];
  #births = new Map<string, AnyMessage>();
  #hidden = new Map<Link, HiddenRounds[]>();
  #end = 0;
  isUntouched = false;
  /** The shown forms of messages, each with the link at which the message was last seen. */
  views = new WeakMap<AnyMessage, { link: Link | undefined; shown: AnyMessage }>();
  /** The exchanges in progress, one after the other. */
  queue: Promise<unknown> = Promise.resolve();

  constructor(id: string, journals: Notes) {
    this.id = id;
    this.#journals = journals;
    this.refresh();
  }

  /** The number of messages that the session has. */
  get length(): number {
    return this.#links.length;
  }

  /** Reads what was added to the session's file. If the file was removed, the session has nothing. */
  refresh(): this {
    let { lines, end } = this.#journals.read(this.id, this.#end);
    if (end < this.#end) {
      [this.#links, this.#births, this.#hidden, this.views] = [[], new Map(), new Map(), new WeakMap()];
      this.isUntouched = false;
      ({ lines, end } = this.#journals.read(this.id, 0));
    }
    this.#end = end;
    for (const line of lines) this.#take(line);
    return this;
  }

  #take(line: Json): void {
    const { at, links, birth, shown, answerTo, hidden } = line;
    if (typeof at === "number" && Array.isArray(links))
      this.#links = [...this.#links.slice(0, at), ...(links as Link[])];
    else if (typeof birth === "string" && isObject(shown)) {
      if (!this.#births.has(birth)) this.#births.set(birth, shown);
    } else if (typeof answerTo === "string" && isObject(hidden))
      this.#hidden.set(answerTo, [hidden as unknown as HiddenRounds, ...(this.#hidden.get(answerTo) ?? [])]);
    else if (line.untouched === true) this.isUntouched = true;
  }

  add(lines: Line[]): void {
    this.#journals.append(this.id, lines);
    this.refresh();
  }

  /** Returns the number of messages that a request shares with the session. */
  shared(links: Link[]): number {
    const other = links.findIndex((link, at) => link !== this.#links[at]);
    return Math.min(other === -1 ? links.length : other, this.#links.length);
  }

  /** Returns true if the session has an answer of the model after a message. */
  hasAnswerAfter(at: number): boolean {
    return this.#links.slice(at).some((link) => link.startsWith("a"));
  }

  /** Takes the messages of a request as those of the session. Returns the line to add once their results are born. */
  adopt(links: Link[]): Line[] {
    const at = this.shared(links);
    if (at === links.length && at === this.#links.length) return [];
    this.#links = links;
    return [{ at, links: links.slice(at) }];
  }

  /** Returns how a result was shown at birth, or undefined if it was not changed. */
  birth(key: string): AnyMessage | undefined {
    return this.#births.get(key);
  }

  /** Returns the fetches in the answer to the messages with a link, the latest first. */
  hiddenAfter(link: Link): HiddenRounds[] {
    return this.#hidden.get(link) ?? [];
  }
}

/** A request in its session. */
export interface Place {
  session: Session;
  links: Link[];
  /** The number of messages that the session had before. Results in later messages are born now. */
  known: number;
  /** The lines that the session's file lacks. They are written with the births: a crash leaves both or none. */
  lines: Line[];
  /** The session that this one is a branch of, if it began with this request. */
  parent: Session | undefined;
}

export class Sessions {
  readonly #journals: Notes;
  /** Sessions by id, the least recently used first. */
  readonly #loaded = new Map<string, Session>();
  /** Sessions that requests were only compared with. */
  readonly #compared = new Map<string, Session>();
  /** The times at which sessions that have not ended were used last. */
  readonly #usedAt = new Map<string, number>();
  /** The sessions of answers that the provider keeps, by the ids of the answers. */
  readonly #kept = new Map<string, string>();
  /** Called for each session that ends. */
  readonly #onEnd: (id: string) => void;

  constructor(journals: Notes, onEnd: (id: string) => void) {
    [this.#journals, this.#onEnd] = [journals, onEnd];
  }

  /** Returns a session with everything that its file has now. */
  #read(id: string): Session {
    const known = this.#loaded.get(id) ?? this.#compared.get(id);
    if (known !== undefined) return known.refresh();
    const session = new Session(id, this.#journals);
    put(this.#compared, id, session, MOST_IN_MEMORY);
    return session;
  }

  /** Keeps a session in memory as the one that was used last. */
  #use(session: Session): Session {
    this.#compared.delete(session.id);
    put(this.#loaded, session.id, session, MOST_IN_MEMORY);
    this.#usedAt.set(session.id, Date.now());
    return session;
  }

  #load(id: string): Session {
    return this.#use(this.#read(id));
  }

  /**
   * Finds the session of a request. With a new session, whose history holds thinking that was
   * made elsewhere, everything stays untouched: that thinking may be valid only behind exactly these bytes.
   */
  place(dialect: Dialect, body: Json, messages: readonly AnyMessage[]): Place {
    const links = linksOf(dialect, messages, dialect.name);
    const system = short(dialect.systemOf(body) ?? null);
    const root = `${short(links[0] ?? "")}-`;
    let best: { session: Session; shared: number } | undefined;
    for (const id of this.#candidates(root)) {
      const session = this.#read(id);
      const shared = session.shared(links);
      // Agents with other system prompts may begin with the same words.
      const isOwn = id.startsWith(root + system) || links.slice(0, shared).some((link) => link.startsWith("a"));
      const isBetter = best === undefined || shared > best.shared || (shared === best.shared && isEnd(session, shared));
      if (isOwn && isBetter) best = { session, shared };
    }
    if (best === undefined) return this.#begun(this.#load(root + system), links, dialect, messages);
    const { session, shared } = best;
    if (!session.hasAnswerAfter(shared))
      return { session: this.#use(session), links, known: shared, lines: session.adopt(links), parent: undefined };
    // Without a shared answer nothing was folded, so the same question asked again is simply a new session.
    const isFresh = !links.slice(0, shared).some((link) => link.startsWith("a"));
    if (isFresh)
      return this.#begun(this.#load(`${root}${system}-${randomBytes(4).toString("hex")}`), links, dialect, messages);
    const branch = `${session.id.split("-").slice(0, 2).join("-")}-${randomBytes(4).toString("hex")}`;
    this.#journals.copy(session.id, branch);
    const child = this.#load(branch);
    return { session: child, links, known: shared, lines: child.adopt(links), parent: session };
  }

  #candidates(root: string): string[] {
    const ids = this.#journals.ids().filter((id) => id.startsWith(root));
    if (ids.length <= MOST_COMPARED) return ids;
    const times = new Map(ids.map((id) => [id, this.#journals.changedAt(id)]));
    return ids.toSorted((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0)).slice(0, MOST_COMPARED);
  }

  #begun(session: Session, links: Link[], dialect: Dialect, messages: readonly AnyMessage[]): Place {
    if (messages.some((message) => dialect.hasThinking(message))) session.add([{ untouched: true }]);
    return { session, links, known: 0, lines: session.adopt(links), parent: undefined };
  }

  /** Returns the session of a request whose history the provider has, which is named by what it continues. */
  continuation(dialect: Dialect, messages: readonly AnyMessage[], id: string): Place {
    const name = answerName(dialect, id);
    const kept = this.#kept.get(id) ?? this.#journals.read(name, 0).lines[0]?.session;
    const session = this.#load(typeof kept === "string" ? kept : name);
    return { session, links: linksOf(dialect, messages, id), known: 0, lines: [], parent: undefined };
  }

  /** Remembers the session of an answer that the provider keeps. A note makes it known to other proxies, too. */
  keep(dialect: Dialect, id: string, { id: session }: Session, isNoted = false): void {
    put(this.#kept, id, session, MOST_KEPT);
    if (isNoted) this.#journals.append(answerName(dialect, id), [{ session }]);
  }

  /** Ends the sessions that were not used since a moment, or all. */
  end(before = Number.POSITIVE_INFINITY): void {
    for (const [id, usedAt] of this.#usedAt) {
      if (usedAt >= before) continue;
      for (const map of [this.#usedAt, this.#loaded]) map.delete(id);
      this.#onEnd(id);
    }
  }

  /** Removes the files that did not change since a moment. */
  forget(before: number): void {
    for (const id of this.#journals.ids()) if (this.#journals.changedAt(id) < before) this.#journals.remove(id);
  }
}

/** Puts an entry last into a map, and removes the first ones until at most `most` are left. */
function put<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const first of map.keys()) if (map.size > most) map.delete(first);
}

/** Returns the name of the file that notes the session of an answer, and of a session that begins with it. */
const answerName = ({ name }: Dialect, id: string) => `${short(id)}-${short(name)}`;
const isEnd = (session: Session, shared: number) => session.length === shared;
