/** What the plugin sets where its user says nothing, and the library does not. */

import type { Options } from "../node/lib/index.js";

/**
 * Providers behind OpenClaw have prompt caches. There a fresh output of moderate length costs little while it is in use and is
 * folded when it goes stale; folding it at birth saves no more, and agents fetch it back: `npm run bench:replay` with
 * `--config '{"sccsCompressThreshold":3000}'`.
 */
export const PLUGIN_DEFAULTS = { schedule: "cache-aware", sccsCompressThreshold: 10_000 } as const satisfies Options;
