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

const isResult = (message: Message) => ["toolResult", "tool", "tool_result"].includes(message.role);
const timeOf = (message: Message) => (typeof message.timestamp === "number" ? message.timestamp : undefined);

/** Returns the calls in a message of OpenAI. */
export function toolCallsOf({
  tool_calls: calls,
}: Message): { id: string; function: { name: string; arguments: string } }[] {
  if (!Array.isArray(calls)) return [];
  return calls.filter(
    (call) =>
      typeof call?.id === "string" &&
      typeof call.function?.name === "string" &&
      typeof call.function.arguments === "string",
  );
}

/** Returns the tool name and arguments of each call, by id. If ids repeat, the last call counts. */
function callsOf(messages: Message[]): Map<string, { name: string; args: unknown }> {
  const calls = new Map<string, { name: string; args: unknown }>();
  for (const message of messages) {
    for (const block of Array.isArray(message.content) ? message.content : []) {
      const {
        id,
        name,
        arguments: args,
        input,
      } = (block ?? {}) as { id?: string; name?: string; arguments?: unknown; input?: unknown };
      if (typeof id === "string" && typeof name === "string") calls.set(id, { name, args: args ?? input });
    }
    for (const {
      id,
      function: { name, arguments: args },
    } of toolCallsOf(message))
      calls.set(id, { name, args: argumentsOf(args) });
  }
  return calls;
}

/**
 * Replays a session. `progress` receives the number of calls that are done, and of all calls. With `heldOut` everything
 * is sent as it is, as in a session that is left untouched for comparison.
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
  },
): Promise<Replay> {
  const { sessionId, sessionKey, prices, heldOut = false, progress } = options;
  const messages = recorded.map((message): Message => ({ ...message, usage: undefined }));
  const [folds, warnings]: [Fold[], Set<string>] = [[], new Set()];
  const calls = callsOf(messages);
  const of = messages.filter((message) => message.role === "assistant").length;

  // `stored` is the history that the host keeps, with results as admitted, and `turn` is the turn in progress, with the
  // times of the replay.
  let [stored, turn]: [Message[], Message[]] = [[], []];
  let [now, done, turns] = [0, 0, 0];
  for (const message of messages) {
    now = Math.max(now + 1, timeOf(message) ?? 0);
    if (message.role === "user" || turns === 0) {
      await commit();
      const model = messages.slice(stored.length).find(({ role }) => role === "assistant")?.model;
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
    }
    if (message.role === "assistant") progress?.(++done, of);
    const kept = isResult(message) && !heldOut ? await admit(message) : message;
    stored = [...stored, kept];
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
    const call = calls.get(String(message.toolCallId ?? message.tool_call_id));
    const admitted = await concertina.admitToolResult({
      sessionId,
      message,
      toolName: call?.name,
      args: call?.args,
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
    const call = calls.get(String(of?.toolCallId ?? of?.tool_call_id));
    const part = action.reason === "thinking" ? "thinking" : "arguments";
    const tool = String(of?.toolName ?? call?.name ?? (of?.role === "assistant" ? part : "?"));
    return {
      reason: action.reason,
      refId: action.refId ?? "",
      tool,
      tokensBefore: action.tokensBefore,
      tokensAfter: action.tokensAfter,
    };
  }
}
