// The platforms for which a release has a binary. Packages, builds and the release workflow all use this table. Run as
// a program, this file prints the workflow's build matrix.
import { main } from "./steps.mjs";

/**
 * The newest glibc version whose symbols a released binary may need. It is that of Debian 10, of RHEL 8 and of Node's
 * own builds.
 */
export const GLIBC_FLOOR = "2.28";

/**
 * The platforms. `name` is the name that the loader looks for. `target` is the argument of `build.mjs --target`: for
 * Linux, zig links, and a version at the end is the oldest supported glibc. `runner` is a machine of this platform, and
 * `image` is a container on it with the oldest supported C library.
 */
export const platforms = [
  {
    name: "linux-x64-gnu",
    os: "linux",
    cpu: "x64",
    libc: "glibc",
    target: `x86_64-unknown-linux-gnu.${GLIBC_FLOOR}`,
    runner: "ubuntu-24.04",
    image: "node:20-buster-slim",
  },
  {
    name: "linux-arm64-gnu",
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
    target: `aarch64-unknown-linux-gnu.${GLIBC_FLOOR}`,
    runner: "ubuntu-24.04-arm",
    image: "node:20-buster-slim",
  },
  {
    name: "linux-x64-musl",
    os: "linux",
    cpu: "x64",
    libc: "musl",
    target: "x86_64-unknown-linux-musl",
    runner: "ubuntu-24.04",
    image: "node:24-alpine",
  },
  {
    name: "linux-arm64-musl",
    os: "linux",
    cpu: "arm64",
    libc: "musl",
    target: "aarch64-unknown-linux-musl",
    runner: "ubuntu-24.04-arm",
    image: "node:24-alpine",
  },
  { name: "darwin-x64", os: "darwin", cpu: "x64", target: "x86_64-apple-darwin", runner: "macos-15-intel" },
  { name: "darwin-arm64", os: "darwin", cpu: "arm64", target: "aarch64-apple-darwin", runner: "macos-15" },
  { name: "win32-x64-msvc", os: "win32", cpu: "x64", target: "x86_64-pc-windows-msvc", runner: "windows-2025" },
  { name: "win32-arm64-msvc", os: "win32", cpu: "arm64", target: "aarch64-pc-windows-msvc", runner: "windows-11-arm" },
];

/** Returns the npm package of a platform's binary. The loader derives the same name. */
export const packageOf = (name) => `openclaw-concertina-${name}`;

/** Returns the file name of a platform's binary, in `native/` and in its package. */
export const binaryOf = (name) => `concertina.${name}.node`;

/** Returns the target in the form that rustc accepts: without the glibc version, which only zig understands. */
export const rustTarget = (target) => target.replace(/\.\d+\.\d+$/, "");

main(import.meta, async () => {
  console.log(JSON.stringify({ include: platforms.map((row) => ({ ...row, rust: rustTarget(row.target) })) }));
});
