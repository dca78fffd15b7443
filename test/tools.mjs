// Simulates a machine without compilers: everything in this machine's PATH except for those.
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import path from "node:path";

const COMPILER = /^(cargo|rust|c\+\+|cc|c89|c99|gcc|g\+\+|cpp|clang|ld|zig|make|.*-linux-gnu-)/;

/** Fills `dir` with links to every program except for compilers. @returns the PATH to use, with this Node first */
export function withoutCompilers(dir) {
  mkdirSync(dir, { recursive: true });
  const link = (name, target) => {
    try {
      symlinkSync(target, path.join(dir, name));
    } catch (error) {
      // The first program of a name in PATH wins.
      if (error.code !== "EEXIST") throw error;
    }
  };
  link("node", process.execPath);
  for (const from of process.env.PATH.split(path.delimiter)) {
    for (const name of programs(from)) if (!COMPILER.test(name)) link(name, path.join(from, name));
  }
  return dir;
}

function programs(dir) {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  }
}
