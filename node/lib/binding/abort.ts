/** Giving up the wait for a call, by an `AbortSignal`. */
import { type Kind, optional } from "./arguments.js";
import { badArgument } from "./errors.js";

/** A signal of any realm. It is recognized by its members and not by its class. */
const signal: Kind<AbortSignal> = (name, value) => {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>;
  const areFunctions = typeof addEventListener === "function" && typeof removeEventListener === "function";
  const isSignal = typeof aborted === "boolean" && areFunctions;
  return isSignal ? (value as AbortSignal) : badArgument(name, value, "an AbortSignal");
};

/** The field for the signal of a call. */
export const SIGNAL = { signal: optional(signal) };

/**
 * Runs a call and rejects with the reason of the signal as soon as it is aborted. The call itself goes on: `late`
 * receives a result that nobody waits for any more. With a signal that is aborted already, nothing begins.
 */
export async function untilAborted<T>(
  given: AbortSignal | undefined,
  body: () => Promise<T>,
  late?: (result: T) => unknown,
): Promise<T> {
  if (given === undefined) return body();
  if (given.aborted) throw given.reason;
  const running = body();
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(given.reason);
      running.then(late).catch(() => undefined);
    };
    // In the turn in which the call settles, so that a result is either resolved to or late.
    const settle =
      <A>(how: (answer: A) => void) =>
      (answer: A) => {
        given.removeEventListener("abort", abort);
        how(answer);
      };
    given.addEventListener("abort", abort, { once: true });
    running.then(settle(resolve), settle(reject));
  });
}
