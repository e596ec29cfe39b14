import { TooLong } from '../../codec/exact-json/exact-encoding.ts';
import { ValueError } from '../../errors/errors.ts';
import type { LocalChange, PushResult } from '../protocol/remote.ts';
import { OversizedAnswer } from './answer-errors.ts';

/** Characters of JSON in one request, roughly: servers accept 4 MB and more. */
const MAX_BATCH_LENGTH = 1_000_000;

/** A row with its place in the push, as the server gets it. */
export interface SendableRow<Wire> {
  readonly index: number;
  readonly row: LocalChange;
  readonly wire: Wire;
}

/** What a server cannot take is refused here: the other rows of the push are sent. */
export function encodeRows<Wire>(
  rows: readonly LocalChange[],
  encode: (row: LocalChange) => Wire,
): { readonly sendable: readonly SendableRow<Wire>[]; readonly results: PushResult[] } {
  const results: PushResult[] = [];
  const sendable: SendableRow<Wire>[] = [];
  for (const [index, row] of rows.entries()) {
    try {
      sendable.push({ index, row, wire: encode(row) });
    } catch (error) {
      results[index] = { rejected: { reason: reasonOf(error) } };
    }
  }
  return { sendable, results };
}

function reasonOf(error: unknown): string {
  if (error instanceof ValueError) return error.message;
  if (error instanceof TooLong) return 'The document is too large.';
  throw error;
}

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

/**
 * Calls with all items, and with halves of them where the answer is too large.
 *
 * @param alone Returns what stands for an item whose answer is too large by itself.
 */
export async function callByHalves<T, R>(
  items: readonly T[],
  call: (items: readonly T[]) => Promise<readonly R[]>,
  alone: (item: T) => readonly R[],
): Promise<readonly R[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    return await call(items);
  } catch (error) {
    if (!(error instanceof OversizedAnswer)) throw error;
    if (items.length === 1) return alone(first);
    const half = Math.ceil(items.length / 2);
    const before = await callByHalves(items.slice(0, half), call, alone);
    return [...before, ...(await callByHalves(items.slice(half), call, alone))];
  }
}
