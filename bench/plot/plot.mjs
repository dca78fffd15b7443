// Draws replays as SVG: the growth of each policy's bill from call to call, and the bill of each combination of options
// against what it keeps visible.
import { existsSync } from "node:fs";
import path from "node:path";

import { install, root } from "../../scripts/steps.mjs";
import { growth, parsePrice } from "../replay/billing.mjs";
import { POLICIES } from "../replay/policies.mjs";

const here = path.join(root, "bench", "plot");
/** The maximum number of points of a curve. More would not be visible. */
const POINTS = 400;
/** The highlighted policy: the plugin's own. */
const BOLD = "cache-aware";
const COLORS = {
  never: "#222222",
  references: "#d98c1f",
  squeeze: "#b8433a",
  trim: "#7a9a3c",
  "server-clearing": "#8a5fb0",
  "host-pruning": "#9a9a9a",
  "every-turn": "#7fb2f0",
  "cache-aware": "#1464d2",
};

/** Returns the bill after the k-th call of every session, summed. Sessions that have ended keep their last value. */
function summed(curves) {
  const calls = Math.max(...curves.map((curve) => curve.length));
  return Array.from({ length: calls }, (_, call) =>
    curves.reduce((sum, curve) => sum + (curve[Math.min(call, curve.length - 1)] ?? 0), 0),
  );
}

/** Returns the points of a curve for each policy, mode and price point, at up to POINTS calls. */
export function points(replays, { modes, policies, prices }) {
  const out = [];
  for (const mode of modes) {
    for (const price of prices) {
      for (const policy of policies) {
        const rows = replays.map((replay) =>
          replay.rows.find((row) => row.mode === mode && row.policy === policy && row.price === price),
        );
        const curve = summed(rows.map((row) => growth(row, parsePrice(price))));
        const every = Math.max(1, Math.ceil(curve.length / POINTS));
        curve.forEach((bill, call) => {
          if (call % every === 0 || call === curve.length - 1)
            out.push({ panel: `mode ${mode}, prices ${price}`, policy: POLICIES[policy].title, call: call + 1, bill });
        });
      }
    }
  }
  return out;
}

/** Renders a Vega-Lite chart as SVG. Installs the library on first use. */
async function draw(chart) {
  if (!existsSync(path.join(here, "node_modules", "vega-lite"))) await install("install the charting library", here);
  const [vega, { compile }] = [await import("vega"), await import("vega-lite")];
  const view = new vega.View(vega.parse(compile({ background: "white", ...chart }).spec), { renderer: "none" });
  const svg = await view.toSVG();
  view.finalize();
  return svg;
}

/** Draws the growth of each policy's bill. */
export function plot(replays, options) {
  const titles = (policies) => policies.map((policy) => POLICIES[policy].title);
  const scale = { domain: titles(options.policies), range: options.policies.map((policy) => COLORS[policy]) };
  const encoding = {
    x: { field: "call", type: "quantitative", title: "model call" },
    y: { field: "bill", type: "quantitative", title: "input tokens billed so far" },
    color: { field: "policy", type: "nominal", title: null, scale },
  };
  const bold = { field: "policy", oneOf: titles([BOLD]) };
  const title = replays.length === 1 ? replays[0].name : `${replays.length} sessions`;
  return draw({
    title: `Bill with fetches, ${title}`,
    config: { legend: { labelLimit: 0 } },
    data: { values: points(replays, options) },
    facet: { field: "panel", type: "nominal", title: null, columns: 2 },
    spec: {
      width: 560,
      height: 360,
      layer: [
        { transform: [{ filter: { not: bold } }], mark: { type: "line", strokeWidth: 1.5 }, encoding },
        { transform: [{ filter: bold }], mark: { type: "line", strokeWidth: 4 }, encoding },
      ],
    },
  });
}

/**
 * Draws the bill and the use recall of every combination of options, of the options that were chosen on other families
 * than those they are measured on, and of the levels of thrift.
 */
export function plotFrontier(outcomes) {
  const place = ({ billWithFetches, useRecall }) => ({ bill: billWithFetches, recall: useRecall });
  const values = outcomes.flatMap(({ mode, price, all, frontier }) => {
    const panel = `mode ${mode}, prices ${price}`;
    return [
      ...all.map(({ options, figures }) => ({
        panel,
        ...place(figures),
        kind: options.thrift ? "thrift" : "combination",
        label: options.thrift,
      })),
      ...frontier.map((point) => ({ panel, ...place(point), kind: "left out" })),
    ];
  });
  const only = (kind) => [{ filter: { field: "kind", equal: kind } }];
  const axis = (field, title) => ({ field, type: "quantitative", title, scale: { zero: false } });
  const encoding = {
    x: axis("bill", "bill with fetches, relative to never touching anything"),
    y: axis("recall", "facts in sight when they are used"),
  };
  const color = COLORS[BOLD];
  return draw({
    title: {
      text: "Bill against use recall",
      subtitle: "grey: options on all sessions; line: chosen on the other families; marked: thrift",
    },
    data: { values },
    facet: { field: "panel", type: "nominal", title: null, columns: 2 },
    spec: {
      width: 560,
      height: 360,
      layer: [
        { transform: only("combination"), mark: { type: "point", color: "#9a9a9a" }, encoding },
        { transform: only("left out"), mark: { type: "line", color, point: { color } }, encoding },
        {
          transform: only("thrift"),
          mark: { type: "point", shape: "diamond", size: 120, filled: true, color: "#b8433a" },
          encoding,
        },
        {
          transform: only("thrift"),
          mark: { type: "text", dy: -12, fontWeight: "bold" },
          encoding: { ...encoding, text: { field: "label" } },
        },
      ],
    },
  });
}

/** Draws figures over the turns of a long run, each in a panel with its own scale. */
export function plotOverTime(points) {
  const encoding = {
    x: { field: "turn", type: "quantitative", title: null },
    y: { field: "value", type: "quantitative", title: null },
  };
  return draw({
    data: { values: points },
    facet: { field: "name", type: "nominal", title: null, sort: [...new Set(points.map(({ name }) => name))] },
    columns: 2,
    resolve: { scale: { y: "independent" } },
    spec: { width: 420, height: 150, mark: { type: "line", color: COLORS[BOLD] }, encoding },
  });
}
