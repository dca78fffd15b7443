// Files that a long session reads one after the other.

/** Returns code that no stage can shorten much, of about 70 characters per line. */
export function chapterOfCode(number, lines) {
  const line = (at) =>
    `const value_${number}_${at} = compute_${(at * 7919 + number * 104_729) % 99_991}("${((at + 1) * (number + 3) * 2_654_435_761).toString(36)}");`;
  return `${Array.from({ length: lines }, (_, at) => line(at)).join("\n")}\n`;
}

/** Returns words, which have fewer tokens than code of the same length. */
export function chapterOfWords(number, lines, ending) {
  return Array.from(
    { length: lines },
    (_, at) =>
      `In chapter ${number} on page ${at} the harbour master counts ${(at * 37 + number) % 91} boats ${ending}`,
  ).join("\n");
}

/** Returns a call that prints a log, which is shortened at birth. */
export const printLog = (at) => ({
  name: "exec",
  args: { command: `seq -f 'INFO chapter ${at} step %g is served from the cache' 1 150` },
});

/**
 * Returns `count` turns that each read a file, which is not folded while it is fresh, and print a log. The savings on
 * the log pay for epochs.
 */
export const readingChapters = (count) =>
  Array.from({ length: count }, (_, at) => ({
    user: `Read chapter ${at}.`,
    steps: [[{ name: "read", args: { path: `chapter-${at}.ts` } }, printLog(at)], `Chapter ${at} is read.`],
  }));
