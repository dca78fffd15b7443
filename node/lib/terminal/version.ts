import { readFileSync } from "node:fs";
import path from "node:path";

/** Returns the version of this package. */
export function version(): string {
  const manifest = readFileSync(path.resolve(__dirname, "../../../../package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
