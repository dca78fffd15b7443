#!/usr/bin/env node
/**
 * The command line, for use without OpenClaw. Exit status: 0 success, 1 failure or partial failure, 2 wrong usage; of
 * `doctor` also 3, for warnings.
 */
import { parseArgs } from "node:util";

import { withoutLogins } from "./binding/shown-place.js";
import { analyze } from "./cli/analyze.js";
import { type Command, print, type Values, UsageError } from "./cli/command.js";
import { doctor } from "./cli/doctor.js";
import { proxy, run } from "./cli/proxy.js";
import { fetch, migrate, purge, search, stats, sweep, unfold } from "./cli/stores.js";
import { compress, restore, squeeze } from "./cli/texts.js";
import { version } from "./terminal/version.js";

const COMMANDS: Record<string, Command> = {
  analyze,
  doctor,
  compress,
  restore,
  squeeze,
  fetch,
  search,
  stats,
  unfold,
  sweep,
  purge,
  migrate,
  proxy,
  run,
};

const HELP = `Usage: openclaw-concertina <command> [options]

${Object.entries(COMMANDS)
  .map(([name, command]) => helpOf(name, command))
  .join("\n")}

  --help, --version

fetch, search, stats, unfold, sweep, purge and doctor use the store in --dir DIR, or in the PostgreSQL database
--url postgresql://... (--namespace NAME). env:NAME reads the place from an environment variable, so that no password
shows in a list of processes.
SESSION is JSONL of OpenClaw, Pi or Claude Code, or a JSON array of messages or of items of the Responses API, each also as .gz.
For analyze it can also be a session file of Codex, Copilot or Gemini, the output of opencode export, OpenCode's database or storage,
or an agent's database of OpenClaw.
- stands for standard input.`;

function helpOf(name: string, { usage, about: [what, ...options] }: Command): string {
  const head = `  ${name} ${usage}`.trimEnd();
  const first = head.length < 22 ? `${head.padEnd(23)}${what}` : `${head}\n${" ".repeat(23)}${what}`;
  return [first, ...options.map((line) => `      ${line}`)].join("\n");
}

/** Returns the help of one command, or of all. */
function helpAbout(name = ""): string {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command === undefined ? HELP : helpOf(name, command);
}

async function main(args: string[]): Promise<void> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || name === "help")
    return print(`${helpAbout(rest[0])}\n`);
  if (name === "--version" || name === "-v") return print(`${version()}\n`);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new UsageError(
      `unknown command ${JSON.stringify(name)}; the commands are ${Object.keys(COMMANDS).join(", ")}`,
    );
  const { positionals, values } = parse(command, rest);
  if (values.help) return print(`${helpOf(name, command)}\n`);
  const { least, most } = command.takes;
  if (positionals.length < least) throw new UsageError(`${name} ${command.usage}: an argument is missing`);
  if (positionals.length > most)
    throw new UsageError(
      `${name} takes ${most === 0 ? "no argument" : `${most} argument${most > 1 ? "s" : ""}`}; ${JSON.stringify(positionals[most])} is one too many`,
    );
  await command.run(positionals, values as Values);
}

function parse(command: Command, args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { ...command.options, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

// A reader may close the pipe early, as `head` does; that is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  console.error(`openclaw-concertina: standard output cannot be written: ${error.message}`);
  process.exit(1);
});

main(process.argv.slice(2)).catch((error: Error & { code?: string }) => {
  console.error(`openclaw-concertina: ${withoutLogins(error.message)}`);
  const isMisuse = error instanceof UsageError || error.code === "CONCERTINA_BAD_ARGUMENT";
  if (isMisuse) console.error("Run openclaw-concertina --help for the usage.");
  process.exitCode = isMisuse ? 2 : 1;
});
