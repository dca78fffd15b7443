import { readFileSync } from "node:fs";
import path from "node:path";

interface Manifest {
  version: string;
  openclaw: { compat: { minGatewayVersion: string }; build: { openclawVersion: string } };
}

const manifest = () =>
  JSON.parse(readFileSync(path.resolve(__dirname, "../../../../package.json"), "utf8")) as Manifest;

/** Returns the version of this package. */
export function version(): string {
  return manifest().version;
}

/** Returns the oldest version of OpenClaw that is supported, and the newest one that was tested. */
export function hostVersions(): { oldest: string; tested: string } {
  const { compat, build } = manifest().openclaw;
  return { oldest: compat.minGatewayVersion, tested: build.openclawVersion };
}
