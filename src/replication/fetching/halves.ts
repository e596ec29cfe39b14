import { OversizedAnswer } from './answer-errors.ts';

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
