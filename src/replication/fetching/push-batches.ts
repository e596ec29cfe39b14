/** Characters of JSON in one request, roughly: servers accept 4 MB and more. */
const MAX_BATCH_LENGTH = 1_000_000;

/** Splits rows so that no request gets too large; a row that is too large by itself goes alone. */
export function batchesOf<T extends { readonly wire: unknown }>(rows: readonly T[]): T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let length = 0;
  for (const row of rows) {
    const size = JSON.stringify(row.wire).length;
    if (batch.length > 0 && length + size > MAX_BATCH_LENGTH) {
      batches.push(batch);
      batch = [];
      length = 0;
    }
    batch.push(row);
    length += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
