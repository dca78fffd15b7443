/** Estimates of the effect of Concertina on recorded sessions, from a replay in a temporary store. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Message, Options, Prices } from "../library/api.js";
import { addShare, census, type Share } from "./token-shares.js";
import { Concertina } from "../library/concertina.js";
import type { Figures } from "../library/figures.js";
import { sentRows } from "./figures-text.js";
import { HOST_DEFAULTS } from "../library/host-defaults.js";
import { originalsOf } from "../library/originals.js";
import { writeReport } from "./page.js";
import { type Fold, replay } from "./replay.js";
import { foldReason } from "./reasons.js";
import { unreadableText } from "../formats/session-rows.js";
import { number, percent, rows, table } from "./table.js";

/** The signals with which a user stops the program. */
const STOPPING = ["SIGINT", "SIGTERM"] as const;

/** A session to replay. */
export interface SessionToAnalyse {
  name: string;
  sessionId: string;
  sessionKey?: string;
  messages: Message[];
  /** Numbers of the lines of the recording that contain something that is not JSON, counted from 1. */
  unreadable?: number[];
  /** The prices of the session's model; the published ones by default. */
  prices?: Prices;
}

/** The options of an analysis. */
export interface AnalysisOptions {
  /** Options of Concertina, over the plugin's defaults. */
  options?: Options;
  /** Receives the progress of a session: the number of calls that are done, and of all calls. */
  progress?(name: string, done: number, of: number): void;
}

/** The result of fetching the largest fold back. */
export interface Proof {
  refId: string;
  bytes: number;
  sha256: string;
  equal: boolean;
}

/** The modelled figures of all sessions together, and the data that they are based on. */
export interface Analysis extends Figures {
  /** The sessions that were read, each with the modelled share of the bill of its prompts that was saved. */
  read: { name: string; sessionId: string; messages: number; skippedLines: number; saved: number | null }[];
  /** The sessions that could not be read. */
  failed: { name: string; error: string }[];
  /** The tokens of the recorded sessions, by kind of content. */
  shares: Share[];
  /** The folded content by reason and tool, the largest first. */
  folded: { reason: string; tool: string; blocks: number; before: number; after: number }[];
  warnings: string[];
  proof: Proof | null;
}

/**
 * Analyses sessions one after the other, so that only one is in memory. A session that cannot be read is listed in
 * `failed`.
 */
export async function analyse(
  sessions: { name: string; read(): Promise<SessionToAnalyse> }[],
  { options, progress }: AnalysisOptions = {},
): Promise<Analysis> {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-"));
  const forget = removedWhenStopped(dir);
  let concertina: Concertina | undefined;
  try {
    concertina = await Concertina.open({ ...HOST_DEFAULTS, ...options, dir });
    const [read, failed]: [Analysis["read"], Analysis["failed"]] = [[], []];
    const shares = new Map<string, Share>();
    const folds: Fold[] = [];
    const warnings = new Set(concertina.warnings);
    let proof: { fold: Fold; endedAt: number } | undefined;
    for (const session of sessions) {
      try {
        const { name, sessionId: own, sessionKey, messages, unreadable = [], prices } = await session.read();
        // Files in different folders may have the same name.
        const count = read.filter((other) => other.sessionId === own || other.sessionId.startsWith(`${own} #`)).length;
        const sessionId = count === 0 ? own : `${own} #${count + 1}`;
        const outcome = await replay(concertina, messages, {
          sessionId,
          sessionKey,
          prices,
          progress: (done, of) => progress?.(name, done, of),
        });
        for (const share of census(messages)) addShare(shares, share);
        for (const fold of outcome.folds) {
          folds.push(fold);
          if (proof === undefined || fold.tokensBefore > proof.fold.tokensBefore)
            proof = { fold, endedAt: outcome.endedAt };
        }
        for (const line of outcome.warnings) warnings.add(line);
        if (unreadable.length > 0) warnings.add(`${name}: ${unreadableText(unreadable)}; torn lines were skipped`);
        const { sentBill, withoutBill } = (await concertina.figures({ sessionId })).total;
        const saved = withoutBill > 0 ? 1 - sentBill / withoutBill : null;
        read.push({ name, sessionId, messages: messages.length, skippedLines: unreadable.length, saved });
      } catch (error) {
        failed.push({ name: session.name, error: error instanceof Error ? error.message : String(error) });
      }
    }
    return {
      ...(await concertina.figures()),
      read,
      failed,
      shares: [...shares.values()].sort((a, b) => b.tokens - a.tokens),
      folded: byReason(folds),
      warnings: [...warnings],
      proof: proof === undefined ? null : await fetchBack(concertina, proof.fold, proof.endedAt),
    };
  } finally {
    await concertina?.close();
    rmSync(dir, { recursive: true, force: true });
    forget();
  }
}

/** Installs handlers that remove a directory if a signal ends the process. Returns a function that uninstalls them. */
function removedWhenStopped(dir: string): () => void {
  const stop = (signal: NodeJS.Signals) => {
    forget();
    try {
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    } finally {
      process.kill(process.pid, signal);
    }
  };
  const forget = () => STOPPING.forEach((signal) => process.off(signal, stop));
  STOPPING.forEach((signal) => process.on(signal, stop));
  return forget;
}

/** Fetches the original of a fold and checks it: an id is a prefix of the SHA-256 of the original's bytes. */
async function fetchBack(concertina: Concertina, { refId }: Fold, now: number): Promise<Proof> {
  const {
    blocks: [block],
  } = await originalsOf(concertina, { refIds: [refId], now });
  const bytes = block?.type === "text" ? Buffer.from(block.text) : Buffer.from(block?.data ?? "", "base64");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { refId, bytes: bytes.length, sha256, equal: sha256.startsWith(refId) };
}

function byReason(folds: Fold[]): Analysis["folded"] {
  const groups = new Map<string, Analysis["folded"][number]>();
  for (const { reason, tool, tokensBefore, tokensAfter } of folds) {
    const group = groups.get(`${reason}\t${tool}`) ?? { reason, tool, blocks: 0, before: 0, after: 0 };
    group.blocks++;
    group.before += tokensBefore;
    group.after += tokensAfter;
    groups.set(`${reason}\t${tool}`, group);
  }
  return [...groups.values()].sort((a, b) => b.before - a.before);
}

/** Returns a title for the analysed sessions. */
function titleOf({ read }: Analysis): string {
  return read.length === 1 ? path.basename(read[0]?.name ?? "") : `${number(read.length)} sessions`;
}

/**
 * Shows an analysis: as a page if a file is named, as JSON if requested, and as text if neither is. If no session was
 * read, only JSON is shown.
 */
export function showAnalysis(
  analysis: Analysis,
  html: string | undefined,
  { json, words }: { json?: (shown: Analysis) => void; words: (text: string) => void },
): void {
  const isEmpty = analysis.read.length === 0;
  if (html !== undefined && !isEmpty) {
    writeReport(html, {
      periods: [{ days: 0, figures: analysis }],
      health: null,
      title: titleOf(analysis),
      isReplay: true,
    });
    if (json === undefined) for (const line of analysis.warnings) console.error(`warning: ${line}`);
  }
  if (json !== undefined) json(analysis);
  else if (html === undefined && !isEmpty) words(analysisText(analysis));
}

/** Returns the row of the session that saved least, if there are several. */
function worstRows(read: Analysis["read"]): [string, string][] {
  const known = read.flatMap(({ name, saved }) => (saved === null ? [] : [{ name, saved }]));
  const [worst] = known.sort((a, b) => a.saved - b.saved);
  if (worst === undefined || known.length < 2) return [];
  return [["worst session", `${path.basename(worst.name)}: ${percent(worst.saved)} of its bill saved`]];
}

/** The maximum number of table rows. */
const SHOWN = 12;

/** Formats an analysis as text. */
function analysisText(analysis: Analysis): string {
  const { read, shares, folded, total, unit, proof } = analysis;
  const tokens = shares.reduce((sum, share) => sum + share.tokens, 0);
  const messages = read.reduce((sum, session) => sum + session.messages, 0);
  const lines = [
    `${titleOf(analysis)}: ${number(messages)} messages, ${number(tokens)} tokens, ${number(total.requests)} model calls`,
    "",
    "Tokens by content",
    table(
      ["content", "blocks", "tokens", "share"],
      shares
        .slice(0, SHOWN)
        .map((share) => [share.kind, number(share.blocks), number(share.tokens), percent(share.tokens / tokens)]),
    ),
    "",
    "Folded content",
    table(
      ["reason", "content", "blocks", "tokens before", "after"],
      folded
        .slice(0, SHOWN)
        .map((group) => [
          foldReason(group.reason),
          group.tool,
          number(group.blocks),
          number(group.before),
          number(group.after),
        ]),
    ),
    "",
    `Modelled tokens and bill${unit === "usd" ? "" : " (bills in input tokens)"}`,
    ...rows([
      ...sentRows(total, unit),
      ["overhead", `${number(total.overheadTokens)} tokens for the fetch tool; a replay has no fetches`],
      ...worstRows(read),
    ]),
    ...analysis.warnings.map((line) => `warning: ${line}`),
  ];
  if (proof !== null) {
    lines.push("", `Fetched back [REF_ID: ${proof.refId}]: ${number(proof.bytes)} bytes, SHA-256 ${proof.sha256}`);
    lines.push(
      proof.equal
        ? "The id is a prefix of this hash: the original was restored byte for byte."
        : "THE HASH DOES NOT MATCH THE ID: the original is damaged.",
    );
  }
  return lines.join("\n");
}
