// Prints the size of the addon, the duration of the first call of each function in a new process, and the memory used
// by then. Usage: node bench/start.mjs
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { root } from "../scripts/steps.mjs";
import { median } from "./median.mjs";

const ROUNDS = 5;
const text = "In order to build it, please run `make all`.\n";
const messages = [{ role: "user", content: "hello" }];

/** Small calls of each function, by name. */
const CALLS = {
  nothing: () => undefined,
  repairToolPairing: (library) => library.repairToolPairing(messages),
  detect: (library) => library.detect(text),
  summarize: (library) => library.summarize(text),
  tokenize: (library) => library.tokenize(text),
  redactPrivate: (library) => library.redactPrivate(text),
  squeeze: (library) => library.squeeze(messages),
  countTokens: (library) => library.countTokens(text),
  "countTokens cl100k": (library) => library.countTokens(text, { encoding: "cl100k_base" }),
  compressProse: (library) => library.compressProse(text),
  compressRules: (library) => library.compressRules([{ name: "AGENTS.md", text }]),
  compress: (library) => library.compress(text.repeat(50)),
  "compress C#": (library) =>
    library.compress(readFileSync(path.join(root, "fixtures", "code", "csharp", "Notes.cs"), "utf8"), {
      hints: { path: "Notes.cs" },
    }),
};

/** Imports the library, makes one call, and prints milliseconds and megabytes as JSON. */
async function once(name) {
  const [bare, start] = [process.memoryUsage.rss(), performance.now()];
  const library = await import("openclaw-concertina");
  const imported = performance.now();
  const before = process.cpuUsage();
  await CALLS[name](library);
  const [ended, used] = [performance.now(), process.cpuUsage(before)];
  const figures = {
    import: imported - start,
    call: ended - imported,
    cpu: (used.user + used.system) / 1000,
    memory: (process.memoryUsage.rss() - bare) / 1e6,
  };
  console.log(JSON.stringify(figures));
}

function measure(name) {
  const runs = Array.from({ length: ROUNDS }, () =>
    JSON.parse(execFileSync(process.execPath, [import.meta.filename, name], { encoding: "utf8" })),
  );
  const of = (key, digits = 1) => median(runs.map((run) => run[key])).toFixed(digits);
  return [name, of("import"), of("call"), of("cpu"), of("memory")];
}

if (process.argv[2]) {
  await once(process.argv[2]);
} else {
  const { table } = createRequire(import.meta.url)("../dist/node/lib/terminal/table.js");
  const native = path.join(root, "native");
  for (const file of readdirSync(native).filter((name) => name.endsWith(".node"))) {
    const bytes = readFileSync(path.join(native, file));
    const megabytes = (length) => `${(length / 1e6).toFixed(1)} MB`;
    console.log(
      `${file}: ${megabytes(bytes.length)}, ${megabytes(gzipSync(bytes, { level: 9 }).length)} as downloaded\n`,
    );
  }
  console.log(
    table(
      ["first call", "import, ms", "call, ms", "of which CPU", "MB over bare Node"],
      Object.keys(CALLS).map(measure),
    ),
  );
}
