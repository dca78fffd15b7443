/** Questions to the user at the terminal, for both command lines. */
import { createInterface } from "node:readline/promises";

/** Asks a question and returns true if the answer is yes. @throws if nobody answers */
export async function isAgreed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } catch (error) {
    // After Ctrl-C or Ctrl-D the cursor is still after the question.
    process.stderr.write("\n");
    throw new Error("nothing was removed, because nobody answered", { cause: error });
  } finally {
    terminal.close();
  }
}
