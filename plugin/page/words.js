// Numbers, times and reasons as text. Nothing on the page is inserted as HTML.
/* oxlint-disable no-unused-vars -- the scripts after it use what is declared here */
"use strict";

const DAY_MS = 86_400_000;
const MINUS = "\u2212";

const exact = new Intl.NumberFormat("en-US");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });
const dateOnly = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Formats an amount of the bill. Small amounts have two significant digits. */
function billed(amount, unit) {
  if (unit !== "usd") return compact.format(amount);
  const size = Math.abs(amount);
  const decimals = size >= 0.1 || size === 0 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(size)));
  return `${amount < 0 ? MINUS : ""}$${size.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: decimals })}`;
}

/** Formats the amounts along an axis, with as many digits as its step has. */
function billedSteps(amounts, step, unit) {
  if (unit !== "usd") return amounts.map((amount) => compact.format(amount));
  const digits = (String(Number(step.toFixed(8))).split(".")[1] ?? "").length;
  const decimals = digits === 0 ? 0 : Math.max(2, digits);
  return amounts.map(
    (amount) =>
      `$${amount.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })}`,
  );
}

/** Returns the unit of the bill, to follow an amount. */
function unitWord(unit) {
  return unit === "usd" ? "" : ` ${unit}`;
}

/** Returns the saved share of `without`, or undefined if `without` is 0. */
function saving(sent, without) {
  return without > 0 ? 1 - sent / without : undefined;
}

/** Formats a share in percent, with one decimal below 10 %. */
function percent(share) {
  if (share === undefined) return "\u2013";
  const value = Math.abs(share * 100);
  const digits = value < 10 && value >= 0.05 ? 1 : 0;
  return `${share < 0 && value >= 0.05 ? MINUS : ""}${value.toFixed(digits)} %`;
}

function bytes(count) {
  const power = count < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${["bytes", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

function counted(count, one, many = `${one}s`) {
  return `${exact.format(count)} ${count === 1 ? one : many}`;
}

/** Capitalizes the first letter of a text. */
function capital(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Formats the time between `at` and `now`. */
function ago(at, now) {
  const minutes = Math.round((at - now) / 60_000);
  if (minutes > -1) return "just now";
  if (minutes > -60) return relative.format(minutes, "minute");
  if (minutes > -60 * 36) return relative.format(Math.round(minutes / 60), "hour");
  return relative.format(Math.round(minutes / 1440), "day");
}

/** Returns the name of a session: its key, or its id if it has no key. */
function sessionName(sessionKey, sessionId) {
  return sessionKey ?? (sessionId ? `session ${sessionId}` : "no session");
}

/**
 * The reasons for epochs, from the data: `kinds` in the order of the lanes in the chart, each with the beginning of its
 * code, and `words` by code.
 */
const {
  kinds: KINDS,
  words: REASON_WORDS,
  folds: FOLD_WORDS,
} = JSON.parse(document.getElementById("data").textContent).reasons;
const OTHER = { code: "", title: "Other", meaning: "Another reason, which the table names." };
const REASONS = [...KINDS, OTHER].map(({ code, title, meaning }) => [code, title, meaning]);

/** Returns the row of REASONS for an epoch's reason. */
function reasonOf(reason) {
  return REASONS.find(([code]) => reason.startsWith(code));
}

/** Returns the reason for which an original is folded, in words. */
function foldText(reason) {
  return FOLD_WORDS[reason] ?? reason;
}

/** Returns an epoch's reason in words. */
function reasonText(reason) {
  return REASON_WORDS[reason] ?? reason;
}
