/** Returns the sum of the rows of each group, in the order in which the groups occur. */
export function sumsBy<Row>(
  rows: Iterable<Row>,
  groupOf: (row: Row) => string,
  add: (one: Row, other: Row) => Row,
): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const group = groupOf(row);
    const sum = sums.get(group);
    sums.set(group, sum === undefined ? row : add(sum, row));
  }
  return [...sums.values()];
}
