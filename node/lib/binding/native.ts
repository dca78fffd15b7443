/**
 * Loads the compiled addon. A loader of our own: the stock one starts a child process to find out which C library the
 * system has, which OpenClaw's security audit rightly marks as critical.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The addon's own functions, as `node/src` declares them. */
export type Native = typeof import("./addon.js");

/** `linux-x64-gnu`, `darwin-arm64`, ...: the name of the binary that fits this process. */
export function platformName(): string {
  const { platform, arch } = process;
  if (platform === "linux") return `${platform}-${arch}-${usesMusl(process.execPath) ? "musl" : "gnu"}`;
  return platform === "win32" ? `${platform}-${arch}-msvc` : `${platform}-${arch}`;
}

/** An executable names its loader, and so its C library, within this many bytes. */
const HEAD_BYTES = 4096;

/**
 * Whether a Linux executable runs on musl; not, where it may not be read. Read from its head: making Node's own report
 * takes longer than loading the addon.
 */
export function usesMusl(executable: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  let file: number | undefined;
  try {
    file = openSync(executable, "r");
    readSync(file, head);
  } catch {
    // Node's permission model: most systems have glibc, and a binary that does not fit says so.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return head.includes("/ld-musl-");
}

const PACKAGE = "openclaw-concertina";

/** This file; undefined where a bundler made an ES module of it. */
const FILE = typeof __filename === "string" ? __filename : undefined;

/** Where it lies in the package. */
const IN_PACKAGE = path.join("dist", "node", "lib", "binding", "native.js");

/**
 * The package's own directory. Where this code was bundled or copied it is another file than that of the package, and
 * what stands around it is not ours: then only Node's own resolution says where the package is.
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

/** The file of a module, as Node finds it from another file: bundlers replace `require.resolve`. */
function resolved(from: string | undefined, name: string): string | undefined {
  try {
    return createRequire(from ?? "").resolve(name);
  } catch {
    return undefined;
  }
}

/** A binary that was built here goes before the one of the platform's package. Nothing is loaded from anywhere else. */
function load(): Native {
  const name = platformName();
  const root = packageRoot();
  const [file, separate] = [`concertina.${name}.node`, `${PACKAGE}-${name}`];
  const built = root === undefined ? undefined : path.join(root, "native", file);
  // A file that is called like the package is none.
  const manifest = resolved(root === undefined ? FILE : path.join(root, "package.json"), `${separate}/package.json`);
  const found = [built, manifest && path.join(path.dirname(manifest), file)].find(
    (binary) => binary !== undefined && existsSync(binary),
  );
  if (found === undefined) throw noBinary(name, built === undefined ? outside() : missing(built, separate));
  try {
    return createRequire(found)(found) as Native;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what =
      code === "ERR_DLOPEN_DISABLED"
        ? "start Node with --allow-addons"
        : 'install again, or build it in a clone with "npm run build" (needs Rust)';
    throw noBinary(
      name,
      `${found} does not load: ${(cause as Partial<Error> | null)?.message ?? String(cause)}; ${what}`,
      cause,
    );
  }
}

/** What to do where this code is not in its package. */
function outside(): string {
  return (
    `this code was bundled or copied${FILE === undefined ? "" : ` to ${FILE}`}, and the package is not to be found from there. Mark it external in the bundler ` +
    `(esbuild: --external:${PACKAGE}) and install ${PACKAGE} where the bundle runs`
  );
}

function missing(built: string, separate: string): string {
  const { permission } = process as { permission?: { has(scope: string, place: string): boolean } };
  if (permission?.has("fs.read", built) === false)
    return `${built} may not be read: start Node with --allow-addons and --allow-fs-read for this package`;
  return (
    `neither ${built} nor the package ${separate} is there. Install again without --omit=optional or --no-optional, on the machine and ` +
    `with the Node that will run it; or build it in a clone with "npm run build" (needs Rust)`
  );
}

function noBinary(name: string, what: string, cause?: unknown): Error {
  const error = new Error(`${PACKAGE} has no binary for ${name} (Node ${process.version}): ${what}.`, { cause });
  return Object.assign(error, { code: "CONCERTINA_NO_BINARY" });
}

let loaded: Native | undefined;

/** The addon, loaded on first use. @throws an error with code `CONCERTINA_NO_BINARY` where no binary fits. */
export function native(): Native {
  loaded ??= load();
  return loaded;
}
