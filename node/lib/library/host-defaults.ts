/**
 * What the plugin sets where its user says nothing, and the library does not; `analyze` asks what the plugin would do.
 */

import type { Options } from "../binding/options.js";

/**
 * Providers behind OpenClaw have prompt caches. There a fresh output of moderate length costs little while it is in use
 * and is folded when it goes stale; folding it at birth saves no more, and agents fetch it back: `npm run bench:replay`
 * with `--config '{"sccsCompressThreshold":3000}'`. What goes leaves less behind than the library's options say: that
 * is the least bill at which 95 % of the facts that agents use, and 96 % of those that they copy from a tool's output
 * for the first time, stay in sight, also in sessions of other projects: `--tune
 * '[{"thrift":["normal","careful"],"staleCalls":[12,16,18]}]'`.
 */
export const HOST_DEFAULTS = {
  schedule: "cache-aware",
  sccsCompressThreshold: 10_000,
  thrift: "normal",
} as const satisfies Options;
