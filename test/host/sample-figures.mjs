// Sample figures of a busy month, in the form of `Concertina.figures()`, for tests and measurements of the page that
// need no store.

const DAY_MS = 86_400_000;
const REASONS = ["cold: idle", "ski-rental", "cold: first call", "limit", "cold: idle", "bound"];
const TOOLS = ["exec", "read", "web_fetch"];

/** Random numbers that are the same every time. */
function dice(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state / 2_147_483_648) * below;
  };
}

const hex = (roll) => Array.from({ length: 16 }, () => Math.floor(roll(16)).toString(16)).join("");

/** Returns the amounts of some requests that saved about half of the bill. */
function amounts(roll, requests) {
  const withoutTokens = Math.round(requests * (40_000 + roll(50_000)));
  const sentTokens = Math.round(withoutTokens * (0.4 + roll(0.25)));
  const withoutBill = withoutTokens * 4.6e-7;
  return {
    requests,
    bypassed: Math.round(requests / 50),
    sentTokens,
    withoutTokens,
    sentBill: sentTokens * 4.1e-7,
    withoutBill,
    withoutLeast: withoutBill * 0.93,
    withoutMost: withoutBill * 1.2,
  };
}

function total(all) {
  const names = [
    "requests",
    "bypassed",
    "sentTokens",
    "withoutTokens",
    "sentBill",
    "withoutBill",
    "withoutLeast",
    "withoutMost",
  ];
  return Object.fromEntries(names.map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)]));
}

/** Returns figures of some days and sessions that end now. */
export function sampleFigures({ now = Date.now(), days = 45, sessions = 40, seed = 7 } = {}) {
  const roll = dice(seed);
  const id = () =>
    `${hex(roll).slice(0, 8)}-${hex(roll).slice(0, 4)}-4${hex(roll).slice(0, 3)}-9${hex(roll).slice(0, 3)}-${hex(roll).slice(0, 12)}`;
  const day = (ago) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10);
  const isWeekend = (ago) => [0, 6].includes(new Date(now - ago * DAY_MS).getUTCDay());
  const byDay = Array.from({ length: days }, (_, at) => days - 1 - at).map((ago) => ({
    day: day(ago),
    ...amounts(roll, Math.round(isWeekend(ago) ? roll(12) : 60 + roll(160))),
  }));
  const bySession = Array.from({ length: sessions }, (_, at) => ({
    sessionId: id(),
    sessionKey:
      at % 5 === 4
        ? null
        : `agent:${at % 3 ? "main" : "other"}:${["work", "release", "triage", "docs", "dashboard:3f2a"][at % 5]}${at > 4 ? `-${at}` : ""}`,
    isHeldOut: at % 10 === 9,
    lastAt: now - Math.round(roll(days) * DAY_MS * (at / sessions)) - 90_000,
    ...amounts(roll, Math.round(20 + roll(300))),
  }));
  bySession.sort((a, b) => b.withoutBill - b.sentBill - (a.withoutBill - a.sentBill));
  const moments = (count) =>
    Array.from({ length: count }, () => now - Math.round(roll(days * DAY_MS))).sort((a, b) => b - a);
  const epochs = moments(days * 3)
    .slice(0, 200)
    .map((at) => {
      const tokensFreed = Math.round(2000 + roll(9) ** 5);
      return {
        at,
        sessionId: bySession[Math.floor(roll(sessions))].sessionId,
        reason: REASONS[Math.floor(roll(roll(REASONS.length)))],
        blocks: 1 + Math.floor(roll(24)),
        tokensFreed,
        tokensRebilled: Math.round(roll(tokensFreed)),
      };
    });
  const fetched = moments(days)
    .slice(0, 100)
    .map((at) => ({
      at,
      refId: hex(roll),
      tokens: Math.round(300 + roll(9000)),
      sessionId: bySession[Math.floor(roll(sessions))].sessionId,
      tool: TOOLS[Math.floor(roll(TOOLS.length))],
      isRerun: roll(4) < 1,
    }));
  const all = total(byDay);
  return {
    unit: "usd",
    total: {
      ...all,
      measured: all.requests - 37,
      fetches: fetched.length,
      fetchTokens: fetched.reduce((sum, { tokens }) => sum + tokens, 0),
      overheadTokens: all.requests * 612,
      compacting: 21,
      answered: all.requests - 37,
      answerTokens: all.requests * 240,
      answerBill: all.requests * 0.0036,
      withoutAnswerBill: all.requests * 0.0035,
    },
    days: byDay,
    sessions: bySession.slice(0, 100),
    epochs,
    kinds: [
      { kind: "tool results", before: 41_200_000, after: 6_900_000 },
      { kind: "tool arguments", before: 9_400_000, after: 2_100_000 },
      { kind: "thinking", before: 5_800_000, after: 0 },
      { kind: "images", before: 2_300_000, after: 90_000 },
      { kind: "other", before: 260_000, after: 110_000 },
    ],
    fetched,
    foldedNow: [],
    prompts: [],
    comparison: null,
    store: {
      originals: 3481,
      originalBytes: 214_000_000,
      storedBytes: 43_000_000,
      maxBytes: 1_073_741_824,
      path: "/home/me/.openclaw/concertina/concertina.sqlite",
    },
  };
}

/** Returns sample figures by period, as the page has them. */
export function samplePeriods(options = {}) {
  return [1, 7, 30, 0].map((days) => ({
    days,
    figures: sampleFigures({ days: days || 45, ...(days === 1 ? { sessions: 3 } : {}), ...options }),
  }));
}

/** Returns sample figures of one session, with what is folded in it. */
export function sampleSession({ now = Date.now(), seed = 7 } = {}) {
  const roll = dice(seed);
  const labels = ["exec: npm test", "exec: git log --stat", "read: src/config.ts", "web_fetch", "arguments of write"];
  const reasons = ["large", "stale", "superseded", "duplicate"];
  const foldedNow = Array.from({ length: 40 }, (_, at) => ({
    refId: hex(roll),
    label: labels[at % labels.length],
    bytes: Math.round(2000 + roll(60_000)),
    at: now - at * 300_000,
    reason: reasons[at % reasons.length],
  }));
  const prompts = Array.from({ length: 60 }, (_, at) => {
    const withoutTokens = 20_000 + at * 2500;
    return { at: now - (60 - at) * 240_000, withoutTokens, sentTokens: Math.round(20_000 + (at % 17) * 2400) };
  });
  return { ...sampleFigures({ now, days: 1, sessions: 1, seed }), foldedNow, prompts };
}

/** Returns a sample comparison of folded sessions with untouched ones, which the model overstates. */
export function sampleComparison() {
  const folded = { sessions: 410, turns: 6150, requests: 31_000, fetches: 260, failures: 512, bill: 402.5 };
  const untouched = { sessions: 96, turns: 690, requests: 3390, fetches: 0, failures: 55, bill: 64.1 };
  return {
    folded,
    untouched,
    withAnswers: true,
    missing: 0,
    modelled: 0.52,
    disagrees: true,
    perTurn: { share: 0.3, least: 0.22, most: 0.38 },
    perSession: { share: 0.29, least: 0.1, most: 0.44 },
  };
}

/** Returns a sample health report. */
export function sampleHealth({ now = Date.now(), ...more } = {}) {
  return {
    version: "0.1.0",
    engine: "active",
    why: null,
    lastFoldAt: now - 240_000,
    store: sampleFigures({ now, days: 1, sessions: 1 }).store,
    findings: [
      {
        key: "host's pruner",
        level: "warning",
        since: now - 4_000_000,
        remedy: 'Run "openclaw config set agents.defaults.contextPruning.mode off"',
        text: 'the host\'s own pruner is on (agents.defaults.contextPruning.mode: "cache-ttl"): where the model\'s provider caches prompts, the host cuts or clears old tool results after a pause, and the ids of folded results go with them. To leave old results to Concertina, set agents.defaults.contextPruning.mode: "off"',
      },
      { key: "engine", level: "ok", since: null, remedy: null, text: "OpenClaw uses Concertina as its context engine" },
    ],
    ...more,
  };
}
