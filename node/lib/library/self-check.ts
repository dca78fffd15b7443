/** A check that content can be folded and fetched back on this machine, in a temporary store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { Concertina } from "./concertina.js";
import { HOST_DEFAULTS } from "./host-defaults.js";

const SESSION = { sessionId: "self-check", agentId: "self-check" };
const LINES = 400;

/** Folds one text and fetches it back. @throws an Error that says what failed */
export async function selfCheck(): Promise<void> {
  const dir = mkdtempSync(path.join(tmpdir(), "concertina-"));
  try {
    const text = Array.from({ length: LINES }, (_, at) => `step ${at} of the check took ${(at * 7919) % 997} ms`).join(
      "\n",
    );
    const store = await Concertina.open({
      ...HOST_DEFAULTS,
      sccsCompressThreshold: 2000,
      fusion: { enabled: false },
      dir,
    });
    try {
      const message = { role: "toolResult", toolName: "exec", toolCallId: "1", content: [{ type: "text", text }] };
      const { message: shown, report } = await store.admitToolResult({ ...SESSION, message });
      if (report.warning) throw new Error(report.warning.message);
      const [, id] = /\[REF_ID: ([0-9a-f]+)\]/.exec(JSON.stringify(shown.content)) ?? [];
      if (id === undefined) throw new Error("a text that should have been folded was not");
      const { content } = await store.fetch({ ...SESSION, refIds: [id], maxChars: text.length });
      const [block] = content;
      if (block?.type !== "text" || block.text !== text) throw new Error("the fetched text differs from the original");
    } finally {
      await store.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
