/** Figures as text, for chats and terminals. */
import type { Removed } from "../library/api.js";
import type { Interval } from "../library/bootstrap.js";
import type { Amount, Comparison, Figures, FoldedOriginal, Group } from "../library/figures.js";
import { epochReason, foldReason } from "./reasons.js";
import { OBSERVING } from "./status.js";
import { bytes, counted, number, percent, rows, table } from "./table.js";

/** The number of epochs that are listed. */
const LISTED = 5;

/**
 * Formats figures: the tokens and bill with Concertina and without, the share that is measured, and the latest changes
 * of content that was already sent.
 */
export function figuresText(figures: Figures, observes = false): string {
  const { total, unit, store, comparison } = figures;
  if (total.requests === 0) return ["No model call has been recorded yet.", ...rows([storeRow(store)])].join("\n");
  const lines = observes ? [`Observed: ${OBSERVING}.`] : [];
  lines.push(
    ...rows([
      ...sentRows(total, unit),
      ...(comparison === null ? [] : comparisonRows(comparison, unit)),
      ...answerRows(total, unit),
      ["model calls", `${number(total.requests)}: ${measuredOf(total)}`],
      ...bypassedRows(total),
      [
        "overhead",
        `${number(total.overheadTokens)} tokens for the fetch tool, ${number(total.fetchTokens)} for ${counted(total.fetches, "original")} asked for again`,
      ],
      ...askedAgainRows(figures),
      ...protectedRows(total),
      storeRow(store),
    ]),
  );
  lines.push(
    `The figures without Concertina are modelled, with the host's compaction${unit === "usd" ? "" : "; bills are in input tokens, because the price of some model is unknown"}.`,
  );
  lines.push(NOT_INCLUDED);
  const epochs = figures.epochs.slice(0, LISTED);
  if (epochs.length > 0) {
    lines.push("", "latest changes of content that was already sent");
    lines.push(
      ...rows(
        epochs.map((epoch) => [
          `${new Date(epoch.at).toISOString()}  ${epochReason(epoch.reason)}`,
          `${counted(epoch.blocks, "block")}, ${number(epoch.tokensFreed)} tokens freed, ${number(epoch.tokensRebilled)} billed again`,
        ]),
      ),
    );
  }
  return lines.join("\n");
}

/** Returns the row that counts the latest originals that were asked for again, by the tool that they came from. */
function askedAgainRows({ fetched }: Figures): [string, string][] {
  const counts = new Map<string, { fetched: number; reruns: number }>();
  for (const { tool, isRerun } of fetched) {
    const count = counts.get(tool) ?? { fetched: 0, reruns: 0 };
    count[isRerun ? "reruns" : "fetched"]++;
    counts.set(tool, count);
  }
  const words = [...counts].map(([tool, count]) => `${tool}: ${count.fetched} fetched, ${count.reruns} run again`);
  return words.length === 0 ? [] : [["asked for again", `${words.join("; ")}. ${STAYS_LONGER}`]];
}

/** The consequence for later content. */
const STAYS_LONGER =
  "If that is more than 5 % of the results of a session, content of that tool stays in sight longer there.";

/** The note about calls that figures do not include. */
const NOT_INCLUDED = "Not included: the host's own calls, for /compact and automatic compaction, notes and titles.";

/** Returns rows of two columns with the tokens and the bill, each beside the estimate without Concertina. */
export function sentRows(of: Amount, unit: Figures["unit"]): [string, string][] {
  return [
    [
      "tokens sent",
      `${number(of.sentTokens)}, ${number(of.withoutTokens)} without Concertina: ${saved(of.sentTokens, of.withoutTokens)}`,
    ],
    [
      "bill of prompts",
      `${bill(of.sentBill, unit)}, ${bill(of.withoutBill, unit)} without${range(of, unit)}: ${saved(of.sentBill, of.withoutBill)}`,
    ],
  ];
}

/** Formats the bounds of the modelled bill. Empty if they are equal. */
function range({ withoutLeast, withoutBill, withoutMost }: Amount, unit: Figures["unit"]): string {
  const [least, modelled, most] = [withoutLeast, withoutBill, withoutMost].map((amount) => bill(amount, unit));
  return least === modelled && most === modelled ? "" : ` (between ${least} and ${most})`;
}

/** Returns the row of the bill with answers, or the reason why it is unknown. */
function answerRows(total: Figures["total"], unit: Figures["unit"]): [string, string][] {
  if (total.answered === 0)
    return [["with answers", "unknown, because the provider did not report the tokens of answers"]];
  const tokens = `${number(total.answerTokens)} tokens in ${counted(total.answered, "answer")}`;
  if (total.answerBill === null || total.withoutAnswerBill === null)
    return [["with answers", `unknown, because the price of ${tokens} is unknown`]];
  const [sent, without] = [total.sentBill + total.answerBill, total.withoutBill + total.withoutAnswerBill];
  return [["with answers", `${bill(sent, unit)}, ${bill(without, unit)} without: ${saved(sent, without)}; ${tokens}`]];
}

function protectedRows({ protectedTokens }: Figures["total"]): [string, string][] {
  if (protectedTokens === 0) return [];
  return [["protected", `${number(protectedTokens)} tokens were sent because they are pinned or protected`]];
}

/** Returns the rows that compare folded sessions with untouched ones. */
export function comparisonRows(comparison: Comparison, unit: Figures["unit"]): [string, string][] {
  const { folded, untouched, perTurn, perSession, missing, modelled, disagrees, withAnswers } = comparison;
  const measured = ({ share, least, most }: Interval) =>
    `${percent(share)} saved (${percent(least)} to ${percent(most)} with 95 % probability)`;
  const of = (group: Group, count: number) => (count === 0 ? "none" : bill(group.bill / count, unit));
  const bills = withAnswers ? "prompts and answers" : "prompts";
  const per = (name: "turns" | "sessions") =>
    `${of(folded, folded[name])}, ${of(untouched, untouched[name])} untouched`;
  return [
    [
      "measured",
      perTurn === null
        ? `not enough yet: ${counted(missing, "session")} more needed in the smaller group`
        : `${measured(perTurn)} per turn; modelled ${modelled === null ? "nothing" : percent(modelled)}${disagrees ? ", which DISAGREES" : ""}`,
    ],
    [`${bills} per turn`, per("turns")],
    ["per session", `${per("sessions")}${perSession === null ? "" : `: ${measured(perSession)}`}`],
    ...[folded, untouched].map((group): [string, string] => [
      group === folded ? "folded" : "untouched",
      `${counted(group.sessions, "session")}, ${counted(group.turns, "turn")}, ${counted(group.requests, "model call")}, ${number(group.fetches)} asked for again, ${counted(group.failures, "failed tool call")}`,
    ]),
  ];
}

function bypassedRows({ bypassed }: Amount): [string, string][] {
  return bypassed === 0
    ? []
    : [
        [
          "bypassed",
          `${counted(bypassed, "call")} while Concertina was not in use, or in interrupted turns; they count the same without Concertina`,
        ],
      ];
}

/** Formats figures in one line: the tokens and the bill of prompts, each with what was saved. */
export function savedLine({ total, unit }: Figures): string {
  const tokens = `${number(total.sentTokens)} tokens sent in ${counted(total.requests, "model call")}`;
  const cost = `bill ${bill(total.sentBill, unit)}${unit === "usd" ? "" : " input tokens"}`;
  return `${tokens}, ${saved(total.sentTokens, total.withoutTokens)}; ${cost}, ${saved(total.sentBill, total.withoutBill)}`;
}

/** Formats the difference in percent, as saved or as more. */
export function saved(sent: number, without: number): string {
  if (without === 0) return sent === 0 ? "nothing to save" : "more than without";
  return sent <= without ? `${percent(1 - sent / without)} saved` : `${percent(sent / without - 1)} more`;
}

/** Formats a bill in its unit. */
export function bill(value: number, unit: Figures["unit"]): string {
  if (unit === "input tokens") return number(value);
  return `$${value.toFixed(value < 1 ? 4 : 2)}`;
}

function measuredOf({ requests, measured }: Amount & { measured: number }): string {
  if (measured === requests) return "measured, as the provider reported them";
  if (measured === 0) return "counted here, because the provider reported nothing";
  return `${number(measured)} measured, ${number(requests - measured)} counted here`;
}

function storeRow(store: Figures["store"]): [string, string] {
  return [
    "originals",
    `${number(store.originals)}, ${bytes(store.originalBytes)}, ${bytes(store.storedBytes)} on disk`,
  ];
}

/** The number of folded originals that are listed. */
const FOLDED_LISTED = 30;

/** Formats what is folded in a session: the id, the size, the reason, the time and the origin of each original. */
export function foldedText(folded: readonly FoldedOriginal[]): string {
  if (folded.length === 0) return "Nothing is folded in this session.";
  const listed = folded.slice(0, FOLDED_LISTED).map(({ refId, bytes: size, reason, at, label }) => {
    const time = new Date(at).toISOString().slice(0, 16).replace("T", " ");
    return [refId, bytes(size), foldReason(reason), time, label.split("\n", 1)[0]?.slice(0, 60) ?? ""];
  });
  const more = folded.length - listed.length;
  return [
    table(["id", "size", "why", "when (UTC)", "what"], listed),
    ...(more > 0 ? [`and ${counted(more, "older original")}`] : []),
    "/concertina restore ID shows one in full again.",
  ].join("\n");
}

/** Formats the result of a sweep or a purge. */
export function removedText(removed: Removed): string {
  return rows([
    ["originals removed", number(removed.originals)],
    ["space freed", bytes(removed.bytes)],
    ["sessions forgotten", number(removed.sessions)],
  ]).join("\n");
}
