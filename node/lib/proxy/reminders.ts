/**
 * Reminders that an agent appends to the output of a tool, such as Claude Code's hints and the rules that opencode
 * finds beside a file. They are the agent's own words to the model, and must stay in sight when the output is folded.
 */
import { objectsIn } from "./sse.js";

const [BEGIN, END] = ["\n<system-reminder>", "</system-reminder>"];

/**
 * Returns a result with the reminders at the ends of its texts in parts of their own, which are folded apart. `field`
 * is that of its content, and `type` that of a part with text. A result without reminders is returned as it is.
 */
export function withRemindersApart<Result extends object>(
  result: Result,
  field: keyof Result & string,
  type: "text" | "input_text",
): Result {
  const content: unknown = result[field];
  const parts = typeof content === "string" ? [{ type, text: content }] : objectsIn(content);
  const apart = parts.flatMap((part) => {
    if (typeof part.text !== "string") return [part];
    const at = remindersAt(part.text);
    if (at === part.text.length) return [part];
    return [
      { type, text: part.text.slice(0, at) },
      { ...part, text: part.text.slice(at) },
    ];
  });
  return apart.length === parts.length ? result : { ...result, [field]: apart };
}

/** Returns the index at which the reminders at the end of an output begin, or the length of the text without any. */
function remindersAt(text: string): number {
  for (let begin = text.length; ;) {
    const before = text.slice(0, begin).trimEnd();
    const at = before.endsWith(END) ? before.lastIndexOf(BEGIN) : -1;
    if (at === -1) return begin;
    begin = at + 1;
  }
}
