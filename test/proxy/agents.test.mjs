// Real agents behind the proxy, with a scripted model: `npm ci --prefix test/proxy && node --test test/proxy`.
//
// Each plays a session of 20 calls of its shell, in which the model also fetches what was folded. The agent sees
// neither these calls nor placeholders.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

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

/** Returns a script of a model that calls the agent's shell, and fetches twice of what was folded. */
function script() {
  let [turn, fetched] = [0, 0];
  return ({ text, body, url }, number) => {
    if (!/\/(messages|completions|responses)(\?|$)/.test(url)) return { status: 404, body: "{}" };
    const names = (body.tools ?? []).map((tool) => tool.name ?? tool.function?.name);
    const shell = Object.keys(SHELLS).find((name) => names.includes(name));
    if (shell === undefined) return { text: "A title" };
    const [, id] = /REF_ID: (\w+)|$/.exec(text);
    if (id && fetched < 2 && turn % 4 === 3 && names.includes(FETCH)) {
      fetched++;
      return { calls: [{ id: `toolu_f${number}`, name: FETCH, args: { ref_ids: [`${id}:1-3`] } }] };
    }
    if (turn === TURNS) return { text: "All done." };
    turn++;
    const lines = `for i in $(seq ${turn} ${turn + 400}); do echo "line $i, $((i * 7919 % 1000))x$((i * 31 % 97))"; done`;
    return { text: `Step ${turn}.`, calls: [{ id: `toolu_c${turn}`, name: shell, args: SHELLS[shell](lines) }] };
  };
}

for (const [name, [command, ...args]] of Object.entries(AGENTS)) {
  const isInstalled = programs.some((folder) => existsSync(path.join(folder, command)));
  const skip = isInstalled ? false : "not installed: npm ci --prefix test/proxy";
  test(`${name} plays a session of ${TURNS} calls`, { skip, timeout: 180_000 }, async (t) => {
    const upstream = await startUpstream(t, script());
    const home = mkdtempSync(path.join(tmpdir(), "concertina-agent-"));
    const options = JSON.stringify({ sccsCompressThreshold: 3000 });
    const proxy = ["run", "--dir", path.join(home, "store"), "--upstream", upstream.url, "--options", options];
    const env = {
      ...process.env,
      PATH: [...programs, process.env.PATH].join(path.delimiter),
      HOME: home,
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
    assert.ok(Number(saved) > 30, stderr);
  });
}
