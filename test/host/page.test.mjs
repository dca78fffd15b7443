// Tests of the page of figures in Chromium, through a real gateway: who may see it, what it shows, and that no text of
// a session is executed in it.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { accessibilityFaults, complaintsOf, controlsOf, reachedByTab, startBrowser } from "./browser.mjs";
import { Concertina } from "../../dist/node/lib/index.js";
import { Host, packedPlugin } from "./host.mjs";
import { fetched, playTurns } from "./play.mjs";
import { startProvider } from "./provider.mjs";
import { conversation, idsIn } from "./reading.mjs";
import { fillWorkspace, screenshot } from "./session.mjs";

const SESSION = "agent:main:work";
const PAGE = "/plugins/concertina/page";
const HOSTILE = "logs/hostile.log";
const COMMAND = `cat ${HOSTILE}`;
/** The folder for screenshots for people, if one is requested. */
const PICTURES = process.env.CONCERTINA_PICTURES;
const WAIT_MS = 60_000;

/** An image as large as a window. A small image costs no more than its placeholder. */
const screen = screenshot(1024, 768).toString("base64");

const hashOf = (value) => createHash("sha256").update(String(value)).digest("hex").slice(0, 12);

/** A log in which every line would be executed if it were read as HTML, and which hardly compresses. */
const hostileLog = Array.from(
  { length: 200 },
  (_, at) =>
    `${hashOf(at)} <script>window.pwned = ${at}</script><img src="x${at}" onerror="window.pwned = ${at}"> </pre></script><!-- ${hashOf(-at)}`,
).join("\n");

const exec = (command) => ({ name: "exec", args: { command } });
const turns = [
  { user: "What is in the log?", steps: [[exec(COMMAND)], "Strange lines."] },
  { user: "Run the tests.", steps: [[exec("sh run-tests.sh")], "Two fail."] },
  { user: "Thank you.", steps: ["You are welcome."] },
  { user: "Show me the log again.", recall: COMMAND },
  { user: "That was all.", steps: ["Good."] },
];

let host;
let provider;
let browser;
let played;
let stats;
let report;
let picture;

const address = (suffix = PAGE) => `http://127.0.0.1:${host.port}${suffix}`;
const authorized = { extraHTTPHeaders: { authorization: "Bearer host-test" } };

before(async () => {
  provider = await startProvider();
  host = new Host({ name: "page", provider, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } });
  fillWorkspace(host.workspace);
  fs.writeFileSync(path.join(host.workspace, HOSTILE), hostileLog);
  // Stale content is evicted with the next turn, and results that codecs shorten are still replaced by references.
  await host.install(packedPlugin(), {
    maxDeferredTurns: 1,
    staleTurns: 1,
    imageAgeTurns: 1,
    sccsCompressThreshold: 3000,
  });
  await host.start();
  played = await playTurns(host, provider, SESSION, turns);
  picture = await storePicture();
  report = path.join(host.root, "report.html");
  [stats, , browser] = await Promise.all([
    host.openclawJson(["concertina", "stats"]),
    host.openclaw(["concertina", "stats", "--html", report]),
    startBrowser(),
  ]);
});

after(async () => {
  await browser?.close();
  await host?.remove();
  await provider?.stop();
});

/**
 * Folds an image in a separate session, because the host removes images from what its engine receives. @returns the id
 * in its placeholder
 */
async function storePicture() {
  const store = await Concertina.open({
    dir: path.join(host.state, "concertina"),
    imageAgeTurns: 1,
    retention: "host",
  });
  const call = {
    role: "assistant",
    content: [{ type: "toolCall", id: "look", name: "view_image", arguments: { path: "shot.png" } }],
  };
  const image = { type: "image", data: screen, mimeType: "image/png" };
  const turn = (text) => [
    { role: "user", content: text },
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
  ];
  const messages = [
    { role: "user", content: "Look." },
    call,
    { role: "toolResult", toolCallId: "look", toolName: "view_image", content: [image] },
    ...turn("And?"),
    ...turn("More?"),
    ...turn("That was all."),
  ];
  const folded = await store.assemble({ sessionId: "pictures", agentId: "main", messages });
  await store.close();
  const [id] = idsIn(JSON.stringify(folded.messages));
  assert.ok(id, "the picture is folded");
  return id;
}

/** Calls `use` with a new page of the browser, and closes the page. */
async function onPage(options, use) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WAIT_MS);
  try {
    const page = await context.newPage();
    return await use(page, complaintsOf(page));
  } finally {
    await context.close();
  }
}

/** Opens our tab in the Control UI, and returns the frame in it. */
async function openTab(page) {
  await page.goto(address("/concertina#token=host-test"));
  await page.waitForSelector("iframe.plugin-tab-embed__frame");
  const frame = await (await page.waitForSelector("iframe.plugin-tab-embed__frame")).contentFrame();
  await frame.waitForSelector("#figures:not([hidden])");
  return frame;
}

const isOurs = ({ url, text }) => url.includes("/plugins/concertina") || /content security policy/i.test(text);
const shownData = (frame) => frame.evaluate(() => JSON.parse(document.getElementById("data").textContent));
const shownValues = (frame, id) =>
  frame.evaluate((of) => [...document.querySelectorAll(`#${of} data`)].map(({ value }) => Number(value)), id);
const ran = (page) => Promise.all(page.frames().map((frame) => frame.evaluate(() => globalThis.pwned)));

test("without the gateway's token the page is refused", async () => {
  const [id] = idsIn(conversation(played[1].requests[0]));
  for (const suffix of [
    PAGE,
    `/plugins/concertina/original/${id}`,
    "/plugins/concertina",
    "/plugins/concertina/nothing",
  ]) {
    for (const headers of [{}, { authorization: "Bearer wrong" }, { cookie: "openclaw=host-test" }]) {
      const response = await fetch(address(suffix), { headers });
      assert.equal(response.status, 401, `${suffix} with ${JSON.stringify(headers)}`);
      assert.deepEqual(await response.json(), { error: { message: "Unauthorized", type: "unauthorized" } });
    }
    assert.equal((await fetch(`${address(suffix)}?token=host-test`)).status, 401);
  }
});

test("with the token the page is read-only, not cached, and framed only by the Control UI", async () => {
  const headers = { authorization: "Bearer host-test" };
  const answer = await fetch(address(), { headers });
  assert.equal(answer.status, 200);
  assert.match(
    answer.headers.get("content-security-policy"),
    /^default-src 'none'; script-src 'sha256-.*; frame-ancestors 'self'$/,
  );
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal((await fetch(address(), { method: "HEAD", headers })).status, 200);
  assert.equal((await fetch(address(), { method: "POST", headers })).status, 405);
  for (const suffix of [
    "",
    "/",
    "/page/x",
    "/original",
    "/original/..%2f..%2fpage",
    "/original/XYZ",
    "/original/0123456789abcdef/x",
    "/session",
    "/session/nobody",
  ]) {
    assert.equal((await fetch(address(`/plugins/concertina${suffix}`), { headers })).status, 404, suffix);
  }
});

test("the tab shows the figures of `stats --json` without an error in the browser", () =>
  onPage({ viewport: { width: 1440, height: 1000 } }, async (page, complaints) => {
    const frame = await openTab(page);
    const { periods, health, kind } = await shownData(frame);
    assert.equal(kind, "page");
    const all = periods.find(({ days }) => days === 0).figures;
    assert.deepEqual(all, stats);
    assert.ok(
      stats.total.requests >= 8 &&
        stats.epochs.length > 0 &&
        stats.fetched.length > 0 &&
        stats.total.withoutBill > stats.total.sentBill,
      JSON.stringify(stats),
    );
    assert.deepEqual(
      periods.map(({ figures }) => figures.total),
      periods.map(() => stats.total),
      "all of it happened today",
    );
    assert.deepEqual([health.engine, health.why, health.store.path], ["active", null, stats.store.path]);

    await frame.check('[name="period"][value="0"]', { force: true });
    const { sentTokens, withoutTokens, requests, answerBill, withoutAnswerBill } = stats.total;
    const [sentBill, withoutBill] = [stats.total.sentBill + answerBill, stats.total.withoutBill + withoutAnswerBill];
    assert.equal(await frame.locator("#bill-title").textContent(), "Bill of prompts and answers, modelled");
    assert.deepEqual(await shownValues(frame, "tokens"), [sentTokens]);
    assert.deepEqual(await shownValues(frame, "tokens-of"), [withoutTokens]);
    assert.deepEqual(await shownValues(frame, "bill-of"), [sentBill, withoutBill]);
    assert.deepEqual(await shownValues(frame, "bill"), [1 - sentBill / withoutBill]);
    assert.deepEqual(await shownValues(frame, "requests"), [requests]);
    assert.equal(await frame.locator("#epochs-table tbody tr").count(), stats.epochs.length);
    assert.equal(await frame.locator("#fetched tbody tr").count(), stats.fetched.length);
    assert.deepEqual(complaints.filter(isOurs), []);
    if (PICTURES) await page.screenshot({ path: path.join(PICTURES, "control-ui.png") });
  }));

test("the tab follows the theme of the Control UI and its changes", () =>
  onPage({ colorScheme: "light" }, async (page) => {
    const frame = await openTab(page);
    for (const scheme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme: scheme });
      await frame.waitForFunction((wanted) => document.documentElement.dataset.theme === wanted, scheme);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.themeMode), scheme);
    }
  }));

test("an id links to the original as inert text, and the way back restores the place", () =>
  onPage({}, async (page, complaints) => {
    const frame = await openTab(page);
    const { refId } = stats.fetched[0];
    await frame.check('[name="period"][value="30"]', { force: true });
    await frame.click(`#fetched-${refId}`);
    assert.equal(await frame.locator("pre.original").textContent(), hostileLog);
    assert.equal(fetched(played[3]), hostileLog, "it is what the agent fetched");
    assert.deepEqual(await ran(page), [undefined, undefined]);
    assert.deepEqual(complaints.filter(isOurs), []);
    await frame.click("text=Back to the figures");
    await frame.waitForFunction((id) => document.activeElement?.id === `fetched-${id}`, refId);
    assert.equal(await frame.inputValue('[name="period"]:checked'), "30");
    const { html } = await frame.evaluate(() => ({ html: document.documentElement.outerHTML }));
    assert.ok(!html.includes("window.pwned"));
  }));

test("two clicks from the tab lead to what is folded in a session, and its field filters the list", () =>
  onPage({}, async (page, complaints) => {
    const frame = await openTab(page);
    await frame.click("#sessions a.folded >> nth=0");
    await frame.waitForSelector("#now tbody tr");
    const { periods, session } = await shownData(frame);
    const { foldedNow, prompts } = periods[0].figures;
    assert.equal(session.sessionKey, SESSION);
    assert.equal(prompts.length, stats.total.requests);
    assert.ok(foldedNow.length > 0);
    assert.equal(await frame.locator("#now tbody tr").count(), foldedNow.length);
    const [{ refId }] = foldedNow;
    await frame.fill("#now-filter", refId.slice(0, 12).toUpperCase());
    assert.equal(await frame.locator("#now tbody tr").count(), 1);
    assert.equal(await frame.locator("#days-section").isVisible(), false);
    assert.equal(await frame.locator("#prompts-table tbody tr").count(), prompts.length);
    await frame.click(`#now-${refId}`);
    await frame.waitForSelector(".original");
    await frame.click("text=Back to the figures");
    await frame.waitForFunction((id) => document.activeElement?.id === `now-${id}`, refId);
    await frame.click("text=All sessions");
    await frame.waitForSelector("#sessions tbody tr");
    assert.deepEqual(complaints.filter(isOurs), []);
    if (PICTURES) await page.screenshot({ path: path.join(PICTURES, "session.png") });
  }));

test("a typed id opens an original that is an image, and an invalid id is reported", () =>
  onPage({}, async (page) => {
    const frame = await openTab(page);
    await frame.fill("#lookup-id", "not an id");
    await frame.press("#lookup-id", "Enter");
    assert.match(await frame.locator("#lookup-fault").textContent(), /^An id has 16 to 64 hexadecimal digits/);
    await frame.fill("#lookup-id", `[REF_ID: ${picture}]`);
    await frame.click("#lookup-open");
    const source = await frame.locator("img.original").getAttribute("src");
    assert.equal(source, `data:image/png;base64,${screen}`);
    assert.equal(
      await frame.evaluate(() => document.images[0].decode().then(() => document.images[0].naturalWidth)),
      1024,
    );
  }));

test("the tab opens a session", () =>
  onPage({}, async (page) => {
    const frame = await openTab(page);
    await frame.click("#sessions button.link");
    await page.waitForURL((url) => url.pathname !== "/concertina");
    assert.match(decodeURIComponent(page.url()), /work/);
  }));

test("axe finds no fault in page, originals and report, in light and dark, wide and narrow", async () => {
  const original = (id) => address(`/plugins/concertina/original/${id}`);
  const documents = {
    page: address(),
    text: original(stats.fetched[0].refId),
    image: original(picture),
    session: address(`/plugins/concertina/session/${stats.sessions[0].sessionId}`),
    report: pathToFileURL(report).href,
  };
  for (const [name, url] of Object.entries(documents)) {
    for (const [colorScheme, width] of [
      ["light", 360],
      ["dark", 360],
      ["light", 1280],
      ["dark", 3840],
    ]) {
      await onPage({ ...authorized, colorScheme, viewport: { width, height: 800 } }, async (page, complaints) => {
        await page.goto(url);
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
        assert.deepEqual(await accessibilityFaults(page), [], `${name}, ${colorScheme}, ${width} px`);
        assert.equal(
          await page.evaluate(() => document.documentElement.scrollWidth),
          width,
          `${name} scrolls sideways at ${width} px`,
        );
        assert.deepEqual(complaints, []);
        if (PICTURES)
          await page.screenshot({ path: path.join(PICTURES, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      });
    }
  }
});

test("the keyboard reaches every control, and arrow keys change the period", () =>
  onPage(authorized, async (page) => {
    for (const url of [address(), pathToFileURL(report).href]) {
      await page.goto(url);
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
      const controls = await controlsOf(page);
      assert.ok(controls.length >= 6, String(controls.length));
      assert.deepEqual(await reachedByTab(page), controls);
    }
    await page.goto(address());
    await page.focus('[name="period"]:checked');
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator("#requests-of").textContent(), /the last 30 days/);
    assert.match(await page.locator("#announced").textContent(), /^The last 30 days: the bill is [\d.]+ % lower\.$/);
  }));

test("the report shows the same figures in one file without links and requests", () =>
  onPage({ offline: true }, async (page, complaints) => {
    const requested = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.goto(pathToFileURL(report).href);
    const { periods, kind } = await shownData(page);
    assert.equal(kind, "report");
    assert.deepEqual(periods.find(({ days }) => days === 0).figures, stats);
    assert.deepEqual(await shownValues(page, "tokens"), [stats.total.sentTokens]);
    assert.deepEqual(requested, [pathToFileURL(report).href]);
    assert.equal(await page.locator("a[href]").count(), 0);
    assert.deepEqual(complaints, []);
  }));
