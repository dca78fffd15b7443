// A package registry on loopback, from which npm, and OpenClaw through it, installs the packages of `npm run pack` as
// users do.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { platformManifest, rootManifest } from "../scripts/pack.mjs";
import { platforms } from "../scripts/platforms.mjs";
import { root } from "../scripts/steps.mjs";

/** A release date that is old enough for every installer. */
const PUBLISHED = "2026-01-01T00:00:00.000Z";

/** Packs the installed dependencies of the root package. @returns their manifests and archives, by name */
function packDependencies(folder) {
  const names = Object.keys(rootManifest().dependencies ?? {});
  const packed = names.map((name) => {
    const cwd = path.join(root, "node_modules", name);
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd, encoding: "utf8" }));
    const manifest = JSON.parse(readFileSync(path.join(cwd, "package.json"), "utf8"));
    return [name, { manifest, archive: path.join(folder, filename) }];
  });
  return new Map(packed);
}

/**
 * Serves the packages that `pack` made, and the dependencies of the root package. Platforms without a binary here have
 * only metadata, which is all that npm reads.
 * @returns its address, that of a registry that has lost the platforms' archives, that of one that never heard of them,
 *   and the way to end it
 */
export async function startRegistry(packed) {
  const archives = new Map(packed.map(({ name, archive }) => [name, archive]));
  const manifests = new Map(
    [rootManifest(), ...platforms.map(platformManifest)].map((manifest) => [manifest.name, manifest]),
  );
  const folder = mkdtempSync(path.join(tmpdir(), "concertina-registry-"));
  const dependencies = packDependencies(folder);
  for (const [name, { manifest, archive }] of dependencies) {
    manifests.set(name, manifest);
    archives.set(name, archive);
  }
  const everywhere = [rootManifest().name, ...dependencies.keys()];
  const server = http.createServer((request, response) => {
    const [, kind, name, file] = decodeURIComponent(new URL(request.url, "http://loopback").pathname).split("/");
    const manifest = kind === "unknown" && !everywhere.includes(name) ? undefined : manifests.get(name);
    const archive = archives.get(name);
    const isLost = archive === undefined || (kind === "lost" && !everywhere.includes(name));
    if (manifest === undefined || (file !== undefined && isLost)) {
      response.writeHead(404, { "content-type": "application/json" }).end('{ "error": "not found" }');
    } else if (file === undefined) {
      const tarball = `http://${request.headers.host}/${kind}/${name}/${path.basename(archive ?? "none.tgz")}`;
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(packument(manifest, tarball, archive)));
    } else {
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(readFileSync(archive));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = (kind) => `http://127.0.0.1:${server.address().port}/${kind}/`;
  return {
    url: at("whole"),
    lost: at("lost"),
    unknown: at("unknown"),
    async stop() {
      await new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the metadata of a package with one version. */
function packument(manifest, tarball, archive) {
  const integrity = `sha512-${createHash("sha512")
    .update(archive ? readFileSync(archive) : "")
    .digest("base64")}`;
  const { name, version } = manifest;
  return {
    name,
    "dist-tags": { latest: version },
    time: { created: PUBLISHED, modified: PUBLISHED, [version]: PUBLISHED },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist: { tarball, integrity } } },
  };
}
