import { type Coroutine, outcome } from '../../../async/coroutine.ts';
import { compileSort, type SortKey, type SortOrder } from '../../sort/compile-sort.ts';
import { BATCH, type PipelineRun } from '../run.ts';
import { type CompileStage, type Documents, emit, type Sink, type Stage } from '../stage.ts';

/** A stage that sorts. */
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

/** @param most How many of the first are wanted. */
export function sortStage(order: SortOrder, place: string, most: number): SortStage {
  return {
    ...{ place, order, roots: order.roots, isClosed: false },
    open: (run, next) => new SortSink(order, place, most, run, next),
  };
}

interface Keyed {
  readonly key: SortKey;
  readonly at: number;
  readonly document: object;
}

/** Keeps all documents, or the first of the order in twice the room. */
class SortSink implements Sink {
  readonly isFull = false;
  readonly #order: SortOrder;
  readonly #place: string;
  readonly #most: number;
  readonly #run: PipelineRun;
  readonly #next: Sink;
  #kept: Keyed[] = [];
  #arrived = 0;
  /** The last that still counts, once some were left out. */
  #worst: Keyed | undefined;

  constructor(order: SortOrder, place: string, most: number, run: PipelineRun, next: Sink) {
    this.#order = order;
    this.#place = place;
    this.#most = most;
    this.#run = run;
    this.#next = next;
  }

  take(documents: Documents): void {
    const { keyOf, compare } = this.#order;
    const kept: object[] = [];
    for (const document of documents) {
      const key = keyOf(document);
      const at = this.#arrived++;
      if (this.#worst && compare(key, this.#worst.key) >= 0) continue;
      this.#kept.push({ key, at, document });
      kept.push(document);
    }
    if (this.#most === Number.POSITIVE_INFINITY) this.#run.keep(kept, this.#place);
    else if (this.#kept.length >= 2 * this.#most + BATCH) {
      this.#kept = this.#kept.sort(this.#compare).slice(0, this.#most);
      this.#worst = this.#kept.at(-1);
    }
  }

  *end(): Coroutine<void> {
    const sorted = yield* sortInSlices(this.#run, this.#kept, this.#compare);
    this.#kept = [];
    const most = Math.min(this.#most, sorted.length);
    const documents = function* () {
      for (let at = 0; at < most; at++) yield (sorted[at] as Keyed).document;
    };
    yield* emit(this.#run, documents(), this.#next);
    yield* outcome(this.#next.end());
  }

  readonly #compare = (a: Keyed, b: Keyed): number =>
    this.#order.compare(a.key, b.key) || a.at - b.at;
}

/** Items that are sorted at once: some milliseconds. */
const AT_ONCE = 4096;

/** Sorts a long list, and yields in between. */
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
