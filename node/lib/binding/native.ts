/**
 * The loader of the compiled addon. The usual napi loader starts a child process to detect the C library, which
 * OpenClaw's security audit rightly marks as critical; this one does not.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The functions of the addon, as `node/src` declares them. */
export type Native = typeof import("./addon.js");

/** Returns the name of the binary for this process, such as `linux-x64-gnu` or `darwin-arm64`. */
export function platformName(): string {
  const { platform, arch } = process;
  if (platform === "linux") return `${platform}-${arch}-${usesMusl(process.execPath) ? "musl" : "gnu"}`;
  return platform === "win32" ? `${platform}-${arch}-msvc` : `${platform}-${arch}`;
}

/** The loader of an executable, and so its C library, is named within this many bytes. */
const HEAD_BYTES = 4096;

/**
 * Returns true if a Linux executable uses musl, and false if it cannot be read. It reads the head of the file because
 * generating Node's own report takes longer than loading the addon.
 */
export function usesMusl(executable: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  let file: number | undefined;
  try {
    file = openSync(executable, "r");
    readSync(file, head);
  } catch {
    // Node's permission model may forbid reading. Most systems have glibc, and loading the wrong binary reports it.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return head.includes("/ld-musl-");
}

const PACKAGE = "openclaw-concertina";

/** The path of this file. Undefined if a bundler turned it into an ES module. */
const FILE = typeof __filename === "string" ? __filename : undefined;

/** The path of this file in the package. */
const IN_PACKAGE = path.join("dist", "node", "lib", "binding", "native.js");

/**
 * Returns the package's own directory. If this code was bundled or copied, its surroundings are not the package, and
 * only Node's own resolution finds it.
 */
export function packageRoot(): string | undefined {
  if (FILE === undefined) return undefined;
  const root = path.resolve(path.dirname(FILE), "../../../..");
  if (FILE === path.join(root, IN_PACKAGE) && nameIn(path.join(root, "package.json")) === PACKAGE) return root;
  const manifest = resolved(FILE, `${PACKAGE}/package.json`);
  return manifest === undefined ? undefined : path.dirname(manifest);
}

function nameIn(manifest: string): unknown {
  try {
    return (JSON.parse(readFileSync(manifest, "utf8")) as { name?: unknown }).name;
  } catch {
    return undefined;
  }
}

/**
 * Returns the file of a module as Node resolves it from another file. Bundlers replace `require.resolve`, so
 * `createRequire` is used.
 */
function resolved(from: string | undefined, name: string): string | undefined {
  try {
    return createRequire(from ?? "").resolve(name);
  } catch {
    return undefined;
  }
}

/** Returns true if a file exists and may be read: with `--permission`, the question alone throws. */
function exists(file: string): boolean {
  try {
    return existsSync(file);
  } catch {
    return false;
  }
}

/**
 * Loads the addon. A binary that was built in the package has priority over the platform package; no other place is
 * searched.
 */
function load(): Native {
  const name = platformName();
  const root = packageRoot();
  const [file, separate] = [`concertina.${name}.node`, `${PACKAGE}-${name}`];
  const built = root === undefined ? undefined : path.join(root, "native", file);
  // A file with the name of the package does not count; only a package with a manifest does.
  const manifest = resolved(root === undefined ? FILE : path.join(root, "package.json"), `${separate}/package.json`);
  const found = [built, manifest && path.join(path.dirname(manifest), file)].find(
    (binary) => binary !== undefined && exists(binary),
  );
  if (found === undefined) throw noBinary(name, built === undefined ? outside() : missing(built, separate));
  try {
    return createRequire(found)(found) as Native;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what =
      code === "ERR_DLOPEN_DISABLED"
        ? "start Node with --allow-addons"
        : 'reinstall it, or build it in a clone with "npm run build" (needs Rust)';
    throw noBinary(
      name,
      `${found} does not load: ${(cause as Partial<Error> | null)?.message ?? String(cause)}; ${what}`,
      cause,
    );
  }
}

/** Returns the instructions for code that was moved out of its package. */
function outside(): string {
  return (
    `this code was bundled or copied${FILE === undefined ? "" : ` to ${FILE}`}, and the package cannot be found from there. Mark it as external in the bundler ` +
    `(esbuild: --external:${PACKAGE}) and install ${PACKAGE} where the bundle runs`
  );
}

function missing(built: string, separate: string): string {
  const { permission } = process as { permission?: { has(scope: string, place: string): boolean } };
  if (permission?.has("fs.read", built) === false)
    return `${built} cannot be read: start Node with --allow-addons and --allow-fs-read for this package`;
  return (
    `neither ${built} nor the package ${separate} exists. Reinstall without --omit=optional or --no-optional, on the machine and ` +
    `with the Node version that will run it; or build it in a clone with "npm run build" (needs Rust)`
  );
}

function noBinary(name: string, what: string, cause?: unknown): Error {
  const error = new Error(`${PACKAGE} has no binary for ${name} (Node ${process.version}): ${what}.`, { cause });
  return Object.assign(error, { code: "CONCERTINA_NO_BINARY" });
}

let loaded: Native | undefined;

/**
 * Returns the addon, which is loaded on first use. @throws an error with code `CONCERTINA_NO_BINARY` if no binary fits
 */
export function native(): Native {
  loaded ??= load();
  return loaded;
}
