/**
 * Replay of a recorded session, call by call. Afterwards the store contains the figures of sending it with Concertina
 * and the estimate without.
 *
 * As in the host, tool results are admitted at birth and the history is assembled once for each user turn; content of
 * the turn itself is appended. The usage that the provider reported is dropped, because it belongs to the recorded
 * requests.
 */
import type { Message, Prices } from "../library/api.js";
import { argumentsOf } from "../formats/codex.js";
import type { Concertina } from "../library/concertina.js";
import { callIdOf, callsById, isCall, isResult, timeOf } from "../recall/transcript.js";

/** A fold that the replay made. */
export interface Fold {
  reason: string;
  refId: string;
  tool: string;
  tokensBefore: number;
  tokensAfter: number;
}

/** The result of a replay. */
export interface Replay {
  folds: Fold[];
  warnings: string[];
  /** The time at which the session ends, in milliseconds since 1970. Later fetches must use this time. */
  endedAt: number;
}

/**
 * Replays a session. `progress` receives the number of calls that are done, and of all calls, and `sent` the messages
 * of each request with the time of the replay. With `heldOut` everything is sent as it is, as in a session that is left
 * untouched for comparison.
 */
export async function replay(
  concertina: Concertina,
  recorded: Message[],
  options: {
    sessionId: string;
    sessionKey?: string;
    prices?: Prices;
    heldOut?: boolean;
    progress?: (done: number, of: number) => void;
    sent?: (messages: readonly Message[], now: number) => Promise<void>;
  },
): Promise<Replay> {
  const { sessionId, sessionKey, prices, heldOut = false, progress, sent } = options;
  const messages = recorded.map((message): Message => ({ ...message, usage: undefined }));
  const [folds, warnings]: [Fold[], Set<string>] = [[], new Set()];
  const calls = callsById(messages);
  const of = recorded.filter(isCall).length;

  // `stored` is the history that the host keeps, with results as admitted, `view` is what it sends, and `turn` is the
  // turn in progress, with the times of the replay.
  let [stored, view, turn]: [Message[], Message[], Message[]] = [[], [], []];
  let [now, done, turns] = [0, 0, 0];
  for (const [index, message] of messages.entries()) {
    now = Math.max(now + 1, timeOf(message) ?? 0);
    if ((message.role === "user" && !isResult(message)) || turns === 0) {
      await commit();
      const model = recorded.slice(stored.length).find(isCall)?.model;
      const assembled = await concertina.assemble({
        sessionId,
        messages: stored,
        turnBegins: true,
        ...(heldOut ? { availableTools: [] } : {}),
        prices,
        model: typeof model === "string" ? model : undefined,
        now,
      });
      for (const action of assembled.report.actions) {
        if (action.reason !== "replay") folds.push(fold(action, stored[action.message]));
      }
      if (assembled.report.warning) warnings.add(assembled.report.warning.message);
      view = [...assembled.messages];
    }
    // The usage tells a failed answer from a billed one.
    if (isCall(recorded[index] ?? message)) {
      progress?.(++done, of);
      await sent?.(view, now);
    }
    const kept = isResult(message) && !heldOut ? await admit(message) : message;
    stored = [...stored, kept];
    view.push(kept);
    turn.push({ ...kept, timestamp: now });
  }
  await commit();
  return { folds, warnings: [...warnings], endedAt: now };

  async function commit(): Promise<void> {
    if (turn.length > 0)
      await concertina.commitTurn({
        sessionId,
        sessionKey,
        advancementKey: String(turns),
        messages: turn,
        prices,
        heldOut,
        now,
      });
    turn = [];
    turns++;
  }

  async function admit(message: Message): Promise<Message> {
    const { toolName, args } = calls.get(callIdOf(message) ?? "") ?? {};
    const admitted = await concertina.admitToolResult({
      sessionId,
      message,
      toolName,
      args: typeof args === "string" ? argumentsOf(args) : args,
      now,
    });
    for (const action of admitted.report.actions) folds.push(fold(action, message));
    if (admitted.report.warning) warnings.add(admitted.report.warning.message);
    return admitted.message;
  }

  function fold(
    action: { reason: string; refId: string | null; tokensBefore: number; tokensAfter: number },
    of: Message | undefined,
  ): Fold {
    const call = calls.get((of && callIdOf(of)) ?? "");
    const part = action.reason === "thinking" ? "thinking" : "arguments";
    const tool = String(of?.toolName ?? call?.toolName ?? (of?.role === "assistant" ? part : "?"));
    return {
      reason: action.reason,
      refId: action.refId ?? "",
      tool,
      tokensBefore: action.tokensBefore,
      tokensAfter: action.tokensAfter,
    };
  }
}
