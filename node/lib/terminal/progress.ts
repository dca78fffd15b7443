/** Progress lines on a terminal. If standard error is not a terminal, nothing is printed. */
import path from "node:path";

const CLEAR = "\r\x1b[K";
const TICK_MS = 1000;

/** Shows the progress of a replay. `place` is the number of the session and of all sessions. */
export function progressLine(name: string, done: number, of: number, place: [session: number, of: number]): void {
  if (!process.stderr.isTTY) return;
  const filled = of === 0 ? 20 : Math.round((20 * done) / of);
  const bar = `${"█".repeat(filled)}${"░".repeat(20 - filled)}`;
  const line = `${bar} session ${place.join(" of ")}, ${done} of ${of} calls  ${path.basename(name)}`;
  process.stderr.write(
    done === of ? CLEAR : `${CLEAR}${line.slice(0, Math.max(20, (process.stderr.columns ?? 80) - 1))}`,
  );
}

/** Waits for work without a known duration and, after two seconds, shows the elapsed time. */
export async function withClock<Value>(what: string, work: Promise<Value>): Promise<Value> {
  if (!process.stderr.isTTY) return work;
  const started = Date.now();
  let isShown = false;
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / TICK_MS);
    if (seconds < 2) return;
    isShown = true;
    process.stderr.write(`${CLEAR}${what}: ${seconds} s`);
  }, TICK_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (isShown) process.stderr.write(CLEAR);
  }
}
