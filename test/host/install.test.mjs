// Tests of installing the published package by its name on a machine without compilers, and of an installation in which
// npm leaves out the binary.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { withoutCompilers } from "../tools.mjs";
import { Host, packedPlugin } from "./host.mjs";
import { playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { about, findResult, isFolded } from "./reading.mjs";
import { fillWorkspace, testOutput, turns } from "./session.mjs";

/**
 * Returns the address of the registry of `CONCERTINA_REGISTRY`: the complete one, or one without the archives of the
 * platform packages.
 */
const registry = (kind) => new URL(`../${kind}/`, process.env.CONCERTINA_REGISTRY).href;

let host;
let provider;

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "install", provider });
  fillWorkspace(host.workspace);
  host.env.PATH = withoutCompilers(path.join(host.root, "tools"));
  // With a new cache, npm must download everything.
  host.env.npm_config_cache = path.join(host.root, "cache");
});

after(async () => {
  await host?.remove();
  await provider?.stop();
});

const install = (spec, kind) => {
  host.env.npm_config_registry = registry(kind);
  return host.run(["plugins", "install", spec, "--force", "--accept-capabilities"]);
};

const binaries = () => fs.globSync("npm/projects/**/*.node", { cwd: host.state });

test("an install that npm leaves without the platform's package is taken back", async () => {
  const { code, output, errors } = await install(`npm-pack:${packedPlugin()}`, "lost");
  assert.notEqual(code, 0, output);
  assert.match(
    `${output}${errors}`,
    /required current-platform package\(s\) missing or incomplete: openclaw-concertina-/,
  );
  assert.deepEqual(fs.globSync("npm/projects/*/node_modules/openclaw-concertina", { cwd: host.state }), []);
  assert.equal(host.readConfig().plugins?.entries?.concertina, undefined);
});

test("by its name it installs with one binary, and folds", async () => {
  const { code, output, errors } = await install("npm:openclaw-concertina", "whole");
  assert.equal(code, 0, `${output}${errors}`);
  assert.equal(binaries().length, 1, binaries().join());
  assert.equal((await host.openclawJson(["plugins", "inspect", "concertina", "--runtime"])).plugin.status, "loaded");
  const config = host.readConfig();
  config.plugins.entries.concertina.config = { sccsCompressThreshold: 3000 };
  host.writeConfig(config);
  await host.start();
  const [played] = await playTurns(host, provider, "agent:main:work", [
    turns.find(({ user }) => user.includes("Run the tests")),
  ]);
  assert.ok(isFolded(findResult(played.requests[1], about("sh run-tests.sh")).text, testOutput(false)));
  assert.doesNotMatch(host.log, /degraded/);
});
