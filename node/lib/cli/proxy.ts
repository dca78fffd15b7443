/** The commands that start the proxy: for any client, or for one agent. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import path from "node:path";
import { setFlagsFromString } from "node:v8";

import type { Options } from "../binding/options.js";
import type { StorePlace } from "../library/api.js";
import { observedPlace } from "../library/observed.js";
import { AGENTS, commonVariables } from "../proxy/agents.js";
import { isLoopback } from "../proxy/loopback.js";
import type { Proxy, ProxyOptions, Providers } from "../proxy/server.js";
import {
  type Command,
  givenBy,
  numberOf,
  objectOf,
  placeAsked,
  print,
  STORE,
  SWITCH,
  TEXT,
  textOf,
  UsageError,
  type Values,
} from "./command.js";

const DEFAULT_PORT = 8788;
/** The directory of the store if none is named, and of the notes about sessions if the store is a database. */
const HOME = path.join(homedir(), ".openclaw-concertina");

/** Returns the directory of the proxy's notes: below its store or, for a database, below that of `--state`. */
export function notesOf(place: StorePlace, values: Values): string {
  return path.join(place.dir ?? textOf(values, "state") ?? HOME, "proxy");
}

const OPTIONS = {
  ...STORE,
  state: TEXT,
  upstream: TEXT,
  options: TEXT,
  observe: SWITCH,
  holdout: TEXT,
  "refuse-copies": SWITCH,
};

const ABOUT = [
  "--dir DIR | --url postgresql://...   the store (default ~/.openclaw-concertina)",
  "--state DIR          with --url: the directory of the proxy's notes about sessions",
  "--upstream URL       the provider's address, or anthropic=URL,openai=URL (default the providers' own, or those",
  "                     in ANTHROPIC_BASE_URL and OPENAI_BASE_URL)",
  "--options JSON       options of Concertina, over those of the plugin",
  "--observe            send everything untouched, and show in the figures what folding would have saved",
  "--refuse-copies      refuse calls in which the model has copied a placeholder, instead of putting the original there",
  "--holdout SHARE      leave this share of sessions untouched, such as 0.1, for comparison",
];

export const proxy: Command = {
  usage: "",
  about: [
    "fold what agents send to Anthropic's and OpenAI's APIs: point their base URL at it",
    `--port N             (default ${DEFAULT_PORT})`,
    "--host ADDRESS       listen on another address than 127.0.0.1; needs --token",
    "--token TOKEN        the token that clients put first in the path or into the header x-concertina-token; env:NAME",
    ...ABOUT,
    "--print-env          only print the variables that point clients at it, for a shell",
  ],
  options: { ...OPTIONS, port: TEXT, host: TEXT, token: TEXT, "print-env": SWITCH },
  takes: { least: 0, most: 0 },
  async run(_args, values) {
    const host = textOf(values, "host") ?? "127.0.0.1";
    const token = secretOf(values, "token");
    const port = numberOf(values, "port", DEFAULT_PORT);
    if (!Number.isInteger(port) || port > 65_535)
      throw new UsageError(`--port is ${port}; it must be a whole number of at most 65535`);
    if (!isLoopback(host) && token === undefined)
      throw new UsageError(`--host ${host} is open to others: set a --token`);
    if (values["print-env"]) {
      const url = `http://${host}:${port}${token === undefined ? "" : `/${token}`}`;
      return print(
        Object.entries(commonVariables(url))
          .map(([name, value]) => `export ${name}=${value}\n`)
          .join(""),
      );
    }
    // A shell with the variables of this proxy must not make it its own provider.
    for (const [name, value] of Object.entries(commonVariables(`http://127.0.0.1:${port}`)))
      if (process.env[name] === value) delete process.env[name];
    const say = (line: string) => console.error(line);
    const started = await start({
      ...proxyOptions(values, say),
      port,
      host,
      ...(token === undefined ? {} : { token }),
    });
    say(`concertina: listening on ${started.url}; figures: ${started.page}`);
    await new Promise<void>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, resolve);
    });
    await started.close();
  },
};

export const run: Command = {
  usage: "-- AGENT [ARGS...]",
  about: [
    "run an agent behind a proxy of its own, and print the saving:",
    `                     ${AGENTS.map(({ command }) => command).join(", ")}, or any other that reads the usual variables`,
    ...ABOUT,
  ],
  options: OPTIONS,
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run([command = "", ...args], values) {
    // An agent owns the terminal, so lines wait until it has ended.
    const lines: string[] = [];
    const since = Date.now();
    const started = await start({ ...proxyOptions(values, (line) => lines.push(line)), port: 0, host: "127.0.0.1" });
    try {
      const { url } = started;
      const agent = AGENTS.find((one) => one.command === path.basename(command).replace(/\.(exe|cmd)$/i, ""));
      const ended = await runChild(command, [...(agent?.args?.(url) ?? []), ...args], {
        ...process.env,
        ...(agent?.variables ?? commonVariables)(url),
      });
      lines.push(`concertina: ${await started.saved(since)}`);
      await started.close();
      for (const line of lines.filter((text) => !/: session /.test(text))) console.error(line);
      if (typeof ended === "string") process.kill(process.pid, ended);
      else process.exitCode = ended;
    } catch (error) {
      await started.close();
      throw error;
    }
  },
};

/** Runs an agent to its end, and passes signals on. Resolves to its exit status or the signal that ended it. */
function runChild(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<number | NodeJS.Signals> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", env });
    // A terminal sends SIGINT to the agent by itself; the agent decides whether it ends.
    const passOn = (signal: NodeJS.Signals) => (signal === "SIGINT" && process.stdin.isTTY ? true : child.kill(signal));
    for (const signal of signals) process.on(signal, passOn);
    const done = () => signals.forEach((signal) => process.off(signal, passOn));
    child.once("error", (error) => (done(), reject(new Error(`${command} cannot be run: ${error.message}`))));
    child.once("exit", (status, signal) => (done(), resolve(signal ?? status ?? 1)));
  });
}

/** Loads the server, which no other command needs. */
async function start(options: ProxyOptions): Promise<Proxy> {
  // The bytes of requests are outside the heap and soon free. For them V8 would collect the whole heap up to five times
  // a second. With this flag it waits until the heap and these bytes have doubled.
  setFlagsFromString("--heap-growing-percent=100");
  const { Proxy: Started } = await import("../proxy/server.js");
  return Started.start(options);
}

function proxyOptions(values: Values, log: (line: string) => void): Omit<ProxyOptions, "port" | "host"> {
  const place = placeAsked(values, HOME);
  const observes = values.observe === true;
  const holdout = numberOf(values, "holdout", 0);
  if (holdout > 1) throw new UsageError(`--holdout is ${holdout}; it must be a share of at most 1, such as 0.1`);
  // What was not sent folded must not count as saved in the figures of what was.
  const inStore = observes ? observedPlace(place) : place;
  return {
    place: inStore,
    notes: notesOf(inStore, values),
    options: objectOf(values, "options") as Options,
    providers: providersOf(textOf(values, "upstream")),
    mode: { observes, holdout, refusesCopies: values["refuse-copies"] === true },
    log,
  };
}

/** Returns the addresses of the providers. Variables that point clients elsewhere are obeyed here, too. */
function providersOf(given: string | undefined): Providers {
  const { ANTHROPIC_BASE_URL: anthropic, OPENAI_BASE_URL: openai } = process.env;
  const providers = {
    anthropic: anthropic || "https://api.anthropic.com",
    openai: openai || "https://api.openai.com",
  };
  for (const part of given?.split(",") ?? []) {
    const [, name, address = ""] = /^(?:(anthropic|openai)=)?(https?:\/\/.+)$/.exec(part.trim()) ?? [];
    if (!URL.canParse(address))
      throw new UsageError(`--upstream is ${JSON.stringify(part)}; it must be a URL, or anthropic=URL,openai=URL`);
    if (name !== "openai") providers.anthropic = address;
    if (name !== "anthropic") providers.openai = address;
  }
  return providers;
}

/** Returns a secret, which `env:NAME` keeps out of the list of processes. */
function secretOf(values: Values, name: string): string | undefined {
  const given = textOf(values, name);
  if (given === undefined) return undefined;
  const secret = givenBy(given);
  if (!/^[\w.~-]{8,}$/.test(secret))
    throw new UsageError(`--${name} must be at least 8 letters, digits or any of _ . ~ -`);
  return secret;
}
