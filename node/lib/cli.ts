#!/usr/bin/env node
/** The command line, for use without OpenClaw. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";

import type { Stats } from "./api.js";
import { census } from "./census.js";
import { Concertina } from "./concertina.js";
import { squeeze } from "./pure.js";
import { replay, type Fold, type Replay } from "./replay.js";
import { readSession } from "./session-file.js";
import { number, percent, table } from "./table.js";
import { unfoldFile } from "./unfold-file.js";

const HELP = `Usage: openclaw-concertina <command> [options]

  analyze SESSION      where the tokens of a recorded session are, and what folding them would save
      --json             print JSON
      --read R           price of a cached token, relative to input (default 0.1)
      --write W          price of a token written to the cache (default 1.25)
      --ttl MINUTES      life of the provider's cache (default 5)
  squeeze FILE         squeeze a JSON array of messages; prints the result
      --options JSON     options of squeeze()
  fetch REF...         print an original
      --lines A-B, --chars A-B, --pattern REGEX
      --agent ID         whose original it is (default main)
  stats                totals of a store
      --session ID, --json
  unfold SESSION       print a copy of a recorded session with the originals in place of their placeholders, in the same format
      --out FILE         write it to a file that does not exist yet
      --session ID, --agent ID   whose placeholders they are
  sweep                remove what expired
  purge SESSION_ID     forget a session; asks first
      --yes              without asking

Commands on a store take --dir DIR. SESSION is JSONL of OpenClaw, Pi or Claude Code, or a JSON array; .gz is fine.`;

interface Flags {
  dir?: string;
  json?: boolean;
  read?: string;
  write?: string;
  ttl?: string;
  options?: string;
  lines?: string;
  chars?: string;
  pattern?: string;
  agent?: string;
  session?: string;
  out?: string;
  yes?: boolean;
  help?: boolean;
}

class UsageError extends Error {}

const commands: Record<string, (args: string[], flags: Flags) => Promise<void>> = {
  analyze,
  squeeze: async ([file], flags) => {
    const messages = JSON.parse(readFileSync(need(file, "a file"), "utf8"));
    const squeezed = squeeze(messages, JSON.parse(flags.options ?? "{}"));
    console.log(JSON.stringify(squeezed.messages));
    console.error(JSON.stringify(squeezed.stats));
  },
  fetch: async (refIds, flags) => {
    need(refIds[0], "at least one id");
    await withStore(flags, async (concertina) => {
      const { lines, chars, pattern, agent: agentId } = flags;
      const { content, found } = await concertina.fetch({ refIds, agentId, lines, chars, pattern, maxChars: 2 ** 31 });
      for (const block of content) process.stdout.write(block.type === "text" ? block.text : Buffer.from(block.data, "base64"));
      if (found === 0) process.exitCode = 1;
    });
  },
  stats: (_args, flags) => withStore(flags, async (concertina) => show(await concertina.stats({ sessionId: flags.session }), flags)),
  sweep: (_args, flags) => withStore(flags, async (concertina) => console.log(JSON.stringify(await concertina.sweep()))),
  unfold,
  purge,
};

function need(value: string | undefined, what: string): string {
  if (value === undefined) throw new UsageError(`${what} is missing`);
  return value;
}

function price(name: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given);
  if (!(value >= 0)) throw new UsageError(`--${name} is ${JSON.stringify(given)}; it must be a number of at least 0`);
  return value;
}

async function withStore(flags: Flags, body: (concertina: Concertina) => Promise<void>): Promise<void> {
  const concertina = await Concertina.open({ dir: need(flags.dir, "--dir") });
  try {
    await body(concertina);
  } finally {
    await concertina.close();
  }
}

async function analyze([file]: string[], flags: Flags): Promise<void> {
  const messages = readSession(need(file, "a session file"));
  const prices = { read: price("read", flags.read, 0.1), write: price("write", flags.write, 1.25), ttlMs: price("ttl", flags.ttl, 5) * 60_000 };
  const dir = flags.dir ?? mkdtempSync(path.join(tmpdir(), "concertina-"));
  try {
    const concertina = await Concertina.open({ dir });
    const shares = census(messages);
    const outcome = await replay(concertina, messages, { sessionId: path.basename(file ?? ""), prices, progress });
    const proof = await fetchBack(concertina, outcome);
    await concertina.close();
    if (flags.json) console.log(JSON.stringify({ file, messages: messages.length, shares, ...outcome, proof }, null, 1));
    else report(file ?? "", messages.length, shares, outcome, proof, prices);
    if (proof && !proof.equal) process.exitCode = 1;
  } finally {
    if (flags.dir === undefined) rmSync(dir, { recursive: true, force: true });
  }
}

async function unfold([file]: string[], flags: Flags): Promise<void> {
  const from = need(file, "a session file");
  await withStore(flags, async (concertina) => {
    const { bytes, unfolded, missing, unreadable } = await unfoldFile(concertina, from, { sessionId: flags.session, agentId: flags.agent });
    // Never over a file that is there, the session itself least of all.
    if (flags.out !== undefined) writeFileSync(flags.out, bytes, { flag: "wx", mode: 0o600 });
    else process.stdout.write(bytes);
    for (const line of unreadable) console.error(`line ${line} is not JSON and stays as it is`);
    for (const id of missing) console.error(`the original of ${id} cannot be had; its placeholder stays`);
    console.error(`${number(unfolded)} placeholders unfolded, ${number(missing.length)} left`);
    if (missing.length > 0) process.exitCode = 1;
  });
}

async function purge([given]: string[], flags: Flags): Promise<void> {
  const sessionId = need(given, "a session id");
  await withStore(flags, async (concertina) => {
    const doomed = await concertina.purge({ sessionId, dry: true });
    const what = `${number(doomed.originals)} originals (${number(doomed.bytes)} bytes) that only session ${sessionId} holds`;
    if (!flags.yes) {
      console.error(`This removes ${what}. Placeholders of them cannot be unfolded any more.`);
      if (!process.stdin.isTTY) {
        console.error("Nothing was removed: standard input is no terminal, so nobody can be asked. --yes removes without asking.");
        process.exitCode = 2;
        return;
      }
      if (!(await isAgreed("Remove them? [y/N] "))) return console.error("Nothing was removed.");
    }
    console.log(JSON.stringify(await concertina.purge({ sessionId })));
  });
}

async function isAgreed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}

/** One line that moves on a terminal; silent elsewhere, where the whole replay is a matter of seconds. */
function progress(done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(done === of ? "\r\x1b[K" : `\rreplaying call ${done} of ${of} `);
}

/** What fetching the largest fold back showed. */
interface Proof {
  refId: string;
  bytes: number;
  sha256: string;
  equal: boolean;
}

/** Fetches the largest fold back; an id is a prefix of the SHA-256 of the original's bytes, so the bytes prove themselves. */
async function fetchBack(concertina: Concertina, { folds, endedAt }: Replay): Promise<Proof | undefined> {
  const largest = folds.toSorted((a, b) => b.tokensBefore - a.tokensBefore)[0];
  if (largest === undefined) return undefined;
  const { content } = await concertina.fetch({ refIds: [largest.refId], maxChars: 2 ** 31, now: endedAt });
  const [block] = content;
  const bytes = block?.type === "text" ? Buffer.from(block.text) : Buffer.from(block?.data ?? "", "base64");
  const sha256 = (await import("node:crypto")).createHash("sha256").update(bytes).digest("hex");
  return { refId: largest.refId, bytes: bytes.length, sha256, equal: sha256.startsWith(largest.refId) };
}

function report(file: string, count: number, shares: ReturnType<typeof census>, outcome: Replay, proof: Proof | undefined, prices: { read: number; write: number }): void {
  const { untouched, folded, folds } = outcome;
  const total = shares.reduce((sum, share) => sum + share.tokens, 0);
  console.log(`\n${path.basename(file)}: ${number(count)} messages, ${number(total)} tokens, ${number(untouched.calls)} model calls\n`);
  console.log("Where the tokens are");
  console.log(table(["content", "blocks", "tokens", "share"], shares.slice(0, 12).map((share) => [share.kind, number(share.blocks), number(share.tokens), percent(share.tokens / total)])));
  console.log("\nWhat was folded");
  console.log(table(["reason", "content", "blocks", "tokens before", "after"], byReason(folds)));
  console.log(`\nWhat is sent and billed (cached ${prices.read}, written ${prices.write} of the input price)`);
  console.log(
    table(
      ["", "untouched", "folded", "saved"],
      [
        ["tokens sent, all calls", number(untouched.tokens), number(folded.tokens), percent(1 - folded.tokens / untouched.tokens)],
        ["largest request", number(untouched.peak), number(folded.peak), percent(1 - folded.peak / untouched.peak)],
        ["bill, in input tokens", number(untouched.cost), number(folded.cost), percent(1 - folded.cost / untouched.cost)],
      ],
    ),
  );
  for (const line of outcome.warnings) console.log(`warning: ${line}`);
  if (proof) {
    console.log(`\nFetched back [REF_ID: ${proof.refId}]: ${number(proof.bytes)} bytes, SHA-256 ${proof.sha256}`);
    console.log(proof.equal ? "The id is the head of that hash: byte for byte the original." : "THE BYTES DO NOT MATCH THE ID.");
  }
}

function byReason(folds: Fold[]): string[][] {
  const groups = new Map<string, { blocks: number; before: number; after: number }>();
  for (const fold of folds) {
    const key = `${fold.reason}\t${fold.tool}`;
    const group = groups.get(key) ?? { blocks: 0, before: 0, after: 0 };
    group.blocks++;
    group.before += fold.tokensBefore;
    group.after += fold.tokensAfter;
    groups.set(key, group);
  }
  return [...groups]
    .sort(([, a], [, b]) => b.before - a.before)
    .slice(0, 12)
    .map(([key, group]) => [...key.split("\t"), number(group.blocks), number(group.before), number(group.after)]);
}

function show(stats: Stats, flags: Flags): void {
  if (flags.json) return console.log(JSON.stringify(stats));
  const saved = stats.tokensBefore === 0 ? 0 : 1 - stats.tokensAfter / stats.tokensBefore;
  console.log(
    table(
      ["", ""],
      [
        ["sessions", number(stats.sessions)],
        ["turns", number(stats.turns)],
        ["originals", `${number(stats.originals)} (${number(stats.originalBytes)} bytes, ${number(stats.storedBytes)} on disk)`],
        ["tokens of folded blocks", `${number(stats.tokensBefore)} before, ${number(stats.tokensAfter)} after (${percent(saved)} saved)`],
        ["epochs", number(stats.epochs.length)],
      ],
    ),
  );
}

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      dir: text, read: text, write: text, ttl: text, options: text, lines: text, chars: text, pattern: text, agent: text,
      session: text, out: text, json: { type: "boolean" }, yes: { type: "boolean" }, help: { type: "boolean", short: "h" },
    },
  });
  const [name, ...args] = positionals;
  if (values.help || name === undefined) return console.log(HELP);
  const command = commands[name];
  if (command === undefined) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
  await command(args, values);
}

main().catch((error: Error & { code?: string }) => {
  console.error(`openclaw-concertina: ${error.message}`);
  if (error instanceof UsageError || error.code?.startsWith("ERR_PARSE_ARGS")) console.error(HELP);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
