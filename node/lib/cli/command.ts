/** Common parts of the commands. */
import { existsSync, fstatSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ParseArgsConfig } from "node:util";

import type { StorePlace } from "../library/api.js";
import { Concertina } from "../library/concertina.js";
import { bytesOf, nameOf, textIn } from "../formats/files.js";
import type { Options } from "../binding/options.js";
import { STORE_FILE } from "../library/store-file.js";
import { isAgreed } from "./asking.js";

/** The values of options, as given. */
export type Values = Record<string, string | boolean | undefined>;

/** A command of the command line. */
export interface Command {
  /** The arguments in the usage line. */
  usage: string;
  /** The description, and one line for each option that needs one. */
  about: string[];
  options: NonNullable<ParseArgsConfig["options"]>;
  /** The minimum and maximum number of arguments. */
  takes: { least: number; most: number };
  run(args: string[], values: Values): Promise<void>;
}

/** A wrong usage of the command line. The exit status is 2. */
export class UsageError extends Error {}

export const TEXT = { type: "string" } as const;
export const SWITCH = { type: "boolean" } as const;

/** The options that name a store. */
export const STORE = { dir: TEXT, url: TEXT, namespace: TEXT };

/** Returns the text of an option, or undefined. */
export function textOf(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns the number of an option, or `otherwise` if it is absent. @throws UsageError for any other value */
export function numberOf(values: Values, name: string, otherwise: number): number {
  const given = textOf(values, name);
  const value =
    given === undefined || given.trim() === "" ? Number(given === undefined ? otherwise : Number.NaN) : Number(given);
  if (!Number.isFinite(value) || value < 0)
    throw new UsageError(`--${name} is ${JSON.stringify(given)}; it must be a number of at least 0`);
  return value;
}

/** Returns the JSON object of an option, empty if it is absent. @throws UsageError for any other value */
export function objectOf(values: Values, name: string): Record<string, unknown> {
  const given = textOf(values, name) ?? "{}";
  try {
    const value: unknown = JSON.parse(given);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new UsageError(`--${name} is ${JSON.stringify(given)}; it must be a JSON object`);
}

/**
 * Returns the text of a file, or of standard input for `-`. @throws an Error that names a file that cannot be read or
 * is not valid UTF-8
 */
export function readText(file: string): string {
  return textIn(nameOf(file), bytesOf(file));
}

/** The beginning of a URL of any scheme. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/** Returns the value of an option: the text, or for `env:NAME` what that environment variable holds. */
export function givenBy(text: string): string {
  const [, variable] = /^env:(.+)$/.exec(text) ?? [];
  if (variable === undefined) return text;
  const value = (process.env[variable] ?? "").trim();
  if (value === "") throw new UsageError(`the environment variable ${variable} is not set`);
  return value;
}

/**
 * Parses the place of a store: a directory, the URL of a database, or `env:NAME` for an environment variable that
 * contains either. A URL in a variable does not show in a list of processes. @throws UsageError for an empty name, for
 * a URL of another scheme, which is not repeated because it may contain a password, and for a directory with a
 * namespace
 */
export function placeNamed(name: string, namespace: string | undefined): StorePlace {
  const place = givenBy(name);
  if (/^postgres(ql)?:\/\//.test(place)) return { url: place, namespace };
  if (ADDRESS.test(place)) throw new UsageError("a store's address must begin with postgresql://");
  if (place === "") throw new UsageError("the place of the store is empty; it must be a directory or an address");
  if (namespace !== undefined) throw new UsageError("a namespace needs a database; a directory has none");
  return { dir: place };
}

/** Returns the place of `--dir` or `--url`, or `otherwise` if neither is given. @throws UsageError for both or none */
export function placeAsked(values: Values, otherwise?: string): StorePlace {
  const [dir, url, namespace] = ["dir", "url", "namespace"].map((name) => textOf(values, name));
  if (dir !== undefined && url !== undefined) throw new UsageError("--dir and --url exclude each other");
  const name = url ?? dir ?? otherwise;
  if (name === undefined) throw new UsageError("name the store with either --dir or --url");
  const place = placeNamed(name, namespace);
  if (url !== undefined && place.url === undefined)
    throw new UsageError("--url is not the address of a database; it must begin with postgresql://");
  return place;
}

/** Throws if a directory contains no store. Opening it would create one. */
export function needStore({ dir }: StorePlace): void {
  if (dir !== undefined && !existsSync(path.join(dir, STORE_FILE)))
    throw new Error(`${dir} contains no store: it has no file ${STORE_FILE}`);
}

/** Reading ignores the age of originals: only the store's owner decides their time to live. */
const KEEPS_ALL: Options = { sccsStorageTtlSeconds: 2 ** 40 };

/** Opens the store of `--dir` or `--url`, which must exist, and runs `body` with it. */
export async function withStore(
  values: Values,
  body: (concertina: Concertina) => Promise<void>,
  options = KEEPS_ALL,
): Promise<void> {
  const place = placeAsked(values);
  needStore(place);
  const concertina = await Concertina.open({ ...options, ...place });
  try {
    await body(concertina);
  } finally {
    await concertina.close();
  }
}

/**
 * Returns true if something may be removed: `--yes` is set, or the user at the terminal agrees. @throws UsageError if
 * there is no terminal
 */
export async function mayRemove(values: Values, warning: string): Promise<boolean> {
  if (values.yes) return true;
  console.error(warning);
  if (!process.stdin.isTTY)
    throw new UsageError(
      "nothing was removed, because standard input is not a terminal and nobody can be asked; use --yes to remove without asking",
    );
  const isMeant = await isAgreed("Remove them? [y/N] ");
  if (!isMeant) console.error("Nothing was removed.");
  return isMeant;
}

/**
 * Prints on standard output. A file is written synchronously, because Node's stream loses data without an error when
 * the disk is full.
 */
export function print(data: string | Uint8Array): void {
  if (fstatSync(process.stdout.fd).isFile()) writeFileSync(process.stdout.fd, data);
  else process.stdout.write(data);
}

/** Prints one line of JSON on standard output. */
export function printJson(value: unknown): void {
  print(`${JSON.stringify(value)}\n`);
}
