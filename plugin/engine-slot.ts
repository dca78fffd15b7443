/** Checks of whether the host uses this plugin as its context engine. */

import type { Trouble } from "../node/lib/for-plugin.js";
import type { HostConfig } from "./host.js";

const SLOT = "plugins.slots.contextEngine";

/** The advice before uninstalling: placeholders stay in transcripts. */
export const UNFOLD_FIRST =
  'Before you uninstall it, run "openclaw concertina unfold", which writes copies of transcripts with the originals in place of placeholders';

/** Returns true if the plugin was disabled or uninstalled between two states of the host's configuration. */
export function isLeaving(before: HostConfig | undefined, now: HostConfig | undefined): boolean {
  const isIn = (config: HostConfig | undefined) =>
    config?.plugins?.entries?.concertina !== undefined && config.plugins.entries.concertina.enabled !== false;
  return isIn(before) && !isIn(now);
}

/** Returns the reason why the host does not use the engine, or undefined if it does. */
export function whyUnused({ plugins }: HostConfig): Trouble | undefined {
  const engine = plugins?.slots?.contextEngine;
  if (engine === "concertina") return undefined;
  const is = engine === undefined ? "is not set, as after a reinstallation" : `is ${JSON.stringify(engine)}`;
  return { text: `not in use: ${SLOT} ${is}`, remedy: `Run "openclaw config set ${SLOT} concertina"` };
}
