/** The provider's side: one request, with the bytes, the abort and the pace of the client. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable, Transform } from "node:stream";
import tls from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from "undici";

/** Headers that are about one connection, and the length, which changes with the body. */
const OF_CONNECTION = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export type Headers = Record<string, string | string[]>;

/** Returns headers to pass on, without those of the connection and those that a `Connection` header names. */
export function passedOn(headers: IncomingHttpHeaders, ...more: string[]): Headers {
  const named = String(headers.connection ?? "")
    .toLowerCase()
    .split(/\s*,\s*/);
  const isPassed = (name: string) => !OF_CONNECTION.has(name) && !named.includes(name) && !more.includes(name);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value !== undefined && isPassed(name) ? [[name, value]] : [])),
  );
}

/** An answer of a provider. */
export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Readable;
}

/** The certificates that Node trusts, with those of the system where this version of Node can read them. */
function trusted(): tls.SecureContext | undefined {
  const read = (tls as { getCACertificates?: (type: string) => string[] }).getCACertificates;
  if (read === undefined) return undefined;
  return tls.createSecureContext({ ca: [...new Set(["default", "system", "extra"].flatMap((type) => read(type)))] });
}

/** Connections to providers. They are kept open between requests. */
export class Upstream {
  readonly #dispatcher: Dispatcher;

  constructor() {
    const secureContext = trusted();
    const connect = secureContext === undefined ? {} : { secureContext };
    // A model may think for longer than any limit. The client decides how long it waits.
    const options = { headersTimeout: 0, bodyTimeout: 0, connect };
    const hasProxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].some((name) => process.env[name]);
    this.#dispatcher = hasProxy
      ? new EnvHttpProxyAgent({ ...options, requestTls: connect } as EnvHttpProxyAgent.Options)
      : new Agent(options);
  }

  async send(
    url: string,
    method: string,
    headers: Headers,
    body: Readable | Buffer | string | null,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const answer = await request(url, {
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal,
      dispatcher: this.#dispatcher,
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** Returns all bytes of a stream. `node:stream/consumers` copies them through a `Blob` in many turns of the event loop. */
export async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

const DECODERS = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["deflate", createInflate],
]);

/** Returns a body without its content encoding, or undefined if that is unknown. */
export function decoded(body: Readable, encoding: string | undefined): Readable | undefined {
  const name = encoding?.trim().toLowerCase() || "identity";
  if (name === "identity") return body;
  const decoder = DECODERS.get(name)?.();
  if (decoder === undefined) return undefined;
  body.on("error", (error) => decoder.destroy(error));
  return body.pipe(decoder);
}
