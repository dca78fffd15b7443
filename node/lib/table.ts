/** Plain tables for terminals. */

/** A whole number with thousands commas, whatever the locale. */
export function number(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A share as a percentage with one decimal. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** Rows under a header; the first columns of words are set left, columns of figures right. */
export function table(header: string[], rows: string[][]): string {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const figures = header.map((_, column) => rows.every((row) => /^[-\d.,]+( %)?$/.test(row[column] ?? "")));
  const line = (cells: string[]) =>
    cells.map((cell, column) => (figures[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join("  ").trimEnd();
  return [line(header), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}
