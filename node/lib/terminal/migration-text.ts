/** The messages of a migration. */
import type { Migrated } from "../binding/addon.js";
import { counted } from "./table.js";

/** Prints the progress on standard error. */
export function migrationLine(originals: number): void {
  process.stderr.write(`${counted(originals, "original")} copied\n`);
}

/** Formats the result of a migration. */
export function migrationText({ rows }: Migrated): string {
  const of = (table: string, row: string) => counted(rows[table] ?? 0, row);
  return `${of("originals", "original")} of ${of("sessions", "session")} copied, with ${of("projections", "placeholder")} and ${of("requests", "request")}; the copy was read back and compared`;
}

/** Returns the message about an original that was already damaged in the source. */
export function damagedLine(id: string): string {
  return `the original of ${id} was already damaged in the source, so the copy is damaged, too`;
}
