// Tests of where the loader looks for the addon: in its package, or where Node itself finds that, and nowhere else.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { root } from "../scripts/steps.mjs";
import { freshDir } from "./conversation.mjs";

const require = createRequire(import.meta.url);
const { platformName } = require("../dist/node/lib/binding/native.js");
const source = path.join(root, "dist", "node", "lib", "binding", "native.js");
const binary = `concertina.${platformName()}.node`;
const separate = `openclaw-concertina-${platformName()}`;

/** Returns the loader as bundlers emit it: within a function, in one file with other code. */
const bundled = () =>
  `var module_ = { exports: {} };\n(function (exports, module) {\n${readFileSync(source, "utf8")}\n})(module_.exports, module_);\nmodule.exports = module_.exports;\n`;

/** Writes the loader into a folder, under the names that bundles and copies have. Returns its files. */
function placed(folder) {
  const files = [
    ["native.js", readFileSync(source)],
    ["bundle.cjs", bundled()],
    ["dist/node/lib/binding/native.js", readFileSync(source)],
    ["dist/node/lib/bundle.cjs", bundled()],
  ];
  return files.map(([name, text]) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(path.join(path.dirname(file), "package.json"), '{ "type": "commonjs" }');
    writeFileSync(file, text);
    return file;
  });
}

/** Plants files where a library could be searched, with the library's names. */
function plant(folder) {
  for (const place of ["native", ".", "build", "dist/native", "prebuilds"]) {
    mkdirSync(path.join(folder, place), { recursive: true });
    for (const name of [binary, `${separate}.node`, "concertina.node", "native.node"])
      writeFileSync(path.join(folder, place, name), "planted");
  }
}

/** Returns what each loader opens as a library and how it ends, in a separate process. */
function openedBy(files, { cwd, env = {} }) {
  const program = `const opened = []; const { dlopen } = process;
    process.dlopen = (module, file, ...rest) => { opened.push(require("fs").realpathSync(file)); return dlopen(module, file, ...rest); };
    const told = JSON.parse(process.argv[1]).map((file) => { try { return { tokens: require(file).native().countTokens("a b c") }; } catch ({ code, message }) { return { code, message }; } });
    console.log(JSON.stringify({ opened, told }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", program, JSON.stringify(files)], {
    encoding: "utf8",
    cwd,
    env: { ...process.env, ...env },
  });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

// Covers a copy and a bundle with four names in folders of each depth from 0 to 6, with files planted in every parent
// folder, in the working directory and in NODE_PATH, with five folder names and four file names.
test("a bundled loader never loads a library from a folder around it, and its error states the remedy", () => {
  const top = freshDir();
  const [cwd, onPath] = [freshDir(), freshDir()];
  [cwd, onPath].forEach(plant);
  const files = [];
  let folder = top;
  for (const name of ["a", "b", "dist", "node", "lib", "c", "d"]) {
    plant(folder);
    files.push(...placed(folder));
    folder = path.join(folder, name);
    mkdirSync(folder, { recursive: true });
  }
  const { opened, told } = openedBy(files, { cwd, env: { NODE_PATH: onPath } });
  assert.deepEqual(opened, []);
  assert.equal(told.length, 28);
  for (const [index, { code, message }] of told.entries()) {
    assert.equal(code, "CONCERTINA_NO_BINARY", message);
    assert.ok(message.includes(realpathSync(files[index])), message);
    assert.match(message, /Mark it as external in the bundler \(esbuild: --external:openclaw-concertina\)/);
  }
  // Not even if the program that includes it has its own name and version.
  writeFileSync(path.join(top, "package.json"), '{ "name": "an-app", "version": "1.0.0" }');
  assert.deepEqual(openedBy(files, { cwd: top }).opened, []);
});

// Covers the same loaders with a package that Node finds: next to them, above them, in NODE_PATH.
test(
  "a bundled loader loads the library of the package that Node resolves",
  { skip: process.platform === "win32" },
  () => {
    const ours = path.join(realpathSync(root), "native", binary);
    for (const depth of [0, 2, 4]) {
      for (const isOnPath of [false, true]) {
        const top = freshDir();
        const modules = isOnPath ? freshDir() : path.join(top, "node_modules");
        mkdirSync(modules, { recursive: true });
        symlinkSync(root, path.join(modules, "openclaw-concertina"));
        plant(top);
        const files = placed(path.join(top, ...["a", "b", "c", "d"].slice(0, depth)));
        const { opened, told } = openedBy(files, { cwd: top, env: isOnPath ? { NODE_PATH: modules } : {} });
        assert.deepEqual(
          told,
          files.map(() => ({ tokens: 3 })),
          JSON.stringify(told),
        );
        assert.deepEqual(new Set(opened), new Set([ours]));
      }
    }
  },
);

test(
  "a package loads its own binary first and then that of its platform's package, wherever it is installed",
  { skip: process.platform === "win32" },
  () => {
    const top = freshDir();
    const installed = path.join(top, "node_modules", "openclaw-concertina");
    cpSync(path.join(root, "dist"), path.join(installed, "dist"), { recursive: true });
    cpSync(path.join(root, "package.json"), path.join(installed, "package.json"));
    const file = path.join(installed, "dist", "node", "lib", "binding", "native.js");
    plant(top);
    const [none] = openedBy([file], { cwd: top }).told;
    assert.equal(none.code, "CONCERTINA_NO_BINARY");
    assert.ok(none.message.includes(`the package ${separate} exists`), none.message);
    // The platform's package is next to it, or where pnpm puts it: only the package itself can resolve it.
    for (const place of [path.join(installed, "node_modules"), path.join(top, "node_modules")]) {
      const own = path.join(place, separate);
      cpSync(path.join(root, "native", binary), path.join(own, binary), { recursive: true });
      writeFileSync(path.join(own, "package.json"), JSON.stringify({ name: separate, main: binary }));
      const {
        opened,
        told: [{ tokens }],
      } = openedBy([file], { cwd: top });
      assert.deepEqual(
        [opened, tokens],
        [[realpathSync(path.join(path.join(installed, "node_modules"), separate, binary))], 3],
      );
    }
  },
);

test("an executable that cannot be read is assumed to use glibc", { skip: process.platform !== "linux" }, () => {
  const { usesMusl } = require("../dist/node/lib/binding/native.js");
  assert.equal(usesMusl(path.join(freshDir(), "nowhere")), false);
});
