// Tests of the page as a document: its contents, and that nothing escapes from it. Its appearance and behaviour are
// tested in a browser, in test/host.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test from "node:test";

import { Concertina } from "openclaw-concertina";

import { root } from "../scripts/steps.mjs";
import { sampleFigures, sampleHealth, samplePeriods } from "../test/host/sample-figures.mjs";
import { run } from "./cli.mjs";
import { freshDir, staleConversation } from "./conversation.mjs";

const { originalPage, page, periodsOf, writeReport } = createRequire(import.meta.url)(
  "../dist/node/lib/terminal/page.js",
);

const NOW = Date.parse("2026-11-23T14:20:00Z");
const HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028";
const ID = "0123456789abcdef";

/** Returns a page in which every text that a session can choose is hostile. */
function hostilePage() {
  const figures = sampleFigures({ now: NOW, days: 3, sessions: 3 });
  for (const session of figures.sessions) session.sessionKey = HOSTILE;
  for (const epoch of figures.epochs) epoch.reason = HOSTILE;
  for (const fetched of figures.fetched) fetched.refId = HOSTILE;
  const finding = { key: "x", level: "warning", text: HOSTILE, remedy: HOSTILE, since: NOW };
  const health = sampleHealth({ now: NOW, findings: [finding] });
  return page({ periods: [{ days: 0, figures }], health, title: HOSTILE, now: NOW });
}

const elements = (html, name) =>
  [...html.matchAll(new RegExp(`<${name}(?<attributes>[^>]*)>(?<text>.*?)</${name}>`, "gs"))].map(
    ({ groups }) => groups,
  );

test("a session name cannot end the script element and is shown unchanged", () => {
  const { html } = hostilePage();
  const scripts = elements(html, "script");
  assert.deepEqual(
    scripts.map(({ attributes }) => attributes),
    [' type="application/json" id="data"', "", "", "", ""],
  );
  const data = JSON.parse(scripts[0].text);
  assert.equal(data.title, HOSTILE);
  assert.equal(data.periods[0].figures.sessions[0].sessionKey, HOSTILE);
  assert.ok(!html.includes("<img") && !html.includes("alert(1)</script>") && !html.includes("\u2028"));
});

test("only the page's own scripts and styles may run", () => {
  const { html, policy } = hostilePage();
  const hash = ({ text }) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const own = [...elements(html, "script").slice(1), ...elements(html, "style")].map(hash);
  const allowed = [...policy.matchAll(/'sha256-[^']+'/g)].map(([found]) => found);
  assert.deepEqual(allowed, own);
  const rest = policy.replaceAll(/ 'sha256-[^']+'/g, "");
  assert.equal(
    rest,
    "default-src 'none'; script-src; style-src; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  );
  assert.ok(html.includes(policy.replace("; frame-ancestors 'self'", "")), "a file has the policy in itself");
  assert.doesNotMatch(html.replace(/<script.*?<\/script>/gs, ""), /\s(?:style|on\w+)=|https?:/);
});

test("nothing is loaded from elsewhere, and uPlot is included with its licence", () => {
  const { html } = page({ periods: samplePeriods({ now: NOW }), health: null, now: NOW });
  assert.doesNotMatch(html, /<(?:link|img|iframe)\b|\bsrc=|url\(|@import|\bfetch\(|XMLHttpRequest|import\(/);
  assert.match(html, /Copyright \(c\) \d+ Leon Sorokin[\s\S]*Permission is hereby granted/);
});

test("the page without its figures has at most 240 words", () => {
  const html = readFileSync(path.join(root, "plugin", "page", "page.html"), "utf8");
  const words = html
    .replace(/<[^>]*>/g, " ")
    .trim()
    .split(/\s+/);
  assert.ok(words.length <= 240, `${words.length} words`);
});

test("a report is readable by its owner only and never overwrites a file", () => {
  const file = path.join(freshDir(), "report.html");
  const content = {
    periods: [{ days: 0, figures: sampleFigures({ now: NOW }) }],
    health: null,
    title: "one session",
    now: NOW,
  };
  writeReport(file, content);
  const data = JSON.parse(elements(readFileSync(file, "utf8"), "script")[0].text);
  assert.deepEqual([data.kind, data.at, data.title], ["report", NOW, "one session"]);
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.throws(() => writeReport(file, content), { code: "EEXIST" });
});

test("the pages that commands write contain the figures that they print as JSON", async () => {
  const session = path.join(root, "fixtures", "sessions", "excerpt-prototype.messages.json");
  const dir = freshDir();
  const store = await Concertina.open({ dir });
  await store.assemble({ sessionId: "one", messages: staleConversation(), now: NOW });
  await store.close();
  for (const [index, args] of [
    ["analyze", session],
    ["stats", "--dir", dir],
  ].entries()) {
    const file = path.join(dir, `${index}.html`);
    assert.equal(run(...args, "--html", file).stdout, "");
    const { periods } = JSON.parse(elements(readFileSync(file, "utf8"), "script")[0].text);
    const printed = JSON.parse(run(...args, "--json").stdout);
    // The analysed session is stored at a new place each time.
    assert.deepEqual({ ...periods.at(-1).figures, store: undefined }, { ...printed, store: undefined });
    assert.deepEqual(
      periods.map(({ days }) => days),
      index === 0 ? [0] : [1, 7, 30, 0],
    );
  }
});

test("periods begin at midnight UTC", async () => {
  const periods = await periodsOf(
    async ({ since }) => (since === undefined ? undefined : new Date(since).toISOString()),
    NOW,
  );
  assert.deepEqual(periods, [
    { days: 1, figures: "2026-11-23T00:00:00.000Z" },
    { days: 7, figures: "2026-11-17T00:00:00.000Z" },
    { days: 30, figures: "2026-10-25T00:00:00.000Z" },
    { days: 0, figures: undefined },
  ]);
});

test("an original is shown as text, whatever it contains", () => {
  const { html, policy } = originalPage(
    ID,
    { type: "text", text: `${HOSTILE}&"` },
    { theme: `"><script>`, back: `../page#"><script>` },
  );
  assert.match(policy, /script-src 'none'/);
  assert.equal(elements(html, "script").length, 0);
  assert.ok(
    html.includes(
      `&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&lt;img src=x onerror=alert(1)&gt;\u2028&amp;&quot;</pre>`,
    ),
  );
  assert.ok(html.includes('data-theme=""') && html.includes('href="../page#&quot;&gt;&lt;script&gt;"'));
});

test("an original that is an image is shown, and one of another type is not", () => {
  const shown = (mimeType) =>
    originalPage(ID, { type: "image", data: "AAAA", mimeType }, { theme: "dark", back: "../page" }).html;
  assert.match(
    shown("image/png"),
    /<html lang="en" data-theme="dark">[\s\S]*<img class="original" alt="The original image" src="data:image\/png;base64,AAAA">/,
  );
  assert.doesNotMatch(shown('text/html"><script>'), /<img|<script/);
});

test("a long original is shown in part, and an unknown one is reported", () => {
  const long = originalPage(ID, { type: "text", text: "x".repeat(600_000) }, { back: "../page" }).html;
  assert.match(long, /A text of 600,000 characters in one line\. The first 500,000 are shown/);
  assert.ok(long.length < 520_000);
  assert.match(originalPage(ID, undefined, { back: "../page" }).html, /No original is stored under this id/);
});
