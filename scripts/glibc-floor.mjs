// Fails if a binary needs a newer glibc than a release may: `node scripts/glibc-floor.mjs FILE...`. It reads the output
// of `objdump -T`.
import { execFileSync } from "node:child_process";

import { GLIBC_FLOOR } from "./platforms.mjs";
import { main } from "./steps.mjs";

const MAX_BUFFER = 64 * 1024 * 1024;

/** Returns true if one version, such as `2.4`, is newer than another, such as `2.28`. */
const isNewer = (version, than) => version.localeCompare(than, "en", { numeric: true }) > 0;

/**
 * Returns the symbols in the output of `objdump -T` that are above the floor. Private symbols of glibc are always above
 * it.
 */
export function aboveFloor(dump, floor = GLIBC_FLOOR) {
  const symbols = [...dump.matchAll(/\(?GLIBC_(PRIVATE|[\d.]+)\)?\s+(\S+)$/gm)].map(([, version, name]) => ({
    version,
    name,
  }));
  if (symbols.length === 0) throw new Error("no symbol of glibc: is this a binary for linux-gnu?");
  return symbols.filter(({ version }) => version === "PRIVATE" || isNewer(version, floor));
}

main(import.meta, async () => {
  const files = process.argv.slice(2);
  if (files.length === 0) throw new Error("usage: node scripts/glibc-floor.mjs FILE...");
  for (const file of files) {
    const above = aboveFloor(execFileSync("objdump", ["-T", file], { encoding: "utf8", maxBuffer: MAX_BUFFER }));
    const named = above.map(({ version, name }) => `${name} (${version})`).join(", ");
    if (above.length > 0) throw new Error(`${file} needs a newer glibc than ${GLIBC_FLOOR}: ${named}`);
    console.log(`${file} needs no glibc above ${GLIBC_FLOOR}`);
  }
});
