// Measures what searching adds to a store: folds recorded sessions, searches all of them once, and prints by how much
// the store's file grew. `node bench/search-size.mjs SESSIONS...`.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { Concertina } from "../index.js";
import { main } from "../scripts/steps.mjs";
import { find, load } from "./replay/sessions.mjs";

const { bytes, number, percent } = createRequire(import.meta.url)("../dist/node/lib/terminal/table.js");

/** User turns after the end of a session, so that its last results are stale, too. */
const LATER = Array.from({ length: 6 }, (_, at) => ({ role: "user", content: `and ${at}?` }));

main(import.meta, async () => {
  const inputs = process.argv.slice(2);
  if (inputs.length === 0) throw new Error("usage: node bench/search-size.mjs SESSIONS...");
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-search-"));
  try {
    const folding = await Concertina.open({ dir, schedule: "every-turn" });
    for (const { file } of find(inputs))
      await folding.assemble({ sessionId: file, messages: [...load(file).messages, ...LATER] });
    const { store } = await folding.figures();
    await folding.close();
    const before = statSync(store.path).size;
    const searching = await Concertina.open({ dir });
    await searching.search({ query: "a word that no text contains" });
    await searching.close();
    const grown = statSync(store.path).size - before;
    const text = `${number(store.originals)} originals of ${bytes(store.originalBytes / store.originals)} in the mean`;
    console.log(
      `${text}: the search added ${bytes(grown)}, ${percent(grown / store.originalBytes)} of the text and ${percent(grown / before)} of the file`,
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
