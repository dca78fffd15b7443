/**
 * The plugin's defaults, where they differ from the library's. `analyze` uses them too, because it estimates the effect
 * of the plugin.
 */

import type { Options } from "../binding/options.js";

/**
 * The providers behind OpenClaw have prompt caches. With a cache, a fresh output of moderate length costs little while
 * it is in use and is folded when it becomes stale. Folding it at birth saves no more, and agents fetch it back:
 * `npm run bench:replay` with `--config '{"sccsCompressThreshold":3000}'`. Less of a folded block is kept than by the
 * library's defaults. These values give the lowest bill at which 95 % of the facts that agents use stay in sight, and
 * 96 % of those that they copy from a tool's output for the first time, also in sessions of other projects:
 * `--tune '[{"thrift":["normal","careful"],"staleCalls":[12,16,18]}]'`.
 */
export const HOST_DEFAULTS = {
  schedule: "cache-aware",
  sccsCompressThreshold: 10_000,
  thrift: "normal",
} as const satisfies Options;
