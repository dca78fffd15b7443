// A working session in a small order service: its files, and the steps of the scripted model turn by turn.

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

import { png } from "../png.mjs";

const CUSTOMERS = ["Aalto", "Bright & Sons", "Corvid Ltd", "Dahlia", "Etoile", "Fjordline", "Grünwald", "Hinode"];

/** A module of about 14,000 characters, which is read early, edited later and fetched at the end. */
export const apiModule = [
  'import { Store } from "./store";',
  'import { OrderError } from "./errors";',
  "",
  ...["Order", "Invoice", "Refund", "Shipment", "Customer", "Coupon", "Payment", "Return", "Basket", "Address"].flatMap(
    routes,
  ),
].join("\n");

function routes(name) {
  const one = name.toLowerCase();
  return [
    `/** Lists ${one}s, newest first; \`limit\` is at most ${100 + name.length * 10}. */`,
    `export async function list${name}s(store: Store, limit = ${20 + name.length}): Promise<${name}[]> {`,
    `  if (limit < 1) throw new OrderError("limit", limit, "at least 1");`,
    `  const rows = await store.query<${name}>("select * from ${one}s order by created_at desc limit $1", [limit]);`,
    `  return rows.map((row) => ({ ...row, createdAt: new Date(row.createdAt) }));`,
    "}",
    "",
    `/** Creates a ${one} and returns it with its id. */`,
    `export async function create${name}(store: Store, input: ${name}Input): Promise<${name}> {`,
    `  const problems = validate${name}(input);`,
    `  if (problems.length > 0) throw new OrderError("${one}", input, problems.join("; "));`,
    `  return store.transaction(async (inside) => {`,
    `    const [row] = await inside.query<${name}>("insert into ${one}s (body) values ($1) returning *", [input]);`,
    `    await inside.query("insert into audit (kind, id) values ('${one}', $1)", [row.id]);`,
    `    return row;`,
    `  });`,
    "}",
    "",
    `function validate${name}(input: ${name}Input): string[] {`,
    `  const problems: string[] = [];`,
    `  if (!input.reference) problems.push("${one} needs a reference");`,
    `  if (input.total < 0) problems.push(\`${one} total is \${input.total}, it must not be negative\`);`,
    `  return problems;`,
    "}",
    "",
  ];
}

/** The text that the model writes in one call: about 30,000 characters of test data. */
export const fixtures = JSON.stringify(
  Array.from({ length: 160 }, (_, index) => ({
    reference: `ORD-${20260 + index * 7}`,
    customer: CUSTOMERS[(index * 5) % CUSTOMERS.length],
    lines: [
      { sku: `SKU-${(index * 37) % 997}`, quantity: 1 + (index % 4), price: ((index * 1319) % 9000) / 100 },
      { sku: `SKU-${(index * 53) % 997}`, quantity: 1, price: ((index * 733) % 5000) / 100 },
    ],
    paid: index % 3 !== 0,
  })),
  null,
  1,
);

const SUITES = ["orders", "invoices", "refunds", "shipments", "customers", "coupons", "payments", "returns"];

/** Returns the output of `sh run-tests.sh`: about 31,000 characters with two failures. */
export function testOutput(fixed) {
  const lines = SUITES.flatMap((suite, index) => [
    `RUN  test/${suite}.test.ts`,
    ...Array.from({ length: 36 }, (_, at) => testLine(suite, index, at, fixed)),
  ]);
  const failed = fixed ? 0 : 2;
  return [
    ...lines,
    "",
    `Tests: ${288 - failed} passed, ${failed} failed, 288 total`,
    `Time: ${fixed ? "8.92" : "9.41"} s`,
    "",
  ].join("\n");
}

function testLine(suite, index, at, fixed) {
  const name = `${suite} > case ${at + 1}: ${CUSTOMERS[at % CUSTOMERS.length]} keeps its ${at % 2 ? "total" : "reference"} when line ${at * 3} is edited`;
  if (!fixed && suite === "refunds" && (at === 11 || at === 30)) {
    return ` FAIL ${name}\n   AssertionError: expected ${at * 10}.5 to equal ${at * 10}\n     at test/refunds.test.ts:${40 + at * 6}:12`;
  }
  // As in a real run, each line contains something unpredictable.
  const trace = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `  ok  ${name} (${(index * 17 + at * 13) % 90} ms, trace ${trace})`;
}

/** Returns the output of `sh install.sh`: about 25,000 characters. */
export function installLog() {
  const lines = Array.from(
    { length: 420 },
    (_, at) =>
      `npm http fetch GET 200 package-${(at * 71) % 613}@${at % 9}.${at % 17}.${at % 5} ${(at * 29) % 400}ms (cache hit)`,
  );
  return [
    ...lines,
    "added 613 packages in 14s",
    "npm warn deprecated inflight@1.0.6: this module is not supported",
    "",
  ].join("\n");
}

function serverLog() {
  const levels = ["INFO", "INFO", "INFO", "DEBUG", "INFO", "WARN"];
  const line = (at) =>
    `2026-11-20T08:${String(Math.floor(at / 60) % 60).padStart(2, "0")}:${String(at % 60).padStart(2, "0")}Z ${levels[at % levels.length]} ` +
    `http request id=${(at * 7919).toString(16)} path=/v1/${SUITES[at % SUITES.length]}/${at % 211} status=${at % 41 ? 200 : 503} ms=${(at * 31) % 700}`;
  return `${Array.from({ length: 330 }, (_, at) => line(at)).join("\n")}\n`;
}

/** Returns a gradient with some grain, so that it does not compress to nothing. */
export function screenshot(width = 96, height = 96) {
  return png(width, height, (x, y) => [
    (x * 2 + ((x * y * 37) % 29)) & 255,
    (y * 2 + ((x * 53 + y * 17) % 31)) & 255,
    (x ^ y) & 255,
  ]);
}

/** Writes the service's files into a workspace. */
export function fillWorkspace(directory) {
  const files = {
    "README.md": "# Orders\n\nA small order service. Run its tests with `sh run-tests.sh`.\n",
    "src/api.ts": apiModule,
    "src/store.ts": apiModule
      .replaceAll("OrderError", "StoreError")
      .replaceAll("export ", "")
      .split("\n")
      .reverse()
      .join("\n"),
    "logs/server.log": serverLog(),
    "logs/install.log": installLog(),
    "logs/failed.log": testOutput(false),
    "logs/passed.log": testOutput(true),
    "run-tests.sh": "if grep -q 'limit >= 1' src/api.ts; then cat logs/passed.log; else cat logs/failed.log; fi\n",
    "install.sh": "cat logs/install.log\n",
    "shot.png": screenshot(),
  };
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    fs.writeFileSync(path.join(directory, name), content);
  }
}

/** The line of the module that the model edits. */
const SIGNATURE = "export async function listOrders(store: Store, limit = 25): Promise<Order[]> {";

const read = (file) => ({ name: "read", args: { path: file } });
const exec = (command) => ({ name: "exec", args: { command } });

/**
 * The session. `steps` are the model's actions in a turn: arrays of concurrent calls, then the reply. The last turns
 * ask for what was seen long ago: `recall` names it.
 */
export const turns = [
  { user: "Have a look around, please.", steps: [[exec("ls -R"), read("README.md")], "A small order service."] },
  { user: "Read the API module.", steps: [[read("src/api.ts")], "It lists and creates ten kinds of records."] },
  { user: "Run the tests.", steps: [[exec("sh run-tests.sh")], "Two refund tests fail."] },
  {
    user: "Write fixtures for 160 orders, then tell me their size.",
    steps: [
      [{ name: "write", args: { path: "fixtures/orders.json", content: fixtures } }],
      [exec("wc -c fixtures/orders.json")],
      "Written.",
    ],
  },
  {
    user: "Here is what the page looks like: shot.png.",
    steps: [[{ name: "view_image", args: { path: "shot.png" } }], "A gradient."],
  },
  {
    user: "Install everything and look at the store and the server's log meanwhile.",
    steps: [
      [exec("sh install.sh"), read("src/store.ts"), exec("cat logs/server.log")],
      [exec("grep -c 503 logs/server.log")],
      "Installed; nine requests failed.",
    ],
  },
  {
    user: "Allow every limit in listOrders that is at least 1, and run the tests again.",
    steps: [
      [
        {
          name: "edit",
          args: {
            path: "src/api.ts",
            edits: [{ oldText: SIGNATURE, newText: `${SIGNATURE}\n  // limit >= 1 is fine` }],
          },
        },
      ],
      [exec("sh run-tests.sh")],
      "All tests pass now.",
    ],
  },
  {
    user: "Read the module once more to be sure.",
    steps: [[read("src/api.ts")], [exec("grep -n 'limit' src/api.ts | head -5")], "It is as intended."],
  },
  {
    user: "Which customers are in the fixtures?",
    steps: [[exec("grep -o 'customer.*' fixtures/orders.json | sort | uniq -c")], "Eight of them."],
  },
  { user: "Summarize what we did so far.", steps: ["We read the service, wrote fixtures and repaired the limit."] },
  { user: "How many lines has each file?", steps: [[exec("wc -l src/*.ts"), exec("wc -l logs/*.log")], "Counted."] },
  {
    user: "Is there anything left in the log from eight o'clock?",
    steps: [[exec("head -3 logs/server.log")], [exec("tail -3 logs/server.log")], "Only ordinary requests."],
  },
  { user: "What did the API module look like before we changed it?", recall: "src/api.ts" },
  { user: "And which refund tests failed in the first run?", recall: "sh run-tests.sh" },
  { user: "Thank you, that is all for today.", steps: ["You are welcome."] },
];
