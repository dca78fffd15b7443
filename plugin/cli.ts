/**
 * `openclaw concertina ...`: figures, sweep, purge, fetch and unfold, in a process of its own beside the gateway.
 *
 * Figures and originals go to standard output, failures to standard error with exit status 1.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";

import { agentOf, type Concertina, type ContentBlock } from "../node/lib/index.js";
import { removedTable, statsTable } from "./commands.js";
import type { PluginApi } from "./host.js";
import type { HostSession } from "./host-sessions.js";
import type { PluginState } from "./state.js";
import { unfoldSessions } from "./unfold.js";

const DESCRIPTION = "Context savings, and the originals of what was folded";

interface FetchOptions {
  agent?: string;
  lines?: string;
  pattern?: string;
  maxChars?: string;
  json?: boolean;
}

interface UnfoldOptions {
  session?: string;
  agent?: string;
  out?: string;
}

/** Registers the commands; nothing is opened before one of them runs. */
export function registerCli(api: PluginApi, state: PluginState): void {
  const descriptors = [{ name: "concertina", description: DESCRIPTION, hasSubcommands: true }];
  api.registerCli(({ program }) => {
    const root = program.command("concertina").description(DESCRIPTION);
    root
      .command("stats")
      .description("What was folded and saved")
      .option("--session <id>", "Only this session")
      .option("--json", "Print JSON")
      .action((options: { session?: string; json?: boolean }) =>
        withStore(state, async (store) => {
          const stats = await store.stats({ sessionId: options.session });
          print(options.json ? json(stats) : statsTable(stats));
        }),
      );
    root
      .command("sweep")
      .description("Remove expired originals now")
      .option("--json", "Print JSON")
      .action((options: { json?: boolean }) =>
        withStore(state, async (store) => {
          await state.settle(store);
          const removed = await store.sweep({});
          print(options.json ? json(removed) : removedTable(removed));
        }),
      );
    root
      .command("purge")
      .description("Forget a session: its originals, its figures and how its context is shown")
      .requiredOption("--session <id>", "The session")
      .option("--yes", "Do not ask")
      .option("--json", "Print JSON")
      .action((options: { session: string; yes?: boolean; json?: boolean }) =>
        withStore(state, async (store) => {
          if (!options.yes && !(await isAgreed(state, store, options.session))) return;
          const removed = await store.purge({ sessionId: options.session });
          print(options.json ? json(removed) : removedTable(removed));
        }),
      );
    root
      .command("fetch <refs...>")
      .description("Print originals by their ids or markers")
      .option("--agent <id>", "The agent whose sessions they belong to (default: main)")
      .option("--lines <range>", 'Only these lines, for example "120-180"')
      .option("--pattern <regex>", "Only lines that match, with numbers and context")
      .option("--max-chars <count>", "Largest answer in characters")
      .option("--json", "Print JSON")
      .action((refs: string[], options: FetchOptions) =>
        withStore(state, async (store) => {
          const { content, found } = await store.fetch({
            refIds: refs,
            agentId: options.agent ?? agentOf(undefined),
            lines: options.lines,
            pattern: options.pattern,
            maxChars: options.maxChars === undefined ? undefined : Number(options.maxChars),
          });
          const text = options.json ? json(content) : content.map(asText).join("\n");
          if (found === 0) throw new Error(text);
          print(text);
        }),
      );
    root
      .command("unfold")
      .description("Write copies of transcripts with the originals in place of placeholders; to be run before uninstalling")
      .option("--session <id-or-key>", "Only this session")
      .option("--agent <id>", "Only sessions of this agent")
      .option("--out <dir>", "Where to (default: concertina-unfolded-DATE in the current directory)")
      .action((options: UnfoldOptions) => withStore(state, (store) => unfold(state, store, options)));
  }, { descriptors });
}

async function unfold(state: PluginState, store: Concertina, options: UnfoldOptions): Promise<void> {
  const sessions = (await state.hostSessions()).filter((session) => isAsked(session, options));
  if (sessions.length === 0) throw new Error(`the host has no session ${[options.session, options.agent && `of agent ${options.agent}`].filter(Boolean).join(" ")}`);
  const directory = options.out === undefined ? freeDirectory() : resolve(options.out);
  const { transcripts, originals, missing } = await unfoldSessions(store, sessions, directory);
  if (transcripts.length === 0) print(`Nothing is folded in ${sessions.length} sessions; nothing was written.`);
  else print([`${transcripts.length} transcripts and ${originals.length} originals that they name, in ${directory}:`, ...transcripts].join("\n"));
  for (const { refId, session } of missing) {
    process.stderr.write(`concertina: ${refId} cannot be had; session ${session.sessionId} (${session.sessionKey}) names it\n`);
  }
  if (missing.length > 0) process.exitCode = 1;
}

function isAsked({ agentId, sessionId, sessionKey }: HostSession, { session, agent }: UnfoldOptions): boolean {
  return (session === undefined || session === sessionId || session === sessionKey) && (agent === undefined || agent === agentId);
}

function freeDirectory(): string {
  const wanted = resolve(`concertina-unfolded-${new Date().toISOString().slice(0, 10)}`);
  let directory = wanted;
  for (let at = 2; existsSync(directory); at++) directory = `${wanted}-${at}`;
  return directory;
}

/** Says what a purge would strand, and asks. @throws when there is nobody to ask. */
async function isAgreed(state: PluginState, store: Concertina, sessionId: string): Promise<boolean> {
  const { originals } = await store.purge({ sessionId, dry: true });
  const isThere = (await state.hostSessions()).some((session) => session.sessionId === sessionId);
  const strands = isThere
    ? `The host still has its transcript, which shows their placeholders; "openclaw concertina unfold --session ${sessionId}" writes it with the originals in place.`
    : "The host no longer has its transcript.";
  const warning = `Purging session ${sessionId} removes ${originals} originals for good. ${strands}`;
  if (!process.stdin.isTTY) throw new Error(`${warning} Nothing was purged: there is no terminal to ask at; --yes purges without asking`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${warning}\nPurge it? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function withStore(state: PluginState, run: (store: Concertina) => Promise<void>): Promise<void> {
  let store: Concertina | undefined;
  try {
    store = await state.open();
    await run(store);
  } catch (error) {
    process.stderr.write(`concertina: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    for (const notice of store?.notices() ?? []) process.stderr.write(`concertina: ${notice}\n`);
    await store?.close();
  }
}

function asText(block: ContentBlock): string {
  return block.type === "text" ? block.text : `[image ${block.mimeType}; use --json for its data]`;
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}
