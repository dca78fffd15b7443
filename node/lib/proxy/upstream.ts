/** The provider's side: one request, with the bytes, the abort and the pace of the client. */
import type { IncomingHttpHeaders } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import tls from "node:tls";
import zlib from "node:zlib";

import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";

/** The largest size of the headers of a request or an answer. */
export const MOST_HEADER_BYTES = 256 * 2 ** 10;

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

/** An address at a provider. Its path is sent as it is, with the query. */
export type Target = { origin: string; path: string };

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
    const options = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MOST_HEADER_BYTES, connect };
    const hasProxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].some((name) => process.env[name]);
    this.#dispatcher = hasProxy
      ? new EnvHttpProxyAgent({ ...options, requestTls: connect } as EnvHttpProxyAgent.Options)
      : new Agent(options);
  }

  async send(
    target: Target,
    method: string,
    headers: Headers,
    body: Readable | Buffer | string | null,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const answer = await this.#dispatcher.request({
      ...target,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal,
    });
    return { status: answer.statusCode, headers: inBytes(answer.headers), body: answer.body };
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** Returns headers with a character for each byte, as Node writes them. Undici reads all but one as UTF-8. */
function inBytes(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const bytes = JSON.parse(Buffer.from(JSON.stringify(headers)).toString("latin1")) as IncomingHttpHeaders;
  const { "content-length": length, "content-disposition": done } = headers;
  return length && done ? { ...bytes, "content-disposition": done } : bytes;
}

/** Thrown by {@link bytesOf}. */
export class TooLarge extends Error {}

/**
 * Returns all bytes of a stream. `node:stream/consumers` copies them through a `Blob` in many turns of the event loop.
 * @throws TooLarge if there are more than `most`
 */
export async function bytesOf(stream: AsyncIterable<Buffer>, most = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    if ((size += chunk.length) > most) throw new TooLarge();
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

const DECODERS = new Map<string, (() => Transform) | undefined>([
  ["gzip", zlib.createGunzip],
  ["x-gzip", zlib.createGunzip],
  ["br", zlib.createBrotliDecompress],
  ["deflate", zlib.createInflate],
  // Absent before Node 22.15.
  ["zstd", zlib.createZstdDecompress],
]);

/** Returns a body without its content encodings, or undefined if one of them is unknown. It must be read. */
export function decoded(body: Readable, encodings = ""): Readable | undefined {
  const names = encodings.toLowerCase().split(/[\s,]+/);
  const decoders = names.filter((name) => name !== "" && name !== "identity").map((name) => DECODERS.get(name));
  if (decoders.includes(undefined)) return undefined;
  // The encoding that was applied last is the first one to undo. Errors reach whoever reads.
  return decoders.reduceRight((from, make) => pipeline(from, (make as () => Transform)(), () => undefined), body);
}
