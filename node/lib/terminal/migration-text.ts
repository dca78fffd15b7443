/** What a migration tells, in words. */
import type { Migrated } from "../binding/addon.js";
import { counted } from "./table.js";

/** Says on standard error how far it is. */
export function migrationLine(originals: number): void {
  process.stderr.write(`${counted(originals, "original")} copied\n`);
}

/** What was copied. */
export function migrationText({ rows }: Migrated): string {
  const of = (table: string, row: string) => counted(rows[table] ?? 0, row);
  return `${of("originals", "original")} of ${of("sessions", "session")} copied, with ${of("projections", "placeholder")} and ${of("requests", "request")}; read back and compared`;
}

/** What is said of an original that was damaged already. */
export function damagedLine(id: string): string {
  return `the original of ${id} was damaged in the store it came from, and is as damaged now`;
}
