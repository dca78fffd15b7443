// Tests of the documents' commands in a real OpenClaw. docs/quickstart.md shows the output of a new user's first steps,
// from installation to a figure of the savings in the chat. With CONCERTINA_WRITE=1 the page is rewritten; otherwise
// its contents must match what happens, except for numbers and times.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { root } from "../../scripts/steps.mjs";
import { withoutCompilers } from "../tools.mjs";
import { Host } from "./host.mjs";
import { startProvider } from "./provider.mjs";
import { fillWorkspace, turns } from "./session.mjs";

const PAGE = path.join(root, "docs/quickstart.md");
const RUN_THE_TESTS = turns.find(({ user }) => user.includes("Run the tests"));

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "quickstart", provider, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } });
  await host.configure((config) => (config.agents = { defaults: config.agents.defaults }));
  fillWorkspace(host.workspace);
  host.env.PATH = withoutCompilers(path.join(host.root, "tools"));
  host.env.npm_config_registry = new URL("../whole/", process.env.CONCERTINA_REGISTRY).href;
  host.env.npm_config_cache = path.join(host.root, "cache");
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

/** Removes what differs from machine to machine. */
const readable = (text) =>
  text
    .replaceAll(host.state, "~/.openclaw")
    .replace(/(install-stage)-\w+/g, "$1")
    .replace(/^Linked peerDependency.*\n/m, "")
    .trim();

/** Removes numbers and the blanks that align them. */
const shape = (text) =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\d[\d,.]*/g, "N")
    .replace(/ +/g, " ");

async function timed(work) {
  const started = Date.now();
  return { output: readable(await work()), seconds: (Date.now() - started) / 1000 };
}

const command = (...args) => timed(() => host.openclaw(args));

const sessionKey = "agent:main:main";

const fenced = (text) => `\`\`\`text\n${text}\n\`\`\``;

test("docs/quickstart.md shows the real output from installation to the first saved figure", async () => {
  const install = await command("plugins", "install", "openclaw-concertina", "--force", "--accept-capabilities");
  const before = await command("concertina", "status");
  const start = await timed(async () => (await host.start(), ""));
  provider.play(RUN_THE_TESTS.steps);
  const turn = await timed(async () => (await host.turn(sessionKey, RUN_THE_TESTS.user)).reply);
  const figure = await timed(() => host.slash(sessionKey, "/concertina"));
  const again = await command("concertina", "stats");
  assert.match(figure.output, /: [1-9][\d.]* % saved/);

  const steps = [
    ["install", install],
    ["status", before],
    ["gateway", start],
    ["first turn", turn],
    ["`/concertina`", figure],
    ["stats", again],
  ];
  const all = steps.reduce((sum, [, { seconds }]) => sum + seconds, 0);
  const page = `# Quickstart

This page leads from the installation to the first saved figure. You need OpenClaw 2026.8.1 or later with a configured
model. A test (\`test/host/docs.test.mjs\`) ran every command below and printed every output, in a new OpenClaw on a
machine without compilers. Only the model was scripted.

## 1. Install

\`\`\`sh
openclaw plugins install openclaw-concertina --force --accept-capabilities
\`\`\`

${fenced(install.output)}

Without the two flags OpenClaw asks whether you trust the source and accept the plugin's capabilities. \`--force\` also
replaces an older version. In OpenClaw 2026.8, run \`openclaw plugins enable concertina\` afterwards: its installer does
not set the context engine, and the gateway's log reports that.

## 2. Check the installation

\`\`\`sh
openclaw concertina status
\`\`\`

${fenced(before.output)}

## 3. Restart the gateway and chat

\`\`\`sh
openclaw gateway restart
\`\`\`

Use the agent as usual. Here a user asked it to run a project's tests, which print 31,000 characters:

${fenced(`> ${RUN_THE_TESTS.user}\n${turn.output}`)}

## 4. Look at the figures

Type \`/concertina\` in the same chat:

${fenced(`> /concertina\n${figure.output}`)}

"Without" means the same requests with nothing folded. The model saw the failing tests in full and a summary of the
others. This command prints the figures of all sessions:

\`\`\`sh
openclaw concertina stats
\`\`\`

${fenced(again.output)}

The tab _Concertina_ of the Control UI shows the same figures with charts.

## Duration

${steps.map(([name, { seconds }]) => `- ${name}: ${seconds.toFixed(1)} s`).join("\n")}

${all.toFixed(0)} s in total, on two cores. Each \`openclaw\` command needs some seconds to start.

Read on with the [concepts](concepts.md), the [options](options.md), or [troubleshooting](troubleshooting.md).
`;
  if (process.env.CONCERTINA_WRITE) fs.writeFileSync(PAGE, page);
  assert.equal(shape(fs.readFileSync(PAGE, "utf8")), shape(page));
});

/** Returns every OpenClaw command in the pages, verbatim. */
function named() {
  const pages = [
    "README.md",
    ...fs
      .readdirSync(path.join(root, "docs"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => path.join("docs", name)),
  ];
  const text = pages.map((page) => fs.readFileSync(path.join(root, page), "utf8")).join("\n");
  const found = [...text.matchAll(/^openclaw ([^#\n]+)|`openclaw ([^`]+)`/gm)].map(([, line, inline]) =>
    (line ?? inline).trim().replace(/\s+/g, " "),
  );
  return [...new Set(found)];
}

test("every OpenClaw command that a document names works", async () => {
  const [{ sessionId }] = (await host.openclawJson(["concertina", "stats"])).sessions;
  const asked = {
    DIR: path.join(host.root, "unfolded"),
    ID: sessionId,
    WORDS: "refund",
    "page.html": path.join(host.root, "page.html"),
  };
  // Answers to questions of the terminal, as options.
  const said = {
    "plugins install openclaw-concertina": ["--force", "--accept-capabilities"],
    [`concertina purge --session ID`]: ["--yes"],
  };
  const commands = named().toSorted((one, other) => Number(one.includes("purge")) - Number(other.includes("purge")));
  assert.ok(commands.length > 10, commands.join("\n"));
  for (const line of commands) {
    // The first needs a service manager, and the gateway here is not a service. The other needs a database: see
    // shared-store.test.mjs.
    if (line === "gateway restart" || line.startsWith("concertina migrate")) continue;
    const args = [...line.split(" ").map((word) => asked[word] ?? word), ...(said[line] ?? [])];
    const { code, output, errors } = await host.run(args);
    // The status of `doctor` says what it found, such as an engine that an earlier command has switched off.
    const expected =
      line !== "concertina doctor" ? 0 : /^failure /m.test(output) ? 1 : /^warning /m.test(output) ? 3 : 0;
    assert.equal(code, expected, `openclaw ${line}: status ${code}\n${output}${errors}`);
  }
  assert.ok(fs.readdirSync(asked.DIR).length > 0 && fs.existsSync(asked["page.html"]));
});
