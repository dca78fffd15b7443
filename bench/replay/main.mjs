// Replays recorded sessions call by call and prints the bill: `npm run bench:replay -- DIR [options]`. Builds what is not built.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { build } from "../../scripts/build.mjs";
import { main, root } from "../../scripts/steps.mjs";

const HELP = `Usage: npm run bench:replay -- SESSIONS... [options]

SESSIONS are files or directories: JSONL of OpenClaw, Pi or Claude Code, or JSON arrays of messages; .gz of any.

  --mode full|host|both    full: the engine assembles before every call; host: once for each user turn (default full)
  --policies A,B           never, references, squeeze, trim, every-turn, cache-aware (default all)
  --prices all|R/W,...     prices of cached reads and of writes, relative to input (default 0.1/1.25)
  --ttl MINUTES            life of the provider's cache (default 5)
  --config JSON            options of Concertina
  --bare                   leave Concertina's guidance and tool out of the bill, as they are for the other engines
  --words N                count plain words from N letters on as copied from a tool output, too (default: none)
  --sessions N|GLOB        only the first N sessions, or those of matching names
  --jobs N                 processes at a time (default 1)
  --json FILE              every figure, and per session and call the tokens billed
  --plot FILE.svg          the bill as it grows from call to call, summed over the sessions

The optimum, the least bill of the folds that cache-aware may do, is found in mode full where cache-aware is among the policies.`;

const text = { type: "string" };
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { ...text, default: "full" }, policies: text, prices: { ...text, default: "0.1/1.25" }, ttl: { ...text, default: "5" },
    config: { ...text, default: "{}" }, sessions: text, jobs: { ...text, default: "1" }, json: text, plot: text, words: text, bare: { type: "boolean" }, help: { type: "boolean", short: "h" },
  },
});

function positive(name, value) {
  if (!(Number(value) > 0)) throw new Error(`--${name} is ${JSON.stringify(value)}; it must be a number above 0`);
  return Number(value);
}

function oneOf(name, value, allowed) {
  if (!allowed.includes(value)) throw new Error(`--${name} is ${JSON.stringify(value)}; it must be one of ${allowed.join(", ")}`);
  return value;
}

function configOf(given) {
  try {
    return JSON.parse(given);
  } catch (cause) {
    throw new Error(`--config is not JSON: ${cause.message}`, { cause });
  }
}

/** The sessions to replay. A file that was named must be one; of a directory, what is none is left out and said. */
async function choose(inputs) {
  const { find, load, select } = await import("./sessions.mjs");
  const files = [];
  const found = select(find(inputs), values.sessions);
  console.error(`▸ read ${found.length} files`);
  for (const { file, named } of found) {
    try {
      load(file);
      files.push(file);
    } catch (error) {
      if (named) throw error;
      console.error(`left out: ${error.message}`);
    }
  }
  if (files.length === 0) throw new Error("no session is left to replay");
  return files;
}

/** Whether this build's Concertina knows a schedule. */
async function knows(schedule) {
  const { Concertina } = await import("openclaw-concertina");
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-replay-"));
  try {
    await (await Concertina.open({ ...configOf(values.config), schedule, dir })).close();
    return true;
  } catch (error) {
    if (error.message.startsWith("schedule is")) return false;
    throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

main(async () => {
  if (values.help) return console.log(HELP);
  const native = path.join(root, "native");
  const built = existsSync(path.join(root, "dist", "node", "lib", "index.js")) && existsSync(native) && readdirSync(native).length > 0;
  if (!built) await build();
  const { PRICES, parsePrice } = await import("./billing.mjs");
  const { POLICIES } = await import("./policies.mjs");
  if (positionals.length === 0) throw new Error(`sessions are missing\n${HELP}`);

  const mode = oneOf("mode", values.mode, ["full", "host", "both"]);
  let policies = (values.policies?.split(",") ?? Object.keys(POLICIES)).map((name) => oneOf("policies", name, Object.keys(POLICIES)));
  if (policies.includes("cache-aware") && !(await knows("cache-aware"))) {
    if (values.policies) throw new Error('this build of Concertina has no schedule "cache-aware"');
    policies = policies.filter((name) => name !== "cache-aware");
    console.error('left out: the policy cache-aware; this build of Concertina has no such schedule');
  }
  const options = {
    modes: mode === "both" ? ["full", "host"] : [mode],
    // Bills are relative to never touching anything.
    policies: [...new Set(["never", ...policies])],
    prices: values.prices === "all" ? PRICES : values.prices.split(",").map((price) => parsePrice(price).name),
    ttlMs: positive("ttl", values.ttl) * 60_000,
    config: configOf(values.config),
    plain: values.words === undefined ? undefined : positive("words", values.words),
    bare: values.bare ?? false,
  };
  const files = await choose(positionals);
  const { replayAll } = await import("./jobs.mjs");
  const { report } = await import("./report.mjs");
  const replays = await replayAll(files, options, Math.floor(positive("jobs", values.jobs)));
  const outcome = report(replays, options);
  console.log(outcome.text);
  if (values.json) writeFileSync(values.json, JSON.stringify({ options, figures: outcome.figures, sessions: replays }));
  if (values.plot) {
    const { plot } = await import("../plot/plot.mjs");
    writeFileSync(values.plot, await plot(replays, options));
  }
});
