// Chooses options on some families of sessions and measures them on a family that was not used for the choice.
import { createRequire } from "node:module";

import { replayAll } from "./jobs.mjs";
import { familiesOf, figures } from "./report.mjs";

const require = createRequire(import.meta.url);
const { percent, table } = require("../../dist/node/lib/terminal/table.js");

const POLICY = "cache-aware";

/**
 * `{ a: [1, 2], b: [3] }` -> `[{ a: 1, b: 3 }, { a: 2, b: 3 }]`. A value that is no list is a list of one; of several
 * grids, the rows of each.
 */
export function combinations(grids) {
  const rowsOf = (grid) =>
    Object.entries(grid).reduce(
      (rows, [name, values]) => rows.flatMap((row) => [values].flat().map((value) => ({ ...row, [name]: value }))),
      [{}],
    );
  return [grids].flat().flatMap(rowsOf);
}

/**
 * Returns the variant with the lowest bill including fetches whose use recall is at least `floor`. If none reaches
 * that, returns the one that comes closest. Of equal ones, returns the first.
 */
export function choose(variants, floor) {
  const enough = variants.filter(({ figures: of }) => of.useRecall >= floor);
  if (enough.length > 0)
    return enough.reduce((best, next) => (next.figures.billWithFetches < best.figures.billWithFetches ? next : best));
  return variants.reduce((best, next) => (next.figures.useRecall > best.figures.useRecall ? next : best));
}

/**
 * Returns every variant and the one chosen on all sessions; for each family those chosen on the others and on itself,
 * with the family's figures.
 */
export function leaveOneOut(variants, { mode, price, floor }) {
  const on = (wanted) =>
    variants.map(({ options, replays }) => ({
      options,
      figures: figures(
        replays.filter(({ family }) => wanted(family)),
        { mode, policy: POLICY, price },
      ),
    }));
  const all = on(() => true);
  const tuned = choose(all, floor);
  const families = [...familiesOf(variants[0].replays).keys()].map((family) => {
    const own = on((name) => name === family);
    const ofFamily = ({ options }) => own.find((variant) => variant.options === options);
    return {
      family,
      left: ofFamily(
        choose(
          on((name) => name !== family),
          floor,
        ),
      ),
      tuned: ofFamily(tuned),
      own: choose(own, floor),
    };
  });
  return { tuned, families, all };
}

/**
 * Measures a choice of options on unseen sessions: for each use recall that a variant has, the figures of all sessions,
 * each family with the options that the other families choose at that floor. Equal results are listed once, sorted by
 * bill.
 */
export function frontier(variants, { mode, price }) {
  const of = (replays) => figures(replays, { mode, policy: POLICY, price });
  const families = [...familiesOf(variants[0].replays).keys()];
  const without = families.map((family) =>
    variants.map((variant) => ({
      ...variant,
      figures: of(variant.replays.filter((replay) => replay.family !== family)),
    })),
  );
  const points = new Map();
  for (const { useRecall } of variants.map(({ replays }) => of(replays))) {
    const left = families.flatMap((family, index) =>
      choose(without[index], useRecall).replays.filter((replay) => replay.family === family),
    );
    const { billWithFetches, useRecall: reached } = of(left);
    points.set(`${billWithFetches} ${reached}`, { floor: useRecall, billWithFetches, useRecall: reached });
  }
  return [...points.values()].toSorted((a, b) => a.billWithFetches - b.billWithFetches);
}

/** Replays every combination of the grid. Resolves to a text and its figures. */
export async function tune(files, options, { grid, floor, jobs }) {
  const rows = combinations(grid);
  const variants = [];
  for (const [index, row] of rows.entries()) {
    const label = `combination ${index + 1} of ${rows.length}, `;
    const replays = await replayAll(
      files,
      { ...options, policies: ["never", POLICY], optimum: false, config: { ...options.config, ...row } },
      jobs,
      label,
    );
    variants.push({ options: row, replays });
  }
  if (familiesOf(variants[0].replays).size < 2) throw new Error("all sessions are of one family; none can be left out");
  const [lines, all] = [[], []];
  for (const mode of options.modes) {
    for (const price of options.prices) {
      const outcome = leaveOneOut(variants, { mode, price, floor });
      all.push({ mode, price, ...outcome, frontier: frontier(variants, { mode, price }) });
      lines.push(`\nevery combination on all sessions, mode ${mode}, prices ${price}`);
      lines.push(tableOfAll(outcome));
      lines.push(
        `\nleave one family out, mode ${mode}, prices ${price}: options with the least bill with fetches at a use recall of at least ${floor}`,
      );
      lines.push(tableOf(outcome));
      lines.push(
        `chosen on all: ${JSON.stringify(outcome.tuned.options)}, ${outcome.tuned.figures.billWithFetches.toFixed(3)} at a use recall of ${outcome.tuned.figures.useRecall.toFixed(3)}`,
      );
    }
  }
  return { text: lines.join("\n"), figures: all };
}

function tableOfAll({ all }) {
  return table(
    ["bill", "with fetches", "median", "save < 5 %", "copy recall", "use recall", "edits in sight", "worst", "options"],
    all.map(({ options, figures: of }) => [
      of.bill.toFixed(3),
      of.billWithFetches.toFixed(3),
      of.median.toFixed(3),
      percent(of.saveLittle),
      of.copyRecall.toFixed(3),
      of.useRecall.toFixed(3),
      of.editsInSight.toFixed(3),
      of.worst.bill.toFixed(3),
      JSON.stringify(options),
    ]),
  );
}

function tableOf({ families }) {
  const bill = (variant) => variant.figures.billWithFetches;
  return table(
    [
      "family left out",
      "with fetches",
      "median",
      "save < 5 %",
      "copy recall",
      "use recall",
      "chosen on all",
      "to that",
      "best for itself",
      "chosen on the others",
    ],
    families.map(({ family, left, tuned, own }) => [
      family,
      bill(left).toFixed(3),
      left.figures.median.toFixed(3),
      percent(left.figures.saveLittle),
      left.figures.copyRecall.toFixed(3),
      left.figures.useRecall.toFixed(3),
      bill(tuned).toFixed(3),
      percent(bill(left) / bill(tuned) - 1),
      bill(own).toFixed(3),
      JSON.stringify(left.options),
    ]),
  );
}
