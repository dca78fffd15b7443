/** Plain tables for terminals. */

/** A whole number with thousands commas, whatever the locale. */
export function number(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** So many of something whose plural ends in s. */
export function counted(value: number, what: string): string {
  return `${number(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** A share as a percentage with one decimal; a share of nothing is none. */
export function percent(share: number): string {
  return `${(Number.isFinite(share) ? share * 100 : 0).toFixed(1)} %`;
}

/** A size in the unit that fits. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const power = Math.min(3, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** power).toFixed(1)} ${["B", "KiB", "MiB", "GiB"][power]}`;
}

/** Rows under a header; the first columns of words are set left, columns of figures right. */
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

/** Names and values in two columns. */
export function rows(of: [string, string][]): string[] {
  const width = Math.max(...of.map(([name]) => name.length));
  return of.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}
