// Runs the tests of ClawSqueezer 1.0 against our `squeeze` and `repairToolPairing`: `node test/clawsqueezer.mjs DIR`,
// where DIR is a checkout of github.com/cldy-com/ClawSqueezer. Nothing is written to it. Its tests of the host's engine
// are omitted, because our engine is a different one.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { install, main, root, run } from "../scripts/steps.mjs";

const library = pathToFileURL(path.join(root, "index.js")).href;

/** Their modules, implemented by ours. The published form of shrunk arguments is an option here. */
const MODULES = {
  "squeezer.ts": `import * as ours from ${JSON.stringify(library)};\nexport const squeeze = (messages, options) => ours.squeeze(messages, { compat: "clawsqueezer", ...options });\n`,
  "repair.ts": `export { repairToolPairing } from ${JSON.stringify(library)};\n`,
};

main(import.meta, async () => {
  const [from] = process.argv.slice(2);
  if (from === undefined) throw new Error("DIR is missing: node test/clawsqueezer.mjs DIR");
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-clawsqueezer-"));
  try {
    cpSync(path.join(from, "test"), path.join(dir, "test"), { recursive: true });
    cpSync(path.join(from, "src"), path.join(dir, "src"), { recursive: true });
    for (const [name, text] of Object.entries(MODULES)) writeFileSync(path.join(dir, "src", name), text);
    writeFileSync(path.join(dir, "package.json"), '{ "private": true, "type": "module" }');
    await install("install vitest", dir, "vitest@3");
    await run(
      "test as ClawSqueezer does",
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", "squeeze", "repair", "heartbeat-large", "sanity"],
      { cwd: dir },
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});
