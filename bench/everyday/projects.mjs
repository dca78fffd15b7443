// The scratch projects that commands run in: real sources where possible, and small ones from `sources/` where commands
// must fail.
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";

import { crates } from "../../scripts/cargo.mjs";
import { root } from "../../scripts/steps.mjs";
import * as suites from "./suites.mjs";

const sources = path.join(import.meta.dirname, "sources");

/** Returns the folder with cargo's sources of a crate that this project depends on. */
function crate(name) {
  const found = readdirSync(crates).flatMap((index) =>
    readdirSync(path.join(crates, index))
      .filter((file) => new RegExp(`^${name}-\\d`).test(file))
      .map((file) => path.join(crates, index, file)),
  );
  if (found.length === 0) throw new Error(`no sources of ${name}`);
  return found.sort().at(-1);
}

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Functions that create a project, by name. Each receives the folder to fill, `sh` (which runs a command there, with
 * the tools installed), and the scratch folder. If it returns a path, the commands run there instead.
 */
const makers = {
  project: () => root,
  empty() {},

  async c(dir) {
    cpSync(path.join(crate("zstd-sys"), "zstd", "lib"), dir, { recursive: true });
    cpSync(path.join(sources, "c"), dir, { recursive: true });
  },

  async java(dir) {
    mkdirSync(path.join(dir, "out"));
    cpSync(path.join(sources, "java"), path.join(dir, "src"), { recursive: true });
    cpSync(path.join(sources, "broken"), path.join(dir, "broken"), { recursive: true });
  },

  async javascript(dir, { scratch }) {
    for (const name of ["express", "mocha"])
      cpSync(path.join(scratch, "node_modules", name, "lib"), path.join(dir, "src", name), { recursive: true });
    cpSync(path.join(sources, "javascript", "orders.ts"), path.join(dir, "orders.ts"));
    writeFileSync(
      path.join(dir, "eslint.config.mjs"),
      'import js from "@eslint/js";\nexport default [js.configs.all];\n',
    );
  },

  async python(dir, { scratch }) {
    const lib = path.join(scratch, "python", "lib");
    const packages = path.join(lib, readdirSync(lib)[0], "site-packages");
    for (const name of ["flask", "click", "jinja2", "requests", "markupsafe", "pyflakes"])
      cpSync(path.join(packages, name), path.join(dir, "src", name), {
        recursive: true,
        filter: (file) => !file.includes("__pycache__"),
      });
  },

  async shell(dir, { sh }) {
    cpSync(path.join(sources, "shell"), dir, { recursive: true });
    // Shell scripts that exist on every Debian system.
    await sh(
      "grep -lE '^#! ?/bin/(ba)?sh' $(find /usr/bin /etc/init.d /usr/share/git-core /usr/sbin -type f -size -60k 2>/dev/null) 2>/dev/null | sort | head -n 25 | while read -r f; do cp $f $(basename $f .sh).sh; done",
    );
  },

  async rust(dir) {
    cpSync(crate("regex-syntax"), dir, { recursive: true });
    cpSync(path.join(sources, "rust", "broken.rs"), path.join(dir, "broken.rs"));
    mkdirSync(path.join(dir, "tests"), { recursive: true });
    cpSync(path.join(sources, "rust", "windows.rs"), path.join(dir, "tests", "windows.rs"));
    // The published manifest lists its tests; with this one cargo finds them.
    writeFileSync(
      path.join(dir, "Cargo.toml"),
      '[package]\nname = "regex-syntax"\nversion = "0.0.1"\nedition = "2021"\n\n[features]\ndefault = ["std", "unicode"]\nstd = []\narbitrary = []\nunicode = ["unicode-age", "unicode-bool", "unicode-case", "unicode-gencat", "unicode-perl", "unicode-script", "unicode-segment"]\nunicode-age = []\nunicode-bool = []\nunicode-case = []\nunicode-gencat = []\nunicode-perl = []\nunicode-script = []\nunicode-segment = []\n\n[workspace]\n',
    );
  },

  async gomod(dir) {
    cpSync(path.join(sources, "go"), path.join(dir, "windows"), { recursive: true });
    writeFileSync(path.join(dir, "go.mod"), "module example.org/sums\n\ngo 1.19\n");
  },

  async pytests(dir) {
    cpSync(path.join(sources, "python"), dir, { recursive: true });
    writeFileSync(path.join(dir, "test_durations.py"), suites.pytest());
  },
  async unittests(dir) {
    cpSync(path.join(sources, "python"), dir, { recursive: true });
    writeFileSync(path.join(dir, "test_durations.py"), suites.unittest());
  },
  nodetests: (dir) => suite(dir, suites.nodeTest()),
  mochas: (dir) => suite(dir, suites.mocha(), "test"),
  jests: (dir) => suite(dir, suites.globals()),
  async vitests(dir) {
    suite(dir, suites.globals());
    writeFileSync(path.join(dir, "vitest.config.mjs"), "export default { test: { globals: true } };\n");
  },
  async rspecs(dir) {
    cpSync(path.join(sources, "ruby"), dir, { recursive: true });
    mkdirSync(path.join(dir, "spec"));
    writeFileSync(path.join(dir, "spec", "durations_spec.rb"), suites.rspec());
  },

  /** Outdated releases, so that the tools have something to report. */
  async packages(dir, { sh }) {
    manifest(dir);
    await sh("npm install --ignore-scripts --no-audit --no-fund");
  },
  async yarn(dir, { sh }) {
    manifest(dir);
    await sh("yarn install --ignore-scripts --ignore-engines");
  },
  async pnpm(dir, { sh }) {
    manifest(dir);
    await sh("pnpm install --ignore-scripts");
  },
  async uv(dir, { sh }) {
    writeFileSync(
      path.join(dir, "pyproject.toml"),
      '[project]\nname = "shop"\nversion = "0.1.0"\nrequires-python = ">=3.11"\ndependencies = ["flask", "sqlalchemy", "httpx", "rich"]\n',
    );
    await sh("uv lock --python python3");
  },

  /** A clone of this project with staged, unstaged and untracked changes, branches and a reflog. */
  async repository(dir, { sh }) {
    await sh(`git clone --quiet --no-hardlinks '${root}' .`);
    await sh("git config user.name Recorder; git config user.email recorder@example.org; git checkout -q -b work");
    await sh(
      "for n in $(seq 2 3 92); do git branch topic-$n HEAD~$n; git checkout -q topic-$n; git checkout -q work; done; git branch -u $(git branch --format='%(refname:short)' | head -n 1) work",
    );
    await sh(
      'for n in 1 2 3 4 5; do echo "Line $n" >> README.md; git commit -qam "Readme: line $n"; done; git reset -q --hard HEAD~2',
    );
    await sh(
      "for f in $(git ls-files src | awk 'NR % 7 == 0'); do sed -i 's/self/this/; 3d' $f; done; git add $(git diff --name-only | awk 'NR % 2 == 0'); for n in 1 2 3 4 5 6; do echo $n > notes-$n.txt; done; mkdir drafts; cp README.md drafts/; git mv CHANGELOG.md HISTORY.md; git rm -q --cached rustfmt.toml",
    );
  },

  async keys(dir, { sh }) {
    await sh(
      "openssl req -x509 -newkey rsa:2048 -nodes -keyout private.pem -out certificate.pem -days 30 -subj '/C=NZ/O=Example/CN=example.org' -addext 'subjectAltName=DNS:example.org,DNS:www.example.org,IP:127.0.0.1'",
    );
  },

  async database(dir, { sh }) {
    const cities = ["Auckland", "Bergen", "Cusco", "Dakar", "Essen", "Fukuoka"];
    const words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron"];
    const rows = [
      "create table customers (id integer primary key, name text not null, city text, since date, note text);",
      "create table orders (id integer primary key, customer integer references customers(id), total real, status text, placed text);",
      "create index orders_by_customer on orders(customer);",
      "begin;",
    ];
    for (let n = 1; n <= 240; n++)
      rows.push(
        `insert into customers values (${n}, '${words[n % 8]} ${words[(n * 5) % 7]}', '${cities[(n * n) % 6]}', '20${10 + (n % 15)}-0${1 + (n % 9)}-1${n % 10}', ${n % 9 ? "null" : `'pays late, called ${n % 4} times'`});`,
      );
    for (let n = 1; n <= 900; n++)
      rows.push(
        `insert into orders values (${10_000 + n}, ${1 + ((n * 7919) % 240)}, ${((n * 104_729) % 90_000) / 100}, '${["open", "paid", "paid", "sent"][(n * 31) % 4]}', '2026-0${1 + (n % 9)}-${10 + (n % 19)}T0${n % 10}:${10 + (n % 49)}:00Z');`,
      );
    writeFileSync(path.join(dir, "shop.sql"), [...rows, "commit;"].join("\n"));
    await sh("sqlite3 shop.db < shop.sql");
  },

  async archives(dir, { scratch, sh }) {
    for (const name of ["express", "mocha", "eslint"])
      cpSync(path.join(scratch, "node_modules", name, "lib"), path.join(dir, "src", name), { recursive: true });
    await sh(
      "cp -r src other; for f in $(find other -name '*.js' | sort | awk 'NR % 9 == 0'); do sed -i '5,9d; s/const/let/' $f; done; rm -f $(find other -name '*.js' | sort | awk 'NR % 23 == 0'); echo new > other/new.txt; echo more > other/express/more.txt",
    );
    await sh("tar -czf a.tar.gz src; zip -q -r a.zip src");
  },

  /** A server on loopback. */
  async web(dir) {
    mkdirSync(path.join(dir, "src"), { recursive: true });
    for (let n = 1; n <= 60; n++) writeFileSync(path.join(dir, "src", `part-${n}.bin`), Buffer.alloc(n * 40_000, n));
    await serve();
  },
  /** The server, and connections to it. */
  async connections() {
    await serve();
    for (let n = 0; n < 40; n++) open.push(net.connect(8765, "127.0.0.1").on("error", () => {}));
    open.slice(-12).forEach((socket) => socket.end());
    await new Promise((resolve) => setTimeout(resolve, 300));
  },
};

/** Writes the test files of a suite, and the code that they test. */
function suite(dir, files, folder = ".") {
  mkdirSync(path.join(dir, folder), { recursive: true });
  cpSync(path.join(sources, "javascript", "durations.js"), path.join(dir, folder, "durations.js"));
  writeFileSync(path.join(dir, "package.json"), json({ name: "durations", version: "1.0.0", private: true }));
  for (const [name, text] of files) writeFileSync(path.join(dir, folder, `${name}.test.js`), text);
}

function manifest(dir) {
  writeFileSync(
    path.join(dir, "package.json"),
    json({
      name: "shop",
      version: "1.2.0",
      private: true,
      dependencies: { express: "^4.17.0", lodash: "4.17.20", axios: "^0.27.0", debug: "^3.2.0" },
      devDependencies: { eslint: "^8.40.0", mocha: "^9.2.0", typescript: "~4.9.0" },
    }),
  );
}

const open = [];
let server;

async function serve() {
  if (server) return;
  const http = await import("node:http");
  const large = Buffer.alloc(12_000_000, "concertina ");
  server = http.createServer((request, response) => {
    if (request.url === "/large.bin")
      return response
        .writeHead(200, { "content-type": "application/octet-stream", "content-length": large.length, etag: '"5f1c"' })
        .end(large);
    if (request.url !== "/") return response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
    const rows = Array.from(
      { length: 90 },
      (_, n) => `<li><a href="part-${n}.bin">part-${n}.bin</a> ${n * 40_000}</li>`,
    );
    return response
      .writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" })
      .end(`<!doctype html>\n<title>Parts</title>\n<ul>\n${rows.join("\n")}\n</ul>\n`);
  });
  server.on("connection", (socket) => socket.on("error", () => {}));
  await new Promise((resolve, reject) => server.on("error", reject).listen(8765, "127.0.0.1", 128, resolve));
}

/** Closes the servers and connections of all projects. */
export function close() {
  open.forEach((socket) => socket.destroy());
  server?.closeAllConnections();
  server?.close();
}

/** Returns the folder of a project, which is created on first use. */
export async function project(name, { scratch, sh }) {
  const dir = path.join(scratch, "projects", name);
  if (existsSync(dir) && !["web", "connections"].includes(name)) return made.get(name) ?? dir;
  mkdirSync(dir, { recursive: true });
  made.set(name, (await makers[name](dir, { scratch, sh: (command) => sh(command, dir) })) ?? dir);
  return made.get(name);
}

const made = new Map();
