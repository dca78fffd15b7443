/** Estimates of the effect of Concertina on recorded sessions, from a replay in a temporary store. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { Message, Options, Prices } from "../library/api.js";
import { analysisText, findingsOf, titleOf } from "./analysis-text.js";
import { cacheMisses, type MissCause, sumOfMisses } from "./cache-misses.js";
import { FETCH_TOOL_JSON } from "../binding/finished-turn.js";
import { census, type Share, sumOfShares } from "./token-shares.js";
import { Concertina } from "../library/concertina.js";
import type { Figures } from "../library/figures.js";
import { HOST_DEFAULTS } from "../library/host-defaults.js";
import { originalsOf } from "../library/originals.js";
import { countTokens } from "../library/pure.js";
import { Measured, Measurement, type Shares, sharesOf, sumOf, type Tally } from "../recall/measures.js";
import { isCall } from "../recall/transcript.js";
import { writeReport } from "./page.js";
import { type Fold, replay } from "./replay.js";
import { sumsBy } from "./sums.js";
import { type Cost, costOf, free, inUnit, plus, tariffOf } from "./tariff.js";
import { unreadableText } from "../formats/session-rows.js";

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
  /** Receives the progress of a session: the number of calls that are done, of all calls, and its place among all. */
  progress?(name: string, done: number, of: number, place: [session: number, of: number]): void;
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
  /**
   * The sessions that were read, each with the modelled share of the bill of its prompts that was saved, net of
   * fetches.
   */
  read: { name: string; sessionId: string; messages: number; skippedLines: number; saved: number | null }[];
  /** The sessions that could not be read. */
  failed: { name: string; error: string }[];
  /** The sessions whose prices in dollars are known, and their bills of prompts in dollars, net of fetches. */
  priced: { sessions: number; sentBill: number; withoutBill: number };
  /** The tokens of the recorded sessions, by kind of content, with their cost in the unit of the bill. */
  shares: (Omit<Share, "cost"> & { cost: number | null })[];
  /** The facts and edits of the agents that were in sight, as sums over their calls and as shares. */
  recall: Tally & { shares: Shares };
  /** The bill of the fetches that the calls need. Null if the price in dollars of some is unknown. */
  fetchBill: number | null;
  /** The cache misses of the recorded calls. */
  cacheMisses: {
    /** The number of sessions whose recordings state what was read from the cache. */
    stating: number;
    causes: { cause: MissCause; calls: number; tokens: number; cost: number | null }[];
  };
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
    const shares: Share[] = [];
    const tallies: Tally[] = [];
    const missed: ReturnType<typeof cacheMisses>[] = [];
    let fetchCost = free();
    const priced = { sessions: 0, sentBill: 0, withoutBill: 0 };
    const folds: Fold[] = [];
    const warnings = new Set(concertina.warnings);
    let proof: { fold: Fold; endedAt: number } | undefined;
    for (const [index, session] of sessions.entries()) {
      try {
        const { name, sessionId: own, sessionKey, messages, unreadable = [], prices } = await session.read();
        // Files in different folders may have the same name.
        const count = read.filter((other) => other.sessionId === own || other.sessionId.startsWith(`${own} #`)).length;
        const sessionId = count === 0 ? own : `${own} #${count + 1}`;
        const measurement = measurementOf(concertina, messages);
        const outcome = await replay(concertina, messages, {
          sessionId,
          sessionKey,
          prices,
          progress: (done, of) => progress?.(name, done, of, [index + 1, sessions.length]),
          sent: (request, now) => measurement.send(request, now),
        });
        tallies.push(measurement.tally);
        missed.push(cacheMisses(messages, prices));
        const fetches = fetchCostOf(messages, measurement, prices);
        fetchCost = plus(fetchCost, fetches);
        shares.push(...sumOfShares(census(messages, prices)));
        for (const fold of outcome.folds) {
          folds.push(fold);
          if (proof === undefined || fold.tokensBefore > proof.fold.tokensBefore)
            proof = { fold, endedAt: outcome.endedAt };
        }
        for (const line of outcome.warnings) warnings.add(line);
        if (unreadable.length > 0) warnings.add(`${name}: ${unreadableText(unreadable)}; torn lines were skipped`);
        const { total, unit } = await concertina.figures({ sessionId });
        const sent = total.sentBill + (inUnit(fetches, unit) ?? 0);
        const saved = total.withoutBill > 0 ? 1 - sent / total.withoutBill : null;
        if (unit === "usd" && total.requests > 0) {
          priced.sessions++;
          priced.sentBill += sent;
          priced.withoutBill += total.withoutBill;
        }
        read.push({ name, sessionId, messages: messages.length, skippedLines: unreadable.length, saved });
      } catch (error) {
        failed.push({ name: session.name, error: error instanceof Error ? error.message : String(error) });
      }
    }
    const figures = await concertina.figures();
    const billed = <Row extends { cost: Cost }>(row: Row) => ({ ...row, cost: inUnit(row.cost, figures.unit) });
    const recall = sumOf(tallies);
    return {
      ...figures,
      read,
      failed,
      priced,
      shares: sumOfShares(shares).map(billed),
      recall: { ...recall, shares: sharesOf(recall) },
      fetchBill: inUnit(fetchCost, figures.unit),
      cacheMisses: {
        stating: missed.filter((misses) => misses !== undefined).length,
        causes: sumOfMisses(missed.flatMap((misses) => misses ?? [])).map(billed),
      },
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

/** Begins to measure the requests of a session. */
function measurementOf(concertina: Concertina, messages: Message[]): Measurement {
  return new Measurement(new Measured(messages), countTokens(FETCH_TOOL_JSON), async (refId, range, now) => {
    const isWhole = "whole" in range;
    // Without a session, so that measuring has no effect on the replay and its figures.
    const { content, found } = await concertina.fetch({
      refIds: [refId],
      now,
      ...(isWhole ? { maxChars: 2 ** 31 - 1 } : range),
    });
    return found > 0 ? content.map((block) => (block.type === "text" ? block.text : "")).join("\n") : undefined;
  });
}

/** Returns the cost of the fetches that the calls of a session need, each at the prices of its model. */
function fetchCostOf(messages: Message[], { series }: Measurement, prices: Prices | undefined): Cost {
  return messages.filter(isCall).reduce((sum, { model }, call) => {
    const [read, written] = [series.fetchRead[call] ?? 0, series.fetchWrite[call] ?? 0];
    if (read + written === 0) return sum;
    const tariff = tariffOf(model, prices);
    return plus(sum, costOf(read * tariff.read + written * tariff.write, tariff));
  }, free());
}

function byReason(folds: Fold[]): Analysis["folded"] {
  const sums = sumsBy(
    folds.map(({ reason, tool, tokensBefore, tokensAfter }) => ({
      reason,
      tool,
      blocks: 1,
      before: tokensBefore,
      after: tokensAfter,
    })),
    ({ reason, tool }) => `${reason}\t${tool}`,
    (one, { blocks, before, after }) => ({
      ...one,
      blocks: one.blocks + blocks,
      before: one.before + before,
      after: one.after + after,
    }),
  );
  return sums.sort((a, b) => b.before - a.before);
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
      replayed: findingsOf(analysis),
    });
    if (json === undefined) for (const line of analysis.warnings) console.error(`warning: ${line}`);
  }
  if (json !== undefined) json(analysis);
  else if (html === undefined && !isEmpty) words(analysisText(analysis));
}
