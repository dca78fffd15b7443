/** The command that estimates the effect of Concertina on recorded sessions. */
import { analyse, showAnalysis } from "../terminal/analysis.js";
import type { Prices } from "../library/api.js";
import { needAbsent } from "../formats/files.js";
import type { Options } from "../binding/options.js";
import { progressLine } from "../terminal/progress.js";
import { recordedSessions } from "../formats/session-file.js";
import {
  type Command,
  numberOf,
  objectOf,
  print,
  printJson,
  SWITCH,
  TEXT,
  textOf,
  UsageError,
  type Values,
} from "./command.js";

const MINUTE_MS = 60_000;

export const analyze: Command = {
  usage: "SESSION...",
  about: [
    "show the tokens of recorded sessions by content, and estimate the saving with the plugin",
    "--session ID|KEY, --all    the sessions of a database of OpenClaw (openclaw-agent.sqlite), or of OpenCode's database",
    "                     (opencode.db) or directory (storage), where the key is the title",
    "--options JSON       options of Concertina instead of the plugin's defaults",
    "--read R --write W --ttl MINUTES   prices instead of the published ones of the model, all three together:",
    "                     a token read from the cache and one written to it, relative to input; lifetime of the cache",
    "--html FILE          write a page to this new file",
    "--json",
  ],
  options: { session: TEXT, all: SWITCH, options: TEXT, read: TEXT, write: TEXT, ttl: TEXT, html: TEXT, json: SWITCH },
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(files, values) {
    const asked = textOf(values, "session");
    if (asked !== undefined && values.all) throw new UsageError("--session and --all exclude each other");
    const prices = pricesOf(values);
    const options = objectOf(values, "options") as Options;
    const html = textOf(values, "html");
    needAbsent(html);
    const sessions = [];
    const failed: string[] = [];
    for (const file of files) {
      try {
        const found = await recordedSessions(file, asked);
        if (found.length > 1 && !values.all)
          throw new UsageError(`${file} contains ${found.length} sessions; choose with --session or --all`);
        sessions.push(...found);
      } catch (error) {
        if (error instanceof UsageError || files.length === 1) throw error;
        failed.push((error as Error).message);
      }
    }
    const named = sessions.map((session) => ({
      name: session.name,
      read: async () => ({ ...(await session.read()), prices }),
    }));
    const analysis = await analyse(named, { options, progress: progressLine });
    failed.push(...analysis.failed.map(({ name, error }) => (error.includes(name) ? error : `${name}: ${error}`)));
    showAnalysis(analysis, html, { json: values.json ? printJson : undefined, words: (text) => print(`${text}\n`) });
    for (const line of failed) console.error(`openclaw-concertina: ${line}`);
    if (failed.length > 0 || analysis.proof?.equal === false) process.exitCode = 1;
  },
};

/**
 * Returns the stated prices, or undefined to use the published ones. @throws UsageError if only some are stated
 */
function pricesOf(values: Values): Prices | undefined {
  const names = ["read", "write", "ttl"];
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length === names.length) return undefined;
  const [cacheRead = 0, cacheWrite = 0, minutes = 0] = names.map((name) => numberOf(values, name, 0));
  if (missing.length > 0)
    throw new UsageError(
      `--read, --write and --ttl must be stated together: --${missing.join(" and --")} ${missing.length === 1 ? "is" : "are"} missing`,
    );
  return { input: 1, cacheRead, cacheWrite, cacheTtlMs: minutes * MINUTE_MS };
}
