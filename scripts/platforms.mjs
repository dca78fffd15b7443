// Every platform that a release has a binary for: the one table behind the packages, the builds and the release
// workflow. As a program it prints the workflow's build matrix.
import { main } from "./steps.mjs";

/**
 * The newest glibc whose symbols a released binary may need: that of Debian 10 and RHEL 8, and of Node's own builds.
 */
export const GLIBC_FLOOR = "2.28";

/**
 * `name` is what the loader asks for. `target` is what `build.mjs --target` takes; for Linux zig links, and a version
 * behind the target is the oldest glibc. `runner` is a machine of this kind, and `image` a container on it that has the
 * oldest C library.
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

/** The npm package that holds a platform's binary; the loader builds the same name. */
export const packageOf = (name) => `openclaw-concertina-${name}`;

/** The binary's file name, in `native/` and in its package. */
export const binaryOf = (name) => `concertina.${name}.node`;

/** A target as rustc knows it: without the glibc version that zig understands. */
export const rustTarget = (target) => target.replace(/\.\d+\.\d+$/, "");

main(import.meta, async () => {
  console.log(JSON.stringify({ include: platforms.map((row) => ({ ...row, rust: rustTarget(row.target) })) }));
});
