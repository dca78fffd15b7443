// Prints replays as tables. Bills are relative to the policy that changes nothing. Every sum is over tokens, so long
// sessions have more weight.
import { createRequire } from "node:module";

import { sharesOf, sumOf } from "../../dist/node/lib/recall/measures.js";
import { median } from "../median.mjs";
import { KINDS } from "./kinds.mjs";
import { POLICIES } from "./policies.mjs";

const require = createRequire(import.meta.url);
const { number, percent, table } = require("../../dist/node/lib/terminal/table.js");

const sum = (values) => values.reduce((total, value) => total + value, 0);
const ratio = (part, whole) => (whole === 0 ? 0 : part / whole);
const three = (value) => (value === undefined ? "" : value.toFixed(3));

/** The share of a session's bill below which its savings count as negligible. */
const LITTLE = 0.05;

/** Returns the replays of each family, by its name. */
export function familiesOf(replays) {
  const out = new Map();
  for (const replay of replays) out.set(replay.family, [...(out.get(replay.family) ?? []), replay]);
  return out;
}

/** Returns sums over the sessions of one mode, policy and price point. */
export function figures(replays, { mode, policy, price }) {
  const pick = (name) =>
    replays.map((replay) => replay.rows.find((row) => row.mode === mode && row.policy === name && row.price === price));
  const [rows, base] = [pick(policy), pick("never")];
  const never = sum(base.map((row) => row.bill.total));
  const bill = (key) => sum(rows.map((row) => row.bill[key] ?? 0));
  const optimal = pick("optimum");
  const out = { mode, policy, price, sessions: rows.length, bill: ratio(bill("sent"), never) };
  if (policy === "optimum") return { ...out, exact: rows.every((row) => row.exact) };
  const tally = (key) => sum(rows.map((row) => row.tally[key]));
  const shares = sharesOf(sumOf(rows.map((row) => row.tally)));
  const relative = rows.map((row, index) => ({
    session: replays[index].name,
    bill: row.bill.total / base[index].bill.total,
  }));
  return {
    ...out,
    billWithFetches: ratio(bill("total"), never),
    median: median(relative.map((session) => session.bill)),
    worst: relative.reduce((worst, session) => (session.bill > worst.bill ? session : worst)),
    saveLittle: relative.filter((session) => session.bill > 1 - LITTLE).length / rows.length,
    copyRecall: shares.copyRecall,
    needed: tally("needed"),
    missed: tally("missed"),
    missRecent: tally("missRecent"),
    ownMissed: tally("ownMissed"),
    useRecall: shares.useRecall,
    used: tally("used"),
    unseen: tally("unseen"),
    edits: tally("edits"),
    editsInSight: shares.editsInSight,
    editAgreement: shares.editAgreement,
    tokensPerEditFetch: ratio(tally("editFetchTokens"), tally("editsFetched")),
    fetches: tally("fetches"),
    tokensPerOriginal: ratio(tally("originalTokens"), tally("originals")),
    calls: tally("calls"),
    coldCalls: tally("cold"),
    epochs: tally("epochs"),
    stablePrefix: tally("cacheable") === 0 ? 1 : tally("cached") / tally("cacheable"),
    peak: Math.max(...rows.map((row) => row.tally.peak)),
    share: {
      fetches: ratio(bill("fetches"), bill("total")),
      rewrites: ratio(bill("rewrites"), bill("total")),
      untouched: ratio(bill("untouched"), bill("total")),
      overhead: ratio(bill("overhead"), bill("total")),
    },
    kinds: Object.fromEntries(KINDS.map((kind) => [kind, ratio(sum(rows.map((row) => row.bill.kinds[kind])), never)])),
    fetchesOfNever: ratio(bill("fetches"), never),
    overheadOfNever: ratio(bill("overhead"), never),
    overOptimum: optimal.every(Boolean) ? bill("sent") / sum(optimal.map((row) => row.bill.sent)) : undefined,
  };
}

const HEADER = [
  "policy",
  "bill",
  "with fetches",
  "median",
  "save < 5 %",
  "copy recall",
  "use recall",
  "edits in sight",
  "edit agreement",
  "worst session",
];

function line(title, of) {
  if (of.policy === "optimum") return [title, three(of.bill), ...HEADER.slice(2).map(() => "")];
  const figures = [of.bill, of.billWithFetches, of.median].map(three);
  const able = [of.copyRecall, of.useRecall, of.editsInSight, of.editAgreement].map((value, index) =>
    index > 1 && of.edits === 0 ? "" : three(value),
  );
  return [title, ...figures, percent(of.saveLittle), ...able, `${three(of.worst.bill)} ${of.worst.session}`];
}

const titleOf = (policy, exact = true) =>
  POLICIES[policy]?.title ?? `optimum of the same folds${exact ? "" : " (upper bound)"}`;

/** Returns the key figures in words. */
function inWords({ policy, median: middle, saveLittle, sessions, worst, used, edits }) {
  const little = `${number(saveLittle * sessions)} of ${number(sessions)} sessions (${percent(saveLittle)}) save under ${percent(LITTLE)}`;
  return `${titleOf(policy)}: the median session's bill is ${three(middle)}; ${little}; the worst is ${three(worst.bill)}. ${number(used)} uses of facts, ${number(edits)} edits.`;
}

/** Returns the whole report as text, and the same figures for `--json`. */
export function report(replays, { modes, policies, prices, optimum, usd }) {
  const [lines, all] = [[], []];
  const names = (mode) =>
    policies.flatMap((policy) =>
      policy === "cache-aware" && mode === "full" && optimum ? [policy, "optimum"] : [policy],
    );
  const families = familiesOf(replays);
  const groups = [...(families.size > 1 ? families : []), ["all sessions", replays]];
  for (const mode of modes) {
    for (const price of prices) {
      for (const [group, members] of groups) {
        const rows = names(mode).map((policy) => figures(members, { mode, policy, price }));
        all.push(...rows.map((row) => ({ group, ...row })));
        const calls = sum(members.map((member) => member.calls));
        lines.push(
          `\n${group}: ${number(members.length)} sessions, ${number(calls)} model calls; mode ${mode}, cached ${price.replace("/", ", written ")} of the input price`,
        );
        lines.push(
          table(
            HEADER,
            rows.map((row) => line(titleOf(row.policy, row.exact), row)),
          ),
        );
        if (members !== replays) continue;
        const bills = rows.filter((row) => row.share);
        lines.push(
          "\nshares of the bill with fetches; the bill without them relative to the optimum's; and how the prompt cache was treated",
        );
        lines.push(
          table(
            [
              "policy",
              "fetches",
              "re-writes",
              "never folded",
              "fetch tool",
              "to the optimum",
              "calls that fetch",
              "miss the last calls",
              "own arguments missed",
              "tokens per fetch",
              "tokens per edit fetched",
              "epochs",
              "stable prefix",
              "peak",
            ],
            bills.map((row) => [
              titleOf(row.policy),
              ...[row.share.fetches, row.share.rewrites, row.share.untouched, row.share.overhead].map(percent),
              three(row.overOptimum),
              number(row.fetches),
              number(row.missRecent),
              number(row.ownMissed),
              number(row.tokensPerOriginal),
              number(row.tokensPerEditFetch),
              number(row.epochs),
              three(row.stablePrefix),
              number(row.peak),
            ]),
          ),
        );
        lines.push("\nthe bill with fetches by what was billed, relative to never touching anything");
        const parts = [
          ...KINDS.map((kind) => [kind, (row) => row.kinds[kind]]),
          ["fetch tool", (row) => row.overheadOfNever],
          ["fetches", (row) => row.fetchesOfNever],
        ];
        lines.push(
          table(
            ["kind", ...bills.map((row) => row.policy)],
            parts.map(([kind, of]) => [kind, ...bills.map((row) => three(of(row)))]),
          ),
        );
        const whole = sum(
          replays.map(
            ({ rows }) =>
              rows.find((row) => row.mode === mode && row.policy === "never" && row.price === price).bill.total,
          ),
        );
        const dollars = usd == null ? "" : ` Never touching anything costs $${(whole * usd).toFixed(2)}.`;
        lines.push(`\n${inWords(bills.at(-1))}${dollars}`);
      }
    }
  }
  return { text: lines.join("\n"), figures: all };
}
