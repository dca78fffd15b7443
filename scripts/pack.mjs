// Packs the packages to publish from the build: the root package, and a package for each platform with a binary in
// `native/`. `npm run pack [-- --out DIR]`. The packages are laid out in `npm/`, which git ignores.
//
// The root package names its platform packages only here and not in package.json. Otherwise npm would look for packages
// of an unpublished version at every install in a clone, and would take whatever somebody had published under their
// names.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

import { NOTICES } from "./notices.mjs";
import { binaryOf, packageOf, platforms } from "./platforms.mjs";
import { main, root, run } from "./steps.mjs";

const manifest = () => JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

/**
 * Returns the manifest of the root package as published: with its platform packages, and without the fields that only a
 * clone needs.
 */
export function rootManifest() {
  const { private: _, scripts: __, devDependencies: ___, files, openclaw, ...rest } = manifest();
  const names = platforms.map(({ name }) => packageOf(name));
  return {
    ...rest,
    files: files.filter((file) => !file.startsWith("native") && file !== NOTICES),
    optionalDependencies: Object.fromEntries(names.map((name) => [name, rest.version])),
    // The host rolls an install back if npm skipped the package of its platform.
    openclaw: { ...openclaw, install: { ...openclaw.install, requiredPlatformPackages: names } },
  };
}

/** Returns the manifest of a platform package. */
export function platformManifest({ name, os, cpu, libc }) {
  const { version, license, repository, engines } = manifest();
  return {
    name: packageOf(name),
    version,
    description: `The binary of openclaw-concertina for ${name}`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    ...(libc ? { libc: [libc] } : {}),
    main: binaryOf(name),
    files: [binaryOf(name), NOTICES],
    engines,
  };
}

/**
 * Lays a package out in `npm/`: its manifest, and copies of the files of the project in `files`, by their names in the
 * package.
 */
function layOut(packageManifest, files) {
  const dir = path.join(root, "npm", packageManifest.name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, "package.json"), `${JSON.stringify(packageManifest, null, 2)}\n`);
  for (const [to, from] of Object.entries(files))
    cpSync(path.join(root, from), path.join(dir, to), { recursive: true });
  return dir;
}

/** Lays out every package that can be packed here. @returns their directories, the root package first */
function layOutAll() {
  rmSync(path.join(root, "npm"), { recursive: true, force: true });
  const published = rootManifest();
  const built = platforms.filter(({ name }) => existsSync(path.join(root, "native", binaryOf(name))));
  return [
    layOut(published, Object.fromEntries(published.files.map((file) => [file, file]))),
    ...built.map((platform) => {
      const file = binaryOf(platform.name);
      return layOut(platformManifest(platform), { [file]: `native/${file}`, LICENSE: "LICENSE", [NOTICES]: NOTICES });
    }),
  ];
}

/**
 * Packs every package into `out`. @returns for each package, the root package first, its name, its archive, and the
 * sizes and files that npm reports
 */
export async function pack(out) {
  mkdirSync(out, { recursive: true });
  const packed = [];
  for (const dir of layOutAll()) {
    const name = path.basename(dir);
    const printed = await run(
      `pack ${name}`,
      "npm",
      ["pack", "--json", "--ignore-scripts", "--pack-destination", out],
      { quiet: true, cwd: dir },
    );
    const [{ filename, size, unpackedSize, files }] = JSON.parse(printed);
    packed.push({
      name,
      dir,
      archive: path.resolve(out, filename),
      size,
      unpackedSize,
      files: files.map((file) => file.path),
    });
  }
  return packed;
}

main(import.meta, async () => {
  const { out } = parseArgs({ options: { out: { type: "string", default: path.join(root, "npm") } } }).values;
  const MB = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  for (const { archive, size, unpackedSize } of await pack(out))
    console.log(`${archive}: ${MB(size)} to download, ${MB(unpackedSize)} unpacked`);
});
