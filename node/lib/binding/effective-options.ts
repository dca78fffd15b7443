/** The options of a host's user, over the host's own defaults. */
import type { OptionsInForce } from "./addon.js";
import { calling } from "./errors.js";
import { native } from "./native.js";
import type { Options } from "./options.js";

/**
 * Reads unchecked options over the defaults of a host. An unknown key or a bad value is ignored and reported in one
 * line; the other options still apply.
 */
export function optionsInForce(given: unknown, defaults: Options): OptionsInForce {
  const options = given !== null && typeof given === "object" && !Array.isArray(given) ? given : {};
  return calling(() => native().optionsInForce(JSON.stringify(options), JSON.stringify(defaults)));
}
