/** Questions to whoever sits at the terminal, of either command line. */
import { createInterface } from "node:readline/promises";

/** Whether the answer is yes. @throws where there is none */
export async function isAgreed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } catch (error) {
    // Ctrl-C or Ctrl-D: the cursor stands behind the question.
    process.stderr.write("\n");
    throw new Error("nobody answered, and nothing was removed", { cause: error });
  } finally {
    terminal.close();
  }
}
