// The options by their dotted names, such as `fusion.enabled`: access to them, and values to try.

/** Returns the value of a dotted name. */
export const at = (options, dotted) => dotted.split(".").reduce((value, name) => value?.[name], options);

/** Sets the value of a dotted name. */
export function put(options, dotted, value) {
  const names = dotted.split(".");
  const last = names.pop();
  let holder = options;
  for (const name of names) holder = holder[name] ??= {};
  holder[last] = value;
}

/** Returns the options of a manifest's schema with their names. */
export function leaves({ properties }, prefix = "") {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.default === undefined && schema.properties
      ? leaves(schema, `${prefix}${name}.`)
      : [[`${prefix}${name}`, schema]],
  );
}

/** For each option, an allowed value that is not the default, and one that is not allowed. */
export const VALUES = {
  preset: ["max", "huge"],
  schedule: ["every-turn", "sometimes"],
  maxDeferredTurns: [50, 0],
  contextThresholdPercent: [60, 9],
  minTokensToFold: [80, 49],
  thinking: ["keep", "drop"],
  keepNames: [40, -1],
  nameScorer: ["rule", "chance"],
  staleTurns: [6, "soon"],
  thrift: ["high", "greedy"],
  staleCalls: [20, 0],
  models: [{ "*haiku*": { thrift: "high", keepNames: 40 } }, { "*haiku*": { staleCalls: 0 } }],
  minTokensToSqueeze: [300, 1.5],
  keepPreviewChars: [80, null],
  imageAgeTurns: [3, 0],
  compat: ["clawsqueezer", "squeezer"],
  sccsEnabled: [true, "yes"],
  holdout: [0.1, 2],
  sccsCompressThreshold: [5000, "a lot"],
  sccsSummaryMaxChars: [200, 49],
  sccsEnableSmartSummary: [false, "no"],
  sccsStorageTtlSeconds: [3600, 599],
  sccsStorageDir: ["concertina/elsewhere", 42],
  // With an address the store would be in a database: see test/host/shared-store.test.mjs.
  sccsStoreUrl: ["", { id: "STORE" }],
  sccsStoreNamespace: ["team", 42],
  sccsMaxEntries: [2000, 999],
  storeMaxBytes: [2_000_000, 1000],
  purgeOnReset: [true, 1],
  secrets: ["redact", "publish"],
  protect: [["tool:browser_*", "!docs/*"], "tool:browser_*"],
  instructionTurns: [10, -1],
  exactTools: [["read"], [1]],
  encoding: ["cl100k_base", "p50k_base"],
  "fusion.enabled": [false, "off"],
  "fusion.stages": [{ rle: false, ionizer: { order: 3 }, nexus: { maxPercent: 20 } }, "none"],
  "rules.refreshEveryTurns": [10, "ten"],
  "rules.level": ["light", 9],
  "rules.maxChars": [4000, 199],
  "rules.files": [["AGENTS.md"], "AGENTS.md"],
  "rules.scope": ["all", "everything"],
  "rules.abbreviations": ["words.json", true],
};

/** Keys that do not exist. */
export const UNKNOWN = {
  treshold: 1,
  "models.*haiku*.encoding": "o200k_base",
  "rules.levle": 1,
  "fusion.stages.nope": false,
  "fusion.stages.rle.oder": 3,
};
