// Builds the addon and the JavaScript: `npm run build`. With --debug the addon is built without optimization.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { install, main, root, run } from "./steps.mjs";

/** The file that cargo makes of the addon, by platform. */
const artifact = { linux: "libconcertina_node.so", darwin: "libconcertina_node.dylib", win32: "concertina_node.dll" };

/** Compiles the addon and puts it where the loader looks. */
async function buildAddon(profile) {
  const flags = profile === "debug" ? [] : ["--release"];
  await run(`compile the addon (${profile})`, "cargo", ["build", "--locked", "-p", "concertina-node", ...flags], { quiet: true });
  const built = path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, "target"), profile, artifact[process.platform]);
  mkdirSync(path.join(root, "native"), { recursive: true });
  const name = platformName();
  const target = path.join(root, "native", `concertina.${name}.node`);
  // A running process may have the old file mapped: replace it, never write into it.
  copyFileSync(built, `${target}.new`);
  renameSync(`${target}.new`, target);
}

function platformName() {
  const { platform, arch } = process;
  if (platform === "linux") return `linux-${arch}-${process.report.getReport().header.glibcVersionRuntime ? "gnu" : "musl"}`;
  return platform === "win32" ? `win32-${arch}-msvc` : `${platform}-${arch}`;
}

/** Compiles the TypeScript. The library is CommonJS, so that `require` and `import` share one copy; the plugin is ESM. */
async function buildJavaScript() {
  if (!existsSync(path.join(root, "node_modules", "typescript"))) await install("install development packages");
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  rmSync(path.join(root, "dist"), { recursive: true, force: true });
  await run("compile TypeScript", process.execPath, [tsc, "-p", "tsconfig.json"]);
  writeFileSync(path.join(root, "dist", "node", "lib", "package.json"), '{ "type": "commonjs" }\n');
}

/** Everything that the package ships. */
export async function build({ debug = false } = {}) {
  await buildAddon(debug ? "debug" : "release");
  await buildJavaScript();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(() => build({ debug: process.argv.includes("--debug") }));
