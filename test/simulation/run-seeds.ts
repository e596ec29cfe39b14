import { expect } from 'vitest';
import { run } from './run.ts';

/**
 * How many seeds there are in all; `SEEDS=200000 npm run simulate` runs more, `SEED=…` begins
 * elsewhere.
 */
export const SEEDS = Number(process.env.SEEDS ?? 500);
export const FIRST = Number(process.env.SEED ?? 1);

/** The seeds of a test: so many, or as many as `SEEDS` says, from `SEED` on. */
export function* seedsOf(count: number): Generator<number> {
  const end = FIRST + Number(process.env.SEEDS ?? count);
  for (let seed = FIRST; seed < end; seed++) yield seed;
}

/** Runs every second seed: two processes share the work. */
export async function runEverySecond(first: number): Promise<void> {
  const began = performance.now();
  let runs = 0;
  for (let seed = first; seed < FIRST + SEEDS; seed += 2) {
    expect([seed, await run(seed)]).toEqual([seed, []]);
    runs++;
  }
  const seconds = (performance.now() - began) / 1000;
  console.log(`${runs} seeds, ${Math.round(runs / seconds)} a second`);
}

/**
 * The first seed that shows something wrong, `undefined` where none does.
 *
 * @param seeds The last seed.
 * @param from The first seed: shortly before one that is known to fail, where that comes late.
 */
export async function firstFailure(
  simulate = run,
  { seeds = 5000, from = 1 } = {},
): Promise<number | undefined> {
  for (let seed = from; seed <= seeds; seed++) {
    if ((await simulate(seed)).length > 0) return seed;
  }
  return undefined;
}
