import { messageOf } from '../parts/message-of.ts';

/** The worker's reply: the next rows, none at the end, or an error. */
export type Answer = { readonly rows: readonly unknown[] } | { readonly problem: string };

const ROWS_A_BATCH = 500;

let rows: readonly unknown[] | undefined;
let next = 0;

// In a worker, because parsing many megabytes would block the page.
addEventListener('message', async ({ data: file }: MessageEvent<File>) => {
  postMessage(await answer(file));
});

async function answer(file: File): Promise<Answer> {
  try {
    rows ??= rowsIn(JSON.parse(await file.text()));
    next += ROWS_A_BATCH;
    return { rows: rows.slice(next - ROWS_A_BATCH, next) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** An array; else the first array of objects inside an object, as in GeoJSON; else one row. */
function rowsIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return [value];
  const isList = (inner: unknown) => Array.isArray(inner) && typeof inner[0] === 'object';
  return Object.values(value).find(isList) ?? [value];
}
