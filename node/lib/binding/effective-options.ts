/** The options of a host's user, over the host's own defaults. */
import type { OptionsInForce } from "./addon.js";
import { calling } from "./errors.js";
import { native } from "./native.js";
import type { Options } from "./options.js";

/**
 * Reads options that nobody has checked. An unknown key and a bad value cost that option only: its default stays, and
 * one line says so.
 */
export function optionsInForce(given: unknown, defaults: Options): OptionsInForce {
  const options = given !== null && typeof given === "object" && !Array.isArray(given) ? given : {};
  return calling(() => native().optionsInForce(JSON.stringify(options), JSON.stringify(defaults)));
}
