// Debian's own Chromium, driven by Playwright: no browser is downloaded from anywhere else.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { chromium } from "playwright-core";

import { say } from "./host.mjs";

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts the browser. @throws an Error with the reason if there is none and none can be installed */
export function startBrowser() {
  // As root, and in most containers, Chromium starts only without its own sandbox. It opens nothing here but our pages.
  return chromium.launch({ executablePath: browserFile(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

function browserFile() {
  const found = () =>
    process.env.PATH.split(path.delimiter)
      .map((dir) => path.join(dir, "chromium"))
      .find((file) => fs.existsSync(file));
  return found() ?? (install(), found()) ?? missing("apt-get installed it, and it is not on the PATH");
}

function install() {
  if (process.getuid() !== 0) missing("only root can install it");
  say("installing chromium with apt-get");
  for (const args of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", "chromium"],
  ]) {
    const { status, error, stderr } = spawnSync("apt-get", args, {
      encoding: "utf8",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
    if (status !== 0) missing(error?.message ?? stderr);
  }
}

function missing(why) {
  throw new Error(
    `the tests of the page need Chromium, which is not on the PATH (${why.trim()}); on Debian: apt-get install chromium`,
  );
}

/** Collects the errors of a page. @returns the list, which grows */
export function complaintsOf(page) {
  const complaints = [];
  page.on(
    "console",
    (message) =>
      ["error", "warning"].includes(message.type()) &&
      complaints.push({ text: message.text(), url: message.location().url }),
  );
  page.on("pageerror", (error) => complaints.push({ text: error.stack ?? error.message, url: page.url() }));
  return complaints;
}

/** Returns the violations that axe finds in a page or frame, one line each. */
export async function accessibilityFaults(frame) {
  await frame.evaluate(AXE);
  const { violations } = await frame.evaluate(() => globalThis.axe.run());
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`),
  );
}

/**
 * Returns the controls of a page that the Tab key reaches, in its order, each by its role and name. Ends when they
 * repeat.
 */
export async function reachedByTab(page) {
  const reached = [];
  for (let times = 0; times < 500; times++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return undefined;
      const controls = [...document.querySelectorAll("*")];
      return controls.indexOf(element);
    });
    if (at === undefined || reached.includes(at)) break;
    reached.push(at);
  }
  return reached;
}

/**
 * Returns the controls that a page shows, as {@link reachedByTab} counts them. In a group of radio buttons, Tab reaches
 * only the selected one.
 */
export function controlsOf(page) {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll("*")];
    const isShown = (element) => element.checkVisibility() && element.getClientRects().length > 0;
    return all
      .filter(
        (element) =>
          element.matches("a[href], button, input, summary, [tabindex='0']") &&
          isShown(element) &&
          !(element.type === "radio" && !element.checked),
      )
      .map((element) => all.indexOf(element));
  });
}
