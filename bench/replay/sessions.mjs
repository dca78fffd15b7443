// Finds recorded sessions, with names and families, in files and directories. `node/lib/formats/session-file.ts`
// defines the formats of a session file.
//
// Subdirectories are not read: archives often contain the same sessions in a second form.
import { readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(import.meta.url);
const { readSession } = require("../../dist/node/lib/formats/session-file.js");

const SUFFIX = /(?:\.messages)?\.jsonl?(?:\.gz)?$/;

/**
 * Returns files that may be sessions: named files, and those in directories with a matching suffix. `named` ones must
 * be sessions.
 */
export function find(inputs) {
  return inputs.flatMap((input) => {
    const about = statSync(input, { throwIfNoEntry: false });
    if (!about) throw new Error(`there is no file or directory ${input}`);
    if (!about.isDirectory()) return [{ file: input, named: true }];
    const names = readdirSync(input)
      .filter((name) => SUFFIX.test(name))
      .sort();
    if (names.length === 0) throw new Error(`${input} contains no .json or .jsonl, also not as .gz`);
    return names.map((name) => ({ file: path.join(input, name), named: false }));
  });
}

/** Returns the session's name: its file name without suffixes. */
export const nameOf = (file) => path.basename(file).replace(SUFFIX, "");

/**
 * Returns the family, that is the project or agent, of a session: the first two words of the name, or the directory if
 * the name is only an id.
 */
export function familyOf(file) {
  const words = nameOf(file).match(/^[a-z]+-[a-z]+(?=-)/i);
  return words ? words[0] : path.basename(path.dirname(path.resolve(file)));
}

/** Loads a session that contains a model call. @throws an Error that names the file otherwise */
export function load(file) {
  const messages = readSession(file);
  if (!messages.some((message) => message.role === "assistant")) throw new Error(`${file} contains no model call`);
  return { name: nameOf(file), family: familyOf(file), messages };
}

/** Returns the first N sessions, or those whose name matches a glob. */
export function select(found, filter) {
  if (filter === undefined) return found;
  if (/^\d+$/.test(filter)) return found.slice(0, Number(filter));
  const pattern = filter
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return found.filter(({ file }) => new RegExp(`^${pattern}$`).test(nameOf(file)));
}
