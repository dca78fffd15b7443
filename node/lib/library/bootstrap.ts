/**
 * Intervals for the saving of one group of sessions compared with another, by the bootstrap.
 *
 * A session is drawn as a whole, because its turns depend on each other. The studentized bootstrap of the logarithm is
 * used: costs of sessions have a long tail, for which the plain percentiles are too narrow.
 */

/** The cost of a session, and its weight: 1 for the cost per session, or its turns for the cost per turn. */
export interface Drawn {
  cost: number;
  weight: number;
}

/** A share that was saved, and the interval that holds the true share with a probability of 95 %. */
export interface Interval {
  share: number;
  least: number;
  most: number;
}

const RESAMPLES = 1000;
/** Half of the probability outside the interval. */
const TAIL = 0.025;

/**
 * Returns the share by which `treated` costs less per weight than `untreated`. The same arguments give the same
 * interval. Undefined if a group has fewer than two sessions or costs nothing.
 */
export function savedShare(treated: readonly Drawn[], untreated: readonly Drawn[], seed = 1): Interval | undefined {
  const found = difference(treated, untreated);
  if (found === undefined) return undefined;
  const random = randomFrom(seed);
  const studentized: number[] = [];
  for (let at = 0; at < RESAMPLES; at++) {
    const drawn = difference(resample(treated, random), resample(untreated, random));
    if (drawn !== undefined && drawn.error > 0) studentized.push((drawn.value - found.value) / drawn.error);
  }
  if (studentized.length === 0) return undefined;
  studentized.sort((a, b) => a - b);
  const quantile = (share: number) => studentized[Math.floor(share * (studentized.length - 1))] ?? 0;
  const shareAt = (logarithm: number) => 1 - Math.exp(logarithm);
  return {
    share: shareAt(found.value),
    least: shareAt(found.value - quantile(TAIL) * found.error),
    most: shareAt(found.value - quantile(1 - TAIL) * found.error),
  };
}

/** Returns the logarithm of the ratio of two costs per weight, and its standard error. */
function difference(treated: readonly Drawn[], untreated: readonly Drawn[]) {
  const [one, other] = [logCost(treated), logCost(untreated)];
  if (one === undefined || other === undefined) return undefined;
  return { value: one.value - other.value, error: Math.sqrt(one.variance + other.variance) };
}

/** Returns the logarithm of the cost per weight of a group, and its variance by linearization. */
function logCost(group: readonly Drawn[]): { value: number; variance: number } | undefined {
  let [cost, weight] = [0, 0];
  for (const one of group) {
    cost += one.cost;
    weight += one.weight;
  }
  if (group.length < 2 || cost <= 0 || weight <= 0) return undefined;
  let squares = 0;
  for (const one of group) squares += (one.cost / cost - one.weight / weight) ** 2;
  return { value: Math.log(cost / weight), variance: (squares * group.length) / (group.length - 1) };
}

function resample(group: readonly Drawn[], random: () => number): Drawn[] {
  return group.map(() => group[Math.floor(random() * group.length)] as Drawn);
}

/** Returns a generator of uniform numbers in [0, 1) (mulberry32). It decides nothing that must stay secret. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
