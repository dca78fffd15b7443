/** Removes the oldest entries of a map until at most `most` are left. Returns their values. */
export function trim<V>(map: Map<unknown, V>, most: number): V[] {
  const removed: V[] = [];
  for (const [key, value] of map) {
    if (map.size <= most) break;
    map.delete(key);
    removed.push(value);
  }
  return removed;
}
