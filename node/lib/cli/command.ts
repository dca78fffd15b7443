/** What the commands of the command line have in common. */
import { existsSync, fstatSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ParseArgsConfig } from "node:util";

import type { StorePlace } from "../library/api.js";
import { Concertina } from "../library/concertina.js";
import { bytesOf, nameOf, textIn } from "../formats/files.js";
import type { Options } from "../binding/options.js";
import { STORE_FILE } from "../library/store-file.js";
import { isAgreed } from "./asking.js";

/** Values of options, as given. */
export type Values = Record<string, string | boolean | undefined>;

/** One command. */
export interface Command {
  /** What stands after its name. */
  usage: string;
  /** One line, and one for each option that needs words. */
  about: string[];
  options: NonNullable<ParseArgsConfig["options"]>;
  /** How many arguments it takes. */
  takes: { least: number; most: number };
  run(args: string[], values: Values): Promise<void>;
}

/** A mistake of the caller: exit status 2. */
export class UsageError extends Error {}

export const TEXT = { type: "string" } as const;
export const SWITCH = { type: "boolean" } as const;

/** The options that say which store. */
export const STORE = { dir: TEXT, url: TEXT, namespace: TEXT };

/** The option's text. */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

/** A number that an option gives. @throws UsageError for anything else. */
export function numberOf(values: Values, name: string, otherwise: number): number {
  const given = textOf(values, name);
  const value =
    given === undefined || given.trim() === "" ? Number(given === undefined ? otherwise : Number.NaN) : Number(given);
  if (!Number.isFinite(value) || value < 0)
    throw new UsageError(`--${name} is ${JSON.stringify(given)}; it must be a number of at least 0`);
  return value;
}

/** An option's JSON object. @throws UsageError for anything else. */
export function objectOf(values: Values, name: string): Record<string, unknown> {
  const given = textOf(values, name) ?? "{}";
  try {
    const value: unknown = JSON.parse(given);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new UsageError(`--${name} is ${JSON.stringify(given)}; it must be a JSON object`);
}

/**
 * The text of a file, or of standard input for `-`. @throws an Error that names a file that cannot be read, or is not
 * UTF-8 to the last byte.
 */
export function readText(file: string): string {
  return textIn(nameOf(file), bytesOf(file));
}

/** The beginning of an address, of whatever kind. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/**
 * The place that `dir` or `url` names: a directory, the address of a database, or `env:NAME`, an environment variable
 * that holds such an address, which then stands in no list of processes. @throws UsageError for an empty name, for an
 * address of another kind, which is not shown because it may hold a password, and for a directory with a namespace.
 */
export function placeNamed(name: string, namespace: string | undefined): StorePlace {
  const [, variable] = /^env:(.+)$/.exec(name) ?? [];
  const place = variable === undefined ? name : (process.env[variable] ?? "").trim();
  if (variable !== undefined && place === "") throw new UsageError(`the environment variable ${variable} is not set`);
  if (/^postgres(ql)?:\/\//.test(place)) return { url: place, namespace };
  if (ADDRESS.test(place)) throw new UsageError("a store's address must begin with postgresql://");
  if (place === "") throw new UsageError("the name of a store is empty; it must be a directory or an address");
  if (namespace !== undefined) throw new UsageError("a namespace is a tenant in a database; a directory has none");
  return { dir: place };
}

/** Fails where a directory holds no store: asking makes none. */
export function needStore({ dir }: StorePlace): void {
  if (dir !== undefined && !existsSync(path.join(dir, STORE_FILE)))
    throw new Error(`${dir} holds no store: there is no ${STORE_FILE} in it`);
}

/** What reads goes by no age: how long an original lives is for the store's owner to say. */
const KEEPS_ALL: Options = { sccsStorageTtlSeconds: 2 ** 40 };

/** Opens the store of `--dir` or `--url`, which must be there. */
export async function withStore(
  values: Values,
  body: (concertina: Concertina) => Promise<void>,
  options = KEEPS_ALL,
): Promise<void> {
  const [dir, url, namespace] = ["dir", "url", "namespace"].map((name) => textOf(values, name));
  if ((dir === undefined) === (url === undefined)) throw new UsageError("say which store with --dir, or with --url");
  const place = placeNamed(url ?? dir ?? "", namespace);
  if (url !== undefined && place.url === undefined)
    throw new UsageError("--url is no address of a database; it must begin with postgresql://");
  needStore(place);
  const concertina = await Concertina.open({ ...options, ...place });
  try {
    await body(concertina);
  } finally {
    await concertina.close();
  }
}

/**
 * Whether what would be removed may be: with `--yes`, or where the answer at the terminal is yes. @throws UsageError
 * where nobody can be asked.
 */
export async function mayRemove(values: Values, warning: string): Promise<boolean> {
  if (values.yes) return true;
  console.error(warning);
  if (!process.stdin.isTTY)
    throw new UsageError(
      "nothing was removed: standard input is no terminal, so nobody can be asked. --yes removes without asking.",
    );
  const isMeant = await isAgreed("Remove them? [y/N] ");
  if (!isMeant) console.error("Nothing was removed.");
  return isMeant;
}

/**
 * Prints on standard output. A file is written to its last byte or not without an error: Node's stream forgets what a
 * disk did not take.
 */
export function print(data: string | Uint8Array): void {
  if (fstatSync(process.stdout.fd).isFile()) writeFileSync(process.stdout.fd, data);
  else process.stdout.write(data);
}

/** One line of JSON on standard output. */
export function printJson(value: unknown): void {
  print(`${JSON.stringify(value)}\n`);
}
