// Builds the addon and the JavaScript: `npm run build`. With `--checked` the addon is built as for tests: in half the
// time, nearly as fast, and with the compiler's checks. With `--target T` it is built as for a release, for a platform
// in platforms.mjs. With `--javascript` it is not built at all.
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { parseArgs } from "node:util";

import { compileChecked, crates, target as compiled } from "./cargo.mjs";
import { binaryOf, platforms, rustTarget } from "./platforms.mjs";
import { installDevelopment, main, root, run } from "./steps.mjs";

const require = createRequire(import.meta.url);

/** The name of the addon's library that cargo builds, by operating system. */
const artifact = { linux: "libconcertina_node.so", darwin: "libconcertina_node.dylib", win32: "concertina_node.dll" };

/**
 * Returns cargo's arguments for a platform. For Linux, zig is the C compiler and the linker, so that the version of the
 * C library can be chosen.
 */
const crossBuild = ({ os, target }) => [os === "linux" ? "zigbuild" : "build", "--target", target];

/**
 * Returns the compiler flags of a release. With them, the source paths in a binary are the same on every machine and
 * name none of its directories.
 */
function releaseFlags({ os = process.platform, libc } = {}) {
  const flags = (variable, ...more) => [...(process.env[variable] ?? "").split(" ").filter(Boolean), ...more];
  const renamed = `${crates}${path.sep}=`;
  // A musl binary is static by default, and Node cannot load one.
  const rust = flags(
    "RUSTFLAGS",
    `--remap-path-prefix=${renamed}`,
    ...(libc === "musl" ? ["-Ctarget-feature=-crt-static"] : []),
  );
  // Microsoft's compiler has no such flag.
  const c = os === "win32" ? {} : { CFLAGS: flags("CFLAGS", `-ffile-prefix-map=${renamed}`).join(" ") };
  return { CARGO_ENCODED_RUSTFLAGS: rust.join("\x1f"), ...c };
}

/** Compiles the addon, for this machine or for a platform, and puts it where the loader finds it. */
async function buildAddon({ checked, platform }) {
  const name = platform?.name ?? require("../dist/node/lib/binding/native.js").platformName();
  const profile = checked ? "checked" : "release";
  const title = `compile the addon (${profile}, ${name})`;
  const command = platform ? crossBuild(platform) : ["build"];
  if (checked) await compileChecked(title);
  else
    await run(title, "cargo", [...command, "--locked", "-p", "concertina-node", "--release"], {
      quiet: true,
      env: releaseFlags(platform),
    });
  const out = path.join(compiled, platform ? rustTarget(platform.target) : "", profile);
  mkdirSync(path.join(root, "native"), { recursive: true });
  const file = path.join(root, "native", binaryOf(name));
  // A running process may have the old file mapped, so it is replaced and never overwritten.
  copyFileSync(path.join(out, artifact[platform?.os ?? process.platform]), `${file}.new`);
  renameSync(`${file}.new`, file);
}

/**
 * Compiles the TypeScript. The library is CommonJS, so that `require` and `import` share one copy. The plugin is ESM.
 */
export async function compileTypeScript() {
  await installDevelopment();
  await run("compile TypeScript", process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "tsconfig.json"]);
  writeFileSync(path.join(root, "dist", "node", "lib", "package.json"), '{ "type": "commonjs" }\n');
}

/**
 * Copies the page's files and the library that draws its charts. Every report contains that library and therefore its
 * licence.
 */
function copyPage() {
  const [from, to] = [path.dirname(require.resolve("uplot/package.json")), path.join(root, "dist", "plugin", "page")];
  cpSync(path.join(root, "plugin", "page"), to, { recursive: true });
  const licence = readFileSync(path.join(from, "LICENSE"), "utf8").trim();
  writeFileSync(
    path.join(to, "uplot.js"),
    `/*!\n${licence}\n*/\n${readFileSync(path.join(from, "dist", "uPlot.iife.min.js"), "utf8")}`,
  );
  copyFileSync(path.join(from, "dist", "uPlot.min.css"), path.join(to, "uplot.css"));
}

/** Builds everything that is shipped for one platform: this one, or that of `target`. */
export async function build({ checked = false, javascript = false, target } = {}) {
  const platform = platforms.find((row) => row.target === target);
  if (target && checked)
    throw new Error("--checked and --target exclude each other: a build for a target is a release build");
  if (target && !platform)
    throw new Error(`unknown target ${target}; the targets are ${platforms.map((row) => row.target).join(", ")}`);
  rmSync(path.join(root, "dist"), { recursive: true, force: true });
  await compileTypeScript();
  copyPage();
  if (!javascript) await buildAddon({ checked, platform });
}

main(import.meta, () =>
  build(
    parseArgs({
      options: { checked: { type: "boolean" }, javascript: { type: "boolean" }, target: { type: "string" } },
    }).values,
  ),
);
