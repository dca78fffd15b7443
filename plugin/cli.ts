/**
 * `openclaw concertina ...`: figures, sweep, purge and fetch, in a process of its own beside the gateway.
 *
 * Figures and originals go to standard output, failures to standard error with exit status 1.
 */

import { agentOf, type Concertina, type ContentBlock } from "../node/lib/index.js";
import { removedTable, statsTable } from "./commands.js";
import type { PluginApi } from "./host.js";
import type { PluginState } from "./state.js";

const DESCRIPTION = "Context savings, and the originals of what was folded";

interface FetchOptions {
  agent?: string;
  lines?: string;
  pattern?: string;
  maxChars?: string;
  json?: boolean;
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
          const removed = await store.sweep({});
          print(options.json ? json(removed) : removedTable(removed));
        }),
      );
    root
      .command("purge")
      .description("Forget a session: its originals, its figures and how its context is shown")
      .requiredOption("--session <id>", "The session")
      .option("--json", "Print JSON")
      .action((options: { session: string; json?: boolean }) =>
        withStore(state, async (store) => {
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
  }, { descriptors });
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
