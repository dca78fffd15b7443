/** Plain tables for terminals. */

/** Formats a whole number with commas between thousands, whatever the locale. */
export function number(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Formats a number with a noun whose plural ends in s. */
export function counted(value: number, what: string): string {
  return `${number(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** Formats a share as a percentage with one decimal. A share of nothing is 0 %. */
export function percent(share: number): string {
  return `${(Number.isFinite(share) ? share * 100 : 0).toFixed(1)} %`;
}

/** Formats a size in bytes in the unit that fits. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const power = Math.min(3, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** power).toFixed(1)} ${["B", "KiB", "MiB", "GiB"][power]}`;
}

/** Formats rows under a header. Columns of numbers are aligned right, others left. */
export function table(header: string[], rows: string[][]): string {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const figures = header.map((_, column) => rows.every((row) => /^[-\d.,]+( %)?$/.test(row[column] ?? "")));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => (figures[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(header), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}

/** Formats names and values in two columns. */
export function rows(of: [string, string][]): string[] {
  const width = Math.max(...of.map(([name]) => name.length));
  return of.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}
