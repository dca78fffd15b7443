/** The client's side of an exchange: one answer, made of one or more answers of the provider. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Copies } from "./copies.js";
import { type Answer, type Dialect, isFetch, type Relay } from "./dialect.js";
import { EventReader, eventOf, type Json, objectIn } from "./sse.js";
import { bytesOf, decoded, passedOn, type UpstreamAnswer } from "./upstream.js";

export class Reply {
  readonly #dialect: Dialect;
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #copies: Copies | undefined;
  readonly #relay: Relay;
  /** The last answer that was not streamed. */
  #whole: { came: UpstreamAnswer; bytes: Buffer; body: Json } | undefined;
  /** The answers that were not streamed, as the client sees them. */
  readonly #shown: Answer[] = [];
  #isChanged = false;

  /** `copies` is absent if the answer is passed on as it is. */
  constructor(dialect: Dialect, copies: Copies | undefined, response: ServerResponse, signal: AbortSignal) {
    [this.#dialect, this.#copies, this.#response, this.#signal] = [dialect, copies, response, signal];
    this.#relay = dialect.relay(copies ?? new Copies((placeholders) => Promise.resolve(placeholders), false));
  }

  /**
   * Receives an answer of the provider and passes on what the client may see of it now. Returns undefined if it was
   * passed on to its end, because it is an error or of an unknown form.
   */
  async receive(came: UpstreamAnswer): Promise<Answer | undefined> {
    if (this.#response.headersSent) await this.#write(this.#relay.next());
    const form = came.status >= 200 && came.status < 300 ? await formOf(came) : undefined;
    const body = form && decoded(came.body, encodingOf(came));
    if (body && form === "stream") return this.#stream(came, body);
    if (body && !this.#response.headersSent) return this.#read(came, body);
    await this.#pass(came);
    return undefined;
  }

  async #stream(came: UpstreamAnswer, body: Readable): Promise<Answer | undefined> {
    if (!this.#response.headersSent) {
      this.#response.writeHead(came.status, passedOn(came.headers, "content-encoding"));
      this.#response.write("", "latin1");
    }
    const reader = new EventReader();
    for await (const chunk of body) {
      let text = "";
      for (const event of reader.read(chunk as Buffer)) text += await this.#relay.take(event);
      await this.#write(this.#copies ? text : (chunk as Buffer));
    }
    const last = eventOf(reader.end());
    // A part of an event may be a part of a fetch.
    if (this.#copies && (last.data || !last.raw.includes("{"))) await this.#write(await this.#relay.take(last));
    const answer = await this.#relay.answer();
    if (answer === undefined) await this.finish();
    return answer;
  }

  async #read(came: UpstreamAnswer, stream: Readable): Promise<Answer | undefined> {
    const bytes = await bytesOf(stream);
    const body = objectIn(bytes.toString()) ?? {};
    this.#whole = { came, bytes, body };
    const answer = this.#dialect.wholeAnswer(body);
    if (answer === undefined) await this.finish();
    else this.#shown.push({ ...answer, pieces: await this.#piecesOf(answer) });
    return answer;
  }

  /** Returns the pieces that the client sees. */
  async #piecesOf({ pieces }: Answer): Promise<Json[]> {
    const shown: Json[] = [];
    for (const piece of pieces) {
      const call = this.#dialect.callIn(piece);
      if (call === undefined || this.#copies === undefined) shown.push(piece);
      else if (!isFetch(call)) {
        const args = await this.#copies.shown(call);
        const isSame = args === call.args;
        if (!this.#copies.isRefused(call)) shown.push(isSame ? piece : this.#dialect.withArguments(piece, args));
      }
    }
    this.#isChanged ||= shown.length < pieces.length || shown.some((piece, at) => piece !== pieces[at]);
    return shown;
  }

  async #pass(came: UpstreamAnswer): Promise<void> {
    if (!this.#response.headersSent) return pass(came, this.#response, this.#signal);
    const text = (await bytesOf(decoded(came.body, encodingOf(came)) ?? came.body)).toString();
    await this.#write(this.#relay.failure(objectIn(text) ?? { message: text, code: came.status }));
    this.#response.end();
  }

  /** Sends the end of the answer. */
  async finish(): Promise<void> {
    if (this.#whole === undefined) await this.#write(this.#copies ? this.#relay.end() : "");
    else {
      const { came, bytes, body } = this.#whole;
      const shown = this.#isChanged ? Buffer.from(JSON.stringify(this.#dialect.wholeReply(body, this.#shown))) : bytes;
      this.#response.writeHead(came.status, {
        ...passedOn(came.headers, "content-encoding"),
        "content-length": Buffer.byteLength(shown),
      });
      this.#response.write(shown);
    }
    this.#response.end();
  }

  async #write(text: string | Buffer): Promise<void> {
    if (text.length === 0 || this.#response.write(text)) return;
    await once(this.#response, "drain", { signal: this.#signal });
  }
}

const encodingOf = ({ headers }: UpstreamAnswer) => headers["content-encoding"]?.toString();

/** Returns the form of an answer: by its type or, where that is another one, by its first bytes. */
async function formOf({ headers, body }: UpstreamAnswer): Promise<"stream" | "whole" | undefined> {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  if (type.includes("text/event-stream")) return "stream";
  if (type.includes("json")) return "whole";
  if (headers["content-encoding"] !== undefined) return undefined;
  if (body.readableLength === 0) await Promise.race([once(body, "readable"), once(body, "end")]);
  const first = body.read() as Buffer | null;
  if (first === null) return undefined;
  body.unshift(first);
  const text = first.toString();
  if (/^\s*\{/.test(text)) return "whole";
  return /^(?:event|data|id|retry)?:/.test(text) ? "stream" : undefined;
}

/** Passes an answer on as it is, byte for byte. */
export async function pass(came: UpstreamAnswer, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const length = came.headers["content-length"];
  response.writeHead(came.status, {
    ...passedOn(came.headers),
    ...(length === undefined ? {} : { "content-length": length }),
  });
  response.write("", "latin1");
  await pipeline(came.body, response, { signal });
}
