// Writes the price list of the core from the model catalogue of Pi, which is a development dependency because its
// maintainers follow the providers' published prices. The vendors' own prices are taken; resellers add a prefix to the
// same names.
import { readFileSync } from "node:fs";
import path from "node:path";

import { root } from "./steps.mjs";

const CATALOGUE = "@earendil-works/pi-ai";

/** The catalogues of the vendors themselves, by the name of their module. The first with a model states its price. */
const VENDORS = [
  "anthropic",
  "openai",
  "google",
  "deepseek",
  "moonshotai",
  "zai",
  "xai",
  "mistral",
  "meta",
  "minimax",
  "xiaomi",
];

/** Returns the price list: tab-separated, sorted by name and version. */
export async function priceList() {
  const found = new Map();
  for (const vendor of VENDORS) {
    const catalogue = await import(`${CATALOGUE}/providers/${vendor}.models`);
    for (const { id, cost } of Object.values(catalogue[`${vendor.toUpperCase()}_MODELS`])) {
      // Vendors and resellers write versions with dots and with dashes.
      const name = id.toLowerCase().replaceAll(".", "-");
      // No price of cached input is no price: it is not stated, or the model has no cache.
      if (!found.has(name) && cost.input > 0 && cost.cacheRead > 0) found.set(name, cost);
    }
  }
  const rows = [...found].sort(([a], [b]) => order(a, b)).map(([name, cost]) => row(name, cost).join("\t"));
  const { version } = JSON.parse(readFileSync(path.join(root, "node_modules", CATALOGUE, "package.json"), "utf8"));
  return `# Generated from ${CATALOGUE} ${version} by \`npm run generate\`. Do not edit.
# Model, and dollars per million tokens: input, output, cached input, cache write. Then, for models with a price step,
# the tokens of a request above which all of it costs more, and the four prices above.
${rows.join("\n")}
`;
}

/** Compares names part by part, so that the newest version of a line is its last: `gpt-6-sol` before `gpt-6-2-sol`. */
function order(a, b) {
  const [left, right] = [a, b].map((name) => name.split("-"));
  const at = left.findIndex((part, index) => part !== right[index]);
  if (at < 0 || right[at] === undefined) return left.length - right.length;
  const [one, other] = [left[at], right[at]].map(Number);
  if (!Number.isNaN(one) && !Number.isNaN(other)) return one - other;
  return Number.isNaN(one) && Number.isNaN(other) ? (left[at] < right[at] ? -1 : 1) : Number.isNaN(one) ? -1 : 1;
}

/** A write that has no price of its own is billed as input. */
const prices = ({ input, output, cacheRead, cacheWrite }) => [input, output, cacheRead, cacheWrite || input];

function row(name, { tiers = [], ...cost }) {
  if (tiers.length > 1)
    throw new Error(`${name} has ${tiers.length} price steps; the core's price list has room for one`);
  return [name, ...prices(cost), ...tiers.flatMap((tier) => [tier.inputTokensAbove, ...prices(tier)])];
}
