// Checks the interval of the hold-out on simulated users, as `node bench/holdout.mjs fixtures/sessions/*`, with
// --share S, --users N and --runs N. Each recorded session is replayed once folded and once untouched. A run draws
// sessions at random, decides the group of each by the hash of a new id, and compares the groups as the figures do. The
// output states in how many runs the interval holds the true saving, which is that of all recorded sessions.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

const require = createRequire(import.meta.url);
const { Concertina } = require("../dist/node/lib/index.js");
const { randomFrom } = require("../dist/node/lib/library/bootstrap.js");
const { recordedSessions } = require("../dist/node/lib/formats/session-file.js");
const { comparisonOf, isHeldOut } = require("../dist/node/lib/library/holdout.js");
const { HOST_DEFAULTS } = require("../dist/node/lib/library/host-defaults.js");
const { replay } = require("../dist/node/lib/terminal/replay.js");

const text = { type: "string" };
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { share: text, users: text, runs: text },
});
const [share, users, runs] = [values.share ?? 0.25, values.users ?? 400, values.runs ?? 200].map(Number);

/** Replays a session in both ways. Returns its sums as the store compares them. */
async function outcomesOf(store, { name, messages }) {
  const both = [];
  for (const heldOut of [false, true]) {
    const sessionId = `${heldOut ? "untouched" : "folded"} ${name}`;
    await replay(store, messages, { sessionId, heldOut });
    const [{ total }, { turns }] = [await store.figures({ sessionId }), await store.stats({ sessionId })];
    both.push({ ...total, isHeldOut: heldOut, turns, failures: 0 });
  }
  return both;
}

const dir = mkdtempSync(path.join(tmpdir(), "concertina-holdout-"));
const sessions = [];
const store = await Concertina.open({ ...HOST_DEFAULTS, dir });
try {
  for (const file of positionals)
    for (const recorded of await recordedSessions(file)) {
      const { messages } = await recorded.read();
      sessions.push(await outcomesOf(store, { name: `${recorded.name} ${sessions.length}`, messages }));
    }
} finally {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
}

const sum = (index, of) => sessions.reduce((total, both) => total + of(both[index]), 0);
const cost = (index, of) => sum(index, ({ sentBill }) => sentBill) / sum(index, of);
const truth = {
  perTurn: 1 - cost(0, ({ turns }) => turns) / cost(1, ({ turns }) => turns),
  perSession: 1 - cost(0, () => 1) / cost(1, () => 1),
};
const modelled = 1 - sum(0, ({ sentBill }) => sentBill) / sum(0, ({ withoutBill }) => withoutBill);
const percent = (part) => `${(100 * part).toFixed(1)} %`;
console.log(`${sessions.length} recorded sessions: ${percent(truth.perTurn)} saved, ${percent(modelled)} as modelled`);

const random = randomFrom(1);
const held = { perTurn: 0, perSession: 0 };
const widths = { perTurn: [], perSession: [] };
let compared = 0;
for (let run = 0; run < runs; run++) {
  const drawn = Array.from({ length: users }, (_, user) => {
    const both = sessions[Math.floor(random() * sessions.length)];
    return both[isHeldOut(`run ${run} user ${user}`, share) ? 1 : 0];
  });
  const comparison = comparisonOf(drawn);
  if (comparison?.perTurn == null) continue;
  compared++;
  for (const per of ["perTurn", "perSession"]) {
    const { least, most } = comparison[per];
    if (least <= truth[per] && truth[per] <= most) held[per]++;
    widths[per].push(most - least);
  }
}
console.log(`${runs} runs of ${users} sessions, ${percent(share)} untouched: ${compared} have enough sessions`);
for (const per of ["perTurn", "perSession"]) {
  const width = widths[per].toSorted((a, b) => a - b)[widths[per].length >> 1] ?? Number.NaN;
  const points = (100 * width).toFixed(0);
  console.log(
    `${per}: the interval holds the true saving in ${percent(held[per] / compared)} of them; ${points} points wide`,
  );
}
