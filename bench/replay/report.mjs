// Replays -> tables. Bills are relative to never touching anything; every sum is over tokens, so that long sessions weigh more.
import { createRequire } from "node:module";

import { POLICIES } from "./policies.mjs";

const require = createRequire(import.meta.url);
const { number, percent, table } = require("../../dist/node/lib/table.js");

const sum = (values) => values.reduce((total, value) => total + value, 0);
const ratio = (part, whole) => (whole === 0 ? 0 : part / whole);
const three = (value) => (value === undefined ? "" : value.toFixed(3));

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length % 2 ? sorted[sorted.length >> 1] : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
}

/** Sums over sessions of one mode, policy and price point. */
export function figures(replays, { mode, policy, price }) {
  const pick = (name) => replays.map((replay) => replay.rows.find((row) => row.mode === mode && row.policy === name && row.price === price));
  const [rows, base] = [pick(policy), pick("never")];
  const never = sum(base.map((row) => row.bill.total));
  const bill = (key) => sum(rows.map((row) => row.bill[key] ?? 0));
  const optimal = pick("optimum");
  const out = { mode, policy, price, sessions: rows.length, bill: ratio(bill("sent"), never) };
  if (policy === "optimum") return { ...out, exact: rows.every((row) => row.exact) };
  const tally = (key) => sum(rows.map((row) => row.tally[key]));
  const relative = rows.map((row, index) => ({ session: replays[index].name, bill: row.bill.total / base[index].bill.total }));
  return {
    ...out,
    billWithFetches: ratio(bill("total"), never),
    median: median(relative.map((session) => session.bill)),
    worst: relative.reduce((worst, session) => (session.bill > worst.bill ? session : worst)),
    copyRecall: tally("needed") === 0 ? 1 : 1 - tally("missed") / tally("needed"),
    needed: tally("needed"),
    missed: tally("missed"),
    fetches: tally("fetches"),
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
    overOptimum: optimal.every(Boolean) ? bill("sent") / sum(optimal.map((row) => row.bill.sent)) : undefined,
  };
}

const HEADER = ["policy", "bill", "with fetches", "median", "copy recall", "calls that fetch", "epochs", "stable prefix", "peak", "worst session"];

function line(title, of) {
  if (of.policy === "optimum") return [title, three(of.bill), "", "", "", "", "", "", "", ""];
  const worst = `${three(of.worst.bill)} ${of.worst.session}`;
  return [title, three(of.bill), three(of.billWithFetches), three(of.median), three(of.copyRecall), number(of.fetches), number(of.epochs), three(of.stablePrefix), number(of.peak), worst];
}

const titleOf = (policy, exact = true) => POLICIES[policy]?.title ?? `optimum of the same folds${exact ? "" : " (upper bound)"}`;

/** Everything that the command says, as text, and the same figures for `--json`. */
export function report(replays, { modes, policies, prices }) {
  const [lines, all] = [[], []];
  const names = (mode) => policies.flatMap((policy) => (policy === "cache-aware" && mode === "full" ? [policy, "optimum"] : [policy]));
  const classes = [...new Set(replays.map((replay) => replay.class))].map((name) => [name, replays.filter((replay) => replay.class === name)]);
  const groups = [...(classes.length > 1 ? classes : []), ["all sessions", replays]];
  for (const mode of modes) {
    for (const price of prices) {
      for (const [group, members] of groups) {
        const rows = names(mode).map((policy) => figures(members, { mode, policy, price }));
        all.push(...rows.map((row) => ({ group, ...row })));
        const calls = sum(members.map((member) => member.calls));
        lines.push(`\n${group}: ${number(members.length)} sessions, ${number(calls)} model calls; mode ${mode}, cached ${price.replace("/", ", written ")} of the input price`);
        lines.push(table(HEADER, rows.map((row) => line(titleOf(row.policy, row.exact), row))));
        if (members !== replays) continue;
        lines.push("\nshares of the bill with fetches; and the bill without them relative to the optimum's");
        lines.push(table(
          ["policy", "fetches", "re-writes", "never folded", "guidance and tool", "to the optimum"],
          rows.filter((row) => row.share).map((row) => [
            titleOf(row.policy), percent(row.share.fetches), percent(row.share.rewrites), percent(row.share.untouched), percent(row.share.overhead), three(row.overOptimum),
          ]),
        ));
      }
    }
  }
  return { text: lines.join("\n"), figures: all };
}
