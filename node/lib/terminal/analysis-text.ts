/** An analysis of recorded sessions in words. */
import path from "node:path";

import type { Analysis } from "./analysis.js";
import type { MissCause } from "./cache-misses.js";
import { bill, saved, sentRows } from "./figures-text.js";
import { foldReason } from "./reasons.js";
import { counted, number, percent, rows, table } from "./table.js";
import { OUTSIDE } from "./token-shares.js";

/** The maximum number of table rows. */
const SHOWN = 12;

const CAUSES: Record<MissCause, string> = {
  model: "another model",
  idle: "idle until the cache had expired",
  edit: "history edited or compacted",
  tools: "tools or system prompt changed",
  unknown: "unknown cause",
};

/** Something that a replay found: its name, a text, and lines below that text. */
export type Finding = [name: string, text: string, ...more: string[]];

/** Returns a title for the analysed sessions. */
export function titleOf({ read }: Analysis): string {
  return read.length === 1 ? path.basename(read[0]?.name ?? "") : `${number(read.length)} sessions`;
}

/** Returns what a replay found, besides its tokens and bill. */
export function findingsOf(analysis: Analysis): Finding[] {
  return [
    ...pricedFinding(analysis),
    fetchFinding(analysis),
    ...recallFindings(analysis),
    missFinding(analysis),
    ...outsideFinding(analysis),
    ...worstFinding(analysis),
    ...proofFinding(analysis),
  ];
}

/** Returns the tokens and the bill, which is net of the fetches that calls need. */
const billRows = ({ total, unit, fetchBill }: Analysis) =>
  sentRows({ ...total, sentBill: total.sentBill + (fetchBill ?? 0) }, unit);

/** Returns the bill in dollars of the sessions that have one, if others have none. */
function pricedFinding({ unit, priced: { sessions, sentBill, withoutBill }, read }: Analysis): Finding[] {
  if (unit === "usd" || sessions === 0) return [];
  const bills = `${bill(sentBill, "usd")} instead of ${bill(withoutBill, "usd")}`;
  const of = `${number(sessions)} of ${counted(read.length, "session")}`;
  return [["of which priced", `${bills}, ${of}: ${saved(sentBill, withoutBill)}`]];
}

function fetchFinding({ unit, fetchBill, recall }: Analysis): Finding {
  const [calls, originals] = [counted(recall.fetches, "call"), counted(recall.originals, "original")];
  const price = fetchBill === null ? "at an unknown price" : `${bill(fetchBill, unit)} of the bill`;
  return [
    "fetches",
    recall.fetches === 0
      ? "none: no call needed folded content that was out of sight"
      : `${calls} needed folded content that was out of sight: ${originals}, ${price}`,
  ];
}

function recallFindings({ recall }: Analysis): Finding[] {
  const { shares, used, needed, edits } = recall;
  const agreement = `${percent(shares.editAgreement)} of ${counted(edits, "edit")}, ${percent(shares.editsInSight)} without a fetch`;
  return [
    ["use recall", used === 0 ? "no uses" : `${percent(shares.useRecall)} of ${counted(used, "use")} in sight`],
    [
      "copy recall",
      needed === 0 ? "no copies" : `${percent(shares.copyRecall)} of ${counted(needed, "first use")} in sight`,
    ],
    ["edit agreement", edits === 0 ? "no edits" : agreement],
  ];
}

/** Returns the cache misses as recorded: all, then by cause. */
function missFinding({ cacheMisses: { stating, causes }, read, unit }: Analysis): Finding {
  const name = "cache misses";
  if (stating === 0) return [name, "unknown: no cache reads are recorded"];
  const where = stating < read.length ? ` in ${number(stating)} of ${number(read.length)} sessions` : "";
  if (causes.length === 0) return [name, `none recorded${where}`];
  const text = ({ calls, tokens, cost }: Pick<(typeof causes)[number], "calls" | "tokens" | "cost">) =>
    `${counted(calls, "call")}, ${number(tokens)} tokens${cost === null ? "" : `, ${bill(cost, unit)}`}`;
  const all = causes.reduce((sum, { calls, tokens, cost }) => ({
    cause: sum.cause,
    calls: sum.calls + calls,
    tokens: sum.tokens + tokens,
    cost: sum.cost === null || cost === null ? null : sum.cost + cost,
  }));
  return [name, `${text(all)}, as recorded${where}`, ...causes.map((one) => `${CAUSES[one.cause]}: ${text(one)}`)];
}

/** Returns what was sent beside the recorded messages, with its share of the bill of all content. */
function outsideFinding({ shares, unit }: Analysis): Finding[] {
  const outside = shares.find(({ kind }) => kind === OUTSIDE);
  if (outside === undefined) return [];
  const { tokens, cost, blocks } = outside;
  const price =
    cost === null ? "" : `: ${bill(cost, unit)}, ${percent(cost / costOf(shares))} of the bill of all content`;
  const what = `${number(tokens)} tokens of system prompt and definitions of tools in ${counted(blocks, "session")}`;
  return [["not recorded", `${what}${price}`]];
}

const costOf = (shares: Analysis["shares"]) => shares.reduce((sum, { cost }) => sum + (cost ?? 0), 0);

/** Returns the session that saved least, if there are several. */
function worstFinding({ read }: Analysis): Finding[] {
  const known = read.flatMap(({ name, saved: share }) => (share === null ? [] : [{ name, share }]));
  const [worst] = known.sort((a, b) => a.share - b.share);
  if (worst === undefined || known.length < 2) return [];
  const base = path.basename(worst.name);
  // Some agents give all session files the same name, in folders of their own.
  const isShared = read.filter(({ name }) => path.basename(name) === base).length > 1;
  const shown = isShared ? path.join(path.basename(path.dirname(worst.name)), base) : base;
  return [["worst session", `${shown}: ${saved(1 - worst.share, 1)}`]];
}

function proofFinding({ proof }: Analysis): Finding[] {
  if (proof === null) return [];
  const verdict = proof.equal
    ? "the original was restored byte for byte"
    : "THE HASH DOES NOT MATCH THE ID: the original is damaged";
  return [
    [
      "largest fold",
      `[REF_ID: ${proof.refId}] fetched back, ${number(proof.bytes)} bytes: ${verdict}`,
      `SHA-256 ${proof.sha256}`,
    ],
  ];
}

/** Formats an analysis as text. */
export function analysisText(analysis: Analysis): string {
  const { read, shares, folded, total, unit } = analysis;
  const tokensOf = (of: typeof shares) => of.reduce((sum, share) => sum + share.tokens, 0);
  const [tokens, cost] = [tokensOf(shares), costOf(shares)];
  const recorded = tokensOf(shares.filter(({ kind }) => kind !== OUTSIDE));
  const messages = read.reduce((sum, session) => sum + session.messages, 0);
  return [
    `${titleOf(analysis)}: ${number(messages)} messages, ${number(recorded)} tokens, ${number(total.requests)} model calls`,
    "",
    `Replayed with Concertina${unit === "usd" ? "" : " (bills in input tokens)"}`,
    ...rows([
      ...billRows(analysis),
      ...findingsOf(analysis).flatMap(([name, ...lines]) =>
        lines.map((line, at): [string, string] => [at === 0 ? name : "", line]),
      ),
    ]),
    "",
    "Tokens by content, with the bill of sending them unfolded and always cached",
    table(
      ["content", "blocks", "tokens", "share", "bill", "share of bill"],
      shares
        .slice(0, SHOWN)
        .map((share) => [
          share.kind,
          number(share.blocks),
          number(share.tokens),
          percent(share.tokens / tokens),
          ...(share.cost === null ? ["unknown", ""] : [bill(share.cost, unit), percent(share.cost / cost)]),
        ]),
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
    ...analysis.warnings.map((line) => `warning: ${line}`),
  ].join("\n");
}
