// A PostgreSQL test server: a new cluster in its own directory.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

import { freePort } from "./port.mjs";

/** The folder in which Debian installs each version. */
const DEBIAN = "/usr/lib/postgresql";
const NEEDED = ["initdb", "pg_ctl", "psql"];

/**
 * Returns the folder of PostgreSQL's programs. Returns undefined if there are none, or if the tests run as root, which
 * may not run a server, and there is no other user that may.
 */
export function programs() {
  if (process.getuid?.() === 0 && user().uid === undefined) return undefined;
  const given = process.env.CONCERTINA_POSTGRES;
  const versions = fs.existsSync(DEBIAN)
    ? fs.readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one))
    : [];
  const installed = versions.map((version) => path.join(DEBIAN, version, "bin"));
  return (given ? [given] : installed).find((dir) => NEEDED.every((name) => fs.existsSync(path.join(dir, name))));
}

/** Returns the user that runs the server if the tests run as root, because root may not run it. */
function user() {
  const [, , uid, gid] =
    process.getuid?.() === 0
      ? (/^postgres:.*$/m.exec(fs.readFileSync("/etc/passwd", "utf8"))?.[0] ?? "").split(":")
      : [];
  return uid === undefined ? {} : { uid: Number(uid), gid: Number(gid) };
}

export class Database {
  #user = user();
  #root = fs.mkdtempSync(path.join(os.tmpdir(), "concertina-postgres-"));
  #data = path.join(this.#root, "data");

  /** Creates a cluster and starts it. Its users can connect with any password. */
  async start() {
    const { uid, gid } = this.#user;
    if (uid !== undefined) fs.chownSync(this.#root, uid, gid);
    this.port = await freePort();
    this.#run("initdb", ["-D", this.#data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"]);
    this.up();
    return this;
  }

  /** Returns the address, with a password that must not appear in any output. */
  get url() {
    return `postgresql://postgres:hidden-in-the-harbour@127.0.0.1:${this.port}/postgres?sslmode=disable`;
  }

  up() {
    const settings = `-p ${this.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
    this.#run("pg_ctl", ["-w", "-D", this.#data, "-l", path.join(this.#root, "log"), "-o", settings, "start"]);
  }

  /** Stops the server without a shutdown, as in a crash. */
  kill() {
    this.#run("pg_ctl", ["-w", "-m", "immediate", "-D", this.#data, "stop"]);
  }

  /** Returns the result of a query, one line for each row. */
  query(sql) {
    return this.#run("psql", ["-X", "-A", "-t", "-c", sql, this.url]).trim().split("\n");
  }

  remove() {
    try {
      this.kill();
    } catch {
      // A test may have stopped it already.
    }
    fs.rmSync(this.#root, { recursive: true, force: true });
  }

  #run(program, args) {
    return execFileSync(path.join(programs(), program), args, {
      ...this.#user,
      cwd: this.#root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  }
}
