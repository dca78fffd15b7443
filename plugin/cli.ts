/**
 * The `openclaw concertina ...` commands, from `status` to `migrate`. They run in a process of their own beside the
 * gateway.
 *
 * Figures and originals go to standard output. Failures go to standard error, with exit status 1.
 */

import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";

import {
  agentOf,
  analyse,
  charsOf,
  type Concertina,
  type ContentBlock,
  counted,
  damagedLine,
  doctorStatus,
  doctorText,
  figuresText,
  migrate,
  migrationLine,
  migrationText,
  needAbsent,
  originalsOf,
  periodsOf,
  print as printWhole,
  progressLine,
  queryOf,
  readTranscript,
  removedText,
  searchText,
  sessionsNamed,
  type SessionToAnalyse,
  showAnalysis,
  statusText,
  withClock,
  writeReport,
} from "../node/lib/for-plugin.js";
import type { PluginApi } from "./host.js";
import { type HostSession, transcriptOf } from "./host-sessions.js";
import { foundSessions } from "./known-sessions.js";
import { pricesOf } from "./prices.js";
import { purge, type PurgeOptions } from "./purge.js";
import { type PluginState, today } from "./state.js";
import { statusOf } from "./status.js";
import { unfoldSessions } from "./unfold.js";

const DESCRIPTION = "Show context savings, and fetch the originals of folded content";

interface FetchOptions {
  agent?: string;
  lines?: string;
  pattern?: string;
  query?: string;
  maxChars?: string;
  json?: boolean;
}

interface SearchOptions {
  session?: string;
  agent?: string;
  maxChars?: string;
  json?: boolean;
}

interface AnalyzeOptions {
  session?: string;
  all?: boolean;
  html?: string;
  json?: boolean;
}

interface UnfoldOptions {
  session?: string;
  agent?: string;
  out?: string;
}

/** Registers the commands. Nothing is opened before one of them runs. */
export function registerCli(api: PluginApi, state: PluginState): void {
  const descriptors = [{ name: "concertina", description: DESCRIPTION, hasSubcommands: true }];
  api.registerCli(
    ({ program }) => {
      const root = program.command("concertina").description(DESCRIPTION);
      // Without a command it prints the help. An unknown command is an error.
      root.allowExcessArguments(false).action(() => root.outputHelp());
      root
        .command("status")
        .description("Show whether it is active, with the reason if not, and current problems")
        .option("--json", "Print JSON")
        .action((options: { json?: boolean }) => orFail(() => status(state, options)));
      root
        .command("doctor")
        .description(
          "Check the engine, its turns, versions, models, the store and a fold, with the remedy of each problem",
        )
        .option("--json", "Print JSON")
        .action((options: { json?: boolean }) => orFail(() => doctor(state, options)));
      root
        .command("stats")
        .description("Show the tokens and the bill of requests, with an estimate without Concertina")
        .option("--session <id-or-key>", "Only this session")
        .option("--agent <id>", "The agent of the session, if several have one with that name")
        .option("--html <file>", "Write a page to this new file")
        .option("--json", "Print JSON")
        .action((options: { session?: string; agent?: string; html?: string; json?: boolean }) =>
          withStore(state, async (store) => {
            needAbsent(options.html);
            await withClock("reading the store", store.check());
            const [found] =
              options.session === undefined ? [] : await foundSessions(state, store, options.session, options.agent);
            const scope = found && { sessionId: found.sessionId, agentId: found.agentId };
            const periods =
              options.html === undefined
                ? []
                : await withClock(
                    "adding up",
                    periodsOf((range) => store.figures({ ...range, ...scope })),
                  );
            const figures =
              periods.find(({ days }) => days === 0)?.figures ??
              (await withClock("adding up", store.figures({ ...scope })));
            if (options.html !== undefined)
              writeReport(options.html, { periods, health: await statusOf(state), title: options.session });
            if (options.json || options.html === undefined)
              print(options.json ? json(figures) : figuresText(figures, state.observes));
          }),
        );
      root
        .command("analyze")
        .description("Estimate the savings in the host's sessions, with the plugin's options")
        .option("--session <id-or-key>", "Only this session")
        .option("--all", "All sessions")
        .option("--html <file>", "Write a page to this new file")
        .option("--json", "Print JSON")
        .action((options: AnalyzeOptions) => withAnyStore(state.folding, (store) => analyze(state, store, options)));
      root
        .command("sweep")
        .description("Remove expired originals now")
        .option("--json", "Print JSON")
        .action((options: { json?: boolean }) =>
          withStore(state.folding, async (store) => {
            await withClock("reading the store", store.check());
            await state.settle(store);
            const removed = await store.sweep({});
            print(options.json ? json(removed) : removedText(removed));
          }),
        );
      root
        .command("purge")
        .description("Forget a session: its originals, its figures and how its context is shown")
        .requiredOption("--session <id-or-key>", "The session")
        .option("--agent <id>", "The agent of the session, if several have one with that name")
        .option("--elsewhere", "Also if another gateway of the store has it")
        .option("--yes", "Do not ask")
        .option("--json", "Print JSON")
        .action((options: PurgeOptions) =>
          withStore(state.folding, async (store) => {
            const removed = await purge(state.folding, store, options);
            if (removed !== undefined) print(options.json ? json(removed) : removedText(removed));
          }),
        );
      root
        .command("fetch <refs...>")
        .description("Print originals by their ids or markers")
        .option("--agent <id>", "The agent whose sessions they belong to (default: main)")
        .option("--lines <range>", 'Only these lines, for example "120-180"')
        .option("--pattern <regex>", "Only matching lines, with numbers and context")
        .option("--query <words>", "Only the lines with most of these words, with numbers and context")
        .option("--max-chars <count>", "At most this many characters")
        .option("--json", "Print JSON")
        .action((refs: string[], options: FetchOptions) =>
          withStore(state.folding, async (store) => {
            const { blocks, missing } = await originalsOf(store, {
              refIds: refs,
              agentId: options.agent ?? agentOf(undefined),
              lines: options.lines,
              pattern: options.pattern,
              query: options.query,
              maxChars: charsOf(options.maxChars),
            });
            if (missing.length > 0) process.exitCode = 1;
            for (const line of missing) complain(line);
            if (options.json) print(json(blocks));
            else printOriginals(blocks);
          }),
        );
      root
        .command("search <words...>")
        .description("Print the lines of originals that have all words, in any case")
        .option("--session <id-or-key>", "Only this session")
        .option("--agent <id>", "The agent of the session, if several have one with that name")
        .option("--max-chars <count>", "At most this many characters of lines (default: 6000)")
        .option("--json", "Print JSON")
        .action((words: string[], options: SearchOptions) =>
          withStore(state, async (store) => {
            const { session, agent } = options;
            const [named] = session === undefined ? [] : await foundSessions(state, store, session, agent);
            const scope = named && { sessionId: named.sessionId, agentId: named.agentId };
            const maxChars = charsOf(options.maxChars);
            const found = await withClock("searching", store.search({ query: queryOf(words), ...scope, maxChars }));
            if (found.matching === 0) process.exitCode = 1;
            print(options.json ? json(found) : searchText(found));
          }),
        );
      root
        .command("unfold")
        .description(
          "Write copies of transcripts with the originals in place of placeholders; run it before uninstalling",
        )
        .option("--session <id-or-key>", "Only this session")
        .option("--agent <id>", "Only sessions of this agent")
        .option("--out <dir>", "The directory to write to (default: concertina-unfolded-DATE in the current directory)")
        .action((options: UnfoldOptions) => withStore(state.folding, (store) => unfold(state.folding, store, options)));
      root
        .command("migrate")
        .description("Copy all originals between the directory and the database of sccsStoreUrl, while no gateway runs")
        .requiredOption("--to <where>", 'The target, "database" or "directory", which must be empty')
        .option("--json", "Print JSON")
        .action((options: { to: string; json?: boolean }) => orFail(() => migrateTo(state.folding, options)));
    },
    { descriptors },
  );
}

/** Prints the status. The exit status is 1 if the store cannot be used. */
async function status(state: PluginState, options: { json?: boolean }): Promise<void> {
  const found = await statusOf(state);
  print(options.json ? json({ ...found, options: state.hasLibrary ? state.options : null }) : statusText(found));
  if (found.store.path === "") process.exitCode = 1;
}

/** Prints every check. The exit status is that of `doctorStatus`. */
async function doctor(state: PluginState, options: { json?: boolean }): Promise<void> {
  const { findings } = await statusOf(state, { isThorough: true });
  print(options.json ? json(findings) : doctorText(findings));
  process.exitCode = doctorStatus(findings);
}

async function migrateTo(state: PluginState, { to, json: asJson }: { to: string; json?: boolean }): Promise<void> {
  if (to !== "database" && to !== "directory")
    throw new Error(`--to is ${JSON.stringify(to)}; it must be "database" or "directory"`);
  const [database, directory] = [await state.place(), { dir: state.directory() }];
  if (!state.isShared)
    throw new Error(
      "sccsStoreUrl names no database; set it first: openclaw config set plugins.entries.concertina.config.sccsStoreUrl ...",
    );
  if (to === "database" && !existsSync(state.storeFile()))
    throw new Error(`there is no store in ${directory.dir}: nothing has been folded there`);
  const [from, target] = to === "database" ? [directory, database] : [database, directory];
  const done = await migrate({ from, to: target, progress: migrationLine });
  print(asJson ? json(done) : migrationText(done));
  if (to === "directory" && !asJson) print("The gateway uses it when it starts without sccsStoreUrl.");
  for (const id of done.damaged) complain(damagedLine(id));
  if (done.damaged.length > 0) process.exitCode = 1;
}

async function unfold(state: PluginState, store: Concertina, options: UnfoldOptions): Promise<void> {
  const known = (await state.hostSessions()).filter(
    ({ agentId }) => options.agent === undefined || options.agent === agentId,
  );
  const sessions = options.session === undefined ? known : sessionsNamed(options.session, known);
  if (sessions.length === 0)
    throw new Error(
      `the host has no sessions ${options.agent === undefined ? "" : `of agent ${options.agent}`}`.trim(),
    );
  const directory = options.out === undefined ? freeDirectory() : resolve(options.out);
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new Error(`${directory} is not empty; --out must be a new or empty directory`);
  const { transcripts, originals, missing } = await withClock("unfolding", unfoldSessions(store, sessions, directory));
  if (transcripts.length === 0)
    print(`Nothing is folded in ${counted(sessions.length, "session")}; nothing was written.`);
  else
    print(
      [
        `${counted(transcripts.length, "transcript")} and ${counted(originals.length, "original")} were written to ${directory}:`,
        ...transcripts,
      ].join("\n"),
    );
  for (const { refId, session } of missing) {
    complain(
      `the original of ${refId} is not available; session ${session.sessionId} (${session.sessionKey}) names it`,
    );
  }
  if (missing.length > 0) process.exitCode = 1;
}

async function analyze(
  state: PluginState,
  store: Concertina | undefined,
  { session, all, html, json: asJson }: AnalyzeOptions,
): Promise<void> {
  if ((session === undefined) === (all === undefined))
    throw new Error("choose a session with --session, or all with --all");
  needAbsent(html);
  const known = await state.hostSessions();
  const chosen = session === undefined ? known : sessionsNamed(session, known);
  if (chosen.length === 0) throw new Error("the host has no sessions");
  const { sccsStorageDir: _, ...options } = state.options;
  const analysis = await analyse(
    chosen.map((one) => ({ name: one.sessionId, read: () => sessionToAnalyse(state, store, one) })),
    { options, progress: progressLine },
  );
  showAnalysis(analysis, html, { json: asJson ? (shown) => print(json(shown)) : undefined, words: print });
  for (const { name, error } of analysis.failed) process.stderr.write(`concertina: session ${name}: ${error}\n`);
  if (analysis.failed.length > 0 || analysis.proof?.equal === false) process.exitCode = 1;
}

/**
 * Reads a session of the host as its tools printed it: content that was folded at birth is replaced by its originals.
 */
async function sessionToAnalyse(
  state: PluginState,
  store: Concertina | undefined,
  session: HostSession,
): Promise<SessionToAnalyse> {
  const { sessionId, sessionKey } = session;
  const recorded = readTranscript(sessionId, await transcriptOf(session));
  const { messages, missing } = (await store?.unfold({
    sessionId,
    agentId: agentOf(sessionKey),
    messages: recorded.messages,
  })) ?? { ...recorded, missing: [] };
  if (missing.length > 0)
    throw new Error(
      `its transcript shows ${counted(missing.length, "placeholder")} without originals, so the output of its tools is unknown`,
    );
  return {
    ...recorded,
    name: sessionId,
    sessionId,
    sessionKey,
    messages,
    prices: pricesOf(state.config, { sessionId, sessionKey, messages }),
  };
}

function freeDirectory(): string {
  const wanted = resolve(`concertina-unfolded-${today()}`);
  let directory = wanted;
  for (let at = 2; existsSync(directory); at++) directory = `${wanted}-${at}`;
  return directory;
}

/** Runs `run` with the store. Throws if there is none, and never creates one. */
function withStore(state: PluginState, run: (store: Concertina) => Promise<void>): Promise<void> {
  return withAnyStore(state, (store) => {
    if (store === undefined) throw new Error(`there is no store in ${state.directory()} yet: nothing has been folded`);
    return run(store);
  });
}

/** Runs `run` with the store, or with undefined if there is none. Throws if the store cannot be opened. */
async function withAnyStore(state: PluginState, run: (store: Concertina | undefined) => Promise<void>): Promise<void> {
  let store: Concertina | undefined;
  await orFail(async () => {
    for (const line of state.optionWarnings) complain(line);
    if (state.hasStore) store = await state.open({ setsAside: false });
    await run(store);
  });
  for (const notice of store?.notices() ?? []) complain(notice);
  await store?.close();
}

async function orFail(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    complain(wordsOf(error));
    process.exitCode = 1;
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function complain(line: string): void {
  process.stderr.write(`concertina: ${line}\n`);
}

/** Prints originals, with a final line end only on a terminal. A file or pipe receives exactly their bytes. */
function printOriginals(blocks: ContentBlock[]): void {
  const text = blocks.map(asText).join("\n");
  if (process.stdout.isTTY && text !== "") print(text);
  else printWhole(text);
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
