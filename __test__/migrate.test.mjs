// Tests of copying one store into another, and of the errors of an unreachable database. Tests with a database are in
// postgres/tests and test/host/shared-store.test.mjs.
import assert from "node:assert/strict";
import test from "node:test";

import { Concertina, migrate } from "openclaw-concertina";

import { run, runWith } from "./cli.mjs";
import { freshDir, staleConversation } from "./conversation.mjs";

/** An address at which no server listens. */
const NOWHERE = "postgresql://me:hidden-in-the-harbour@127.0.0.1:1/x?sslmode=disable";

/** Creates a store with a session that has a folded text. Returns the folded form. */
async function filled() {
  const dir = freshDir();
  const concertina = await Concertina.open({ dir });
  const messages = staleConversation();
  const folded = await concertina.assemble({ sessionId: "s", messages, now: 1e12 });
  await concertina.close();
  assert.ok(folded.report.actions.length > 0);
  return { dir, messages, folded };
}

test("a migrated store shows and fetches the same content, and a target that is not empty is refused", async () => {
  const { dir, messages, folded } = await filled();
  const to = { dir: freshDir() };
  const { rows, damaged } = await migrate({ from: { dir }, to });
  assert.deepEqual([rows.sessions, rows.originals > 0, damaged], [1, true, []]);
  const copy = await Concertina.open(to);
  assert.deepEqual((await copy.assemble({ sessionId: "s", messages, now: 1e12 })).messages, folded.messages);
  await copy.close();
  await assert.rejects(migrate({ from: { dir }, to }), {
    code: "CONCERTINA_BAD_ARGUMENT",
    message: /a store with sessions; it must be an empty store/,
  });
});

test("the migrate command copies a store and reports the counts", async () => {
  const { dir } = await filled();
  const copied = run("migrate", dir, freshDir());
  assert.match(
    copied.stdout,
    /^[1-9]\d* originals? of 1 session copied, with [1-9]\d* placeholders? and 0 requests; the copy was read back and compared\n$/,
  );
  assert.deepEqual([copied.stderr, copied.status], ["", 0]);
  assert.equal(JSON.parse(run("migrate", dir, freshDir(), "--json").stdout).rows.sessions, 1);
  const missing = run("migrate", freshDir(), freshDir());
  assert.deepEqual([missing.status, /contains no store/.test(missing.stderr)], [1, true]);
});

test("a database that is unavailable is named in the error without its password", async () => {
  await assert.rejects(Concertina.open({ url: NOWHERE }), (error) => {
    assert.equal(error.code, "CONCERTINA_STORE_UNAVAILABLE");
    assert.match(error.message, /127\.0\.0\.1:1\/x/);
    assert.ok(!error.message.includes("hidden"));
    return true;
  });
  const asked = runWith({ env: { ...process.env, STORE: NOWHERE } }, "stats", "--url", "env:STORE");
  assert.deepEqual(
    [asked.status, asked.stderr.includes("127.0.0.1:1/x"), asked.stderr.includes("hidden")],
    [1, true, false],
  );
});
