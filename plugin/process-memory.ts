/** Memory of the latest sessions and failures. It is never written to disk, and the oldest entry is dropped first. */

/** Returns a map that the whole process shares: the host evaluates these modules several times in one process. */
export function ofProcess<Value>(name: string): Map<string, Value> {
  const shared = globalThis as unknown as Record<symbol, Map<string, Value> | undefined>;
  return (shared[Symbol.for(`openclaw-concertina.${name}`)] ??= new Map());
}

/** Stores a value as the newest entry and drops the oldest if there are more than `most`. */
export function keep<Value>(map: Map<string, Value>, key: string, value: Value, most = 1000): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
