/** What the plugin sets where its user says nothing, and the library does not. */

import type { Options } from "../node/lib/index.js";

/**
 * Providers behind OpenClaw have prompt caches. There a fresh output of moderate length costs little while it is in use and is
 * folded when it goes stale; folding it at birth saves no more, and agents fetch it back: `npm run bench:replay` with
 * `--config '{"sccsCompressThreshold":3000}'`. What goes goes sooner and leaves less behind than the library's options say: that is
 * the least bill at which 95 % of the facts that agents use stay in sight, whichever family of sessions is left out of the choice:
 * `--tune '{"staleCalls":[8,9,12],"keepNames":[120,160],"keepPreviewChars":[40,200]}'`.
 */
export const PLUGIN_DEFAULTS = {
  schedule: "cache-aware",
  sccsCompressThreshold: 10_000,
  staleCalls: 9,
  keepPreviewChars: 40,
  minTokensToFold: 60,
} as const satisfies Options;
