/** What a migration tells, in words. */
import type { Migrated } from "./addon.js";
import { number } from "./table.js";

/** Says on standard error how far it is. */
export function migrationLine(originals: number): void {
  process.stderr.write(`${number(originals)} originals copied\n`);
}

/** What was copied. */
export function migrationText({ rows }: Migrated): string {
  const of = (table: string) => number(rows[table] ?? 0);
  return `${of("originals")} originals of ${of("sessions")} sessions copied, with ${of("projections")} placeholders and ${of("requests")} requests; read back and compared`;
}

/** What is said of an original that was damaged already. */
export function damagedLine(id: string): string {
  return `the original of ${id} was damaged in the store it came from, and is as damaged now`;
}
