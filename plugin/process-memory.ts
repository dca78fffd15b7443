/** What is remembered of the latest sessions and failures, in memory only: the oldest is forgotten first. */

/** A map that is the process's own: the host evaluates these modules several times in one. */
export function ofProcess<Value>(name: string): Map<string, Value> {
  const shared = globalThis as unknown as Record<symbol, Map<string, Value> | undefined>;
  return (shared[Symbol.for(`openclaw-concertina.${name}`)] ??= new Map());
}

/** Keeps a value as the newest of at most so many. */
export function keep<Value>(map: Map<string, Value>, key: string, value: Value, most = 1000): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
