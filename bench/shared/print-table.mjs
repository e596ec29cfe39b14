/** Three significant digits, two for small numbers. @param {number} value */
export function figure(value) {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  if (value >= 0.1 || value === 0) return value.toFixed(2);
  return String(Number(value.toPrecision(2)));
}

/** @param {string[][]} rows the first is the head; the first column is of text */
export function printTable(rows) {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths?.[column] ?? 0) : cell.padStart(widths?.[column] ?? 0),
    );
    console.log(`  ${cells.join('  ')}`);
  }
}
