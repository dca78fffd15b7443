/** At most two jobs of the process on libuv workers at a time, so that the host's own file and DNS work finds free ones. */

const LIMIT = 2;
let running = 0;
const waiting: (() => void)[] = [];

/** Runs a job when a place is free. */
export async function queued<T>(job: () => Promise<T>): Promise<T> {
  if (running >= LIMIT) await new Promise<void>((resolve) => void waiting.push(resolve));
  else running++;
  try {
    return await job();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
