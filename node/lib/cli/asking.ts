/** Questions to whoever sits at the terminal, of either command line. */
import { createInterface } from "node:readline/promises";

/** Whether the answer is yes. */
export async function isAgreed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
