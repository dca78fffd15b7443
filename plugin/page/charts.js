// The two charts. They draw on a canvas, which screen readers cannot read, so each has a label that summarizes it and a
// table beside it.
/* oxlint-disable no-unused-vars -- the scripts after it use what is declared here */
"use strict";

/** The charts on the page. They are redrawn for another theme or size. */
const drawn = new Set();

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}

function rem(count) {
  return count * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

function clearCharts() {
  for (const chart of drawn) {
    chart.watch.disconnect();
    chart.plot.destroy();
  }
  drawn.clear();
}

/** Creates a plot in a box and keeps it as wide as the box. */
function place(box, name, height, options, data) {
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", name);
  const size = () => ({ width: Math.max(200, box.clientWidth), height: rem(height) });
  const plot = new uPlot({ ...size(), legend: { show: false }, ...options }, data, box);
  const watch = new ResizeObserver(() => {
    if (size().width !== plot.width) plot.setSize(size());
  });
  watch.observe(box);
  drawn.add({ plot, watch });
}

/** Returns the common properties of the axes of both charts. */
function axis(more) {
  const font = `${Math.round(rem(0.75))}px system-ui, sans-serif`;
  return {
    stroke: colour("--muted"),
    font,
    ticks: { show: false },
    grid: { stroke: colour("--line"), width: 1 },
    ...more,
  };
}

const cursor = { y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } };

const HOUR = 3600;
const DAY = 24 * HOUR;
const DAYS = [1, 2, 7, 14, 28, 56, 112, 224, 448].map((days) => days * DAY);
const STEPS = [HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, ...DAYS];

/**
 * Returns the time axis. It has as few labels as fit, each as "12 Nov", or as "14:00" if a step is less than a day, and
 * none at the end.
 */
function timeAxis(steps, end, timeZone) {
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone });
  const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
  return axis({
    grid: { show: false },
    space: rem(4),
    gap: rem(0.5),
    size: rem(2),
    incrs: steps,
    values: (_, at, __, ___, step) =>
      at.map((seconds) => (seconds < end ? (step < DAY ? hour : day).format(seconds * 1000) : "")),
  });
}

/** Draws the bill by day as two areas, with every day of a range, oldest first. */
function drawDays(box, name, days, unit, tell) {
  const from = Date.parse(days[0].day) / 1000;
  const axes = [
    timeAxis(DAYS, from + days.length * DAY, "UTC"),
    axis({ size: rem(4), values: (_, amounts, __, ___, step) => billedSteps(amounts, step, unit) }),
  ];
  const values = days.map(({ sentBill, withoutBill }) => [withoutBill, sentBill]);
  drawSteps(box, name, { from, step: DAY, axes }, values, (index) => tell(days[index]));
}

/** Draws the tokens of each request of a session as two areas, oldest first. */
function drawPrompts(box, name, prompts, tell) {
  const axes = [
    axis({
      grid: { show: false },
      space: rem(3),
      gap: rem(0.5),
      size: rem(2),
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      values: (_, numbers) => numbers.map((number) => (number <= prompts.length ? number : "")),
    }),
    axis({ size: rem(4), values: (_, amounts) => amounts.map((amount) => compact.format(amount)) }),
  ];
  const values = prompts.map(({ sentTokens, withoutTokens }) => [withoutTokens, sentTokens]);
  drawSteps(box, name, { from: 1, step: 1, axes }, values, (index) => tell(prompts[index]));
}

/**
 * Draws two areas with one step for each pair of values: without Concertina, and with it.
 *
 * @param tell called with the index under the pointer, and with -1 when the pointer leaves
 */
function drawSteps(box, name, { from, step, axes }, pairs, tell) {
  const at = pairs.map((_, index) => from + index * step);
  // A step ends where the next one begins, so the last one needs a further value.
  const closed = (values) => [...values, values.at(-1)];
  const paths = uPlot.paths.stepped({ align: 1 });
  const area = (line) => ({
    paths,
    stroke: colour(line),
    fill: colour(`${line}-area`),
    width: 2,
    points: { show: false },
  });
  const to = from + pairs.length * step;
  place(
    box,
    name,
    15,
    {
      cursor,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: { x: { range: [from, to] }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
      axes,
      series: [{}, area("--without"), area("--accent")],
      hooks: {
        setCursor: [
          (plot) => {
            const { left } = plot.cursor;
            tell(left < 0 ? -1 : Math.floor((plot.posToVal(left, "x") - from) / step));
          },
        ],
      },
    },
    [[...at, to], ...[0, 1].map((which) => closed(pairs.map((pair) => pair[which])))],
  );
}

/**
 * Draws epochs on a time line, with one lane for each kind of reason. The area of a dot is proportional to the removed
 * tokens.
 *
 * @param epochs oldest first
 * @param lanes rows of REASONS, the uppermost first
 */
function drawEpochs(box, name, epochs, lanes, [from, to], tell) {
  const lane = (epoch) => lanes.length - 1 - lanes.indexOf(reasonOf(epoch.reason));
  const most = Math.max(1, ...epochs.map(({ tokensFreed }) => tokensFreed));
  const radius = ({ tokensFreed }) => rem(0.22) + rem(0.55) * Math.sqrt(Math.max(0, tokensFreed) / most);
  const margin = (to - from) * 0.03;
  // In a narrow chart the names of the lanes are inside the chart.
  const isNarrow = box.clientWidth < rem(32);
  const label = (plot) => {
    const { ctx } = plot;
    ctx.fillStyle = colour("--muted");
    ctx.font = `${rem(0.75) * uPlot.pxRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    lanes.forEach(([, title], index) =>
      ctx.fillText(title, plot.bbox.left, plot.valToPos(lanes.length - 1 - index + 0.42, "y", true)),
    );
  };
  const draw = (plot) => {
    const { ctx } = plot;
    ctx.save();
    if (isNarrow) label(plot);
    ctx.fillStyle = colour("--accent-area");
    ctx.strokeStyle = colour("--accent");
    ctx.lineWidth = 1.5 * uPlot.pxRatio;
    for (const epoch of epochs) {
      ctx.beginPath();
      ctx.arc(
        plot.valToPos(epoch.at / 1000, "x", true),
        plot.valToPos(lane(epoch), "y", true),
        radius(epoch) * uPlot.pxRatio,
        0,
        2 * Math.PI,
      );
      ctx.fill();
      ctx.stroke();
    }
    ctx.restore();
  };
  place(
    box,
    name,
    2.5 + (isNarrow ? 3 : 2.25) * lanes.length,
    {
      cursor,
      scales: {
        x: { range: [(from - margin) / 1000, (to + margin) / 1000] },
        y: { range: [-0.6, lanes.length - 0.4] },
      },
      axes: [
        timeAxis(to - from > 3 * DAY_MS ? DAYS : STEPS, to / 1000 + margin),
        axis({
          size: isNarrow ? 0 : rem(6.5),
          splits: () => lanes.map((_, index) => index),
          values: () => lanes.toReversed().map(([, title]) => (isNarrow ? "" : title)),
        }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [draw], setCursor: [(plot) => tell(plot.cursor.left < 0 ? undefined : epochs[plot.cursor.idx])] },
    },
    [epochs.map(({ at }) => at / 1000), epochs.map(lane)],
  );
}
