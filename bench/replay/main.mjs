// Replays recorded sessions call by call and prints the bill: `npm run bench:replay -- DIR [options]`. Builds missing
// binaries first.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { build } from "../../scripts/build.mjs";
import { main, root } from "../../scripts/steps.mjs";

const HELP = `Usage: npm run bench:replay -- SESSIONS... [options]

SESSIONS are files or directories: JSONL of OpenClaw, Pi or Claude Code, or JSON arrays of messages, each also as .gz.

  --mode full|host|both    full: the engine assembles before every call; host: once for each user turn (default full)
  --policies A,B           never, references, squeeze, trim, server-clearing, host-pruning, every-turn, cache-aware (default all)
  --prices all|R/W,...     prices of cached reads and of writes, relative to input (default: those of the model)
  --ttl MINUTES            lifetime of the provider's cache (default: that of the model's provider)
  --cache any|provider     find any common prefix, which is what the optimum assumes (default), or bill by the cache of the model's provider
  --model NAME             the model that all sessions are replayed with; it decides prices, cache and how thinking is treated
                           (default claude-opus-4-6)
  --window TOKENS          the model's context window, for server clearing and host pruning (default 200000)
  --config JSON            options of Concertina
  --bare                   leave Concertina's fetch tool out of the bill; otherwise every request includes it
  --closed-loop            tell Concertina of every fetch that a call is charged with, so that it lengthens the limits of
                           that tool, as in use
  --words N                also count plain words of at least N letters as facts (default: none)
  --sessions N|GLOB        only the first N sessions, or those of matching names
  --jobs N                 processes at a time (default 1)
  --json FILE              write every figure, and the billed tokens by session and call
  --plot FILE.svg          draw the bill from call to call, summed over the sessions
  --tune JSON              for each family, choose options on all other families and measure them on this one, instead of the report. With
                           '{"staleCalls":[8,12],"keepPreviewChars":[60,200]}' every combination is replayed with cache-aware; a list of such
                           objects is tried one after the other. --plot then draws the bill against use recall and marks the levels of thrift
  --floor R                the minimum use recall of options that --tune chooses (default 0.955)

tokens per …     the mean size of what a fetch returns: of what a call is charged with, and of a range for an edit
bill             tokens at their prices, relative to never folding; sessions are summed, so long ones weigh more
with fetches     a call that needs a fact out of sight is charged with one more request and the answer, which is then read for twelve
                 calls: the lines around what it needs of a result, or all of the original of arguments. The charges are the misses
                 of copy recall, and facts out of sight that a call repeats from arguments of its own calls; other misses of use
                 recall, and those of edits, are counted but not charged
miss the last …  the calls that miss a fact in a result of the previous four calls
own arguments …  the facts out of sight that calls repeated from their own arguments
median, worst    the median and the highest of the sessions' bills with fetches; save < 5 %: the share of sessions with a bill above 0.95
copy recall      the share in sight of the facts (names, numbers, hashes, lines) that a call wrote first and only tool results contained
use recall       the share in sight, at every use, of all facts that a call wrote and an earlier result or the agent itself contained (its
                 arguments, words or thinking; a user's words alone do not count)
edits in sight   the share of edits with every line of their old text in the request, byte for byte, if the untouched history has that text
edit agreement   the same, or one fetch by an id in the request returns every missing line; the fetch is executed with the best id and
                 range, whether or not a placeholder states them
family           the sessions of one project or agent: the first two words of their names, or the directory if a name is only an id

server-clearing: above max(50,000, 30 % of the window) tokens, the provider clears all results but the last 3, if that frees at least
max(12,500, 5 % of the window). It knows no earlier request, so the next result clears one more. host-pruning: in the first request after
an idle hour and above 30 % of the window, results of more than 4,000 characters before the third-last answer keep their first and last
1,500; above 50 % they are cleared, the oldest first; what was cut stays cut. Both work on every request, also in mode host.

The optimum is the lowest bill of the folds that cache-aware may make. It is computed in mode full if cache-aware is among the policies.`;

const text = { type: "string" };
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { ...text, default: "full" },
    policies: text,
    prices: text,
    ttl: text,
    cache: { ...text, default: "any" },
    config: { ...text, default: "{}" },
    sessions: text,
    jobs: { ...text, default: "1" },
    json: text,
    plot: text,
    words: text,
    model: { ...text, default: "claude-opus-4-6" },
    window: { ...text, default: "200000" },
    tune: text,
    floor: { ...text, default: "0.955" },
    bare: { type: "boolean" },
    "closed-loop": { type: "boolean" },
    help: { type: "boolean", short: "h" },
  },
});

function positive(name, value) {
  if (!(Number(value) > 0)) throw new Error(`--${name} is ${JSON.stringify(value)}; it must be a number above 0`);
  return Number(value);
}

function oneOf(name, value, allowed) {
  if (!allowed.includes(value))
    throw new Error(`--${name} is ${JSON.stringify(value)}; it must be one of ${allowed.join(", ")}`);
  return value;
}

function jsonOf(name) {
  try {
    return JSON.parse(values[name]);
  } catch (cause) {
    throw new Error(`--${name} is not JSON: ${cause.message}`, { cause });
  }
}

/**
 * Returns the sessions to replay. A named file must be a session; other files of a directory are skipped with a
 * message.
 */
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

main(import.meta, async () => {
  if (values.help) return console.log(HELP);
  const native = path.join(root, "native");
  const built =
    existsSync(path.join(root, "dist", "node", "lib", "index.js")) &&
    existsSync(native) &&
    readdirSync(native).length > 0;
  if (!built) await build();
  const { PRICES, parsePrice, pricesOf } = await import("./billing.mjs");
  const { POLICIES } = await import("./policies.mjs");
  if (positionals.length === 0) throw new Error(`sessions are missing\n${HELP}`);

  const mode = oneOf("mode", values.mode, ["full", "host", "both"]);
  const policies = (values.policies?.split(",") ?? Object.keys(POLICIES)).map((name) =>
    oneOf("policies", name, Object.keys(POLICIES)),
  );
  const own = pricesOf(values.model);
  const prices = values.prices ?? `${own.read}/${own.write}`;
  const options = {
    modes: mode === "both" ? ["full", "host"] : [mode],
    // Bills are relative to the policy that changes nothing.
    policies: [...new Set(["never", ...policies])],
    prices: prices === "all" ? PRICES : prices.split(",").map((price) => parsePrice(price).name),
    ttlMs: values.ttl === undefined ? own.cacheTtlMs : positive("ttl", values.ttl) * 60_000,
    cache: oneOf("cache", values.cache, ["any", "provider"]),
    usd: own.usd,
    config: jsonOf("config"),
    plain: values.words === undefined ? undefined : positive("words", values.words),
    bare: values.bare ?? false,
    closedLoop: values["closed-loop"] ?? false,
    model: values.model,
    window: positive("window", values.window),
    optimum: true,
  };
  const files = await choose(positionals);
  const jobs = Math.floor(positive("jobs", values.jobs));
  if (values.tune !== undefined) {
    const { tune } = await import("./tune.mjs");
    const tuned = await tune(files, options, { grid: jsonOf("tune"), floor: positive("floor", values.floor), jobs });
    console.log(tuned.text);
    if (values.json) writeFileSync(values.json, JSON.stringify({ options, figures: tuned.figures }));
    if (values.plot) {
      const { plotFrontier } = await import("../plot/plot.mjs");
      writeFileSync(values.plot, await plotFrontier(tuned.figures));
    }
    return;
  }
  const { replayAll } = await import("./jobs.mjs");
  const { report } = await import("./report.mjs");
  const replays = await replayAll(files, options, jobs);
  const outcome = report(replays, options);
  console.log(outcome.text);
  if (values.json) writeFileSync(values.json, JSON.stringify({ options, figures: outcome.figures, sessions: replays }));
  if (values.plot) {
    const { plot } = await import("../plot/plot.mjs");
    writeFileSync(values.plot, await plot(replays, options));
  }
});
