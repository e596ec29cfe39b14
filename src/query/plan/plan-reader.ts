import type { EntrySlice, Ranked } from '../index/leaf-list.ts';
import type { IndexPosition, SecondaryIndex } from '../index/secondary-index.ts';
import type { SortKey, SortOrder } from '../sort/compile-sort.ts';
import type { IndexPlan, PlanByKeys } from './plan.ts';

/** The last document of a page: its sort key and its rank. */
export interface PageEnd {
  /** The result of `order.keyOf`; unused without an order. */
  readonly key: SortKey;
  readonly rank: number;
}

type Indexes<E extends Ranked> = ReadonlyMap<string, SecondaryIndex<E>>;

export interface PlanSource<E extends Ranked> {
  readonly indexes: Indexes<E>;
  readonly byId: (id: string) => E | undefined;
  readonly order?: SortOrder | undefined;
  /** Where to continue; only for an ordered index plan. */
  readonly from?: PageEnd | undefined;
}

/**
 * Reads the candidates of a plan, each once, in the plan's order. It must not be used after an
 * index has changed.
 *
 * @example
 * ```ts
 * const reader = new PlanReader(plan, { indexes, byId });
 * for (let entry = reader.next(); entry; entry = reader.next()) if (test(entry)) found.push(entry);
 * ```
 */
export class PlanReader<E extends Ranked> {
  /** Number of keys read so far. */
  keys = 0;
  readonly #slices: Generator<EntrySlice<E>>;
  readonly #seen: Set<number> | undefined;
  #slice: EntrySlice<E> = { entries: [], from: 0, to: 0 };
  #at = 0;

  constructor(plan: PlanByKeys, source: PlanSource<E>) {
    this.#slices = slicesOf(plan, source);
    if (repeats(plan, source)) this.#seen = new Set();
  }

  /** The next candidate, `undefined` at the end. */
  next(): E | undefined {
    for (;;) {
      while (this.#at < this.#slice.to) {
        const entry = this.#slice.entries[this.#at++] as E;
        this.keys++;
        if (!this.#seen) return entry;
        if (this.#seen.has(entry.rank)) continue;
        this.#seen.add(entry.rank);
        return entry;
      }
      const { done, value } = this.#slices.next();
      if (done) return undefined;
      this.#slice = value;
      this.#at = value.from;
    }
  }

  /** Counts the candidates, read only where one may occur twice. Use instead of `next`. */
  count(): number {
    let count = 0;
    if (this.#seen) while (this.next()) count++;
    else for (const { from, to } of this.#slices) count += to - from;
    return count;
  }
}

/** Whether an entry may occur more than once. */
function repeats<E extends Ranked>(plan: PlanByKeys, { indexes }: PlanSource<E>): boolean {
  if (plan.kind !== 'index') return plan.kind === 'union';
  return !plan.ordered && indexOf(plan, indexes).definition.multi;
}

function* slicesOf<E extends Ranked>(
  plan: PlanByKeys,
  source: PlanSource<E>,
): Generator<EntrySlice<E>> {
  if (plan.kind === 'union') {
    for (const branch of plan.branches) yield* slicesOf(branch, source);
  } else if (plan.kind === 'ids') {
    yield sliceOf(plan.ids.flatMap((id) => source.byId(id) ?? []));
  } else {
    const index = indexOf(plan, source.indexes);
    const start = startOf(plan, index, source);
    for (const range of plan.reverse ? plan.ranges.toReversed() : plan.ranges) {
      yield* index.slices(range, plan.reverse, start);
    }
    if (index.unkeyed.size > 0) yield sliceOf([...index.unkeyed.values()]);
  }
}

function sliceOf<E>(entries: readonly E[]): EntrySlice<E> {
  return { entries, from: 0, to: entries.length };
}

function indexOf<E extends Ranked>({ index }: IndexPlan, indexes: Indexes<E>): SecondaryIndex<E> {
  return indexes.get(index) as SecondaryIndex<E>;
}

/** The end of the last page as a key of the index. */
function startOf<E extends Ranked>(
  { ranges }: IndexPlan,
  { definition }: SecondaryIndex<E>,
  { from, order }: PlanSource<E>,
): IndexPosition | undefined {
  if (!from) return undefined;
  const sorted = order?.fields ?? [];
  const values = sorted.length === 1 ? [from.key] : (from.key as readonly unknown[]);
  const key = definition.fields.map((path, at) => {
    const field = sorted.findIndex((each) => each.path === path);
    return field < 0 ? ranges[0]?.from[at] : values[field];
  });
  return { key, rank: from.rank };
}
