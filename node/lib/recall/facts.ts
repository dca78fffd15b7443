/**
 * Facts: pieces of text that are copied rather than phrased.
 *
 * - identifier: at least 4 characters, with a letter, and with a digit, an underscore, a `$`, a capital after a small
 *   letter, or parts joined by `.`, `/`, `\`, `:`, `@` or `#`. Both the joined whole (`src/plan/mod.rs:12`) and its
 *   parts (`src/plan/mod.rs`, `mod.rs`) count. Two words joined by a hyphen are too often plain English; three count
 *   (`before-agent-start`);
 * - word: only on request, at least the given number of letters in a row. A name without any mark (`handler`) looks
 *   like a word, and most long words are phrased rather than copied: counting them charges every engine for fetches
 *   that no agent would make;
 * - number: at least 5 digits, or at least 3 with `.`, `,`, `:` or `-` inside. A bare integer of 3 or 4 digits is as
 *   often a count, a limit or a range of lines that the agent chose;
 * - hash: at least 7 hexadecimal digits with a decimal digit among them (an identifier or a number by the rules above);
 * - line: at least 24 characters with a letter or digit, compared as a whole, without the blanks around it and without
 *   the line number that tools print before a line of a file.
 */

const WHOLE = /[A-Za-z0-9_$]+(?:[./\\:@#,-]+[A-Za-z0-9_$]+)*/g;
const IDENTIFIER = /[\d_$./\\:@#]|[a-z][A-Z]|-.*-/;
const NUMBER = /^\d[\d.,:-]*$/;
const SHORT_NUMBER = /^\d{1,4}$/;
/** Longer runs are data, not names. */
const LONGEST = 400;

function isFact(word: string, plain: number): boolean {
  if (word.length > LONGEST) return false;
  if (NUMBER.test(word)) return !SHORT_NUMBER.test(word) && word.replace(/\D+/g, "").length >= 3;
  if (word.length >= plain && /^[A-Za-z]+$/.test(word)) return true;
  return word.length >= 4 && /[A-Za-z]/.test(word) && IDENTIFIER.test(word);
}

function addWords(text: string, plain: number, out: Set<string>): void {
  for (const [whole] of text.matchAll(WHOLE)) {
    if (isFact(whole, plain)) out.add(whole);
    if (whole.length > LONGEST || !/[^A-Za-z0-9_$]/.test(whole)) continue;
    // `src/plan/mod.rs:12` is also `src/plan/mod.rs`, `mod.rs` and, were it one, `mod`.
    for (const separators of [/[:@#,]+/, /[/\\:@#,]+/, /[^A-Za-z0-9_$]+/]) {
      for (const part of whole.split(separators)) if (part.length >= 3 && isFact(part, plain)) out.add(part);
    }
  }
}

function addLines(text: string, out: Set<string>): void {
  for (const raw of text.split("\n")) {
    if (raw.length < 24) continue;
    const line = raw.trim().replace(/^\d+\s*[→|:\t]\s*/, "");
    if (line.length >= 24 && /[A-Za-z0-9]/.test(line)) out.add(line);
  }
}

/** Returns all facts of some texts. @param plain the minimum number of letters of a plain word that is a fact */
export function factsOf(texts: readonly string[], plain = Number.POSITIVE_INFINITY): Set<string> {
  const out = new Set<string>();
  for (const text of texts) {
    addWords(text, plain, out);
    addLines(text, out);
  }
  return out;
}
