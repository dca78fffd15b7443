// Durations, slugs and medians, some of them wrong.
const UNITS = { d: 86400, h: 3600, m: 60, s: 1 };

function parse(text) {
  if (!/^(?:\d+[dhms])+$/.test(text)) throw new Error(`no duration: ${text}`);
  return [...text.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit], 0);
}

function render(seconds) {
  let [text, left] = ["", seconds];
  for (const [unit, size] of Object.entries(UNITS)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) text += `${count}${unit}`;
  }
  return text;
}

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-");

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const clamp = (value, low, high) => Math.max(low, Math.min(value, high));

module.exports = { parse, render, slug, median, clamp };
