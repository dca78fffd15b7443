// Reads a store's directory: its originals, and everything as one text to search.

import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { zstdDecompressSync } from "node:zlib";

/**
 * Returns the existing originals of the main agent among some ids, read with the library that the host has installed.
 */
export async function originalsIn(directory, host, ids, now = Date.now()) {
  const [entry] = fs.globSync("**/openclaw-concertina/index.js", { cwd: host.state });
  const { Concertina } = await import(pathToFileURL(path.join(host.state, entry)).href);
  const store = await Concertina.open({ dir: directory });
  const originals = new Map();
  for (const id of ids) {
    const { content, found } = await store.fetch({ refIds: [id], agentId: "main", maxChars: 2 ** 31, now });
    if (found === 1) originals.set(id, content[0].text);
  }
  await store.close();
  return originals;
}

/** The first bytes of a value that zstd has compressed. */
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * Returns everything below a directory: the bytes of its files, and every compressed value in its original form.
 * Invalid UTF-8 is replaced.
 */
export function everythingIn(directory) {
  const names = fs.readdirSync(directory, { recursive: true }).map((name) => path.join(directory, name));
  const files = names.filter((name) => fs.statSync(name).isFile());
  const packed = files.filter((name) => name.endsWith(".sqlite")).flatMap(unpacked);
  return [...names, ...files.map((name) => fs.readFileSync(name, "utf8")), ...packed].join("\n");
}

function unpacked(file) {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const values = tables
    .flatMap(({ name }) => database.prepare(`SELECT * FROM "${name}"`).all())
    .flatMap((row) => Object.values(row));
  database.close();
  const isPacked = (value) => value instanceof Uint8Array && ZSTD.equals(value.subarray(0, ZSTD.length));
  return values.filter(isPacked).map((value) => zstdDecompressSync(value).toString("utf8"));
}
