/**
 * Loads the compiled addon. A loader of our own: the stock one starts a child process to find out which C library the system
 * has, which OpenClaw's security audit rightly marks as critical.
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
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
 * Whether a Linux executable runs on musl; one that may not be read is taken for one that does not. Read from its
 * head: making Node's own report takes longer than loading the addon.
 */
export function usesMusl(executable: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  let file: number;
  try {
    file = openSync(executable, "r");
  } catch {
    // Node's permission model lets a process read what it names only.
    return false;
  }
  try {
    readSync(file, head);
  } finally {
    closeSync(file);
  }
  return head.includes("/ld-musl-");
}

/** The package's own directory: the one that holds `native/`. */
const packageRoot = path.resolve(__dirname, "../../..");

/** A binary that was built here goes before the one of the platform's package. */
function load(): Native {
  const name = platformName();
  const built = path.join(packageRoot, "native", `concertina.${name}.node`);
  const separate = `openclaw-concertina-${name}`;
  const found = existsSync(built) ? built : resolve(separate);
  if (found === undefined) {
    throw noBinary(
      name,
      `neither ${built} nor the package ${separate} is there. Install again without --omit=optional or --no-optional, on the machine and ` +
        `with the Node that will run it; or build it in a clone with "npm run build" (needs Rust)`,
    );
  }
  try {
    return require(found) as Native;
  } catch (cause) {
    const why = (cause as Partial<Error> | null)?.message ?? String(cause);
    throw noBinary(name, `${found} does not load: ${why}. Install again, or build it in a clone with "npm run build" (needs Rust)`, cause);
  }
}

/** The file of the platform's package. */
function resolve(separate: string): string | undefined {
  try {
    return require.resolve(separate);
  } catch {
    return undefined;
  }
}

function noBinary(name: string, what: string, cause?: unknown): Error {
  const flags = " With --permission, Node also needs --allow-addons, and --allow-fs-read for this package.";
  const words = `${what}.${"permission" in process ? flags : ""}`;
  const error = new Error(`openclaw-concertina has no binary for ${name} (Node ${process.version}): ${words}`, { cause });
  return Object.assign(error, { code: "CONCERTINA_NO_BINARY" });
}

let loaded: Native | undefined;

/** The addon, loaded on first use. @throws an error with code `CONCERTINA_NO_BINARY` where no binary fits. */
export function native(): Native {
  loaded ??= load();
  return loaded;
}
