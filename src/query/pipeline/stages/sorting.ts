import type { Coroutine } from '../../../async/coroutine.ts';
import { compileSort, type SortKey, type SortOrder } from '../../sort/compile-sort.ts';
import { BATCH, type PipelineRun } from '../run.ts';
import { type CompileStage, type Documents, gathering, type Sink, type Stage } from '../stage.ts';

export interface SortStage extends Stage {
  readonly order: SortOrder;
}

export function isSort(stage: Stage): stage is SortStage {
  return 'order' in stage;
}

/** `$sort`: documents in order, equal ones in that of their arrival. */
export const sort: CompileStage = (operand, place, { collation }) => [
  sortStage(compileSort(operand, collation, place), place, Number.POSITIVE_INFINITY),
];

/** @param most How many of the first are wanted: it keeps twice as many, and a batch. */
export function sortStage(order: SortOrder, place: string, most: number): SortStage {
  const { keyOf, compare, roots } = order;
  const byKey = (a: Keyed, b: Keyed) => compare(a.key, b.key);
  const open = (run: PipelineRun, next: Sink): Sink => {
    let kept: Keyed[] = [];
    /** The last that still counts, once some were left out. */
    let worst: Keyed | undefined;
    const take = (documents: Documents) => {
      const added: object[] = [];
      for (const document of documents) {
        const key = keyOf(document);
        if (worst && compare(key, worst.key) >= 0) continue;
        kept.push({ key, document });
        added.push(document);
      }
      if (most === Number.POSITIVE_INFINITY) run.keep(added, place);
      else if (kept.length >= 2 * most + BATCH) {
        kept = kept.sort(byKey).slice(0, most);
        worst = kept.at(-1);
      }
    };
    const sorted = function* () {
      const all = yield* sortInSlices(run, kept, byKey);
      kept = [];
      return all.slice(0, most).map(({ document }) => document);
    };
    return gathering(run, next, take, () => ({ later: sorted() }));
  };
  return { place, order, roots, isClosed: false, open };
}

interface Keyed {
  readonly key: SortKey;
  readonly document: object;
}

/** Items that are sorted at once: some milliseconds. */
const AT_ONCE = 4096;

/** Sorts a long list, and yields in between; equal items stay in their order. */
export function* sortInSlices<T>(
  run: PipelineRun,
  items: T[],
  compare: (a: T, b: T) => number,
): Coroutine<T[]> {
  if (items.length <= AT_ONCE) return items.sort(compare);
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    runs.push(items.slice(from, from + AT_ONCE).sort(compare));
    yield* run.breathe();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left, right] = [runs[at] as T[], runs[at + 1]];
      merged.push(right ? yield* merge(run, left, right, compare) : left);
    }
    runs = merged;
  }
  return runs[0] as T[];
}

function* merge<T>(
  run: PipelineRun,
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Coroutine<T[]> {
  const merged = new Array<T>(left.length + right.length);
  let [l, r] = [0, 0];
  for (let at = 0; at < merged.length; at++) {
    const isLeft =
      r === right.length || (l < left.length && compare(left[l] as T, right[r] as T) <= 0);
    merged[at] = (isLeft ? left[l++] : right[r++]) as T;
    if (at % AT_ONCE === 0) yield* run.breathe();
  }
  return merged;
}
