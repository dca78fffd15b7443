// Computes the smallest bill of any timing of the same folds, with knowledge of the future.
//
// Candidates come from a replay that folds at once: step x changed the message at position p_x from more tokens to
// fewer (gain g_x) at call e_x, and may be folded at any later call. An epoch (t, p) folds at call t every step with e
// <= t and position >= p, and bills again, at w - r above the cached price, the S(t, p) tokens that the previous
// request held from p on, at their folded size. S does not depend on what was folded before, because everything
// foldable after p is folded. At a cold call everything is billed again anyway, so all steps are folded there at no
// cost, and each warm interval between two cold calls can be solved independently:
//
//   bill = (every step folded at e_x, at no cost) + sum over intervals of F(start, end, first position)
//   F(i, j, p): least cost of waiting and re-billing for steps at positions >= p that become foldable in (i, j], if an
//               epoch that covers p happens at i and the next at j
//   F(i, j, p) = min( W(i, j, p) + F(i, j, p+1),                                no epoch in between cuts at p
//                     min over i < t < j: (w-r) S(t, p) + F(i, t, p) + F(t, j, p) )   one does, at t
//   W(i, j, p) = r * sum of g_x (j - e_x) over steps x at p with e_x in (i, j]
//
// Only calls at which some step becomes foldable matter: an epoch moved back to the last such call, or to the last
// epoch after its position, folds the same content earlier and does not bill more. With T such calls and P positions
// that is O(T^3 P) with a small constant. If either exceeds GRID, epochs are tried only at evenly chosen ones. The
// result is then a valid schedule, and so an upper bound of the optimum (`exact` is false).

/** The maximum number of calls and of positions at which epochs of one interval are tried. */
const GRID = 160;

/** Collects candidates from the requests of a replay. */
export class Candidates {
  /** The tokens of each message when it was first sent. */
  tokens = [];
  /** The number of messages of each request. */
  sent = [];
  cold = [];
  steps = [];
  #before = [];

  add(ids, cold, tokensOf) {
    const call = this.sent.length;
    ids.forEach((id, position) => {
      const before = this.#before[position];
      if (before === undefined) this.tokens.push(tokensOf[id]);
      else if (before !== id) this.steps.push({ position, at: call, gain: tokensOf[before] - tokensOf[id] });
    });
    this.sent.push(ids.length);
    this.cold.push(call === 0 || cold);
    this.#before = ids;
  }
}

const evenly = (values, most) =>
  values.length <= most
    ? values
    : Array.from({ length: most }, (_, index) => values[Math.floor(((index + 1) * values.length) / most) - 1]);
const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

/** Returns the index of the last of ascending `values` that is at most `value`, or -1 if there is none. */
function lastAtMost(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the bill of the optimum, without fetches. */
export function optimum({ tokens, sent, cold, steps }, { read, write }, overhead = 0, grid = GRID) {
  const upTo = [0];
  for (const count of tokens) upTo.push(upTo.at(-1) + count);
  let bill = 0;
  // The bill if every step were folded at once at no cost.
  const gainAt = new Float64Array(sent.length);
  for (const { at, gain } of steps) gainAt[at] += gain;
  let freed = 0;
  sent.forEach((count, call) => {
    freed += gainAt[call];
    const old = cold[call] ? 0 : sent[call - 1];
    const cached = upTo[old] - (old === 0 ? 0 : freed);
    const total = upTo[count] - freed;
    bill += cached * read + (total - cached) * write + overhead * (cold[call] ? write : read);
  });
  // The additional cost of waiting and re-billing, by interval.
  let exact = true;
  const starts = sent.map((_, call) => call).filter((call) => cold[call]);
  starts.forEach((start, index) => {
    const end = starts[index + 1] ?? sent.length;
    const inside = steps.filter(({ at, gain }) => at > start && at < end && gain > 0);
    if (inside.length === 0) return;
    const stretch = solve({ start, end, inside, steps, upTo, sent, read, write, grid });
    bill += stretch.cost;
    exact &&= stretch.exact;
  });
  return { bill, exact };
}

function solve({ start, end, inside, steps, upTo, sent, read, write, grid }) {
  const allTimes = distinct(inside.map((step) => step.at));
  const allPositions = distinct(inside.map((step) => step.position));
  const times = [start, ...evenly(allTimes, grid), end];
  // The first position is always tried, so that groups of positions cover all.
  const positions = distinct([allPositions[0], ...evenly(allPositions, grid)]);
  const size = times.length;
  const rebill = rebilled({ times, positions, steps, upTo, sent });
  const groups = positions.map(() => []);
  for (const step of inside) groups[lastAtMost(positions, step.position)].push(step);

  const cost = new Float64Array(size * size);
  const [gains, moments] = [new Float64Array(size), new Float64Array(size)];
  for (let p = positions.length - 1; p >= 0; p--) {
    gains.fill(0);
    moments.fill(0);
    for (const { at, gain } of groups[p]) {
      // The first tried call at which the step may be folded.
      const slot = times[lastAtMost(times, at)] === at ? lastAtMost(times, at) : lastAtMost(times, at) + 1;
      gains[slot] += gain;
      moments[slot] += gain * at;
    }
    for (let t = 1; t < size; t++) {
      gains[t] += gains[t - 1];
      moments[t] += moments[t - 1];
    }
    for (let length = 1; length < size; length++) {
      for (let i = 0; i + length < size; i++) {
        const j = i + length;
        const gained = gains[j] - gains[i];
        if (gained === 0) continue;
        let best = read * (times[j] * gained - (moments[j] - moments[i])) + cost[i * size + j];
        for (let t = i + 1; t < j; t++) {
          if (gains[t] === gains[i]) continue;
          const cut = (write - read) * rebill[p * size + t] + cost[i * size + t] + cost[t * size + j];
          if (cut < best) best = cut;
        }
        cost[i * size + j] = best;
      }
    }
  }
  return {
    cost: cost[size - 1],
    exact: times.length - 2 === allTimes.length && positions.length === allPositions.length,
  };
}

/**
 * Returns S(t, p) for every tried call and position: the tokens of the previous request from p on, with everything
 * folded that is foldable at t.
 */
function rebilled({ times, positions, steps, upTo, sent }) {
  const out = new Float64Array(positions.length * times.length);
  for (let t = 1; t < times.length - 1; t++) {
    const behind = new Float64Array(positions.length + 1);
    for (const { at, position, gain } of steps) {
      if (at <= times[t]) behind[lastAtMost(positions, position) + 1] += gain;
    }
    let freed = 0;
    for (let p = positions.length - 1; p >= 0; p--) {
      freed += behind[p + 1];
      out[p * times.length + t] = upTo[sent[times[t] - 1]] - upTo[positions[p]] - freed;
    }
  }
  return out;
}
