/**
 * The proxy: an HTTP server that folds requests of the dialects it knows and passes everything else on byte for byte.
 *
 * Headers are passed on and never kept. Without a token it serves this machine only.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

import { describe } from "../binding/errors.js";
import type { Options } from "../binding/options.js";
import type { StorePlace } from "../library/api.js";
import { Concertina } from "../library/concertina.js";
import type { Figures, FiguresRequest } from "../library/figures.js";
import { HOST_DEFAULTS } from "../library/host-defaults.js";
import { Journals } from "../library/journals.js";
import { periodsOf, report } from "../terminal/page.js";
import { savedLine } from "../terminal/figures-text.js";
import { version } from "../terminal/version.js";
import { Bodies } from "./body.js";
import type { Dialect } from "./dialect.js";
import { anthropic } from "./dialects/anthropic.js";
import { chat } from "./dialects/chat.js";
import { responses } from "./dialects/responses.js";
import { Exchanges, type Mode } from "./exchange.js";
import { Folder } from "./fold.js";
import { AGENT, type Line } from "./journal.js";
import { isLoopback } from "./loopback.js";
import { pass } from "./reply.js";
import { Sessions } from "./sessions.js";
import { bytesOf, decoded, MOST_HEADER_BYTES, passedOn, type Target, TooLarge, Upstream } from "./upstream.js";

/** The addresses of the providers, without `/v1`. */
export interface Providers {
  anthropic: string;
  openai: string;
}

export interface ProxyOptions {
  /** The port; 0 for a free one. */
  port: number;
  /** The address to listen on. Any other than that of this machine needs a token. */
  host: string;
  /** The token that clients must send, as the first part of the path or in the header `x-concertina-token`. */
  token?: string;
  place: StorePlace;
  /** The directory of the notes about sessions. */
  notes: string;
  /** Options of Concertina, over those of the plugin. */
  options: Options;
  providers: Providers;
  mode: Mode;
  /** Receives each line of the log. */
  log(line: string): void;
}

const HOUR_MS = 3_600_000;
/** Clients resume sessions after days, and send them in full. */
const TTL_SECONDS = 30 * 86_400;
/** The largest request that is read. Providers accept far smaller ones. */
const MOST_BYTES = 256 * 2 ** 20;
/** A provider's answer may take longer than Node's limits for a request. */
const LIMITS = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: MOST_HEADER_BYTES,
};

const ROUTES: { path: RegExp; dialect: Dialect; isCount?: true }[] = [
  // The messages of a thread are those of OpenAI's Assistants API.
  { path: /(?<!\/threads\/[^/]+)\/messages$/, dialect: anthropic },
  { path: /\/messages\/count_tokens$/, dialect: anthropic, isCount: true },
  { path: /\/chat\/completions$/, dialect: chat },
  { path: /\/responses$/, dialect: responses },
];

/** The headers that only Anthropic's clients send. */
const ANTHROPICS = /^(anthropic-|x-api-key:|authorization: Bearer\s+sk-ant-)/i;

/** A running proxy. */
export class Proxy {
  readonly #options: ProxyOptions;
  readonly #concertina: Concertina;
  readonly #sessions: Sessions;
  readonly #folder: Folder;
  readonly #exchanges: Exchanges;
  readonly #upstream = new Upstream();
  readonly #server = http.createServer(LIMITS, (request, response) => this.#run(this.#handle(request, response)));
  readonly #pageToken: string;
  #timer: NodeJS.Timeout | undefined;
  /** Requests in progress, and lines about ended sessions. Closing waits for them. */
  readonly #running = new Set<Promise<void>>();

  private constructor(options: ProxyOptions, concertina: Concertina) {
    this.#options = options;
    this.#concertina = concertina;
    this.#pageToken = options.token ?? randomBytes(12).toString("hex");
    this.#sessions = new Sessions(new Journals<Line>(options.notes), (id) => this.#run(this.#logEnd(id)));
    const warn = (line: string) => this.#warn(line);
    const bodies = new Bodies();
    this.#folder = new Folder(concertina, bodies, warn);
    const { mode } = options;
    const [folder, sessions, upstream] = [this.#folder, this.#sessions, this.#upstream];
    this.#exchanges = new Exchanges({ folder, sessions, bodies, upstream, mode, warn });
  }

  /** Opens the store and listens. @throws if the store cannot be opened or the port is taken */
  static async start(options: ProxyOptions): Promise<Proxy> {
    const defaults = { ...HOST_DEFAULTS, sccsStorageTtlSeconds: TTL_SECONDS };
    const concertina = await Concertina.open({ ...defaults, ...options.options, ...options.place });
    const proxy = new Proxy(options, concertina);
    for (const line of concertina.warnings) proxy.#warn(line);
    const server = proxy.#server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options.port, options.host, resolve);
    });
    proxy.#timer = setInterval(() => void proxy.#upkeep(), HOUR_MS).unref();
    await proxy.#upkeep();
    return proxy;
  }

  /** The address for clients. */
  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo;
    const host = family === "IPv6" ? `[${address}]` : address;
    return `http://${host}:${port}${this.#options.token === undefined ? "" : `/${this.#options.token}`}`;
  }

  /** The address of the page of figures. */
  get page(): string {
    return `${new URL(this.url).origin}/concertina?token=${this.#pageToken}`;
  }

  /** Stops listening, breaks off what is in progress, and closes the store. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#server.close();
    this.#server.closeAllConnections();
    await Promise.all(this.#running);
    this.#sessions.end();
    await Promise.all(this.#running);
    await this.#folder.settle();
    await this.#upstream.close();
    await this.#concertina.close();
  }

  /** Returns one line on everything that was saved since a moment. */
  async saved(since: number): Promise<string> {
    return savedLine(await this.#figures({ since }));
  }

  /** Returns figures with everything that was recorded. */
  async #figures(request: FiguresRequest): Promise<Figures> {
    await this.#folder.settle(request.sessionId);
    return this.#concertina.figures(request);
  }

  #run(job: Promise<void>): void {
    const done = job
      .catch((error: unknown) => this.#warn(`a request failed (${describe(error)})`))
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  #warn(line: string): void {
    this.#options.log(`concertina: ${line}`);
  }

  async #logEnd(sessionId: string): Promise<void> {
    try {
      const figures = await this.#figures({ sessionId, agentId: AGENT });
      if (figures.total.requests > 0) this.#options.log(`concertina: session ${sessionId}: ${savedLine(figures)}`);
    } catch (error) {
      this.#warn(`reading the figures of session ${sessionId} failed (${describe(error)})`);
    }
  }

  /** Ends idle sessions and removes what has expired. */
  async #upkeep(): Promise<void> {
    const now = Date.now();
    try {
      this.#sessions.end(now - HOUR_MS);
      this.#sessions.forget(now - TTL_SECONDS * 1000);
      await this.#concertina.sweep();
      for (const notice of this.#concertina.notices()) this.#warn(notice);
    } catch (error) {
      this.#warn(`the sweep failed (${describe(error)}); expired originals stay until the next one`);
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const leaving = new AbortController();
    response.on("close", () => response.writableFinished || leaving.abort());
    try {
      await this.#route(request, response, leaving.signal);
    } catch (error) {
      if (leaving.signal.aborted) return;
      if (error instanceof TooLarge) return refuse(response, 413, "the request is too large");
      const parts = partsOf(request.url).path.split("/");
      const path = parts.filter((part) => part !== this.#options.token).join("/");
      this.#warn(`${request.method} ${path} failed (${describe(error)}); the client was told`);
      // A client must not take the part that it got for the whole answer.
      if (response.headersSent) response.destroy();
      else refuse(response, 502, `the provider cannot be reached: ${describe(error)}`);
    } finally {
      // Many clients read an answer only after they have sent everything.
      request.resume();
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { token, host } = this.#options;
    const parts = partsOf(request.url);
    const { path, search } = parts;
    if (path === "/healthz") return json(response, { status: "ok", version: version() });
    const asked = `http://${request.headers.host ?? "localhost"}`;
    if (!path.startsWith("/") || !URL.canParse(asked)) return refuse(response, 400, "the path or Host is malformed");
    // A page in a browser could otherwise reach this server under a name of its own.
    const name = new URL(asked).hostname.replace(/^\[|\]$/g, "");
    if (isLoopback(host) && !isLoopback(name)) return refuse(response, 403, `${name} is not served here`);
    if (path === "/concertina" || path === "/concertina/status") {
      if (!isEqual(new URLSearchParams(search).get("token") ?? "", this.#pageToken))
        return refuse(response, 401, "the token is wrong");
      return path === "/concertina" ? this.#showPage(response) : this.#showStatus(response);
    }
    if (token !== undefined) {
      const [, first = "", ...rest] = path.split("/");
      const isInPath = isEqual(first, token);
      if (!isInPath && !isEqual(String(request.headers["x-concertina-token"] ?? ""), token))
        return refuse(response, 401, "the token is missing or wrong");
      if (isInPath) parts.path = `/${rest.join("/")}`;
    }
    // HTTP allows to ignore an offer of any other protocol, such as h2c.
    if (/websocket/i.test(request.headers.upgrade ?? ""))
      return refuse(response.setHeader("Upgrade", "websocket"), 426, "WebSockets are not served here");
    await this.#forward(request, response, parts, signal);
  }

  async #forward(request: IncomingMessage, response: ServerResponse, parts: Parts, signal: AbortSignal): Promise<void> {
    const { headers, method = "GET" } = request;
    const route = method === "POST" ? ROUTES.find((one) => one.path.test(parts.path)) : undefined;
    const target = this.#target(parts, request, route?.dialect);
    const send = async (body: IncomingMessage | Buffer) => {
      const length = headers["content-length"];
      const sent = { ...passedOn(headers, "x-concertina-token"), ...(length ? { "content-length": length } : {}) };
      const hasBody = length !== undefined || headers["transfer-encoding"] !== undefined;
      const came = await this.#upstream.send(target, method, sent, hasBody ? body : null, signal);
      return pass(came, response, signal);
    };
    if (route === undefined) return send(request);
    if (Number(headers["content-length"] ?? 0) > MOST_BYTES) throw new TooLarge();
    const { dialect, isCount = false } = route;
    const { "x-concertina-token": _, ...others } = headers;
    const raw = await bytesOf(request.iterator({ destroyOnReturn: false }), MOST_BYTES);
    const body = decoded(Readable.from([raw], { objectMode: false }), headers["content-encoding"]);
    const failed = (error: unknown) => (error instanceof TooLarge ? Promise.reject(error) : undefined);
    const bytes = await (body && bytesOf(body, MOST_BYTES).catch(failed));
    // What cannot be decoded is for the provider to refuse.
    if (bytes === undefined) return send(raw);
    await this.#exchanges.answer({ dialect, target, headers: others, bytes, isCount }, response, signal);
  }

  /** Returns the address at the provider: by the dialect or, for other paths, by what Anthropic's clients send. */
  #target({ path, search }: Parts, { headers }: IncomingMessage, dialect: Dialect | undefined): Target {
    const { providers } = this.#options;
    const given = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
    const isItsOwn = path === "/" || given.some((line) => ANTHROPICS.test(line));
    const isAnthropic = dialect === undefined ? isItsOwn : dialect === anthropic;
    const { origin, pathname } = new URL(isAnthropic ? providers.anthropic : providers.openai);
    const base = pathname.replace(/\/+$/, "");
    const isRepeated = base.endsWith("/v1") && path.startsWith("/v1/");
    return { origin, path: base + (isRepeated ? path.slice("/v1".length) : path) + search };
  }

  async #showPage(response: ServerResponse): Promise<void> {
    const periods = await periodsOf((range) => this.#figures(range));
    const { html, policy } = report({ periods, health: null, observes: this.#options.mode.observes });
    send(response.setHeader("Content-Security-Policy", policy), 200, "text/html; charset=utf-8", html);
  }

  async #showStatus(response: ServerResponse): Promise<void> {
    const { total, unit, store, lastFoldAt } = await this.#figures({});
    const { mode } = this.#options;
    json(response, { version: version(), mode, uptimeSeconds: process.uptime(), unit, total, store, lastFoldAt });
  }
}

type Parts = ReturnType<typeof partsOf>;

/** Returns the path and the query of a request as they came. A `URL` would rewrite them, and refuses some. */
function partsOf(url = "/") {
  const [, path = "", search = ""] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(.*)/is.exec(url) ?? [];
  return { path: path || "/", search };
}

/** Compares two secrets in the same time, wherever they differ. */
function isEqual(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  const secure = { "cache-control": "no-store", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };
  response.writeHead(status, { ...secure, "content-type": type }).end(text);
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  send(response, status, "application/json", `${JSON.stringify(value)}\n`);
}

/** Answers in the form of an error that the SDKs of all providers show. */
function refuse(response: ServerResponse, status: number, message: string): void {
  json(response, { type: "error", error: { type: "concertina_proxy", message: `concertina: ${message}` } }, status);
}
