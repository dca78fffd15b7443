// Checks the packed root package with third-party tools: publint, Are The Types Wrong, and OpenClaw's plugin inspector.
// `npm run release:inspect [-- ARCHIVE]`. Without an archive it packs the current build, of any profile.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { pack } from "./pack.mjs";
import { install, main, root, run } from "./steps.mjs";

/** The directory of the tools. They take 45 MB, so a clone installs them only for this check. */
const tools = path.join(root, "test", "release");
const toolsOf = createRequire(path.join(tools, "package.json"));

/** Returns what publint reports about a package, suggestions included. */
async function publintFaults(archive) {
  const [{ publint }, { formatMessage }] = await Promise.all(
    ["publint", "publint/utils"].map((name) => import(pathToFileURL(toolsOf.resolve(name)).href)),
  );
  const { buffer } = new Uint8Array(readFileSync(archive));
  const { messages, pkg } = await publint({ pack: { tarball: buffer } });
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);
}

/** Checks the types of every way to import the library. The plugin is an ES module that only OpenClaw imports. */
async function checkTypes(archive) {
  const attw = path.join(tools, "node_modules", "@arethetypeswrong", "cli", "dist", "index.js");
  const check = (what, ...args) =>
    run(`check the types of ${what}`, process.execPath, [attw, archive, "--no-definitely-typed", ...args], {
      quiet: true,
    });
  await check("the library", "--exclude-entrypoints", "plugin");
  await check("the plugin", "--entrypoints", "plugin", "--profile", "esm-only");
}

/** Returns what OpenClaw's inspector reports about the plugin, for the release of OpenClaw that it was built for. */
async function inspectorFaults(archive, out) {
  await run("unpack the plugin", "tar", ["-xzf", archive, "-C", out]);
  const plugin = path.join(out, "package");
  const { openclaw } = JSON.parse(readFileSync(path.join(plugin, "package.json"), "utf8"));
  const inspector = path.join(tools, "node_modules", "@openclaw", "plugin-inspector", "src", "cli.js");
  const against = ["--openclaw-version", openclaw.build.openclawVersion];
  const args = ["check", "--plugin-root", plugin, ...against, "--author-facing", "--out", out];
  // The inspector caches OpenClaw, 330 MB, by default in the user's home.
  const env = { PLUGIN_INSPECTOR_CACHE_DIR: path.join(tools, "node_modules", ".cache") };
  await run("inspect the plugin", process.execPath, [inspector, ...args], { quiet: true, env });
  const report = JSON.parse(readFileSync(path.join(out, "plugin-inspector-report.json"), "utf8"));
  const found = [...report.breakages, ...report.warnings, ...report.issues];
  const target = report.targetOpenClaw.status === "ok" ? [] : ["the inspector did not read OpenClaw"];
  return [...target, ...found.map(({ title, message }) => `plugin inspector: ${title ?? message}`)];
}

/** Returns the faults that the tools find in the archive of the root package. */
export async function inspectPackage(archive) {
  if (!existsSync(path.join(tools, "node_modules"))) await install("install the release checks", tools);
  const out = mkdtempSync(path.join(tmpdir(), "concertina-inspected-"));
  try {
    await checkTypes(archive);
    return [...(await publintFaults(archive)), ...(await inspectorFaults(archive, out))];
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

main(import.meta, async () => {
  const out = mkdtempSync(path.join(tmpdir(), "concertina-inspect-"));
  try {
    const archive = process.argv[2] ?? (await pack(out))[0].archive;
    const faults = await inspectPackage(path.resolve(archive));
    if (faults.length > 0) throw new Error(`the package has faults:\n  ${faults.join("\n  ")}`);
    console.log("publint, attw and the plugin inspector find no fault");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
