// Files that a long session reads one after the other.

/** Code that no stage can shorten much, of about 70 characters a line. */
export function chapterOfCode(number, lines) {
  const line = (at) =>
    `const value_${number}_${at} = compute_${(at * 7919 + number * 104_729) % 99_991}("${((at + 1) * (number + 3) * 2_654_435_761).toString(36)}");`;
  return `${Array.from({ length: lines }, (_, at) => line(at)).join("\n")}\n`;
}

/** Words, which are fewer tokens than code of that length. */
export function chapterOfWords(number, lines, ending) {
  return Array.from(
    { length: lines },
    (_, at) =>
      `In chapter ${number} on page ${at} the harbour master counts ${(at * 37 + number) % 91} boats ${ending}`,
  ).join("\n");
}

/** The call that prints a log, which is shortened at birth. */
export const printLog = (at) => ({
  name: "exec",
  args: { command: `seq -f 'INFO chapter ${at} step %g is served from the cache' 1 150` },
});

/**
 * So many turns that each read a file, which stays as it is while it is fresh, and print a log: what that saves pays
 * for epochs.
 */
export const readingChapters = (count) =>
  Array.from({ length: count }, (_, at) => ({
    user: `Read chapter ${at}.`,
    steps: [[{ name: "read", args: { path: `chapter-${at}.ts` } }, printLog(at)], `Chapter ${at} is read.`],
  }));
