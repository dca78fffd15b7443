// Writes every file that is derived from the core's option table, the TypeScript sources, Cargo.lock and a catalogue of
// models: `npm run generate`. With `--check` it writes nothing and fails if a file is out of date.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

import { compileTypeScript } from "./build.mjs";
import { example } from "./cargo.mjs";
import { NOTICES, notices } from "./notices.mjs";
import { priceList } from "./price-list.mjs";
import { main, root, run } from "./steps.mjs";

const require = createRequire(import.meta.url);
const check = process.argv.includes("--check");
const stale = [];

function write(file, text) {
  const target = path.join(root, file);
  if (existsSync(target) && readFileSync(target, "utf8") === text) return;
  if (check) stale.push(file);
  else writeFileSync(target, text);
}

/** Returns the core's description of the options, and the rows of a host's settings page. */
async function described() {
  return JSON.parse(await example("read the option table", "describe_options", [], { quiet: true }));
}

/**
 * Groups options by the part of their name before the dot. Options without a dot are in the group with the empty name.
 */
function grouped(options) {
  const groups = new Map([["", []]]);
  for (const option of options) {
    const [group, name] = option.name.includes(".") ? option.name.split(".") : ["", option.name];
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push({ ...option, name });
  }
  return groups;
}

function optionsType(options) {
  const field =
    (indent) =>
    ({ name, doc, default: value, byThrift, minimum, typeScript }) => {
      const least = minimum === null ? "" : `, at least ${minimum}`;
      const usual = byThrift ? `by thrift ${byThrift.join(", ")}` : JSON.stringify(value);
      return `${indent}/** ${doc} Default ${usual}${least}. */\n${indent}${name}?: ${typeScript};\n`;
    };
  const fields = [...grouped(options)].map(([group, members]) =>
    group === "" ? members.map(field("  ")).join("") : `  ${group}?: {\n${members.map(field("    ")).join("")}  };\n`,
  );
  return `// Generated from the core's option table by \`npm run generate\`. Do not edit.\n\n/** Every option. */\nexport interface Options {\n${fields.join("")}}\n`;
}

/** Returns the types that the addon exports, as napi's macros emit them while `node/src` is compiled. */
async function addonTypes() {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-types-"));
  try {
    const check = ["check", "--quiet", "--locked", "--profile", "checked", "-p", "concertina-node"];
    await run("read the addon's types", "cargo", check, { quiet: true, env: { NAPI_TYPE_DEF_TMP_FOLDER: dir } });
    const rows = readFileSync(path.join(dir, "concertina-node"), "utf8")
      .trim()
      .split("\n")
      .map((row) => JSON.parse(row));
    const members = (def) =>
      def
        .split("\n")
        .map((line) => `  ${line.replace(/^ (?=[^ *])/, "")}\n`)
        .join("");
    const methods = (name) =>
      rows
        .filter((row) => row.kind === "impl" && row.name === name)
        .map(({ def }) => members(def))
        .join("");
    const form = {
      interface: ({ name, def }) => `interface ${name} {\n${members(def)}}`,
      struct: ({ name, def }) => `declare class ${name} {\n${def && members(def)}${methods(name)}}`,
      fn: ({ def }) => `declare ${def}`,
      type: ({ name, def }) => `type ${name} =\n${def.replace(/\n(?! *\|)/g, " ")}`,
    };
    const declared = rows
      .filter(({ kind }) => kind !== "impl")
      .map((row) => `${row.js_doc}export ${form[row.kind](row)}\n`);
    return `// Generated from node/src by \`npm run generate\`. Do not edit.\nimport type { ContentType, EpochReason, ErrorCode, FoldReason, Language, RulesLevel, StageName } from "../library/api.js";\nimport type { FoldedOriginal, KnownSession, StoredFigures } from "../library/figures.js";\nimport type { Options } from "./options.js";\n\n${declared.join("\n")}`;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/**
 * Returns the JSON schema for the host. Unknown keys are valid, so that a configuration for a newer version does not
 * prevent a gateway from starting. The plugin reports them.
 */
function schema(options, helpOf) {
  const property = ({ help, default: value, byThrift, minimum, schema: type }) => ({
    ...type,
    ...(minimum === null ? {} : { minimum }),
    ...(byThrift ? {} : { default: value }),
    description: help,
  });
  const object = (properties, rest) => ({ type: "object", additionalProperties: true, properties, ...rest });
  const properties = (members) => Object.fromEntries(members.map((option) => [option.name, property(option)]));
  const { "": flat, ...groups } = Object.fromEntries(
    grouped(options.map((option) => ({ ...option, help: helpOf(option.name) }))),
  );
  const nested = Object.entries(groups).map(([group, members]) => [
    group,
    object(properties(members), { description: helpOf(group) }),
  ]);
  return object({ ...properties(flat), ...Object.fromEntries(nested) });
}

/**
 * Returns the hints for the host's settings page. The host treats a setting as advanced unless it states otherwise, and
 * as a secret if its name contains "secret".
 */
function uiHints(settings, secrets) {
  const sensitive = (name) =>
    secrets.includes(name) ? { sensitive: true } : /secret/i.test(name) ? { sensitive: false } : {};
  const hint = ({ name, section, label, help }) => ({
    label,
    help,
    advanced: section !== "basic",
    tags: [section],
    ...sensitive(name),
  });
  return Object.fromEntries(settings.map((setting) => [setting.name, hint(setting)]));
}

/** Returns the sections of the settings page with the options, and the objects of options, in each. */
function configGroups(settings) {
  const sections = [...new Set(settings.map(({ section }) => section))];
  const named = (section) =>
    settings.filter((setting) => setting.section === section && !setting.name.includes(".")).map(({ name }) => name);
  return sections.map((id, order) => ({
    id,
    title: `${id[0].toUpperCase()}${id.slice(1)}`,
    order,
    properties: named(id),
  }));
}

/** Returns the table of options, section by section, with the plugin's defaults where they differ. */
function table(options, settings, inPlugin) {
  const cell = (value) => `\`${JSON.stringify(value)}\``;
  const placed = options.map((option) => ({ ...option, at: settings.findIndex(({ name }) => name === option.name) }));
  const last = (at) => (at < 0 ? settings.length : at);
  const rows = placed
    .sort((a, b) => last(a.at) - last(b.at))
    .map(({ name, doc, default: value, byThrift, minimum, at }) => {
      const usual = byThrift ? `by thrift ${byThrift.map(cell).join(", ")}` : cell(value);
      const otherwise = name in inPlugin ? `, in OpenClaw ${cell(inPlugin[name])}` : "";
      return `| \`${name}\` | ${settings[at]?.section ?? "not in OpenClaw"} | ${usual}${otherwise} | ${minimum ?? ""} | ${doc} |`;
    });
  return ["| option | section | default | min | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** Returns one declaration file with exactly the exports of the library, so that users read a single file. */
function declarations() {
  const { generateDtsBundle } = require("dts-bundle-generator");
  const entry = {
    filePath: path.join(root, "node/lib/index.ts"),
    output: { noBanner: true, exportReferencedTypes: false },
  };
  const [text] = generateDtsBundle([entry], { preferredConfigPath: path.join(root, "tsconfig.json") });
  return `// Generated from node/lib by \`npm run generate\`. Do not edit.\n/// <reference types="node" />\n\n${text}`;
}

function replaceBetween(file, name, text) {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const old = readFileSync(path.join(root, file), "utf8");
  const [start, end] = [old.indexOf(open), old.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`${file} has no ${open} … ${close}`);
  write(file, `${old.slice(0, start + open.length)}\n${text}\n${old.slice(end)}`);
}

main(import.meta, async () => {
  // The core is compiled with it.
  write("src/plan/price_list.tsv", await priceList());
  const { options, settings, squeezeOnly } = await described();
  write("node/lib/binding/options.ts", optionsType(options));
  write("node/lib/binding/addon.ts", await addonTypes());
  await compileTypeScript();
  write("index.d.cts", declarations());
  const { HOST_DEFAULTS } = require("../dist/node/lib/library/host-defaults.js");
  const inPlugin = options
    .filter(({ name }) => !squeezeOnly.includes(name))
    .map((option) => ({ ...option, default: HOST_DEFAULTS[option.name] ?? option.default }));
  const helpOf = (name) => settings.find((setting) => setting.name === name).help;
  const {
    uiHints: _,
    configGroups: __,
    configSchema: ___,
    ...manifest
  } = JSON.parse(readFileSync(path.join(root, "openclaw.plugin.json"), "utf8"));
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const secrets = manifest.configContracts.secretInputs.paths.map((secret) => secret.path);
  const page = {
    configGroups: configGroups(settings),
    uiHints: uiHints(settings, secrets),
    configSchema: schema(inPlugin, helpOf),
  };
  write("openclaw.plugin.json", `${JSON.stringify({ ...manifest, version, ...page }, null, 2)}\n`);
  replaceBetween("docs/options.md", "options", table(options, settings, HOST_DEFAULTS));
  write(NOTICES, await notices());
  if (stale.length > 0) throw new Error(`out of date: ${stale.join(", ")}; run "npm run generate"`);
});
