/** The place of a store as logs and `console.log` may show it. */
import type { StorePlace } from "./addon.js";

/** Returns a place without secrets: of a URL, the user, the host and the database stay. */
export function shownPlace({ dir, url, namespace, host }: StorePlace): Record<string, string> {
  const place = url === undefined ? { dir } : { url: withoutSecrets(url), namespace: namespace ?? "concertina" };
  const shown = { ...place, host };
  return Object.fromEntries(Object.entries(shown).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** A password may also be in the query, and anywhere in a text that is no URL. */
function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return "(unreadable)";
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username && `${username}@`}${host}${pathname}`;
}

/**
 * Returns a text without the logins of addresses and the passwords of connection parameters in it. Whoever passes an
 * address where something else is expected must not find its password in a log.
 */
export function withoutLogins(text: string): string {
  return text
    .replace(/(:\/\/)[^\s/]*(?:\/[^\s@]*)?@/g, "$1…@")
    .replace(/\b(pass(?:word|wd)?|pwd)(\s*=\s*)('[^']*'|\S+)/gi, "$1$2…");
}
