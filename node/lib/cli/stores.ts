/** The commands that read a store or remove content from it. */
import type { Concertina } from "../library/concertina.js";
import { elsewhereOf, haveIt, whyKept } from "../terminal/other-gateways.js";
import { figuresText, removedText } from "../terminal/figures-text.js";
import { nameOf, needAbsent, writeNew } from "../formats/files.js";
import { migrate as migrated } from "../library/migrate.js";
import { damagedLine, migrationLine, migrationText } from "../terminal/migration-text.js";
import { sessionsOfAgent } from "../formats/named-sessions.js";
import { charsOf, originalsOf } from "../library/originals.js";
import { periodsOf, writeReport } from "../terminal/page.js";
import { withClock } from "../terminal/progress.js";
import { queryOf, searchText } from "../terminal/search-text.js";
import { unreadableText } from "../formats/session-rows.js";
import { counted, number } from "../terminal/table.js";
import { unfoldFile } from "../formats/unfold-file.js";
import { removeJournal } from "../proxy/journal.js";
import {
  type Command,
  mayRemove,
  needStore,
  objectOf,
  placeAsked,
  placeNamed,
  print,
  printJson,
  STORE,
  SWITCH,
  TEXT,
  textOf,
  UsageError,
  withStore,
} from "./command.js";
import { notesOf } from "./proxy.js";

/**
 * Returns the session with an id or a key, the most recently seen if there are several, or an empty scope if none is
 * named. @throws as `sessionsOfAgent`
 */
async function sessionOf(
  concertina: Concertina,
  named: string | undefined,
  agent: string | undefined,
): Promise<{ sessionId?: string; agentId?: string }> {
  if (named === undefined) return {};
  const [{ sessionId, agentId }] = sessionsOfAgent(named, agent, await concertina.sessions());
  return { sessionId, agentId };
}

export const fetch: Command = {
  usage: "REF...",
  about: [
    "print originals by their ids",
    "--lines A-B, --chars A-B, --pattern REGEX, --query WORDS   only this part",
    "--max-chars N        at most N characters",
    "--agent ID           the agent that owns them (default main)",
    "--json",
  ],
  options: {
    ...STORE,
    lines: TEXT,
    chars: TEXT,
    pattern: TEXT,
    query: TEXT,
    agent: TEXT,
    "max-chars": TEXT,
    json: SWITCH,
  },
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  run: (refIds, values) =>
    withStore(values, async (concertina) => {
      const maxChars = charsOf(textOf(values, "max-chars"));
      const [agentId, lines, chars, pattern, query] = ["agent", "lines", "chars", "pattern", "query"].map((name) =>
        textOf(values, name),
      );
      const other = ["lines", "pattern", "query"].find((name) => values[name] !== undefined);
      if (chars !== undefined && other !== undefined) throw new UsageError(`--${other} and --chars exclude each other`);
      const part = { lines, chars, pattern, query, maxChars };
      const { blocks, missing } = await originalsOf(concertina, { refIds, agentId, ...part });
      for (const line of missing) console.error(line);
      if (values.json) printJson(blocks);
      else for (const block of blocks) print(block.type === "text" ? block.text : Buffer.from(block.data, "base64"));
      if (missing.length > 0) process.exitCode = 1;
    }),
};

export const search: Command = {
  usage: "WORD...",
  about: [
    "print the lines of originals that have all words, in any case; quote words that belong together",
    "--session ID|KEY     only this session",
    "--agent ID           the agent of the session, if several have one with that name",
    "--max-chars N        at most N characters of lines (default 6000)",
    "--json",
  ],
  options: { ...STORE, session: TEXT, agent: TEXT, "max-chars": TEXT, json: SWITCH },
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  run: (words, values) =>
    withStore(values, async (concertina) => {
      const maxChars = charsOf(textOf(values, "max-chars"));
      const scope = await sessionOf(concertina, textOf(values, "session"), textOf(values, "agent"));
      const found = await withClock("searching", concertina.search({ query: queryOf(words), ...scope, maxChars }));
      print(values.json ? `${JSON.stringify(found)}\n` : `${searchText(found)}\n`);
      if (found.matching === 0) process.exitCode = 1;
    }),
};

export const stats: Command = {
  usage: "",
  about: [
    "show the tokens and the bill of requests, with an estimate without Concertina",
    "--session ID|KEY     only this session",
    "--agent ID           the agent of the session, if several have one with that name",
    "--html FILE          write a page to this new file",
    "--json",
  ],
  options: { ...STORE, session: TEXT, agent: TEXT, html: TEXT, json: SWITCH },
  takes: { least: 0, most: 0 },
  run: (_args, values) =>
    withStore(values, async (concertina) => {
      const [named, html] = [textOf(values, "session"), textOf(values, "html")];
      needAbsent(html);
      await withClock("reading the store", concertina.check());
      const scope = await sessionOf(concertina, named, textOf(values, "agent"));
      const periods =
        html === undefined
          ? []
          : await withClock(
              "adding up",
              periodsOf((range) => concertina.figures({ ...range, ...scope })),
            );
      const figures =
        periods.find(({ days }) => days === 0)?.figures ?? (await withClock("adding up", concertina.figures(scope)));
      if (html !== undefined) writeReport(html, { periods, health: null, title: named });
      if (values.json) printJson(figures);
      else if (html === undefined) print(`${figuresText(figures)}\n`);
    }),
};

/** The warning before a sweep with the default options of a store that belongs to someone else. */
const BY_DEFAULT =
  "Without --options the defaults apply: originals that were in no context for a day are removed, and beyond 1 GiB others too. " +
  "Their placeholders can then no longer be unfolded.";

export const sweep: Command = {
  usage: "",
  about: [
    "remove expired originals; those of OpenClaw's sessions are kept in any case",
    "--options JSON       the options with which the store's owner opens it",
    "--yes                use the default options without asking: remove originals that were in no context for a day",
    "--json",
  ],
  options: { ...STORE, options: TEXT, yes: SWITCH, json: SWITCH },
  takes: { least: 0, most: 0 },
  run: (_args, values) =>
    withStore(
      values,
      async (concertina) => {
        await withClock("reading the store", concertina.check());
        if (values.options === undefined && !(await mayRemove(values, BY_DEFAULT))) return;
        const removed = await concertina.sweep();
        if (values.json) printJson(removed);
        else print(`${removedText(removed)}\n`);
      },
      objectOf(values, "options"),
    ),
};

export const purge: Command = {
  usage: "SESSION",
  about: [
    "forget a session, by its id or key; asks first",
    "--agent ID           the agent of the session, if several have one with that name",
    "--state DIR          with --url: the directory of the proxy's notes about sessions",
    "--elsewhere          also if a gateway of the store has it",
    "--yes                do not ask",
    "--json",
  ],
  options: { ...STORE, agent: TEXT, state: TEXT, elsewhere: SWITCH, yes: SWITCH, json: SWITCH },
  takes: { least: 1, most: 1 },
  run: ([named = ""], values) =>
    withStore(values, async (concertina) => {
      const known = await concertina.sessions();
      const [{ sessionId, agentId }] = sessionsOfAgent(named, textOf(values, "agent"), known);
      const scope = { sessionId, agentId };
      const elsewhere = elsewhereOf(known, scope);
      const why = whyKept({ sessionId, elsewhere }, "--elsewhere");
      if (!values.elsewhere && why !== undefined) throw new Error(why);
      const doomed = await concertina.purge({ ...scope, dry: true });
      const warning = `This removes ${counted(doomed.originals, "original")} (${number(doomed.bytes)} bytes) that only session ${sessionId} holds. Their placeholders can then no longer be unfolded.${elsewhere.length > 0 ? ` Note that ${haveIt(elsewhere)}.` : ""}`;
      if (!(await mayRemove(values, warning))) return;
      removeJournal(notesOf(placeAsked(values), values), scope);
      const removed = await concertina.purge(scope);
      if (values.json) printJson(removed);
      else print(`${removedText(removed)}\n`);
    }),
};

export const unfold: Command = {
  usage: "SESSION",
  about: [
    "print a copy of a recorded session with the originals in place of their placeholders, in the same format",
    "--out FILE           write it to this new file",
    "--session ID|KEY, --agent ID   the session that owns the placeholders",
    "--json               print a report as JSON; needs --out",
  ],
  options: { ...STORE, out: TEXT, session: TEXT, agent: TEXT, json: SWITCH },
  takes: { least: 1, most: 1 },
  run: ([file = ""], values) => {
    const out = textOf(values, "out");
    if (values.json && out === undefined)
      throw new UsageError("--json needs --out: the session itself goes to standard output");
    needAbsent(out);
    return withStore(values, async (concertina) => {
      const named = textOf(values, "session");
      const agentId = textOf(values, "agent");
      const scope = { agentId, ...(await sessionOf(concertina, named, agentId)) };
      const done = await withClock("unfolding", unfoldFile(concertina, file, scope));
      // No existing file is ever overwritten, least of all the session itself.
      if (out === undefined) print(done.bytes);
      else writeNew(out, done.bytes);
      const { unfolded, missing, unreadable } = done;
      if (values.json) printJson({ unfolded, missing, unreadable });
      if (unreadable.length > 0)
        console.error(`${nameOf(file)}: ${unreadableText(unreadable)}; torn lines are unchanged`);
      for (const id of missing) console.error(`the original of ${id} is not available; its placeholder stays`);
      console.error(`${counted(unfolded, "placeholder")} unfolded, ${number(missing.length)} left`);
      if (missing.length > 0) process.exitCode = 1;
    });
  },
};

export const migrate: Command = {
  usage: "FROM TO",
  about: [
    "copy a store into an empty one and verify the copy; each is a directory, postgresql://... or env:NAME",
    "--from-namespace NAME, --to-namespace NAME   the tenant in a database (default concertina)",
    "--json",
  ],
  options: { "from-namespace": TEXT, "to-namespace": TEXT, json: SWITCH },
  takes: { least: 2, most: 2 },
  run: async ([source = "", target = ""], values) => {
    const [from, to] = [
      placeNamed(source, textOf(values, "from-namespace")),
      placeNamed(target, textOf(values, "to-namespace")),
    ];
    needStore(from);
    const done = await migrated({ from, to, progress: migrationLine });
    if (values.json) printJson(done);
    else print(`${migrationText(done)}\n`);
    for (const id of done.damaged) console.error(damagedLine(id));
    if (done.damaged.length > 0) process.exitCode = 1;
  },
};
