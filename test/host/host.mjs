// An unmodified OpenClaw with a temporary home, controlled from outside: its command line, its gateway, its log.

import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { callGateway } from "./gateway.mjs";
import { freePort } from "./port.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const TOKEN = "host-test";
const GATEWAY_READY_MS = 240_000;
const COMMAND_MS = 180_000;
const SLASH_MS = 60_000;
const RELOAD_MS = 240_000;
/** The time after a reply in which its turn is recorded. A reload waits only five seconds for calls of a plugin. */
const RECORDED_MS = 1000;
/** The gateway's log line after it has applied a change of its configuration file. */
const RELOADED = "config hot reload applied";
/** Signals that end a test run early, with the exit status. The hosts that the run started must end with it. */
const ENDING = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
];

/**
 * Returns the packed plugin that `npm test` makes. Its platform packages come from the registry at
 * `CONCERTINA_REGISTRY`.
 */
export function packedPlugin() {
  const { CONCERTINA_TARBALL } = process.env;
  if (!CONCERTINA_TARBALL) throw new Error("CONCERTINA_TARBALL is not set; it must be the path of the packed plugin");
  return path.resolve(CONCERTINA_TARBALL);
}

/** Prints progress to the standard error, separately from the test's own output. */
export function say(line) {
  process.stderr.write(`  ${new Date().toISOString().slice(11, 19)} ${line}\n`);
}

process.once("exit", () => say(`${path.basename(process.argv[1])} took ${Math.round(process.uptime())} s`));

/**
 * A model as the configuration describes it: the scripted provider that plays it, its dialect and its properties.
 *
 * @typedef {{ provider: { url: string }, api?: "openai-completions" | "anthropic-messages", model?: string, reasons?:
 *   boolean, contextWindow?: number, cost?: { input: number, output: number, cacheRead: number, cacheWrite: number } }}
 *   Model
 */

/** Returns the configuration of a provider with one model. */
function configured({
  provider,
  api = "openai-completions",
  model: id = "scripted",
  reasons = false,
  contextWindow = 200_000,
  cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
}) {
  const baseUrl = api === "anthropic-messages" ? provider.url : `${provider.url}/v1`;
  const input = ["text", "image"];
  const model = { id, name: "Scripted", reasoning: reasons, input, cost, contextWindow, maxTokens: 8192 };
  return { baseUrl, apiKey: "none", api, models: [model] };
}

/** Returns the setting of an agent with a model that may think. */
const thinkingOf = ({ reasons }) => (reasons ? { thinkingDefault: "low" } : {});

export class Host {
  /** @param {Model & { name: string, release?: "openclaw" | "openclaw-oldest" }} options */
  constructor({ name, release = "openclaw", ...model }) {
    this.name = name;
    this.openclawFile = path.join(HERE, "node_modules", release, "openclaw.mjs");
    this.log = "";
    /** Additional environment variables of the host's processes. */
    this.env = process.env.CONCERTINA_REGISTRY ? { npm_config_registry: process.env.CONCERTINA_REGISTRY } : {};
    this.children = new Set();
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), "concertina-host-"));
    this.home = path.join(this.root, "home");
    this.state = path.join(this.root, "state");
    this.workspace = path.join(this.root, "workspace");
    for (const directory of [this.home, this.state, this.workspace]) fs.mkdirSync(directory);
    const scripted = configured(model);
    this.writeConfig({
      models: { mode: "replace", providers: { scripted } },
      agents: {
        defaults: {
          model: { primary: `scripted/${scripted.models[0].id}` },
          ...thinkingOf(model),
          workspace: this.workspace,
          skipBootstrap: true,
          heartbeat: { every: "0m" },
          // The scripted model writes no summary that passes the host's audit.
          compaction: { mode: "default" },
        },
        ownership: "explicit",
        entries: { main: { workspace: this.workspace, subagents: { allowAgents: ["other"] } }, other: {} },
      },
      // On a busy machine a command may take longer than ten seconds, after which the host would move it to the
      // background and report its end in a separate turn.
      tools: { exec: { mode: "full", backgroundMs: 120_000 } },
      gateway: {
        mode: "local",
        bind: "loopback",
        auth: { mode: "token", token: TOKEN },
        http: { endpoints: { chatCompletions: { enabled: true } } },
      },
    });
    this.onExit = () => {
      for (const child of this.children) killGroup(child, "SIGKILL");
      fs.rmSync(this.root, { recursive: true, force: true });
    };
    process.on("exit", this.onExit);
    for (const [signal, code] of ENDING) process.once(signal, () => process.exit(code));
  }

  /** Returns the lines of the gateway's log from this plugin, beginning with its name. */
  get ownLines() {
    return this.log
      .split("\n")
      .filter((line) => line.includes("concertina:"))
      .map((line) => line.slice(line.indexOf("concertina:")));
  }

  readConfig() {
    return JSON.parse(fs.readFileSync(path.join(this.state, "openclaw.json"), "utf8"));
  }

  writeConfig(config) {
    fs.writeFileSync(path.join(this.state, "openclaw.json"), JSON.stringify(config, null, 2));
  }

  /** Changes the configuration as a user edits the file. Resolves when a running gateway has applied the change. */
  async configure(change) {
    const config = this.readConfig();
    change(config);
    if (this.gateway === undefined) return this.writeConfig(config);
    await sleep(RECORDED_MS);
    const from = this.log.length;
    this.writeConfig(config);
    for (const end = Date.now() + RELOAD_MS; !this.log.includes(RELOADED, from); await sleep(50)) {
      if (Date.now() > end) throw new Error(`the gateway has not applied a change:\n${this.log.slice(from)}`);
    }
  }

  /** Replaces the options of the plugin. */
  setOptions(options) {
    return this.configure(({ plugins: { entries } }) => (entries.concertina.config = options));
  }

  /**
   * Adds an agent with a model of its own.
   *
   * @param {string} name
   * @param {Model} model
   */
  addAgent(name, model) {
    return this.configure(({ models, agents }) => {
      const provider = configured(model);
      models.providers[name] = provider;
      const primary = `${name}/${provider.models[0].id}`;
      agents.entries[name] = { workspace: this.workspace, model: { primary }, ...thinkingOf(model) };
    });
  }

  /** Installs the packed plugin as a user does, with these options. */
  async install(tgz, options = {}) {
    say(`${this.name}: installing ${path.basename(tgz)}`);
    await this.openclaw(["plugins", "install", `npm-pack:${tgz}`, "--force", "--accept-capabilities"]);
    await this.setOptions(options);
  }

  /** Runs a command of the host and returns its standard output. Rejects if the command fails. */
  async openclaw(args) {
    const { code, output, errors } = await this.run(args);
    if (code !== 0) throw new Error(`openclaw ${args.join(" ")} ended with ${code}:\n${output}\n${errors}`);
    return output;
  }

  /** Runs a command of the host to its end and returns its status and output. */
  async run(args) {
    const child = this.#spawn(args);
    let output = "";
    let errors = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (errors += data));
    const timer = setTimeout(() => killGroup(child, "SIGKILL"), COMMAND_MS);
    const code = await new Promise((resolve) => child.on("close", resolve));
    clearTimeout(timer);
    return { code, output, errors };
  }

  /** Sets the clock of the host's processes that start from now on forward. */
  shiftClock(byMs) {
    this.env.NODE_OPTIONS = `--import=${path.join(HERE, "clock.mjs")}`;
    this.env.CONCERTINA_CLOCK_AHEAD_MS = String(byMs);
  }

  /** Makes the host load a test plugin from a directory next to this file. */
  loadPlugin(name) {
    return this.configure((config) => {
      const { load, entries } = (config.plugins = { load: { paths: [] }, entries: {}, ...config.plugins });
      load.paths.push(path.join(HERE, name));
      entries[name] = { enabled: true };
    });
  }

  /** Runs a command and parses the JSON that it prints. */
  async openclawJson(args) {
    return JSON.parse(await this.openclaw([...args, "--json"]));
  }

  /** Calls a method of the running gateway. */
  call(method, params) {
    return callGateway({ port: this.port, token: TOKEN }, method, params);
  }

  async start() {
    this.port ??= await freePort();
    const config = this.readConfig();
    this.writeConfig({ ...config, gateway: { ...config.gateway, port: this.port } });
    this.gateway = this.#spawn(["gateway", "run"]);
    const listen = (data) => (this.log += data);
    this.gateway.stdout.on("data", listen);
    this.gateway.stderr.on("data", listen);
    const started = Date.now();
    while (!(await this.#isReady())) {
      if (this.gateway.exitCode !== null)
        throw new Error(`the gateway ended with ${this.gateway.exitCode}:\n${this.log}`);
      if (Date.now() - started > GATEWAY_READY_MS) throw new Error(`the gateway is not ready:\n${this.log}`);
      await sleep(100);
    }
    say(`${this.name}: gateway ready after ${Date.now() - started} ms`);
  }

  async stop() {
    const { gateway } = this;
    this.gateway = undefined;
    if (gateway === undefined || gateway.exitCode !== null) return;
    const closed = new Promise((resolve) => gateway.on("close", resolve));
    killGroup(gateway, "SIGTERM");
    const timer = setTimeout(() => killGroup(gateway, "SIGKILL"), 20_000);
    await closed;
    clearTimeout(timer);
  }

  /** Sends one user message and waits for the reply. */
  async turn(sessionKey, message) {
    const started = Date.now();
    const response = await fetch(`http://127.0.0.1:${this.port}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        // The gateway may close a kept-alive connection just when it is reused.
        connection: "close",
        "x-openclaw-session-key": sessionKey,
      },
      body: JSON.stringify({
        model: `openclaw/${sessionKey.split(":")[1]}`,
        messages: [{ role: "user", content: message }],
      }),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(`the turn failed: ${JSON.stringify(body)}\n${this.log}`);
    return { reply: body.choices[0].message.content, ms: Date.now() - started };
  }

  /** Sends a slash command to a conversation, as the Control UI does, and waits for the chat's answer. */
  async slash(sessionKey, message) {
    // A long history is truncated at its beginning, so its length is not usable.
    const latest = async () => (await this.call("chat.history", { sessionKey })).messages.at(-1);
    const before = JSON.stringify(await latest());
    await this.call("chat.send", { sessionKey, message, idempotencyKey: `${message}-${Date.now()}` });
    for (const end = Date.now() + SLASH_MS; Date.now() < end; await sleep(100)) {
      const last = await latest();
      const isAnswer = last?.role === "assistant" && JSON.stringify(last) !== before;
      if (isAnswer) return last.content.map(({ text }) => text ?? "").join("\n");
    }
    throw new Error(`${message} was not answered`);
  }

  /** Stops the gateway and removes everything. */
  async remove() {
    await this.stop();
    process.off("exit", this.onExit);
    this.onExit();
  }

  async #isReady() {
    return fetch(`http://127.0.0.1:${this.port}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  }

  #spawn(args) {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(OPENCLAW_|NODE_TEST_)/.test(name));
    const child = spawn(process.execPath, [this.openclawFile, ...args], {
      cwd: this.workspace,
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
        HOME: this.home,
        OPENCLAW_STATE_DIR: this.state,
        NO_COLOR: "1",
        npm_config_cache: process.env.npm_config_cache ?? path.join(os.homedir(), ".npm"),
        ...this.env,
      },
      stdio: ["ignore", "pipe", "pipe"],
      // The host restarts itself as a child process, so the whole process group must be signalled.
      detached: true,
    });
    this.children.add(child);
    child.on("close", () => this.children.delete(child));
    return child;
  }
}

function killGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The process has already ended.
  }
}
