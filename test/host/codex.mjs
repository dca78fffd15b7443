// OpenClaw's Codex runtime: its plugin and Codex's app-server, from a folder in which npm has installed both.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const PLUGIN = "@openclaw/codex";

/** A release date that is old enough for every installer. */
const PUBLISHED = "2026-01-01T00:00:00.000Z";

/**
 * Returns the reason to skip the tests, or `false`. The app-server has 330 MB, which is too much to install for every
 * run.
 */
export function withoutCodex() {
  const { CONCERTINA_CODEX: folder } = process.env;
  if (!folder) return `CONCERTINA_CODEX names no folder with ${PLUGIN} in its node_modules`;
  if (!fs.existsSync(path.join(folder, "node_modules", PLUGIN)))
    throw new Error(`there is no node_modules/${PLUGIN} in CONCERTINA_CODEX, ${folder}`);
  return false;
}

/**
 * Installs the plugin into a host as one of OpenClaw's own, because only such a plugin may provide a runtime. Its
 * agents then run in Codex, which sends its requests to `provider` instead of OpenAI.
 */
export async function installCodex(host, provider) {
  const packages = path.join(host.root, "packages");
  fs.mkdirSync(packages);
  const versions = fs
    .globSync(["*/package.json", "@*/*/package.json"], { cwd: path.join(process.env.CONCERTINA_CODEX, "node_modules") })
    .filter((file) => !file.startsWith("@") || file.split(path.sep).length === 3)
    .map((file, index) => packed(path.dirname(file), path.join(packages, `${index}.tar`)));
  const { registry, url } = await serve(versions);
  const config = host.readConfig();
  host.writeConfig({
    ...config,
    models: {
      providers: {
        openai: {
          baseUrl: "https://api.openai.com/v1",
          api: "openai-responses",
          apiKey: "none",
          agentRuntime: { id: "codex" },
          models: [],
        },
      },
    },
    agents: { ...config.agents, defaults: { ...config.agents.defaults, model: { primary: "openai/gpt-5.5" } } },
  });
  const { env } = host;
  host.env = { ...env, npm_config_registry: url, npm_config_cache: path.join(host.root, "cache") };
  await host.openclaw([
    "plugins",
    "install",
    `npm:${PLUGIN}@${versions.find(({ manifest }) => manifest.name === PLUGIN).manifest.version}`,
    "--force",
    "--accept-capabilities",
  ]);
  host.env = env;
  registry.close();
  fs.rmSync(packages, { recursive: true });
  const installed = host.readConfig();
  const args = ["app-server", "-c", `openai_base_url="${provider.url}/v1"`, "--listen", "stdio://"];
  const codex = {
    enabled: true,
    config: { sessionCatalog: { enabled: false }, discovery: { enabled: false }, appServer: { args } },
  };
  host.writeConfig({
    ...installed,
    plugins: { ...installed.plugins, entries: { ...installed.plugins.entries, codex } },
  });
}

/** Packs an installed package as a file that npm can install. */
function packed(name, archive) {
  const directory = path.join(process.env.CONCERTINA_CODEX, "node_modules", name);
  const manifest = JSON.parse(fs.readFileSync(path.join(directory, "package.json"), "utf8"));
  const { status, stderr } = spawnSync(
    "tar",
    ["-cf", archive, "--transform", "s,^[.],package,", "-C", directory, "."],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`packing ${name}: ${stderr}`);
  return {
    manifest,
    archive,
    integrity: `sha512-${createHash("sha512").update(fs.readFileSync(archive)).digest("base64")}`,
  };
}

/** Starts a registry on loopback that has only these versions. */
async function serve(versions) {
  const registry = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://loopback");
    const asked = versions.find(({ archive }) => pathname === `/${path.basename(archive)}`);
    if (asked)
      return void fs
        .createReadStream(asked.archive)
        .pipe(response.writeHead(200, { "content-type": "application/octet-stream" }));
    const name = decodeURIComponent(pathname.slice(1));
    const known = versions.filter(({ manifest }) => manifest.name === name);
    const describe = ({ manifest, archive, integrity }) => {
      const dist = { tarball: `http://${request.headers.host}/${path.basename(archive)}`, integrity };
      return [manifest.version, { ...manifest, _id: `${name}@${manifest.version}`, dist }];
    };
    response.writeHead(known.length > 0 ? 200 : 404, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        name,
        "dist-tags": { latest: known[0]?.manifest.version },
        time: Object.fromEntries(
          ["created", "modified", ...known.map(({ manifest }) => manifest.version)].map((moment) => [
            moment,
            PUBLISHED,
          ]),
        ),
        versions: Object.fromEntries(known.map(describe)),
      }),
    );
  });
  await new Promise((resolve) => registry.listen(0, "127.0.0.1", resolve));
  return { registry, url: `http://127.0.0.1:${registry.address().port}/` };
}
