/**
 * The page of figures as one self-contained HTML file. The plugin serves it, and reports are written in the same form.
 *
 * Its parts are in `plugin/page`. Only scripts and styles with a known hash run, so a text of a session could not run
 * even if it reached the document as HTML.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";

import type { Figures } from "../library/figures.js";
import { writeNew } from "../formats/files.js";
import type { Finding } from "./analysis-text.js";
import { EPOCH_KINDS, epochReason, foldReason } from "./reasons.js";
import type { Status } from "./status.js";
import { number } from "./table.js";
import { version } from "./version.js";

/** Figures of the last `days` UTC days, including today; 0 stands for all time. */
export interface Period {
  days: 0 | 1 | 7 | 30;
  figures: Figures;
}

/** The data that the page shows. */
export interface PageContent {
  /** The periods that the page switches between. Empty while the store cannot be opened. */
  periods: Period[];
  /** The status of the plugin. Null if there is no plugin. */
  health: Status | null;
  /** The subject of the figures, if they do not cover the whole store. */
  title?: string;
  /** The session that the figures are of, with what is folded in it. */
  session?: { sessionId: string; sessionKey: string | null };
  /** The findings of a replay, if the figures are those of replayed sessions. */
  replayed?: Finding[];
  /** True if nothing that was sent was changed: the figures show what folding would have done. */
  observes?: boolean;
  /** The theme; that of the system by default. */
  theme?: string;
  now?: number;
}

const DAY_MS = 86_400_000;

/** Reads the figures of the page's periods: today, the last 7 and 30 days, and all time. */
export async function periodsOf(
  read: (request: { since?: number }) => Promise<Figures>,
  now = Date.now(),
): Promise<Period[]> {
  const midnight = Math.floor(now / DAY_MS) * DAY_MS;
  const periods: Period[] = [];
  for (const days of [1, 7, 30, 0] as const) {
    periods.push({ days, figures: await read(days === 0 ? {} : { since: midnight - (days - 1) * DAY_MS }) });
  }
  return periods;
}

/** An HTML document and the Content-Security-Policy to serve it with. */
export interface Document {
  html: string;
  policy: string;
}

const FILES = path.join(__dirname, "..", "..", "..", "plugin", "page");
const STYLES = ["uplot.css", "page.css"];
const SCRIPTS = ["uplot.js", "words.js", "charts.js", "page.js"];

const texts = new Map<string, string>();

function part(name: string): string {
  const text = texts.get(name) ?? readFileSync(path.join(FILES, name), "utf8");
  texts.set(name, text);
  return text;
}

/** Returns the page as the gateway serves it, with links from placeholders to their originals. */
export function page(content: PageContent): Document {
  return compose("page", content);
}

/** Returns the page as a document without links to other ones. */
export function report(content: PageContent): Document {
  return compose("report", content);
}

/**
 * Writes the page as a file that only its owner can read, and reports that on standard error. @throws if the file
 * exists
 */
export function writeReport(file: string, content: PageContent): void {
  writeNew(file, report(content).html);
  process.stderr.write(`${file} written\n`);
}

function compose(kind: "page" | "report", { now = Date.now(), theme, ...content }: PageContent): Document {
  const styles = STYLES.map(part);
  const scripts = SCRIPTS.map(part);
  const policy = policyOf({ styles, scripts });
  const codes = content.periods.flatMap(({ figures }) => figures.epochs.map(({ reason }) => reason));
  const folds = content.periods.flatMap(({ figures }) => figures.foldedNow.map(({ reason }) => reason));
  const reasons = {
    kinds: EPOCH_KINDS,
    words: Object.fromEntries(codes.map((code) => [code, epochReason(code)])),
    folds: Object.fromEntries(folds.map((code) => [code, foldReason(code)])),
  };
  const data = inScript(JSON.stringify({ kind, version: version(), at: now, reasons, ...content }));
  const html = filled(part("page.html"), {
    policy: policyTag(policy),
    theme: themeOf(theme),
    styles: styles.map((text) => `<style>${text}</style>`).join("\n"),
    data: `<script type="application/json" id="data">${data}</script>`,
    scripts: scripts.map((text) => `<script>${text}</script>`).join("\n"),
  });
  return { html, policy: `${policy}; frame-ancestors 'self'` };
}

/** An original: text, or an image as base64. */
export type Original = { text: string } | { data: string; mimeType: string };

/** The maximum number of characters of an original that is shown. */
const MOST_CHARS = 500_000;
const IMAGE = /^image\/[a-z0-9.+-]+$/i;

/** Returns a document without scripts that shows an original as text or as image. `back` is the target of its link. */
export function originalPage(
  id: string,
  original: Original | undefined,
  { theme, back }: { theme?: string; back: string },
): Document {
  const styles = [part("page.css")];
  const policy = policyOf({ styles, scripts: [] });
  const html = filled(part("original.html"), {
    policy: policyTag(policy),
    styles: `<style>${styles[0]}</style>`,
    theme: themeOf(theme),
    id: escaped(id),
    back: escaped(back),
    what: escaped(whatIs(original)),
    original: shown(original),
  });
  return { html, policy: `${policy}; frame-ancestors 'self'` };
}

function themeOf(theme: string | undefined): string {
  return theme === "dark" || theme === "light" ? theme : "";
}

function whatIs(original: Original | undefined): string {
  if (original === undefined)
    return "No original is stored under this id: it has expired or was purged, or the id is wrong.";
  if ("data" in original)
    return IMAGE.test(original.mimeType)
      ? `An image (${original.mimeType}).`
      : `An original of the type ${original.mimeType}, which is not shown here.`;
  const characters = number(original.text.length);
  const lines = original.text.split("\n").length;
  const cut =
    original.text.length > MOST_CHARS
      ? ` The first ${number(MOST_CHARS)} are shown; in a shell, openclaw concertina fetch prints all of it.`
      : "";
  return `A text of ${characters} characters in ${lines === 1 ? "one line" : `${number(lines)} lines`}.${cut}`;
}

function shown(original: Original | undefined): string {
  if (original === undefined) return "";
  if ("text" in original)
    return `<pre class="original" tabindex="0" role="region" aria-label="Original">${escaped(original.text.slice(0, MOST_CHARS))}</pre>`;
  if (!IMAGE.test(original.mimeType)) return "";
  return `<img class="original" alt="The original image" src="data:${escaped(original.mimeType)};base64,${escaped(original.data)}">`;
}

function policyOf({ styles, scripts }: { styles: string[]; scripts: string[] }): string {
  const hashes = (those: string[]) =>
    those.length === 0
      ? "'none'"
      : those.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).join(" ");
  return `default-src 'none'; script-src ${hashes(scripts)}; style-src ${hashes(styles)}; img-src data:; base-uri 'none'; form-action 'none'`;
}

function policyTag(policy: string): string {
  return `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
}

/**
 * Replaces the marks `<!--[name]-->` of a template. Each mark occurs once, and inserted values are not searched for
 * marks.
 */
function filled(template: string, values: Record<string, string>): string {
  return template.replace(/<!--\[(\w+)\]-->/g, (mark, name: string) => values[name] ?? mark);
}

/** Escapes JSON so that no string in it can end the script element. */
function inScript(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
