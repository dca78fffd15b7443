// Replays one session under every requested policy, price point and mode. The result is the billed tokens by call.
//
// "full": the engine assembles before every model call. "host": as in OpenClaw, results are admitted at birth and the
// history is assembled once per user turn; results of the same turn are appended.
import { Agreement } from "../../dist/node/lib/recall/edits.js";
import { Measured } from "../../dist/node/lib/recall/measures.js";
import { callIdOf, callsById, isCall, isResult, timeOf } from "../../dist/node/lib/recall/transcript.js";
import { billOf, Meter, parsePrice, priced } from "./billing.mjs";
import { Kinds } from "./kinds.mjs";
import { Candidates, optimum } from "./optimum.mjs";
import { POLICIES } from "./policies.mjs";

/** Yields the requests of a session, one for each model call, as an engine would have sent them. */
export async function* requests(messages, engine, mode) {
  const calls = callsById(messages);
  const stored = [];
  let [view, now] = [[], 0];
  for (const message of messages) {
    now = Math.max(now + 1, timeOf(message) ?? 0);
    if (mode === "host" && message.role === "user" && !isResult(message))
      view = [...(await engine.assemble(stored, now, true))];
    if (isCall(message)) {
      const at = timeOf(message);
      yield { messages: engine.send(mode === "full" ? await engine.assemble(stored, now) : view, at), at };
    }
    // The usage that the provider reported belongs to the recorded requests.
    const kept = isResult(message)
      ? await engine.admit(message, calls.get(callIdOf(message)), now)
      : { ...message, usage: undefined };
    stored.push(kept);
    view.push(kept);
  }
}

/** Replays a session. Resolves to one row for each mode, policy and price point: `{ mode, policy, price, result }`. */
export async function replaySession(session, options, progress = () => {}) {
  // The model of an answer that a host wrote itself tells that it is no call.
  const messages = session.messages.map((message) =>
    message.model === undefined || !isCall(message) ? message : { ...message, model: options.model },
  );
  const measured = new Measured(messages, options.plain);
  const { calls, catalogue, edits, originals } = measured;
  const kinds = new Kinds(messages, catalogue);
  const rows = [];

  async function run(policy, mode, price, watch) {
    const prices = { input: 1, cacheRead: price.read, cacheWrite: price.write, cacheTtlMs: options.ttlMs };
    const engine = await POLICIES[policy].open({
      config: options.config,
      prices,
      model: options.model,
      window: options.window,
    });
    const overhead = options.bare ? 0 : engine.overhead;
    const model = options.cache === "provider" ? options.model : undefined;
    const meter = new Meter({
      catalogue,
      sight: measured.sight(engine.fetchesByRange),
      ttlMs: options.ttlMs,
      overhead,
      calls,
      model,
    });
    const agreement = new Agreement(edits, engine.fetch);
    try {
      for await (const request of requests(messages, engine, mode)) {
        const { ids, cold, fetched } = meter.send(request.messages, request.at);
        if (options.closedLoop) await engine.ask?.(fetched);
        await agreement.ask(meter.tally.calls - 1, ids);
        watch?.add(ids, cold, catalogue.tokens);
        progress(POLICIES[policy].title, meter.tally.calls, calls);
      }
    } finally {
      await engine.close();
    }
    const { series, tally } = meter.result(originals);
    return {
      result: { series, tally: { ...tally, ...agreement.tally, kinds: kinds.sum(meter.read, meter.write) } },
      overhead,
    };
  }

  /**
   * Collects what the planner folds if writing costs the same as reading, so that nothing waits: the folds from which
   * the optimum is chosen.
   */
  async function eager() {
    const watch = new Candidates();
    await run("cache-aware", "full", { read: 1, write: 1 }, watch);
    return watch;
  }

  let candidates;
  for (const mode of options.modes) {
    for (const policy of options.policies) {
      const { priced } = POLICIES[policy];
      let once;
      for (const name of options.prices) {
        const price = parsePrice(name);
        if (priced || once === undefined) once = await run(policy, mode, price);
        rows.push({ mode, policy, price: name, ...once });
        if (policy !== "cache-aware" || mode !== "full" || !options.optimum) continue;
        candidates ??= await eager();
        rows.push({ mode, policy: "optimum", price: name, ...optimum(candidates, price, once.overhead) });
      }
    }
  }
  return { name: session.name, family: session.family, calls, rows: rows.map((row) => summary(row)) };
}

/** Returns a row with its bill. The series are kept for plots. */
function summary({ mode, policy, price, result, bill, exact }) {
  if (!result) return { mode, policy, price, bill: { total: bill, sent: bill }, exact };
  const prices = parsePrice(price);
  const kinds = Object.fromEntries(
    Object.entries(result.tally.kinds).map(([kind, tokens]) => [kind, priced(tokens, prices)]),
  );
  return {
    mode,
    policy,
    price,
    bill: { ...billOf(result, prices), kinds },
    tally: result.tally,
    series: result.series,
  };
}
