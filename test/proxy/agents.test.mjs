// Real agents behind the proxy, with a scripted model: `npm ci --prefix test/proxy && node --test test/proxy`.
//
// Each plays a session of 20 calls of its shell, in which the model also fetches what was folded. The agent sees
// neither these calls nor placeholders.
//
// The provider counts with a real vocabulary: a quarter of the bytes is less than half of the tokens of such outputs,
// and the saving would be measured too low. docs/proxy.md has the figures that each test prints.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

import { cli } from "../../__test__/cli.mjs";
import { FETCH, startUpstream } from "../../__test__/proxy.mjs";

const modules = path.join(path.dirname(fileURLToPath(import.meta.url)), "node_modules");
/** The folders of the agents' programs. Two packages are programs for one platform, which no install script links. */
const programs = [".bin", "@anthropic-ai/claude-code-linux-x64", "opencode-linux-x64/bin"].map((folder) =>
  path.join(modules, folder),
);
const TURNS = 20;

const AGENTS = {
  claude: ["claude", "-p", "Build it", "--allowedTools", "Bash", "--model", "claude-opus-4-6"],
  codex: [
    "codex",
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "-m",
    "gpt-5.4",
    "Go",
  ],
  opencode: ["opencode", "run", "-m", "anthropic/claude-opus-4-6", "Build it"],
  "pi with Anthropic": ["pi", "-p", "--provider", "anthropic", "--model", "claude-opus-4-6", "Build it"],
  "pi with OpenAI": ["pi", "-p", "--provider", "openai", "--model", "gpt-5.4", "Build it"],
};

/** The arguments of each agent's shell. */
const SHELLS = {
  Bash: (command) => ({ command, description: "build" }),
  bash: (command) => ({ command }),
  exec_command: (cmd) => ({ cmd }),
};

/** Returns the command of a turn, and what it prints. */
function step(turn) {
  const numbers = Array.from({ length: 401 }, (_, index) => turn + index);
  return {
    command: `for i in $(seq ${turn} ${turn + 400}); do echo "line $i, $((i * 7919 % 1000))x$((i * 31 % 97))"; done`,
    output: numbers.map((i) => `line ${i}, ${(i * 7919) % 1000}x${(i * 31) % 97}`).join("\n"),
  };
}

/**
 * Returns a script of a model that calls the agent's shell, and fetches twice of what was folded. The numbers of the
 * requests that answer a fetch are added to `refetches`.
 */
function script(refetches) {
  let turn = 0;
  return ({ text, body, url }, number) => {
    if (!/\/(messages|completions|responses)(\?|$)/.test(url)) return { status: 404, body: "{}" };
    const names = namesOf(body);
    const shell = Object.keys(SHELLS).find((name) => names.includes(name));
    if (shell === undefined) return { text: "A title" };
    const [, id] = /REF_ID: (\w+)|$/.exec(text);
    if (id && refetches.size < 2 && turn % 4 === 3 && names.includes(FETCH)) {
      refetches.add(number + 1);
      return { calls: [{ id: `toolu_f${number}`, name: FETCH, args: { ref_ids: [`${id}:1-3`] } }] };
    }
    if (turn === TURNS) return { text: "All done." };
    turn++;
    const args = SHELLS[shell](step(turn).command);
    return { text: `Step ${turn}.`, calls: [{ id: `toolu_c${turn}`, name: shell, args }] };
  };
}

const namesOf = ({ tools = [] }) => tools.map((tool) => tool.name ?? tool.function?.name);

/** Fields of messages that no model reads. */
const UNREAD = new Set(["type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "status", "cache_control"]);

/** Counts the tokens that a model reads: tools as JSON, and of everything else the texts. */
function tokensOf(value) {
  if (typeof value === "string") return countTokens(value);
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.entries(value).filter(([name]) => !UNREAD.has(name));
  return parts.reduce((sum, [name, part]) => sum + tokensOf(name === "tools" ? JSON.stringify(part) : part), 0);
}

/** Returns the contents of the results of the shell in a request, by turn. */
function resultsIn(value, found = new Map()) {
  if (typeof value !== "object" || value === null) return found;
  const { type, role, content, output } = value;
  const isResult = type === "tool_result" || role === "tool" || type === "function_call_output";
  const [, turn] = /toolu_c(\d+)/.exec(value.tool_use_id ?? value.tool_call_id ?? value.call_id) ?? [];
  if (isResult && turn !== undefined) found.set(Number(turn), content ?? output);
  else for (const part of Object.values(value)) resultsIn(part, found);
  return found;
}

/**
 * Computes what was saved from the requests at the provider alone, in percent. No more can be saved of everything than
 * `most`, the share of the outputs in what would be sent without the proxy.
 */
function saving(requests, refetches) {
  const sum = { sent: 0, without: 0, outputs: 0, shown: 0, printed: 0 };
  for (const [index, { body }] of requests.entries()) {
    if (typeof body !== "object") continue;
    const all = tokensOf(body);
    const results = [...resultsIn(body)];
    const shown = results.reduce((tokens, [, content]) => tokens + tokensOf(content), 0);
    const printed = results.reduce((tokens, [turn]) => tokens + tokensOf(step(turn).output), 0);
    sum.sent += all;
    sum.shown += shown;
    sum.printed += printed;
    // Without folding there is nothing to fetch.
    if (refetches.has(index + 1)) continue;
    sum.without += all - shown + printed;
    sum.outputs += printed;
  }
  return {
    ofAll: 100 * (1 - sum.sent / sum.without),
    ofOutputs: 100 * (1 - sum.shown / sum.printed),
    most: (100 * sum.outputs) / sum.without,
  };
}

for (const [name, [command, ...args]] of Object.entries(AGENTS)) {
  const isInstalled = programs.some((folder) => existsSync(path.join(folder, command)));
  const skip = isInstalled ? false : "not installed: npm ci --prefix test/proxy";
  test(`${name} plays a session of ${TURNS} calls`, { skip, timeout: 180_000 }, async (t) => {
    const refetches = new Set();
    const upstream = await startUpstream(t, script(refetches), { tokensOf });
    const home = mkdtempSync(path.join(tmpdir(), "concertina-agent-"));
    const options = JSON.stringify({ sccsCompressThreshold: 3000 });
    const proxy = ["run", "--dir", path.join(home, "store"), "--upstream", upstream.url, "--options", options];
    const env = {
      ...process.env,
      PATH: [...programs, process.env.PATH].join(path.delimiter),
      HOME: home,
      PWD: home,
      ANTHROPIC_API_KEY: "sk-test",
      OPENAI_API_KEY: "sk-test",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    };
    const child = spawn(process.execPath, [cli, ...proxy, "--", command, ...args], {
      cwd: home,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    t.after(() => child.kill("SIGTERM"));
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const [status] = await once(child, "close");
    assert.equal(status, 0, stderr);
    assert.match(stdout, /All done\./);
    assert.ok(!stdout.includes(FETCH) && !stdout.includes("REF_ID"));
    const shown = upstream.requests.at(-1).text;
    assert.equal(shown.match(/"toolu_f\d+"/g)?.length, 4, "two fetches and their answers are in the last request");
    const [, saved] = /concertina: .* model calls, ([\d.]+) % saved/.exec(stderr) ?? [];
    const { ofAll, ofOutputs, most } = saving(upstream.requests, refetches);
    const fixed = tokensOf(upstream.requests.find(({ body }) => namesOf(body).includes(FETCH)).body);
    const bound = `${most.toFixed(1)} % are outputs, of which ${ofOutputs.toFixed(1)} % were saved`;
    t.diagnostic(`${saved} % saved; ${bound}; the first request has ${fixed} tokens`);
    assert.ok(ofOutputs > 40, `${ofOutputs} % of the tokens of outputs saved`);
    assert.ok(Number(saved) > 30, stderr);
    assert.ok(Math.abs(Number(saved) - ofAll) < 2, `${ofAll} % saved in the requests: ${stderr}`);
  });
}
