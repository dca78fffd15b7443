// Writes everything that is derived from the core's option table, the TypeScript sources and Cargo.lock: `npm run generate`.
// With --check it writes nothing and fails when a file is out of date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { NOTICES, notices } from "./notices.mjs";
import { CHECKED, main, root, run } from "./steps.mjs";

const require = createRequire(import.meta.url);
const check = process.argv.includes("--check");
const stale = [];

function write(file, text) {
  const target = path.join(root, file);
  if (existsSync(target) && readFileSync(target, "utf8") === text) return;
  if (check) stale.push(file);
  else writeFileSync(target, text);
}

/** The options as the core describes them. */
async function knobs() {
  return JSON.parse(await run("read the option table", "cargo", ["run", "--quiet", "--locked", ...CHECKED, "--example", "describe_options"], { quiet: true }));
}

/** Options by group: those without a dot in their name under the empty one. */
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
  const field = (indent) => ({ name, doc, default: value, minimum, typeScript }) => {
    const least = minimum === null ? "" : `, at least ${minimum}`;
    return `${indent}/** ${doc} Default ${JSON.stringify(value)}${least}. */\n${indent}${name}?: ${typeScript};\n`;
  };
  const fields = [...grouped(options)].map(([group, members]) =>
    group === "" ? members.map(field("  ")).join("") : `  ${group}?: {\n${members.map(field("    ")).join("")}  };\n`);
  return `// Generated from the core's option table by \`npm run generate\`. Do not edit.\n\n/** Every option. */\nexport interface Options {\n${fields.join("")}}\n`;
}

/** JSON schema for the host. A lenient option takes any value: it is corrected with a warning, not refused. */
function schema(options) {
  const property = ({ doc, default: value, minimum, lenient, schema: type }) => ({
    ...(lenient ? {} : type),
    ...(minimum === null || lenient ? {} : { minimum }),
    default: value,
    description: doc,
  });
  const object = (properties) => ({ type: "object", additionalProperties: false, properties });
  const properties = (members) => Object.fromEntries(members.map((option) => [option.name, property(option)]));
  const { "": flat, ...groups } = Object.fromEntries(grouped(options));
  return object({
    ...properties(flat),
    ...Object.fromEntries(Object.entries(groups).map(([group, members]) => [group, object(properties(members))])),
  });
}

/** The options, and what the plugin sets otherwise. */
function table(options, inPlugin) {
  const cell = (value) => `\`${JSON.stringify(value)}\``;
  const rows = options.map(({ name, doc, default: value, minimum }) => {
    const otherwise = name in inPlugin ? `, in OpenClaw ${cell(inPlugin[name])}` : "";
    return `| \`${name}\` | ${cell(value)}${otherwise} | ${minimum ?? ""} | ${doc} |`;
  });
  return ["| option | default | min | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/** One declaration file from the library's own, so that users read one page. */
function declarations() {
  const lib = path.join(root, "dist", "node", "lib");
  const order = ["options", "api", "errors", "pure", "prose", "fusion", "rewind", "concertina", "fetch-tool", "scope", "context-engine", "sccs"];
  const texts = order.map((name) => readFileSync(path.join(lib, `${name}.d.ts`), "utf8"));
  const visible = new Set([...readFileSync(path.join(lib, "index.d.ts"), "utf8").matchAll(/\b(\w+)(?=[,\s}])/g)].map((found) => found[1]));
  for (const found of texts[1].matchAll(/export (?:interface|type) (\w+)/g)) visible.add(found[1]);
  visible.add("Options");
  const body = texts
    .join("\n")
    .replace(/^import .*?;\n/gms, "")
    .replace(/^export (?:type )?\{[^}]*\};\n/gm, "")
    .replaceAll(/import\("\.\/[\w-]+\.js"\)\./g, "")
    .replace(/^ {4}(?:readonly )?#private;\n/gm, "")
    .replace(/^ {4}private constructor\(.*\);\n/gm, "    private constructor();\n")
    .replace(/^export (?=(?:declare )?(?:function|const|class|interface|type) (\w+))/gm, (_, name) => (visible.has(name) ? "export " : ""));
  return `// Generated from node/lib by \`npm run generate\`. Do not edit.\n/// <reference types="node" />\n\n${body.trimEnd()}\n\nexport {};\n`;
}

function replaceBetween(file, name, text) {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const old = readFileSync(path.join(root, file), "utf8");
  const [start, end] = [old.indexOf(open), old.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`${file} has no ${open} … ${close}`);
  write(file, `${old.slice(0, start + open.length)}\n${text}\n${old.slice(end)}`);
}

main(async () => {
  const options = await knobs();
  write("node/lib/options.ts", optionsType(options));
  await run("compile TypeScript", process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "tsconfig.json"], { quiet: true });
  write("index.d.ts", declarations());
  const { PLUGIN_DEFAULTS } = require("../dist/plugin/defaults.js");
  const inPlugin = options.map((option) => ({ ...option, default: PLUGIN_DEFAULTS[option.name] ?? option.default }));
  const manifest = JSON.parse(readFileSync(path.join(root, "openclaw.plugin.json"), "utf8"));
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  write("openclaw.plugin.json", `${JSON.stringify({ ...manifest, version, configSchema: schema(inPlugin) }, null, 2)}\n`);
  replaceBetween("README.md", "options", table(options, PLUGIN_DEFAULTS));
  write(NOTICES, await notices());
  if (stale.length > 0) throw new Error(`out of date: ${stale.join(", ")}; run "npm run generate"`);
});
